//! One partition: encoded references in, encoded objects out.
//!
//! The encoding is the same for both: a reference is an object with one reference.
//!
//! ```text
//! 4  length of the canonical bytes      8  references, top bit: wanted      n  canonical bytes
//! ```

use hashbrown::HashTable;

use crate::object::{Object, ObjectName};

const HEADER: usize = 12;
const WANTED: u64 = 1 << 63;

/// Appends one encoded object.
pub fn encode(out: &mut Vec<u8>, canonical: &[u8], count: u64, wanted: bool) {
    out.extend_from_slice(&(canonical.len() as u32).to_le_bytes());
    out.extend_from_slice(&(count | if wanted { WANTED } else { 0 }).to_le_bytes());
    out.extend_from_slice(canonical);
}

/// A borrowed encoded object.
#[derive(Clone, Copy)]
struct View<'a> {
    canonical: &'a [u8],
    count: u64,
    wanted: bool,
}

fn views(mut bytes: &[u8]) -> impl Iterator<Item = View<'_>> {
    std::iter::from_fn(move || {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        let length = u32::from_le_bytes(header[..4].try_into().expect("4 bytes"));
        let count = u64::from_le_bytes(header[4..].try_into().expect("8 bytes"));
        let (canonical, rest) = rest.split_at(length as usize);
        bytes = rest;
        Some(View { canonical, count: count & !WANTED, wanted: count & WANTED != 0 })
    })
}

/// The objects of one partition.
pub struct Counted {
    pub encoded: Vec<u8>,
    pub objects: u64,
    pub references: u64,
}

/// Joins the encoded references of `raw` that name the same object.
pub fn count(raw: &[u8]) -> Counted {
    let mut objects: Vec<View> = Vec::new();
    let mut table: HashTable<u32> = HashTable::new();
    let mut hashes: Vec<u64> = Vec::new();
    let mut references = 0;
    for view in views(raw) {
        references += view.count;
        let hash = xxhash_rust::xxh3::xxh3_64(view.canonical);
        let found = table.find(hash, |&at| {
            hashes[at as usize] == hash && objects[at as usize].canonical == view.canonical
        });
        match found {
            Some(&at) => {
                let object = &mut objects[at as usize];
                object.count += view.count;
                object.wanted |= view.wanted;
            }
            None => {
                let at = objects.len() as u32;
                objects.push(view);
                hashes.push(hash);
                table.insert_unique(hash, at, |&other| hashes[other as usize]);
            }
        }
    }
    let size = objects.iter().map(|o| HEADER + o.canonical.len()).sum();
    let mut encoded = Vec::with_capacity(size);
    for object in &objects {
        encode(&mut encoded, object.canonical, object.count, object.wanted);
    }
    Counted { encoded, objects: objects.len() as u64, references }
}

/// The objects in `encoded`.
pub fn decode(encoded: &[u8]) -> impl Iterator<Item = Object> + '_ {
    views(encoded).map(|View { canonical, count, wanted }| Object {
        name: ObjectName::from_bytes(canonical).to_owned(),
        count,
        wanted,
    })
}
