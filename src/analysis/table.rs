//! The multiplicity table: how many objects of a corpus have which multiplicity and size.
//!
//! Objects of equal multiplicity and size share a row: a web corpus has several times fewer rows than
//! objects. Rows ascend by multiplicity, then by size, unknown sizes last. Sums are integers, so nothing
//! depends on the order of the objects or on how threads shared them.

use std::collections::BTreeMap;
use std::mem;

/// A word holds the multiplicity above and the size below this bit.
const SIZE_BITS: u32 = 40;

/// The size field of an object of unknown size, and one more than the largest that fits.
const UNKNOWN: u64 = (1 << SIZE_BITS) - 1;

/// Objects that are collected before they are sorted, at least; 8 bytes each.
const COLLECTED: usize = 1 << 20;

/// Objects with the same multiplicity and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// References to each, at least 1.
    pub k: u64,
    /// Bytes of each, where known or assumed.
    pub size: Option<u64>,
    pub objects: u64,
}

/// The objects of a corpus by multiplicity and size.
#[derive(Clone, Default)]
pub struct MultiplicityTable {
    /// Word and number of objects, ascending by word.
    rows: Vec<(u64, u64)>,
    /// Words of objects, and rows, that are not in `rows` yet.
    collected: Vec<u64>,
    unsorted: Vec<(u64, u64)>,
    /// Rows whose numbers do not fit a word.
    wide: BTreeMap<(u64, Option<u64>), u64>,
    known: Tallied,
    unknown: Tallied,
    /// Bytes of an object of unknown size.
    assumed: Option<u64>,
}

/// The space of a set of objects in a cache, and its hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectSums {
    pub objects: u64,
    pub bytes: u128,
    /// References beyond the first of each.
    pub hits: u64,
    /// Bytes of these references. Saturates.
    pub hit_bytes: u128,
}

/// Sums over a whole table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableTotals {
    pub references: u64,
    pub objects: u64,
    /// Objects of unknown size: of the assumed size, or left out of every admission.
    pub unsized_objects: u64,
    /// Bytes of the objects of known or assumed size.
    pub unique_bytes: u128,
    /// Bytes of the references to them.
    pub reference_bytes: u128,
    /// Bytes of the largest of them; 0 without any.
    pub largest_bytes: u64,
    /// Those of them that are referenced more than once. Its `bytes` are the smallest cache that
    /// gives every hit.
    pub recurring: ObjectSums,
}

#[derive(Clone, Copy, Default)]
struct Tallied {
    objects: u64,
    bytes: u128,
    largest: u64,
    recurring: ObjectSums,
}

impl MultiplicityTable {
    /// Adds an object with `k >= 1` references, `size` in bytes.
    #[inline]
    pub fn push(&mut self, k: u64, size: Option<u64>) {
        self.tally(k, size, 1);
        match word(k, size) {
            Some(word) => self.collect(word),
            None => *self.wide.entry((k, size)).or_default() += 1,
        }
    }

    /// Adds objects, each by its references and its size in bytes.
    pub fn extend(&mut self, objects: impl Iterator<Item = (u64, Option<u64>)>) {
        objects.for_each(|(k, size)| self.push(k, size));
    }

    /// Adds some objects.
    pub fn push_row(&mut self, row: TableRow) {
        let TableRow { k, size, objects } = row;
        self.tally(k, size, objects);
        match word(k, size) {
            Some(word) => self.unsorted.push((word, objects)),
            None => *self.wide.entry((k, size)).or_default() += objects,
        }
    }

    /// Adds the objects of `other`. What this table assumes stays.
    pub fn append(&mut self, mut other: MultiplicityTable) {
        self.settle();
        other.settle();
        merge(&mut self.rows, &other.rows);
        other.wide.into_iter().for_each(|(row, objects)| *self.wide.entry(row).or_default() += objects);
        self.known.merge(&other.known);
        self.unknown.merge(&other.unknown);
    }

    /// Sorts what was pushed. A table is read only after that.
    pub fn settle(&mut self) {
        if !self.unsorted.is_empty() {
            self.unsorted.sort_unstable();
            merge(&mut self.rows, &mem::take(&mut self.unsorted));
        }
        if !self.collected.is_empty() {
            self.collected.sort_unstable();
            let runs = self.collected.chunk_by(|a, b| a == b);
            let new: Vec<(u64, u64)> = runs.map(|run| (run[0], run.len() as u64)).collect();
            merge(&mut self.rows, &new);
            self.collected = Vec::new();
        }
    }

    /// Sets the size of objects whose size is unknown, in bytes.
    pub fn assume(&mut self, size: u64) {
        self.assumed = Some(size);
    }

    /// The size assumed for objects of unknown size.
    pub fn assumed(&self) -> Option<u64> {
        self.assumed
    }

