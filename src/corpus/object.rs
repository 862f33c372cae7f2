//! One distinct payload, and how many references name it.

use super::key;

/// An object and what refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// See [`crate::corpus::key`].
    pub canonical: Box<[u8]>,
    /// References to the object.
    pub count: u64,
    /// Whether any of them is still to be served.
    pub wanted: bool,
}

impl Object {
    /// Bytes of the payload, where the locator says it.
    pub fn size(&self) -> Option<u64> {
        key::size(&self.canonical)
    }
}
