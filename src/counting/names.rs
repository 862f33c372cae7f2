//! Names of objects, written down beside the counts.
//!
//! Where names are kept, the partition of an object is chosen by its place, a stretch of its file,
//! so that neighbours meet in one partition and batches of objects come in source order. The other
//! bits of the id stay, of which 87 are compared: with n objects, n^2 / 2^88 pairs are expected to
//! be taken for one, 4e-10 for the 356 M objects of MINT-1T HTML. Of such a pair one object would
//! not be fetched ahead, and be read when a row needs it.

use super::record::id_at;
use crate::object::{ObjectId, ObjectName};

/// Ranges of one file share a partition when they start in the same stretch of this many bytes,
/// so that neighbours stay together and a single huge archive still spreads.
pub const PLACE_BYTES: u64 = 256 << 20;

/// The id by which an object with this name is counted where names are kept.
#[inline]
pub fn id(name: &ObjectName) -> ObjectId {
    id_at(name.neighbourhood(PLACE_BYTES), name.id())
}

/// An object of a partition.
pub struct NamedObject<'a> {
    pub name: ObjectName<&'a [u8]>,
    pub count: u64,
    pub wanted: bool,
}

/// Names of objects by their ids, in one run of bytes: the id, the length of the name, the name.
#[derive(Default)]
pub struct NameLog(Vec<u8>);

/// The entries of a [`NameLog`].
pub struct NameEntries<'a>(&'a [u8]);

impl NameLog {
    pub fn push(&mut self, id: ObjectId, name: &ObjectName) {
        NameLog::write(&mut self.0, id, ObjectName::from_bytes(name.as_bytes()));
    }

    /// Appends an entry to other bytes.
    pub fn write(out: &mut Vec<u8>, id: ObjectId, name: ObjectName<&[u8]>) {
        let name = name.as_bytes();
        out.extend_from_slice(&id.0.to_le_bytes());
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(name);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<'a> NameEntries<'a> {
    pub fn new(bytes: &'a [u8]) -> NameEntries<'a> {
        NameEntries(bytes)
    }
}

impl<'a> Iterator for NameEntries<'a> {
    type Item = (ObjectId, ObjectName<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let (id, rest) = self.0.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        self.0 = rest;
        Some((ObjectId(u128::from_le_bytes(*id)), ObjectName::from_bytes(name)))
    }
}