    /// All rows, sizes as pushed or assumed.
    pub fn rows(&self) -> impl Iterator<Item = TableRow> {
        debug_assert!(self.collected.is_empty() && self.unsorted.is_empty(), "the table is settled");
        let words = self.rows.iter().map(|&(word, objects)| {
            let size = word & UNKNOWN;
            TableRow { k: word >> SIZE_BITS, size: (size != UNKNOWN).then_some(size), objects }
        });
        let wide = self.wide.iter().map(|(&(k, size), &objects)| TableRow { k, size, objects });
        words.chain(wide).map(|row| TableRow { size: row.size.or(self.assumed), ..row })
    }

    /// Multiplicity, size and number of the objects that a cache may be worth: of known or assumed
    /// size, referenced more than once.
    #[inline]
    pub fn recurring(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let rows = self.rows().filter(|row| row.k > 1);
        rows.filter_map(|row| Some((row.k, row.size?, row.objects)))
    }

    pub fn totals(&self) -> TableTotals {
        let mut sized = self.known;
        if let Some(size) = self.assumed {
            sized.merge(&self.unknown.of_size(size));
        }
        let references = |tallied: &Tallied| tallied.objects + tallied.recurring.hits;
        TableTotals {
            references: references(&self.known) + references(&self.unknown),
            objects: self.known.objects + self.unknown.objects,
            unsized_objects: self.unknown.objects,
            unique_bytes: sized.bytes,
            reference_bytes: sized.bytes.saturating_add(sized.recurring.hit_bytes),
            largest_bytes: sized.largest,
            recurring: sized.recurring,
        }
    }

    #[inline]
    fn collect(&mut self, word: u64) {
        if self.collected.len() == self.collected.capacity() {
            // A share of the rows that there are, so that each row is moved a few times only.
            self.settle();
            self.collected.reserve_exact(COLLECTED.max(self.rows.len() / 2));
        }
        self.collected.push(word);
    }

    fn tally(&mut self, k: u64, size: Option<u64>, objects: u64) {
        debug_assert!(k >= 1, "an object has at least one reference");
        let tallied = if size.is_some() { &mut self.known } else { &mut self.unknown };
        tallied.add(k, size.unwrap_or(0), objects);
    }
}

/// `None`: the numbers do not fit.
#[inline]
fn word(k: u64, size: Option<u64>) -> Option<u64> {
    let fits = k >> (64 - SIZE_BITS) == 0 && size.is_none_or(|size| size < UNKNOWN);
    fits.then(|| k << SIZE_BITS | size.unwrap_or(UNKNOWN))
}

/// Adds rows to others; both ascend, and `more` may have several of one word. Works from the end, so
/// that no copy is needed.
fn merge(rows: &mut Vec<(u64, u64)>, more: &[(u64, u64)]) {
    let (mut left, mut right) = (rows.len(), more.len());
    // No more than is needed, where growing by itself would double the memory.
    rows.reserve_exact(right);
    rows.resize(left + right, (0, 0));
    let mut end = rows.len();
    while right > 0 {
        end -= 1;
        let word = more[right - 1].0;
        if left > 0 && rows[left - 1].0 > word {
            rows[end] = rows[left - 1];
            left -= 1;
            continue;
        }
        let mut objects = 0;
        if left > 0 && rows[left - 1].0 == word {
            objects += rows[left - 1].1;
            left -= 1;
        }
        while right > 0 && more[right - 1].0 == word {
            objects += more[right - 1].1;
            right -= 1;
        }
        rows[end] = (word, objects);
    }
    rows.drain(left..end);
}

impl ObjectSums {
    /// Those of some objects of the same multiplicity and size.
    #[inline]
    pub fn new(k: u64, size: u64, objects: u64) -> ObjectSums {
        let (hits, bytes) = ((k - 1) * objects, u128::from(size) * u128::from(objects));
        ObjectSums { objects, bytes, hits, hit_bytes: bytes.saturating_mul(u128::from(k - 1)) }
    }

