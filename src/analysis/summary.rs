//! The additive fold over the objects of a corpus from which a report is made.
//!
//! It holds sums of integers only, so that the result depends neither on the order of the objects
//! nor on how they were divided among several summaries. Its size is constant, about half a
//! megabyte, but for one entry per distinct multiplicity from 4,096 on: fold with one summary per
//! thread, not with one per lot of objects.

use std::collections::BTreeMap;

use super::budget::{Admitted, Densities};

/// Multiplicities below this have their cell in an array. In a web-scale corpus all have.
const DENSE: usize = 4096;

/// What is known of all objects seen so far.
#[derive(Clone)]
pub struct Summary {
    /// By multiplicity.
    dense: Box<[Cell]>,
    beyond: BTreeMap<u64, Cell>,
    densities: Densities,
    /// Sum of the squared sizes, bytes².
    squares: u128,
}

/// The objects of one multiplicity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// References to each, at least 1.
    pub k: u64,
    pub objects: u64,
    /// Those of known size.
    pub sized_objects: u64,
    /// Sum of the known sizes. Exact whatever the sizes are, hence wider than one of them.
    pub bytes: u128,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    objects: u64,
    sized_objects: u64,
    bytes: u128,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary {
            dense: vec![Cell::default(); DENSE].into(),
            beyond: BTreeMap::new(),
            densities: Densities::default(),
            squares: 0,
        }
    }
}

impl Summary {
    /// Counts an object with `k >= 1` references; `size` in bytes, where it is known.
    #[inline]
    pub fn add(&mut self, k: u64, size: Option<u64>) {
        debug_assert!(k >= 1, "an object has at least one reference");
        let dense = usize::try_from(k).ok().and_then(|k| self.dense.get_mut(k));
        let cell = match dense {
            Some(cell) => cell,
            None => self.beyond.entry(k).or_default(),
        };
        cell.objects += 1;
        let Some(size) = size else { return };
        cell.sized_objects += 1;
        cell.bytes += u128::from(size);
        self.squares = self.squares.saturating_add(u128::from(size) * u128::from(size));
        self.densities.add(k, size);
    }

    /// Takes in the objects of `other`, none of which this summary has seen.
    pub fn merge(&mut self, other: &Summary) {
        for (cell, more) in self.dense.iter_mut().zip(&other.dense) {
            cell.merge(more);
        }
        for (&k, more) in &other.beyond {
            self.beyond.entry(k).or_default().merge(more);
        }
        self.densities.merge(&other.densities);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The multiplicities that occur, ascending.
    pub fn histogram(&self) -> Vec<Class> {
        self.classes().collect()
    }

    pub fn references(&self) -> u64 {
        self.classes().map(|class| class.k * class.objects).sum()
    }

    pub fn objects(&self) -> u64 {
        self.classes().map(|class| class.objects).sum()
    }

    /// References beyond the first of each object: what an unbounded cache serves.
    pub fn duplicates(&self) -> u64 {
        self.references() - self.objects()
    }

    /// Objects that are referenced once.
    pub fn singletons(&self) -> u64 {
        self.dense[1].objects
    }

    /// 0 without objects.
    pub fn max_multiplicity(&self) -> u64 {
        self.classes().last().map_or(0, |class| class.k)
    }

    /// The lower median: that of the object with number ⌈n/2⌉ of n, ascending. 0 without objects.
    pub fn median_multiplicity(&self) -> u64 {
        let below = self.objects().div_ceil(2);
        let mut seen = 0;
        let mut reached = self.classes().skip_while(|class| {
            seen += class.objects;
            seen < below
        });
        reached.next().map_or(0, |class| class.k)
    }

    /// Objects of known size.
    pub fn sized_objects(&self) -> u64 {
        self.classes().map(|class| class.sized_objects).sum()
    }

    /// References to objects of known size.
    pub fn sized_references(&self) -> u64 {
        self.classes().map(|class| class.k * class.sized_objects).sum()
    }

    /// Bytes of the objects of known size.
    pub fn unique_bytes(&self) -> u128 {
        self.classes().map(|class| class.bytes).sum()
    }

    /// Bytes of the references to objects of known size. Saturates.
    pub fn reference_bytes(&self) -> u128 {
        let bytes = self.classes().map(|class| class.bytes.saturating_mul(class.k.into()));
        bytes.fold(0, u128::saturating_add)
    }

    /// The hit rate of an unbounded cache, 1 - objects/references. 0 without references.
    pub fn ceiling(&self) -> f64 {
        ratio(self.duplicates().into(), self.references().into()).unwrap_or(0.0)
    }

    /// The byte hit rate of an unbounded cache, over the objects of known size; `None` where no
    /// byte is known.
    pub fn byte_ceiling(&self) -> Option<f64> {
        let all = self.reference_bytes();
        ratio(all - self.unique_bytes(), all)
    }

    /// What the best fixed choice of objects reaches in a cache of `budget_bytes`: the static
    /// oracle by value density, over the objects of known size.
    pub fn admitted(&self, budget_bytes: u64) -> Admitted {
        self.densities.admitted(budget_bytes)
    }

    /// Sum of the squares of the known sizes, bytes²: the variance of an estimate of bytes.
    pub fn squared_bytes(&self) -> f64 {
        self.squares as f64
    }

    fn classes(&self) -> impl Iterator<Item = Class> {
        let dense = (0..).zip(&self.dense);
        let beyond = self.beyond.iter().map(|(&k, cell)| (k, cell));
        dense.chain(beyond).filter(|(_, cell)| cell.objects > 0).map(|(k, cell)| Class {
            k,
            objects: cell.objects,
            sized_objects: cell.sized_objects,
            bytes: cell.bytes,
        })
    }
}

impl Cell {
    fn merge(&mut self, other: &Cell) {
        self.objects += other.objects;
        self.sized_objects += other.sized_objects;
        self.bytes += other.bytes;
    }
}

fn ratio(part: u128, whole: u128) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples::summary;
    use super::*;

