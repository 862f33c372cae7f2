//! The objects of a corpus by multiplicity: what ceilings, concurrency and estimates are read from.

use super::table::{MultiplicityTable, TableRow};

/// The objects of one multiplicity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// References to each, at least 1.
    pub k: u64,
    pub objects: u64,
    /// Those of known size.
    pub sized_objects: u64,
    /// Sum of the known sizes. Exact whatever the sizes are, hence wider than one of them.
    pub bytes: u128,
}

/// All objects by multiplicity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The multiplicities that occur, ascending.
    buckets: Vec<Bucket>,
    /// Sum of the squared sizes, bytes². Saturates.
    squares: u128,
}

/// The most referenced objects of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopObjects {
    pub objects: u64,
    /// References beyond the first of each, the sum of k-1.
    pub hits: u64,
}

impl MultiplicityTable {
    /// The table by multiplicity alone, assumed sizes taken for known ones.
    pub fn histogram(&self) -> Histogram {
        Histogram::new(self.rows())
    }
}

impl Histogram {
    /// Fastest where rows ascend by multiplicity.
    pub fn new(rows: impl Iterator<Item = TableRow>) -> Histogram {
        let mut histogram = Histogram::default();
        for TableRow { k, size, objects } in rows {
            let bucket = histogram.bucket(k);
            bucket.objects += objects;
            let Some(size) = size else { continue };
            bucket.sized_objects += objects;
            bucket.bytes += u128::from(size) * u128::from(objects);
            let squares = (u128::from(size) * u128::from(size)).saturating_mul(objects.into());
            histogram.squares = histogram.squares.saturating_add(squares);
        }
        histogram
    }

    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    pub fn references(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.k * bucket.objects).sum()
    }

    pub fn objects(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.objects).sum()
    }

    /// References beyond the first of each object: what an unbounded cache serves.
    pub fn duplicates(&self) -> u64 {
        self.references() - self.objects()
    }

    /// Objects that are referenced once.
    pub fn singletons(&self) -> u64 {
        self.buckets.first().filter(|bucket| bucket.k == 1).map_or(0, |bucket| bucket.objects)
    }

    /// 0 without objects.
    pub fn max_multiplicity(&self) -> u64 {
        self.buckets.last().map_or(0, |bucket| bucket.k)
    }

    /// The lower median: that of the object with number ⌈n/2⌉ of n, ascending. 0 without objects.
    pub fn median_multiplicity(&self) -> u64 {
        let below = self.objects().div_ceil(2);
        let mut seen = 0;
        let mut reached = self.buckets.iter().skip_while(|bucket| {
            seen += bucket.objects;
            seen < below
        });
        reached.next().map_or(0, |bucket| bucket.k)
    }

    /// Objects of known size.
    pub fn sized_objects(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.sized_objects).sum()
    }

    /// References to objects of known size.
    pub fn sized_references(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.k * bucket.sized_objects).sum()
    }

    /// Bytes of the objects of known size.
    pub fn unique_bytes(&self) -> u128 {
        self.buckets.iter().map(|bucket| bucket.bytes).sum()
    }

    /// Bytes of the references to objects of known size. Saturates.
    pub fn reference_bytes(&self) -> u128 {
        let bytes = self.buckets.iter().map(|bucket| bucket.bytes.saturating_mul(bucket.k.into()));
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

    /// Sum of the squares of the known sizes, bytes²: the variance of an estimate of bytes.
    pub fn squared_bytes(&self) -> f64 {
        self.squares as f64
    }

    /// The hits of the top `share` of the objects, 0 to 1.
    ///
    /// Their number is rounded to the nearest, but is at least one if there are any; of a bucket
    /// into which the boundary falls, a part is taken.
    pub fn top(&self, share: f64) -> TopObjects {
        let all = self.objects();
        let objects = ((share * all as f64).round() as u64).clamp(all.min(1), all);
        let (mut left, mut hits) = (objects, 0);
        for bucket in self.buckets.iter().rev() {
            let taken = bucket.objects.min(left);
            hits += taken * (bucket.k - 1);
            left -= taken;
        }
        TopObjects { objects, hits }
    }

    fn bucket(&mut self, k: u64) -> &mut Bucket {
        let place = match self.buckets.last() {
            Some(last) if last.k == k => self.buckets.len() - 1,
            _ => self.buckets.binary_search_by_key(&k, |bucket| bucket.k).unwrap_or_else(|place| {
                self.buckets.insert(place, Bucket { k, ..Bucket::default() });
                place
            }),
        };
        &mut self.buckets[place]
    }
}