    #[inline]
    pub fn add(&mut self, other: &ObjectSums) {
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

impl Tallied {
    #[inline]
    fn add(&mut self, k: u64, size: u64, objects: u64) {
        self.objects += objects;
        self.bytes += u128::from(size) * u128::from(objects);
        self.largest = self.largest.max(size);
        if k > 1 {
            self.recurring.add(&ObjectSums::new(k, size, objects));
        }
    }

    fn merge(&mut self, other: &Tallied) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.largest = self.largest.max(other.largest);
        self.recurring.add(&other.recurring);
    }

    /// The same objects, if each had this size.
    fn of_size(&self, size: u64) -> Tallied {
        let bytes = |count: u64| u128::from(count) * u128::from(size);
        let (objects, hits) = (self.recurring.objects, self.recurring.hits);
        let recurring = ObjectSums { bytes: bytes(objects), hit_bytes: bytes(hits), ..self.recurring };
        let largest = if self.objects > 0 { size } else { 0 };
        Tallied { objects: self.objects, bytes: bytes(self.objects), largest, recurring }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples::table;
    use super::*;

    fn row(k: u64, size: Option<u64>, objects: u64) -> TableRow {
        TableRow { k, size, objects }
    }

    #[test]
    fn numbers_of_any_width_come_back() {
        let edges = |at: u64, last| [1, at - 1, at, at + 1, last];
        let sizes = edges(UNKNOWN, u64::MAX).into_iter().chain([0]).map(Some).chain([None]);
        let objects: Vec<_> = sizes.flat_map(|size| edges(1 << 24, 1 << 55).map(|k| (k, size))).collect();
        let mut found = table(&objects[..9]);
        found.append(table(&objects[9..]));
        let mut rows: Vec<_> = found.rows().collect();
        rows.sort_unstable_by_key(|row| (row.k, row.size));
        let mut expected: Vec<_> = objects.iter().map(|&(k, size)| row(k, size, 1)).collect();
        expected.sort_unstable_by_key(|row| (row.k, row.size));
        assert_eq!(rows, expected);
    }

    #[test]
    fn objects_of_unknown_size_are_counted_apart_until_a_size_is_assumed() {
        let mut found = table(&[(3, Some(10)), (1, Some(5)), (4, None), (1, None)]);
        let sums = |objects, bytes, hits, hit_bytes| ObjectSums { objects, bytes, hits, hit_bytes };
        let totals = TableTotals {
            references: 9,
            objects: 4,
            unsized_objects: 2,
            unique_bytes: 15,
            reference_bytes: 35,
            largest_bytes: 10,
            recurring: sums(1, 10, 2, 20),
        };
        assert_eq!(found.totals(), totals);
        assert_eq!(found.recurring().collect::<Vec<_>>(), [(3, 10, 1)]);
        found.assume(7);
        let recurring = sums(2, 17, 5, 41);
        assert_eq!(
            found.totals(),
            TableTotals { unique_bytes: 29, reference_bytes: 70, recurring, ..totals }
        );
        assert_eq!(found.recurring().collect::<Vec<_>>(), [(3, 10, 1), (4, 7, 1)]);
        assert_eq!(found.histogram().sized_objects(), 4);
    }

    #[test]
    fn an_empty_table_has_nothing() {
        let empty = MultiplicityTable::default();
        assert!(empty.rows().next().is_none());
        assert_eq!(empty.totals(), TableTotals::default());
    }

    #[test]
    fn objects_past_those_that_are_collected_are_in_the_table() {
        let mut found = MultiplicityTable::default();
        let all = 2 * COLLECTED as u64 + 7;
        (0..all).for_each(|n| found.push(1 + n % 3, Some(n % 2)));
        found.settle();
        let rows: Vec<_> = found.rows().collect();
        assert_eq!(rows.len(), 6);
        assert_eq!(rows.iter().map(|row| row.objects).sum::<u64>(), all);
    }

    proptest! {
        #[test]
        fn a_table_depends_neither_on_order_nor_on_division(
            objects in prop::collection::vec((1u64..9, prop::option::of(0u64..9)), 0..60),
            assumed in prop::option::of(0u64..99),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut whole = table(&objects);
            let (first, second) = objects.split_at(cut.index(objects.len() + 1));
            let mut merged = table(second);
            merged.append(table(first));
            let mut by_row = MultiplicityTable::default();
            objects.iter().rev().for_each(|&(k, size)| by_row.push_row(row(k, size, 1)));
            by_row.settle();
            if let Some(size) = assumed {
                [&mut whole, &mut merged, &mut by_row].into_iter().for_each(|table| table.assume(size));
            }
            for other in [&merged, &by_row] {
                prop_assert_eq!(other.rows().collect::<Vec<_>>(), whole.rows().collect::<Vec<_>>());
                prop_assert_eq!(other.totals(), whole.totals());
            }
            let (totals, histogram) = (whole.totals(), whole.histogram());
            prop_assert_eq!((totals.references, totals.objects), (histogram.references(), histogram.objects()));
            prop_assert_eq!(totals.unique_bytes, histogram.unique_bytes());
            prop_assert_eq!(totals.reference_bytes, histogram.reference_bytes());
            let mut recurring = ObjectSums::default();
            whole.recurring().for_each(|(k, size, n)| recurring.add(&ObjectSums::new(k, size, n)));
            prop_assert_eq!(recurring, totals.recurring);
        }
    }
}
