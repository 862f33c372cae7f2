//! The record of a reference or an object: a few numbers, in 32 bytes.
//!
//! A reference is an object with a count of one. A record with a count of zero is one more text of the
//! object.

use crate::object::ObjectId;

/// Partitions of one count. With this many, 350 million objects are counted in tables of 20 MB.
pub const PARTITIONS: usize = 512;

const PARTITION_BITS: u32 = PARTITIONS.trailing_zeros();

/// What the text of a locator means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The first bits choose the partition. Of all 128 bits the first 64 and the last 32 are compared.
    pub id: ObjectId,
    /// Where the object comes from; the same for all references to it.
    pub source: u32,
    /// Bytes of the object, if the locator has a size; the same for all references to it.
    pub size: Option<u64>,
    /// Hash of the text.
    pub text: u64,
    /// Whether the reference still has to be served.
    pub wanted: bool,
}

/// An object as it was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedObject {
    /// [`ObjectId::short`] of the object.
    pub id: u64,
    pub source: u32,
    pub size: Option<u64>,
    /// References.
    pub count: u64,
    /// Whether any of them still has to be served.
    pub wanted: bool,
}

/// What is the same for all references to an object, in 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PackedObject {
    id: u64,
    more_id: u32,
    source: u32,
    size: u64,
}

const NO_SIZE: u64 = u64::MAX;

impl PackedObject {
    #[inline]
    pub fn new(meaning: &Meaning) -> PackedObject {
        PackedObject {
            id: meaning.id.short(),
            more_id: meaning.id.0 as u32,
            source: meaning.source,
            size: meaning.size.unwrap_or(NO_SIZE),
        }
    }

    /// A reference to the object, with only the compared bits of its id.
    pub fn meaning(&self, text: u64, wanted: bool) -> Meaning {
        let id = ObjectId(u128::from(self.id) << 64 | u128::from(self.more_id));
        Meaning { id, source: self.source, size: self.size(), text, wanted }
    }

    fn size(&self) -> Option<u64> {
        (self.size != NO_SIZE).then_some(self.size)
    }
}

/// A record of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CountRecord {
    object: PackedObject,
    /// From the lowest bit: a hash of the text, whether a reference is wanted, and the number of
    /// references, up to 5 * 10^11.
    rest: u64,
}

const TEXT: u64 = (1 << 24) - 1;
const WANTED: u64 = TEXT + 1;
const COUNT_SHIFT: u32 = 25;

const BYTES: usize = size_of::<CountRecord>();

impl CountRecord {
    #[inline]
    pub fn new(meaning: &Meaning, count: u64) -> CountRecord {
        let wanted = if meaning.wanted { WANTED } else { 0 };
        let rest = count << COUNT_SHIFT | wanted | meaning.text & TEXT;
        CountRecord { object: PackedObject::new(meaning), rest }
    }

    #[inline]
    pub fn partition(&self) -> usize {
        (self.object.id >> (u64::BITS - PARTITION_BITS)) as usize
    }

    /// A hash of the object, of bits that differ within a partition.
    #[inline]
    pub fn hash(&self) -> u64 {
        hash_within_partition(self.object.id)
    }

    /// Whether the record is of the object with this id.
    #[inline]
    pub fn is_of(&self, id: ObjectId) -> bool {
        (self.object.id, self.object.more_id) == (id.short(), id.0 as u32)
    }

    #[inline]
    pub fn same_object(&self, other: &CountRecord) -> bool {
        (self.object.id, self.object.more_id) == (other.object.id, other.object.more_id)
    }

    #[inline]
    pub fn same_text(&self, other: &CountRecord) -> bool {
        (self.rest ^ other.rest) & TEXT == 0
    }

    /// Adds the references of another record of the object.
    #[inline]
    pub fn join(&mut self, other: &CountRecord) {
        self.rest += other.rest >> COUNT_SHIFT << COUNT_SHIFT;
        self.rest |= other.rest & WANTED;
    }

    /// The record without its references: only how the object is written.
    pub fn text_only(mut self) -> CountRecord {
        self.rest &= TEXT;
        self
    }

    pub fn counted(&self) -> CountedObject {
        CountedObject {
            id: self.object.id,
            source: self.object.source,
            size: self.object.size(),
            count: self.rest >> COUNT_SHIFT,
            wanted: self.rest & WANTED != 0,
        }
    }

    fn words(&self) -> [u64; 4] {
        let PackedObject { id, more_id, source, size } = self.object;
        [id, u64::from(more_id) << 32 | u64::from(source), size, self.rest]
    }
}

/// See [`CountRecord::hash`].
#[inline]
pub fn hash_within_partition(id: u64) -> u64 {
    id.rotate_left(32)
}

/// `id` with the bits that choose the partition taken from `place`, so that objects of one place
/// share a partition.
#[inline]
pub fn id_at(place: u64, id: ObjectId) -> ObjectId {
    let shift = u128::BITS - PARTITION_BITS;
    let place = u128::from(place >> (u64::BITS - PARTITION_BITS)) << shift;
    ObjectId(id.0 & ((1 << shift) - 1) | place)
}

/// The partition of an object with this id.
#[inline]
pub fn partition_of(id: ObjectId) -> usize {
    (id.short() >> (u64::BITS - PARTITION_BITS)) as usize
}

/// The records as bytes, 32 each.
pub fn to_bytes(records: &[CountRecord]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(records.len() * BYTES);
    records.iter().flat_map(CountRecord::words).for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    bytes
}

/// Reads back what [`to_bytes`] wrote.
pub fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = CountRecord> + '_ {
    bytes.as_chunks::<BYTES>().0.iter().map(|record| {
        let (words, _) = record.as_chunks::<8>();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        let object = PackedObject {
            id: word(0),
            more_id: (word(1) >> 32) as u32,
            source: word(1) as u32,
            size: word(2),
        };
        CountRecord { object, rest: word(3) }
    })
}
