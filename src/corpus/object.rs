//! One distinct payload, and how many references name it.

use super::key;

/// An object and what refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Canonical bytes, then the hint; see [`crate::corpus::key`].
    pub record: Box<[u8]>,
    /// Length of the canonical part of `record`.
    pub canonical: u32,
    /// References to the object.
    pub count: u64,
    /// Whether any of them is still to be served.
    pub wanted: bool,
}

impl Object {
    pub fn canonical(&self) -> &[u8] {
        &self.record[..self.canonical as usize]
    }

    /// Bytes of the payload, where the locator says it.
    pub fn size(&self) -> Option<u64> {
        key::size(self.canonical())
    }

    pub fn hint(&self) -> &[u8] {
        &self.record[self.canonical as usize..]
    }
}

/// Whether `hint` is to be kept rather than `other`, of the same object: any name is better than
/// none, and of two the smaller one, so that the order of the references does not matter.
pub fn is_better_hint(hint: &[u8], other: &[u8]) -> bool {
    !hint.is_empty() && (other.is_empty() || hint < other)
}
