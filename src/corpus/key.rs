//! The identity of an object: which payload a locator means, independent of its spelling.
//!
//! An object is written as the canonical bytes of (path, target). They sort by path, then by kind,
//! then by offset, so that sorted objects are in source order.

use std::fmt;

use super::locator::{SourcePath, Target};

/// Names a cache entry: BLAKE3 over the canonical bytes of an object. Shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u8; 32]);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Hashed in front of every canonical form, so that keys change when the form does.
const DOMAIN: &[u8] = b"onepull object v1\0";

const WHOLE: u8 = 1;
const MEMBER: u8 = 2;
const RANGE: u8 = 3;

/// Appends the canonical bytes of an object to `out`. Paths hold no NUL, which ends them here.
pub fn canonical(path: &[u8], target: &Target, out: &mut Vec<u8>) {
    out.extend_from_slice(path);
    out.push(0);
    match target {
        Target::Whole => out.push(WHOLE),
        Target::Member(name) => {
            out.push(MEMBER);
            out.extend_from_slice(name.as_bytes());
        }
        Target::Range { offset, size } => {
            out.push(RANGE);
            out.extend_from_slice(&offset.to_be_bytes());
            out.extend_from_slice(&size.to_be_bytes());
        }
    }
}

/// The key of the object with these canonical bytes.
pub fn key(canonical: &[u8]) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(DOMAIN);
    hasher.update(canonical);
    Key(*hasher.finalize().as_bytes())
}

/// 64 bits that mostly tell canonical forms apart; whoever groups compares the bytes too.
pub fn fingerprint(canonical: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(canonical)
}

/// Reads an object back from its canonical bytes.
pub fn decode(canonical: &[u8]) -> (SourcePath, Target) {
    let end = path_end(canonical);
    let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("8 bytes were encoded"));
    let rest = &canonical[end + 2..];
    let target = match canonical[end + 1] {
        WHOLE => Target::Whole,
        MEMBER => Target::Member(String::from_utf8(rest.to_vec()).expect("it was text when encoded")),
        _ => Target::Range { offset: number(&rest[..8]), size: number(&rest[8..16]) },
    };
    (SourcePath::from_bytes(&canonical[..end]), target)
}

/// A file and a stretch of it; objects of one neighbourhood are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbourhood<'a> {
    pub path: &'a [u8],
    /// The range starts in this stretch; 0 for whole files and members.
    pub stretch: u64,
}

/// The neighbourhood of an object, with stretches of `bytes`.
pub fn neighbourhood(canonical: &[u8], bytes: u64) -> Neighbourhood<'_> {
    let end = path_end(canonical);
    let stretch = match canonical[end + 1] {
        RANGE => {
            u64::from_be_bytes(canonical[end + 2..end + 10].try_into().expect("8 bytes were encoded")) / bytes
        }
        _ => 0,
    };
    Neighbourhood { path: &canonical[..end], stretch }
}

/// Bytes of the payload, where the canonical form says it.
pub fn size(canonical: &[u8]) -> Option<u64> {
    let end = path_end(canonical);
    let size = canonical.get(end + 10..end + 18).filter(|_| canonical[end + 1] == RANGE)?;
    Some(u64::from_be_bytes(size.try_into().expect("8 bytes were encoded")))
}

/// Where the path ends in canonical bytes.
pub fn path_end(canonical: &[u8]) -> usize {
    canonical.iter().position(|&b| b == 0).expect("canonical bytes hold a NUL after the path")
}

/// 64 bits that stand for a path where a rare collision does no harm.
pub fn short_hash(path: &SourcePath) -> u64 {
    use std::os::unix::ffi::OsStrExt;
    xxhash_rust::xxh3::xxh3_64(path.as_path().as_os_str().as_bytes())
}
