//! The identity of an object: which payload a locator means, however it is written.
//!
//! An [`ObjectName`] is everything that the other rooms know an object by: where it lies and which
//! part of that it is. Two short forms stand for it: an [`ObjectId`] where objects are counted, a
//! [`Key`] where their payloads are kept. A frame is no part of the name: it is a step after the
//! fetch.
//!
//! A name is one run of bytes, the location, a NUL and the target, so that names compare as bytes
//! and sorted names are in source order: by location, then by kind, then by offset.

use std::ffi::CStr;
use std::fmt;

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::fault::Fault;
use crate::locator::{Base, Location, Locator, Target};

/// The name of an object: `Vec<u8>` inside for one that is kept or written again and again,
/// `&[u8]` for one that lies in a larger buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName<B = Vec<u8>>(B);

/// 128 bits that stand for an object where objects are counted. With n objects, n^2 / 2^129 pairs
/// are expected to collide: 2e-22 for the 356 M objects of MINT-1T HTML, so a count is exact. 64
/// bits would give 3.4e-3 pairs, which a report cannot rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u128);

/// 256 bits that stand for an object in the cache: BLAKE3 of its name. Shown as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u8; 32]);

/// An object, and how many references name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub name: ObjectName,
    /// References to the object.
    pub count: u64,
    /// Whether any of them still has to be served.
    pub wanted: bool,
}

/// Hashed before the name, so that keys change when the form of names does.
const DOMAIN: &[u8] = b"onepull object v1\0";

const WHOLE: u8 = 1;
const MEMBER: u8 = 2;
const RANGE: u8 = 3;

impl ObjectName {
    /// The name of `target` at a resolved location.
    pub fn new(location: &[u8], target: &Target) -> ObjectName {
        let mut name = ObjectName(location.to_vec());
        name.end(target);
        name
    }

    /// Becomes the name of the object that `locator` means in a manifest whose relative paths start
    /// at `base`. Reuses its memory.
    ///
    /// Fails with [`crate::fault::FaultClass::BadLocator`] where the path can name nothing; the name is
    /// of no use then.
    pub fn resolve(&mut self, locator: &Locator, base: &Base) -> Result<(), Fault> {
        self.0.clear();
        base.resolve(&locator.location, &mut self.0)?;
        self.end(&locator.target);
        Ok(())
    }

    fn end(&mut self, target: &Target) {
        match target {
            Target::Whole => self.0.extend_from_slice(&[0, WHOLE]),
            Target::Member(name) => {
                self.0.extend_from_slice(&[0, MEMBER]);
                self.0.extend_from_slice(name.as_bytes());
            }
            Target::Range { offset, size } => {
                let mut tail = [0; 18];
                tail[1] = RANGE;
                tail[2..10].copy_from_slice(&offset.to_be_bytes());
                tail[10..].copy_from_slice(&size.to_be_bytes());
                self.0.extend_from_slice(&tail);
            }
        }
    }
}

impl<'a> ObjectName<&'a [u8]> {
    /// Reads back what [`ObjectName::as_bytes`] gave.
    pub fn from_bytes(bytes: &'a [u8]) -> ObjectName<&'a [u8]> {
        ObjectName(bytes)
    }
}

impl<B: AsRef<[u8]>> ObjectName<B> {
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_ref()
    }

    pub fn to_owned(&self) -> ObjectName {
        ObjectName(self.as_bytes().to_vec())
    }

    /// The file or remote object that holds the payload.
    pub fn location(&self) -> Location {
        Location::from_bytes(self.location_bytes())
    }

    /// The location as text, which allocates nothing: a path that starts with a slash, or a URL.
    pub fn location_bytes(&self) -> &[u8] {
        self.split().0
    }

    /// Which part of the location the payload is.
    pub fn target(&self) -> Target {
        let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("8 bytes were written"));
        match self.split() {
            (_, WHOLE, _) => Target::Whole,
            (_, MEMBER, name) => Target::Member(name.into()),
            (_, _, range) => Target::Range { offset: number(&range[..8]), size: number(&range[8..]) },
        }
    }

    /// Bytes of the payload, where the locator says so.
    pub fn size(&self) -> Option<u64> {
        match self.split() {
            (_, RANGE, range) => {
                Some(u64::from_be_bytes(range[8..].try_into().expect("8 bytes were written")))
            }
            _ => None,
        }
    }

    /// The same number for objects of one location that start in the same stretch of `bytes`;
    /// other objects have another one, as a rule.
    pub fn neighbourhood(&self, bytes: u64) -> u64 {
        let (location, kind, rest) = self.split();
        let stretch = match kind {
            RANGE => u64::from_be_bytes(rest[..8].try_into().expect("8 bytes were written")) / bytes,
            _ => 0,
        };
        xxh3_64_with_seed(location, stretch)
    }

    /// Whether the object is not on a file system of this machine.
    pub fn is_remote(&self) -> bool {
        self.as_bytes().first() != Some(&b'/')
    }

    /// The source that the object is reported under: scheme and host or bucket of a remote one, the
    /// folder of a local file. Without a slash at the end, except for the root.
    pub fn source(&self) -> &[u8] {
        let location = self.location_bytes();
        if self.is_remote() {
            let colon = location.iter().position(|&b| b == b':').expect("a scheme ends with a colon");
            let host = colon + "://".len();
            let length = location[host..].iter().position(|&b| b == b'/').unwrap_or(location.len() - host);
            return &location[..host + length];
        }
        let folder = location.iter().rposition(|&b| b == b'/').expect("a local path is absolute");
        &location[..folder.max(1)]
    }

    pub fn id(&self) -> ObjectId {
        ObjectId(xxh3_128(self.as_bytes()))
    }

    pub fn key(&self) -> Key {
        let mut hasher = blake3::Hasher::new();
        hasher.update(DOMAIN);
        hasher.update(self.as_bytes());
        Key(*hasher.finalize().as_bytes())
    }

    /// Location, kind and the rest of the target.
    fn split(&self) -> (&[u8], u8, &[u8]) {
        let bytes = self.as_bytes();
        // Several times the speed of a search byte by byte.
        let location = CStr::from_bytes_until_nul(bytes).expect("a NUL ends the location");
        let end = location.count_bytes();
        (&bytes[..end], bytes[end + 1], &bytes[end + 2..])
    }
}

