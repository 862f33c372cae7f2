//! The multiplicity table in memory: digest, multiplicity and size of every object of a corpus.
//!
//! 16 bytes an object, in blocks, so that a table grows without copying and tables of several
//! threads are joined by moving their blocks. Objects that are referenced once lie apart, since
//! admission passes over all others several times. Beyond that their order means nothing: all that
//! is computed from a table is the same for any order of it.

use super::Summary;

/// Objects in a block, a megabyte.
const BLOCK: usize = 1 << 16;

/// A word holds the multiplicity above and the size below this bit.
const SIZE_BITS: u32 = 40;

/// The size field of an object whose size nobody says, and one more than the largest in place.
const UNKNOWN: u64 = (1 << SIZE_BITS) - 1;

/// The multiplicity field of an object whose numbers do not fit; its size field is its place in
/// the block's list of such objects.
const WIDE: u64 = 0;

/// One object of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// The first 64 bits of the digest of its key.
    pub digest: u64,
    /// References to it, at least 1.
    pub k: u64,
    /// Bytes, where they are known or assumed.
    pub size: Option<u64>,
}

/// The objects of a corpus, each once.
#[derive(Clone, Default)]
pub struct Objects {
    /// Objects that are referenced once.
    single: Vec<Block>,
    recurring: Vec<Block>,
    known: Tally,
    unknown: Tally,
    /// Bytes of an object of unknown size.
    assumed: Option<u64>,
}

/// What a set of objects takes in a cache, and what it gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub objects: u64,
    pub bytes: u128,
    /// References beyond the first of each.
    pub hits: u64,
    /// Bytes of these references. Saturates.
    pub hit_bytes: u128,
}

/// Sums over a whole table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub references: u64,
    pub objects: u64,
    /// Objects whose size nobody says: of the assumed size, or left out of every admission.
    pub unsized_objects: u64,
    pub unsized_references: u64,
    /// Bytes of the objects of known or assumed size.
    pub unique_bytes: u128,
    /// Bytes of the references to them.
    pub reference_bytes: u128,
    /// Bytes of the largest of them; 0 without any.
    pub largest_bytes: u64,
    /// Those of them that are referenced more than once. Its `bytes` are the smallest cache that
    /// gives every hit.
    pub recurring: Sums,
}

#[derive(Clone, Default)]
struct Block {
    objects: Vec<Packed>,
    wide: Vec<(u64, Option<u64>)>,
}

#[derive(Clone, Copy)]
struct Packed {
    digest: u64,
    word: u64,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    objects: u64,
    bytes: u128,
    largest: u64,
    recurring: Sums,
}

impl Objects {
    /// Adds an object with `k >= 1` references, `size` in bytes. Its digest is in no other one.
    pub fn push(&mut self, digest: u64, k: u64, size: Option<u64>) {
        debug_assert!(k >= 1, "an object has at least one reference");
        let blocks = if k > 1 { &mut self.recurring } else { &mut self.single };
        if blocks.last().is_none_or(|block| block.objects.len() == BLOCK) {
            blocks.push(Block::default());
        }
        blocks.last_mut().expect("one was pushed").push(digest, k, size);
        let tally = if size.is_some() { &mut self.known } else { &mut self.unknown };
        tally.add(k, size.unwrap_or(0));
    }

    /// Takes the objects of `other`, none of which is in this table. What this table assumes
    /// stays.
    pub fn append(&mut self, mut other: Objects) {
        self.single.append(&mut other.single);
        self.recurring.append(&mut other.recurring);
        self.known.merge(&other.known);
        self.unknown.merge(&other.unknown);
    }

    /// From now on objects of unknown size have this one, in bytes.
    pub fn assume(&mut self, size: u64) {
        self.assumed = Some(size);
    }

    /// The size that objects of unknown size are taken to have.
    pub fn assumed(&self) -> Option<u64> {
        self.assumed
    }

