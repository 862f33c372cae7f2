//! One partition: encoded references in, encoded objects out.
//!
//! The encoding is the same for both: a reference is an object with one reference.
//!
//! ```text
//! 4  length of the record, bytes       4  length of its canonical part, bytes
//! 8  references, top bit: wanted       n  record
//! ```

use hashbrown::HashTable;

use crate::corpus::object::is_better_hint;
use crate::corpus::{Object, key};

const HEADER: usize = 16;
const WANTED: u64 = 1 << 63;

/// Appends one encoded object.
pub fn encode(out: &mut Vec<u8>, record: &[u8], canonical: usize, count: u64, wanted: bool) {
    out.extend_from_slice(&(record.len() as u32).to_le_bytes());
    out.extend_from_slice(&(canonical as u32).to_le_bytes());
    out.extend_from_slice(&(count | if wanted { WANTED } else { 0 }).to_le_bytes());
    out.extend_from_slice(record);
}

/// A borrowed encoded object.
#[derive(Clone, Copy)]
struct View<'a> {
    record: &'a [u8],
    canonical: usize,
    count: u64,
    wanted: bool,
}

impl View<'_> {
    fn identity(&self) -> &[u8] {
        &self.record[..self.canonical]
    }

    fn hint(&self) -> &[u8] {
        &self.record[self.canonical..]
    }
}

fn views(mut bytes: &[u8]) -> impl Iterator<Item = View<'_>> {
    std::iter::from_fn(move || {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        let small = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("4 bytes")) as usize;
        let count = u64::from_le_bytes(header[8..].try_into().expect("8 bytes"));
        let (record, rest) = rest.split_at(small(0));
        bytes = rest;
        Some(View { record, canonical: small(4), count: count & !WANTED, wanted: count & WANTED != 0 })
    })
}

/// The objects of one partition.
pub struct Counted {
    pub encoded: Vec<u8>,
    pub objects: u64,
    pub references: u64,
}

/// Joins the encoded references of `raw` that name the same object, with the best of their hints.
pub fn count(raw: &[u8]) -> Counted {
    let mut objects: Vec<View> = Vec::new();
    let mut table: HashTable<u32> = HashTable::new();
    let mut hashes: Vec<u64> = Vec::new();
    let mut references = 0;
    for view in views(raw) {
        references += view.count;
        let hash = key::fingerprint(view.identity()) as u64;
        let found = table.find(hash, |&at| {
            hashes[at as usize] == hash && objects[at as usize].identity() == view.identity()
        });
        match found {
            Some(&at) => {
                let object = &mut objects[at as usize];
                object.count += view.count;
                object.wanted |= view.wanted;
                if is_better_hint(view.hint(), object.hint()) {
                    object.record = view.record;
                }
            }
            None => {
                let at = objects.len() as u32;
                objects.push(view);
                hashes.push(hash);
                table.insert_unique(hash, at, |&other| hashes[other as usize]);
            }
        }
    }
    let size = objects.iter().map(|o| HEADER + o.record.len()).sum();
    let mut encoded = Vec::with_capacity(size);
    for object in &objects {
        encode(&mut encoded, object.record, object.canonical, object.count, object.wanted);
    }
    Counted { encoded, objects: objects.len() as u64, references }
}

/// The objects in `encoded`.
pub fn decode(encoded: &[u8]) -> impl Iterator<Item = Object> + '_ {
    views(encoded).map(|view| Object {
        record: view.record.into(),
        canonical: view.canonical as u32,
        count: view.count,
        wanted: view.wanted,
    })
}
