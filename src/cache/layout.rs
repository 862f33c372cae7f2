//! The layout of the cache on disk: every file name and byte position of it.
//!
//! ```text
//! CACHE/CACHEDIR.TAG
//! CACHE/v1/ab/cd/<64 hex digits of the key>    payload, then the trailer
//! CACHE/v1/tmp/<process>.lock                  held while the process lives
//! CACHE/v1/tmp/<process>-<unique>              being written
//!
//! trailer (96 bytes, integers little-endian)
//!      0   8  magic "onepull\n"
//!      8   4  version, 1
//!     12   4  zero
//!     16   8  length of the payload, bytes
//!     24  32  BLAKE3 of the payload
//!     56  32  key
//!     88   8  magic again, the end of the file
//! ```
//!
//! The payload starts at offset 0, so that an entry can be looked at with any image viewer.

use std::path::{Path, PathBuf};

use crate::object::Key;

pub const TRAILER_LEN: usize = 96;

const MAGIC: &[u8; 8] = b"onepull\n";
const VERSION: u32 = 1;

/// Marks a folder that backups and indexers may skip, <https://bford.info/cachedir/>.
pub const CACHEDIR_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
    # This folder is a cache of onepull; it may be deleted at any time.\n";

pub fn tag(root: &Path) -> PathBuf {
    root.join("CACHEDIR.TAG")
}

/// Where entries of this version of the layout are.
pub fn entries(root: &Path) -> PathBuf {
    root.join("v1")
}

pub fn scratch(root: &Path) -> PathBuf {
    entries(root).join("tmp")
}

/// The file of an entry, below [`entries`].
pub fn entry(entries: &Path, key: &Key) -> PathBuf {
    let hex = key.to_string();
    let mut path = PathBuf::with_capacity(entries.as_os_str().len() + hex.len() + 8);
    path.push(entries);
    path.push(&hex[..2]);
    path.push(&hex[2..4]);
    path.push(&hex);
    path
}

/// The trailer of the entry that holds `payload` under `key`.
pub fn trailer(key: &Key, payload: &[u8]) -> [u8; TRAILER_LEN] {
    let mut trailer = [0; TRAILER_LEN];
    trailer[..8].copy_from_slice(MAGIC);
    trailer[8..12].copy_from_slice(&VERSION.to_le_bytes());
    trailer[16..24].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    trailer[24..56].copy_from_slice(blake3::hash(payload).as_bytes());
    trailer[56..88].copy_from_slice(&key.0);
    trailer[88..].copy_from_slice(MAGIC);
    trailer
}

/// The length of the payload in `file`, the bytes of a whole entry, if it is the intact entry
/// of `key`.
pub fn check(key: &Key, file: &[u8]) -> Option<usize> {
    let length = file.len().checked_sub(TRAILER_LEN)?;
    let (payload, found) = file.split_at(length);
    (found == trailer(key, payload)).then_some(length)
}