    /// All objects, sizes as pushed or assumed.
    pub fn iter(&self) -> impl Iterator<Item = Object> {
        unpacked(&self.single, self.assumed).chain(self.unpacked_recurring())
    }

    /// Digest, multiplicity and size of the objects that a cache may be worth: of known or assumed
    /// size, referenced more than once.
    pub fn recurring(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.unpacked_recurring().filter_map(|object| Some((object.digest, object.k, object.size?)))
    }

    pub fn totals(&self) -> Totals {
        let mut sized = self.known;
        if let Some(size) = self.assumed {
            sized.merge(&self.unknown.of_size(size));
        }
        let references = |tally: &Tally| tally.objects + tally.recurring.hits;
        Totals {
            references: references(&self.known) + references(&self.unknown),
            objects: self.known.objects + self.unknown.objects,
            unsized_objects: self.unknown.objects,
            unsized_references: references(&self.unknown),
            unique_bytes: sized.bytes,
            reference_bytes: sized.bytes.saturating_add(sized.recurring.hit_bytes),
            largest_bytes: sized.largest,
            recurring: sized.recurring,
        }
    }

    /// The fold of these objects, assumed sizes taken for known ones.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        self.iter().for_each(|object| summary.add(object.k, object.size));
        summary
    }

    fn unpacked_recurring(&self) -> impl Iterator<Item = Object> {
        unpacked(&self.recurring, self.assumed)
    }
}

fn unpacked(blocks: &[Block], assumed: Option<u64>) -> impl Iterator<Item = Object> {
    blocks.iter().flat_map(move |block| {
        block.objects.iter().map(move |packed| {
            let object = block.object(packed);
            Object { size: object.size.or(assumed), ..object }
        })
    })
}

impl Block {
    fn push(&mut self, digest: u64, k: u64, size: Option<u64>) {
        let fits = k >> (64 - SIZE_BITS) == 0 && size.is_none_or(|size| size < UNKNOWN);
        let word = if fits {
            k << SIZE_BITS | size.unwrap_or(UNKNOWN)
        } else {
            self.wide.push((k, size));
            WIDE << SIZE_BITS | (self.wide.len() - 1) as u64
        };
        self.objects.push(Packed { digest, word });
    }

    #[inline]
    fn object(&self, &Packed { digest, word }: &Packed) -> Object {
        let (k, size) = match (word >> SIZE_BITS, word & UNKNOWN) {
            (WIDE, place) => self.wide[place as usize],
            (k, UNKNOWN) => (k, None),
            (k, size) => (k, Some(size)),
        };
        Object { digest, k, size }
    }
}

impl Sums {
    /// Those of one object.
    #[inline]
    pub fn of(k: u64, size: u64) -> Sums {
        let hit_bytes = u128::from(k - 1) * u128::from(size);
        Sums { objects: 1, bytes: size.into(), hits: k - 1, hit_bytes }
    }

    #[inline]
    pub fn add(&mut self, other: &Sums) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.hits += other.hits;
        self.hit_bytes = self.hit_bytes.saturating_add(other.hit_bytes);
    }

    /// The bytes when each object takes `overhead` bytes beside its own.
    #[inline]
    pub fn with_overhead(&self, overhead: u64) -> u128 {
        self.bytes + u128::from(self.objects) * u128::from(overhead)
    }
}

impl Tally {
    fn add(&mut self, k: u64, size: u64) {
        self.objects += 1;
        self.bytes += u128::from(size);
        self.largest = self.largest.max(size);
        if k > 1 {
            self.recurring.add(&Sums::of(k, size));
        }
    }

