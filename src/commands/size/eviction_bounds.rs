//! The hits of caches that evict: LRU, and the bound on every policy.
//!
//! Both depend on the order of the references. Where that of the manifests is known it is followed,
//! else references are taken to come in random order, for which the table is enough.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::report::{OrderKind, ReferenceOrder};
use crate::analysis::histogram::Bucket;
use crate::analysis::lru;
use crate::analysis::offline_bound::{self, RandomOrder};
use crate::analysis::table::{MultiplicityTable, TableTotals};
use crate::analysis::trace::Trace;

/// Hits with a cache of one size, as far as sizes of objects are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvictionHits {
    pub lru: f64,
    /// More than any policy gives.
    pub bound: f64,
}

/// The hits of each of `budgets`, bytes, in their order, and in which order references come.
pub fn eviction_hits(
    table: &MultiplicityTable,
    totals: &TableTotals,
    buckets: &[Bucket],
    trace: Option<&Trace>,
    budgets: &[u64],
) -> (Vec<EvictionHits>, ReferenceOrder) {
    let follows = |trace: &&Trace| trace.duplicates() > 0 && trace.is_countable();
    match trace.filter(follows) {
        Some(trace) => {
            let order = ReferenceOrder {
                of: OrderKind::Manifests,
                share: 1.0 / trace.stands_for as f64,
                references: trace.references.len() as u64,
                error: sampling_error(buckets, trace.stands_for),
            };
            (in_order(trace, totals, budgets), order)
        }
        None => {
            let order = ReferenceOrder {
                of: OrderKind::Random,
                share: 1.0,
                references: totals.references,
                error: 0.0,
            };
            (in_random_order(table, buckets, budgets), order)
        }
    }
}

/// A sample shows which share of the hits of an unbounded cache remains: how many these are is
/// known. For that the objects that the sample has by chance matter less.
fn in_order(trace: &Trace, totals: &TableTotals, budgets: &[u64]) -> Vec<EvictionHits> {
    let all = totals.recurring.hits as f64 / trace.duplicates() as f64;
    let (lru, bound) =
        rayon::join(|| lru::in_order(trace, budgets), || offline_bound::in_order(trace, budgets));
    let hits = |(lru, bound): (u64, u64)| EvictionHits {
        lru: lru.min(bound) as f64 * all,
        bound: bound as f64 * all,
    };
    lru.into_iter().zip(bound).map(hits).collect()
}

/// The standard error of the hits in a sample of one in `stands_for` objects, as a share of all
/// hits: an object is in it or not, and its k-1 hits with it. Hit rates from the sample are off by
/// less, but for corpora in which a few objects give most of the hits.
fn sampling_error(buckets: &[Bucket], stands_for: u64) -> f64 {
    let sum = |of: fn(f64) -> f64| -> f64 {
        buckets.iter().map(|bucket| bucket.sized_objects as f64 * of((bucket.k - 1) as f64)).sum()
    };
    (sum(|hits| hits * hits) * (stands_for - 1) as f64).sqrt() / sum(|hits| hits)
}