/// As people read it: `path`, `path member` or `path [offset, +size]`.
impl<B: AsRef<[u8]>> fmt::Display for ObjectName<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = self.location();
        match self.target() {
            Target::Whole => write!(f, "{location}"),
            Target::Member(name) => write!(f, "{location} {name}"),
            Target::Range { offset, size } => write!(f, "{location} [{offset}, +{size}]"),
        }
    }
}

impl ObjectId {
    /// The first 64 bits, by which tables of many objects know one: of n objects, n^2 / 2^65 pairs
    /// share them.
    pub fn short(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The last 64 bits: a number that is as good as random, and independent of [`ObjectId::short`].
    pub fn random(self) -> u64 {
        self.0 as u64
    }
}

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn name(location: &str, target: &Target) -> ObjectName {
        ObjectName::new(location.as_bytes(), target)
    }

    #[test]
    fn objects_are_reported_under_their_host_bucket_or_folder() {
        for (location, expected) in [
            ("https://h:8080/a/b?c=/d", "https://h:8080"),
            ("s3://bucket//k/l", "s3://bucket"),
            ("foo://bar", "foo://bar"),
            ("hdfs:///a/b", "hdfs://"),
            ("/data/mint/archives/0.tar", "/data/mint/archives"),
            ("/0.tar", "/"),
            ("/", "/"),
        ] {
            assert_eq!(name(location, &Target::Whole).source(), expected.as_bytes(), "{location}");
        }
    }

    #[test]
    fn a_name_says_what_it_was_made_of() {
        let range = Target::Range { offset: 1 << 40, size: 7 };
        let remote = name("s3://b/k#1", &range);
        assert_eq!((remote.location(), remote.target()), (Location::from_bytes(b"s3://b/k#1"), range));
        assert_eq!((remote.size(), remote.is_remote()), (Some(7), true));
        assert_eq!(remote.to_string(), "s3://b/k#1 [1099511627776, +7]");
        let member = name("/a.tar", &Target::Member("m".into()));
        assert_eq!((member.to_string(), member.size(), member.is_remote()), ("/a.tar m".into(), None, false));
        assert_eq!(name("/a", &Target::Whole).to_string(), "/a");
        assert_eq!(ObjectName::from_bytes(member.as_bytes()).to_owned(), member);
    }

    #[test]
    fn neighbours_are_ranges_of_one_stretch_of_one_file() {
        let at = |location, offset| name(location, &Target::Range { offset, size: 1 }).neighbourhood(1 << 20);
        assert_eq!(at("/a", 0), at("/a", (1 << 20) - 1));
        assert_ne!(at("/a", 0), at("/a", 1 << 20));
        assert_ne!(at("/a", 0), at("/b", 0));
    }

    #[test]
    fn names_sort_by_location_then_kind_then_offset() {
        let range = |offset| Target::Range { offset, size: 1 };
        let sorted = [
            name("/a", &Target::Whole),
            name("/a", &range(255)),
            name("/a", &range(256)),
            name("/a-b", &Target::Whole),
            name("/a/b", &Target::Member("m".into())),
        ];
        assert!(sorted.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn targets_of_one_location_have_ids_of_their_own() {
        let targets = [Target::Whole, Target::Member("a".into()), Target::Range { offset: 0, size: 1 }];
        let ids: BTreeSet<ObjectId> = targets.iter().map(|target| name("/a", target).id()).collect();
        assert_eq!(ids.len(), 3);
    }

    #[test]
    fn keys_stay_what_they_are_in_caches_on_disk() {
        let range = Target::Range { offset: 512, size: 1000 };
        let keys = [Target::Whole, Target::Member("m/1.jpg".into()), range]
            .map(|target| name("/data/a.tar", &target).key().to_string());
        assert_eq!(
            keys,
            [
                "496b85d3b01cb4acbc5270081d457d31a8e567a574e42e388c3fae5755495513",
                "639c28c43054b36fbebb50156673f7f0d1db18c667c38ff320139d37d9fab9a3",
                "c8103ceca4e1b1ac8465a2750c847856862ed5aec41d6e1552272a12538c64f6",
            ]
        );
    }
}
