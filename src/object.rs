//! The identity of an object: which payload a locator means, independent of its spelling.
//!
//! An object is written as the canonical bytes of (path, target). They sort by path, then by kind,
//! then by offset, so that sorted objects are in source order. The path of a local object starts
//! with a slash, that of a remote one with its scheme.

use std::ffi::CStr;
use std::fmt;

use crate::locator::{SourcePath, Target};

/// One distinct payload, and how many references name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its canonical bytes.
    pub canonical: Box<[u8]>,
    /// References to the object.
    pub count: u64,
    /// Whether any of them is still to be served.
    pub wanted: bool,
}

impl Object {
    /// Bytes of the payload, where the locator says it.
    pub fn size(&self) -> Option<u64> {
        size(&self.canonical)
    }
}

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
    end(target, out);
}

/// Completes the canonical bytes in `out`, which hold the path so far.
pub fn end(target: &Target, out: &mut Vec<u8>) {
    match target {
        Target::Whole => out.extend_from_slice(&[0, WHOLE]),
        Target::Member(name) => {
            out.extend_from_slice(&[0, MEMBER]);
            out.extend_from_slice(name.as_bytes());
        }
        Target::Range { offset, size } => {
            let mut tail = [0; 18];
            tail[1] = RANGE;
            tail[2..10].copy_from_slice(&offset.to_be_bytes());
            tail[10..].copy_from_slice(&size.to_be_bytes());
            out.extend_from_slice(&tail);
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

/// 128 bits that stand for an object where objects are only counted, without their bytes. With
/// n objects, n^2 / 2^129 pairs are expected to collide: 2e-22 for the 356 M objects of MINT-1T
/// HTML, so a count is exact. 64 bits would give 3.4e-3 pairs, which a report cannot rest on.
pub fn digest(canonical: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(canonical)
}

/// The first 64 bits of the digest, by which tables of counts know an object.
pub fn short_digest(canonical: &[u8]) -> u64 {
    (digest(canonical) >> 64) as u64
}

/// Whether the object is not on a file system of this machine.
pub fn is_remote(canonical: &[u8]) -> bool {
    canonical.first() != Some(&b'/')
}

/// The source that objects at a canonical path are reported under: scheme and host or bucket of a
/// remote one, the folder that holds a local file. Without a slash at the end, but for the root.
pub fn prefix(path: &[u8]) -> &[u8] {
    if is_remote(path) {
        let colon = path.iter().position(|&b| b == b':').expect("a scheme ends with a colon");
        let host = colon + "://".len();
        let length = path[host..].iter().position(|&b| b == b'/').unwrap_or(path.len() - host);
        return &path[..host + length];
    }
    let folder = path.iter().rposition(|&b| b == b'/').expect("a local path is absolute");
    &path[..folder.max(1)]
}

/// An object as people read it: `path`, `path member` or `path [offset, +size]`.
pub fn readable(canonical: &[u8]) -> String {
    match decode(canonical) {
        (path, Target::Whole) => path.to_string(),
        (path, Target::Member(name)) => format!("{path} {name}"),
        (path, Target::Range { offset, size }) => format!("{path} [{offset}, +{size}]"),
    }
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
    // Several times the speed of a search byte by byte.
    let path = CStr::from_bytes_until_nul(canonical).expect("canonical bytes hold a NUL after the path");
    path.count_bytes()
}

/// 64 bits that stand for a path where a rare collision does no harm.
pub fn short_hash(path: &SourcePath) -> u64 {
    use std::os::unix::ffi::OsStrExt;
    xxhash_rust::xxh3::xxh3_64(path.as_path().as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(path: &str, target: &Target) -> Vec<u8> {
        let mut out = Vec::new();
        canonical(path.as_bytes(), target, &mut out);
        out
    }

    #[test]
    fn objects_are_reported_under_their_host_bucket_or_folder() {
        for (path, expected) in [
            ("https://h:8080/a/b?c=/d", "https://h:8080"),
            ("s3://bucket//k/l", "s3://bucket"),
            ("foo://bar", "foo://bar"),
            ("hdfs:///a/b", "hdfs://"),
            ("/data/mint/archives/0.tar", "/data/mint/archives"),
            ("/0.tar", "/"),
            ("/", "/"),
        ] {
            assert_eq!(prefix(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }

    #[test]
    fn what_is_read_from_canonical_bytes_is_the_same_for_remote_objects() {
        let range = Target::Range { offset: 1 << 40, size: 7 };
        let canonical = bytes("s3://b/k#1", &range);
        assert_eq!(decode(&canonical), (SourcePath::from_bytes(b"s3://b/k#1"), range));
        assert_eq!(path_end(&canonical), 10);
        assert_eq!(size(&canonical), Some(7));
        assert_eq!(neighbourhood(&canonical, 1 << 39), Neighbourhood { path: b"s3://b/k#1", stretch: 2 });
        assert_eq!(readable(&canonical), "s3://b/k#1 [1099511627776, +7]");
        assert_eq!(readable(&bytes("/a.tar", &Target::Member("m".into()))), "/a.tar m");
        assert_eq!(readable(&bytes("/a", &Target::Whole)), "/a");
    }

    #[test]
    fn targets_of_one_path_have_digests_of_their_own() {
        let targets = [Target::Whole, Target::Member("a".into()), Target::Range { offset: 0, size: 1 }];
        let digests: std::collections::BTreeSet<u128> =
            targets.iter().map(|target| digest(&bytes("/a", target))).collect();
        assert_eq!(digests.len(), 3);
    }
}