fn ratio(part: u128, whole: u128) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::samples::{histogram, histogram_of};
    use super::*;

    #[test]
    fn a_corpus_without_objects_has_only_zeros() {
        let empty = Histogram::default();
        assert_eq!((empty.references(), empty.objects(), empty.duplicates()), (0, 0, 0));
        assert_eq!((empty.max_multiplicity(), empty.median_multiplicity()), (0, 0));
        assert_eq!((empty.singletons(), empty.ceiling(), empty.byte_ceiling()), (0, 0.0, None));
        assert_eq!(empty.top(0.1), TopObjects { objects: 0, hits: 0 });
    }

    #[test]
    fn every_figure_is_as_counted_by_hand() {
        let objects = [(1, Some(10)), (3, Some(20)), (3, None), (5000, Some(1)), (1, None), (2, Some(0))];
        let found = histogram(&objects);
        assert_eq!((found.references(), found.objects(), found.duplicates()), (5010, 6, 5004));
        assert_eq!((found.singletons(), found.max_multiplicity()), (2, 5000));
        assert_eq!(found.median_multiplicity(), 2);
        assert_eq!((found.sized_objects(), found.sized_references()), (4, 5006));
        assert_eq!((found.unique_bytes(), found.reference_bytes()), (31, 5070));
        assert_eq!((found.ceiling(), found.byte_ceiling()), (5004.0 / 5010.0, Some(5039.0 / 5070.0)));
        assert_eq!(found.squared_bytes(), 501.0);
        let bucket = |k, objects, sized_objects, bytes| Bucket { k, objects, sized_objects, bytes };
        let buckets = [bucket(1, 2, 1, 10), bucket(2, 1, 1, 0), bucket(3, 2, 1, 20), bucket(5000, 1, 1, 1)];
        assert_eq!(found.buckets(), buckets);
    }

    #[test]
    fn hostile_sizes_neither_wrap_nor_panic() {
        let objects = [(u64::MAX >> 1, Some(u64::MAX)), (2, Some(u64::MAX)), (4096, Some(1 << 63))];
        let found = histogram(&objects);
        assert_eq!(found.unique_bytes(), 2 * u128::from(u64::MAX) + (1 << 63));
        assert!(found.byte_ceiling().is_some_and(|share| share > 0.99 && share <= 1.0));
        assert_eq!(found.squared_bytes(), u128::MAX as f64);
    }

    #[test]
    fn a_bucket_is_split_where_the_boundary_falls_into_it() {
        let found = histogram_of(&[(1, 600), (2, 385), (10, 14), (100, 1)]);
        assert_eq!(found.top(0.001), TopObjects { objects: 1, hits: 99 });
        assert_eq!(found.top(0.01), TopObjects { objects: 10, hits: 99 + 9 * 9 });
        assert_eq!(found.top(0.1), TopObjects { objects: 100, hits: 99 + 14 * 9 + 85 });
        assert_eq!(found.top(1.0), TopObjects { objects: 1000, hits: 99 + 14 * 9 + 385 });
        assert_eq!(histogram_of(&[(3, 8)]).top(0.001), TopObjects { objects: 1, hits: 2 });
    }

    proptest! {
        #[test]
        fn the_median_is_that_of_a_sorted_list(multiplicities in prop::collection::vec(1u64..50, 0..60)) {
            let mut sorted = multiplicities.clone();
            sorted.sort_unstable();
            let objects: Vec<_> = multiplicities.into_iter().map(|k| (k, None)).collect();
            let median = sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0);
            prop_assert_eq!(histogram(&objects).median_multiplicity(), median);
        }
    }
}