    #[test]
    fn a_corpus_without_objects_has_only_zeros() {
        let empty = Summary::default();
        assert_eq!((empty.references(), empty.objects(), empty.duplicates()), (0, 0, 0));
        assert_eq!((empty.max_multiplicity(), empty.median_multiplicity()), (0, 0));
        assert_eq!((empty.ceiling(), empty.byte_ceiling()), (0.0, None));
        assert!(empty.histogram().is_empty());
    }

    #[test]
    fn every_figure_is_as_counted_by_hand() {
        let found =
            summary(&[(1, Some(10)), (3, Some(20)), (3, None), (5000, Some(1)), (1, None), (2, Some(0))]);
        assert_eq!((found.references(), found.objects(), found.duplicates()), (5010, 6, 5004));
        assert_eq!((found.singletons(), found.max_multiplicity()), (2, 5000));
        assert_eq!(found.median_multiplicity(), 2);
        assert_eq!((found.sized_objects(), found.sized_references()), (4, 5006));
        assert_eq!((found.unique_bytes(), found.reference_bytes()), (31, 5070));
        assert_eq!((found.ceiling(), found.byte_ceiling()), (5004.0 / 5010.0, Some(5039.0 / 5070.0)));
        assert_eq!(found.squared_bytes(), 501.0);
        let class = |k, objects, sized_objects, bytes| Class { k, objects, sized_objects, bytes };
        let classes = [class(1, 2, 1, 10), class(2, 1, 1, 0), class(3, 2, 1, 20), class(5000, 1, 1, 1)];
        assert_eq!(found.histogram(), classes);
    }

    #[test]
    fn hostile_sizes_neither_wrap_nor_panic() {
        let found = summary(&[(u64::MAX >> 1, Some(u64::MAX)), (2, Some(u64::MAX)), (4096, Some(1 << 63))]);
        assert_eq!(found.unique_bytes(), 2 * u128::from(u64::MAX) + (1 << 63));
        assert!(found.byte_ceiling().is_some_and(|share| share > 0.99 && share <= 1.0));
        assert_eq!(found.admitted(u64::MAX).objects, 1);
        let mut twice = found.clone();
        twice.merge(&found);
        assert_eq!(twice.squared_bytes(), u128::MAX as f64);
    }

    proptest! {
        #[test]
        fn the_fold_does_not_depend_on_order_or_division(
            objects in prop::collection::vec((1u64..5000, prop::option::of(0u64..1000)), 0..60),
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = summary(&objects);
            let (first, second) = objects.split_at(cut.index(objects.len() + 1));
            let mut merged = summary(second);
            merged.merge(&summary(first));
            prop_assert_eq!(merged.histogram(), whole.histogram());
            prop_assert_eq!(merged.squared_bytes(), whole.squared_bytes());
            prop_assert_eq!(merged.admitted(5000), whole.admitted(5000));

            let mut sorted: Vec<u64> = objects.iter().map(|object| object.0).collect();
            sorted.sort_unstable();
            let median = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0);
            prop_assert_eq!(whole.median_multiplicity(), median);
            prop_assert_eq!(whole.references(), sorted.iter().sum::<u64>());
        }
    }
}
