//! Counting some objects in place of all: an unbiased sample by key.

/// A share of all keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Above 0, at most 1.
    pub share: f64,
    /// Another seed gives another sample of the same size.
    pub seed: u64,
}
