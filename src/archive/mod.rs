//! Archives: the kind of a file by its content, and the members of a tar.
//!
//! Nothing here trusts a file name, a size in a header or a link: positions are checked against
//! the file, links are followed inside the archive only, and names of members are compared, never
//! used as paths on disk. Compressed tars have no offsets of their own and are read in one pass.

pub mod forward;
pub mod index;
pub mod layout;
pub mod record;
pub mod sniff;
pub mod stream;
pub mod unpack;

#[cfg(test)]
#[path = "../../tests/support/tar.rs"]
pub mod samples;

#[cfg(test)]
impl forward::ReadAt for &[u8] {
    fn read_at(&self, into: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let rest = self.get(offset as usize..).unwrap_or_default();
        let read = rest.len().min(into.len());
        into[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn length(&self) -> u64 {
        self.len() as u64
    }
}
