//! Archives: what a file is by its content, and where the members of a tar lie.
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
pub mod samples;

/// The unit of tar files, bytes: a header is one block, contents are padded to blocks.
pub const BLOCK: u64 = 512;