/// For caches of a few objects the formula of LRU is too high; the bound is not.
fn in_random_order(table: &MultiplicityTable, buckets: &[Bucket], budgets: &[u64]) -> Vec<EvictionHits> {
    let random_order = RandomOrder::new(table);
    let hits = |&budget: &u64| {
        let bound = random_order.hits(budget);
        EvictionHits { lru: lru::in_random_order(buckets, budget).min(bound), bound }
    };
    budgets.par_iter().map(hits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::sampling::Share;

    fn size(n: u64) -> u64 {
        50 + n % 101
    }

    /// So many objects that are read three times, each shortly after one another.
    fn table(objects: u64) -> MultiplicityTable {
        let mut table = MultiplicityTable::default();
        (0..objects).for_each(|n| table.push(3, Some(size(n))));
        table.settle();
        table
    }

    /// The order in which they are read.
    fn trace(objects: u64, sample: Share) -> Trace {
        let id = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let order = (0..objects + 20).flat_map(|n| [n, n.wrapping_sub(4), n.wrapping_sub(19)]);
        let references = order.filter(|n| *n < objects).map(id).filter(|id| sample.keeps(*id));
        let sizes: Vec<_> = (0..objects).map(|n| (id(n), size(n))).filter(|of| sample.keeps(of.0)).collect();
        Trace::new(references, sizes.into_iter(), sample)
    }

    fn rates(
        table: &MultiplicityTable,
        trace: Option<&Trace>,
        budgets: &[u64],
    ) -> (Vec<EvictionHits>, ReferenceOrder) {
        eviction_hits(table, &table.totals(), table.histogram().buckets(), trace, budgets)
    }

    #[test]
    fn the_order_of_the_manifests_shows_what_random_order_does_not() {
        let (table, trace) = (table(3_000), trace(3_000, Share::ALL));
        let budgets = [49, 2_000, 6_000, 500_000];
        let (own, order) = rates(&table, Some(&trace), &budgets);
        assert_eq!(
            order,
            ReferenceOrder { of: OrderKind::Manifests, share: 1.0, references: 9_000, error: 0.0 }
        );
        // Every object is read again after a dozen others, and once more after some forty.
        assert_eq!(own[0].lru, 0.0);
        assert!((2_990.0..3_060.0).contains(&own[1].lru), "{own:?}");
        assert_eq!((own[2].lru, own[3].lru), (6_000.0, 6_000.0));
        assert!(own.iter().all(|of| of.lru <= of.bound && of.bound <= 6_000.0), "{own:?}");
        let (random, order) = rates(&table, None, &budgets);
        assert_eq!(order.of, OrderKind::Random);
        assert!(random[2].lru < 300.0 && random[2].bound < 2_000.0, "{random:?}");
    }

    #[test]
    fn a_sample_of_the_keys_finds_nearly_the_same() {
        let (table, budgets) = (table(40_000), [700, 1_500, 4_000, 40_000]);
        let of = |sample| rates(&table, Some(&trace(40_000, sample)), &budgets);
        let (whole, _) = of(Share::ALL);
        let (sampled, order) = of(Share::ALL.halved());
        assert_eq!(order.share, 0.5);
        assert!(order.references.abs_diff(60_000) < 2_000, "{order:?}");
        for (whole, sampled) in whole.iter().zip(&sampled) {
            let near = |a: f64, b: f64| (a - b).abs() < 0.02 * 80_000.0;
            assert!(near(whole.bound, sampled.bound), "{whole:?} {sampled:?}");
        }
        assert_eq!(sampled[3], whole[3]);
    }

    #[test]
    fn the_error_of_a_sample_is_the_spread_of_what_samples_hold() {
        let bucket = |k, objects| Bucket { k, objects, sized_objects: objects, bytes: 0 };
        // A thousand objects of one hit each, of which one in four is taken.
        assert!((sampling_error(&[bucket(2, 1_000)], 4) - (3_000f64).sqrt() / 1_000.0).abs() < 1e-12);
        let buckets = [bucket(2, 1_000), bucket(1_001, 1)];
        assert!((sampling_error(&buckets, 2) - (1_000.0f64 + 1e6).sqrt() / 2_000.0).abs() < 1e-12);
        assert_eq!(sampling_error(&buckets, 1), 0.0);
    }

    #[test]
    fn no_sample_tells_of_a_bound_that_a_policy_passes() {
        let (table, budgets) = (table(40_000), [700, 1_500, 4_000]);
        let of = |halvings: u32| {
            let sample = (0..halvings).fold(Share::ALL, |sample, _| sample.halved());
            rates(&table, Some(&trace(40_000, sample)), &budgets).0
        };
        // Most objects come again before any other one of the sample does.
        for (sampled, whole) in of(7).iter().zip(of(0)) {
            assert!(sampled.bound > whole.bound - 0.02 * 80_000.0, "{sampled:?} {whole:?}");
        }
    }

    #[test]
    fn a_trace_in_which_nothing_recurs_is_not_followed() {
        let trace = Trace::new(std::iter::empty(), Vec::new().into_iter(), Share::ALL);
        let (_, order) = rates(&table(10), Some(&trace), &[100]);
        assert_eq!(order.of, OrderKind::Random);
    }
}