    fn merge(&mut self, other: &Tally) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.largest = self.largest.max(other.largest);
        self.recurring.add(&other.recurring);
    }

    /// The same objects, if each had this size.
    fn of_size(&self, size: u64) -> Tally {
        let bytes = |count: u64| u128::from(count) * u128::from(size);
        let recurring = Sums {
            bytes: bytes(self.recurring.objects),
            hit_bytes: bytes(self.recurring.hits),
            ..self.recurring
        };
        let largest = if self.objects > 0 { size } else { 0 };
        Tally { objects: self.objects, bytes: bytes(self.objects), largest, recurring }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(objects: &[(u64, u64, Option<u64>)]) -> Objects {
        let mut table = Objects::default();
        objects.iter().for_each(|&(digest, k, size)| table.push(digest, k, size));
        table
    }

    #[test]
    fn an_object_takes_16_bytes() {
        assert_eq!(size_of::<Packed>(), 16);
    }

    #[test]
    fn numbers_of_any_width_come_back() {
        let edges = |at: u64, last| [1, at - 1, at, at + 1, last];
        let sizes = edges(UNKNOWN, u64::MAX).into_iter().chain([0]).map(Some).chain([None]);
        let object = |size: Option<u64>| edges(1 << 24, 1 << 55).map(|k| (k ^ size.unwrap_or(7), k, size));
        let mut objects: Vec<_> = sizes.flat_map(object).collect();
        objects.sort_unstable();
        let mut found = table(&objects[..9]);
        found.append(table(&objects[9..]));
        let mut found: Vec<_> = found.iter().map(|object| (object.digest, object.k, object.size)).collect();
        found.sort_unstable();
        assert_eq!(found, objects);
    }

    #[test]
    fn objects_of_unknown_size_are_counted_apart_until_a_size_is_assumed() {
        let mut found = table(&[(1, 3, Some(10)), (2, 1, Some(5)), (3, 4, None), (4, 1, None)]);
        let sums = |objects, bytes, hits, hit_bytes| Sums { objects, bytes, hits, hit_bytes };
        let totals = Totals {
            references: 9,
            objects: 4,
            unsized_objects: 2,
            unsized_references: 5,
            unique_bytes: 15,
            reference_bytes: 35,
            largest_bytes: 10,
            recurring: sums(1, 10, 2, 20),
        };
        assert_eq!(found.totals(), totals);
        assert_eq!(found.recurring().collect::<Vec<_>>(), [(1, 3, 10)]);
        found.assume(7);
        let recurring = sums(2, 17, 5, 41);
        assert_eq!(found.totals(), Totals { unique_bytes: 29, reference_bytes: 70, recurring, ..totals });
        assert_eq!(found.recurring().collect::<Vec<_>>(), [(1, 3, 10), (3, 4, 7)]);
        assert_eq!(found.summary().sized_objects(), 4);
    }

    #[test]
    fn an_empty_table_has_nothing() {
        let empty = Objects::default();
        assert!(empty.iter().next().is_none());
        assert_eq!(empty.totals(), Totals::default());
    }

    proptest! {
        #[test]
        fn totals_are_those_of_the_summary(
            objects in prop::collection::vec((1u64..9, prop::option::of(0u64..99)), 0..40),
            assumed in prop::option::of(0u64..99),
        ) {
            let mut found = Objects::default();
            (0..).zip(&objects).for_each(|(digest, &(k, size))| found.push(digest, k, size));
            if let Some(size) = assumed {
                found.assume(size);
            }
            let (totals, summary) = (found.totals(), found.summary());
            prop_assert_eq!((totals.references, totals.objects), (summary.references(), summary.objects()));
            prop_assert_eq!(totals.unique_bytes, summary.unique_bytes());
            prop_assert_eq!(totals.reference_bytes, summary.reference_bytes());
            prop_assert_eq!(found.iter().count() as u64, totals.objects);
            prop_assert_eq!(found.iter().filter_map(|object| object.size).max().unwrap_or(0), totals.largest_bytes);
            let mut recurring = Sums::default();
            found.recurring().for_each(|(_, k, size)| recurring.add(&Sums::of(k, size)));
            prop_assert_eq!(recurring, totals.recurring);
        }
    }
}
