//! One object of a partition, or one reference to it, in 32 bytes.
//!
//! A reference is an object with one reference. An object with none says that the object is
//! written in one more way.

use crate::object::ObjectId;

/// Partitions of one count. With this many, 350 million objects are counted in tables of 20 MB.
pub const PARTITIONS: usize = 512;

/// A reference as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Of its 128 bits 96 are compared.
    pub id: ObjectId,
    /// Where the object comes from; the same for all references to it.
    pub source: u32,
    /// Bytes of the object, where the locator says it; the same for all references to it.
    pub size: Option<u64>,
    /// Hash of the text of the locator.
    pub spelling: u64,
    /// Whether the text wants one page of the object.
    pub framed: bool,
}

/// An object as it was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The first 64 bits of the digest.
    pub digest: u64,
    pub source: u32,
    pub size: Option<u64>,
    /// References.
    pub count: u64,
}

/// What is the same for all references to an object, in 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Packed {
    digest: u64,
    more_digest: u32,
    source: u32,
    size: u64,
}

const NO_SIZE: u64 = u64::MAX;

impl Packed {
    #[inline]
    pub fn of(named: &Named) -> Packed {
        Packed {
            digest: named.id.short(),
            more_digest: named.id.0 as u32,
            source: named.source,
            size: named.size.unwrap_or(NO_SIZE),
        }
    }

    /// A reference to the object; of its id only what is compared.
    pub fn named(&self, spelling: u64, framed: bool) -> Named {
        let id = ObjectId(u128::from(self.digest) << 64 | u128::from(self.more_digest));
        Named { id, source: self.source, size: self.size(), spelling, framed }
    }

    fn size(&self) -> Option<u64> {
        (self.size != NO_SIZE).then_some(self.size)
    }
}

/// A record of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Record {
    object: Packed,
    count_and_spelling: u64,
}

/// Bits of the last word that tell spellings apart; the others count, to 10^12.
const SPELLING_BITS: u32 = 24;
const ONE: u64 = 1 << SPELLING_BITS;

const BYTES: usize = size_of::<Record>();

impl Record {
    #[inline]
    pub fn of(named: &Named, count: u64) -> Record {
        Record {
            object: Packed::of(named),
            count_and_spelling: count << SPELLING_BITS | named.spelling & (ONE - 1),
        }
    }

    #[inline]
    pub fn partition(&self) -> usize {
        (self.object.digest >> (64 - PARTITIONS.trailing_zeros())) as usize
    }

    /// A hash of the object, of bits that differ within a partition.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.object.digest.rotate_left(32)
    }

    #[inline]
    pub fn same_object(&self, other: &Record) -> bool {
        self.object.digest == other.object.digest && self.object.more_digest == other.object.more_digest
    }

    #[inline]
    pub fn same_spelling(&self, other: &Record) -> bool {
        (self.count_and_spelling ^ other.count_and_spelling) & (ONE - 1) == 0
    }

    /// Adds the references of another record of the object.
    #[inline]
    pub fn join(&mut self, other: &Record) {
        self.count_and_spelling += other.count_and_spelling & !(ONE - 1);
    }

    /// The record without its references: only how the object is written.
    pub fn spelling_only(mut self) -> Record {
        self.count_and_spelling &= ONE - 1;
        self
    }

    pub fn counted(&self) -> Counted {
        Counted {
            digest: self.object.digest,
            source: self.object.source,
            size: self.object.size(),
            count: self.count_and_spelling >> SPELLING_BITS,
        }
    }

    fn words(&self) -> [u64; 4] {
        let Packed { digest, more_digest, source, size } = self.object;
        let second = u64::from(more_digest) << 32 | u64::from(source);
        [digest, second, size, self.count_and_spelling]
    }
}

/// The records as bytes, 32 each.
pub fn to_bytes(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(records.len() * BYTES);
    records.iter().flat_map(Record::words).for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    bytes
}

/// Reads back what [`to_bytes`] wrote.
pub fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = Record> + '_ {
    bytes.as_chunks::<BYTES>().0.iter().map(|record| {
        let (words, _) = record.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        let object = Packed {
            digest: word(0),
            more_digest: (word(1) >> 32) as u32,
            source: word(1) as u32,
            size: word(2),
        };
        Record { object, count_and_spelling: word(3) }
    })
}
