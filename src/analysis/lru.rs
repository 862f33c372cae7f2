//! The hits of a cache that admits everything and evicts the least recently used object.
//!
//! In the order of a trace exactly, for many budgets in one pass (stack distances, Mattson et al.
//! 1970, in bytes). In random order from the multiplicities alone (the characteristic time of Che
//! et al. 2002, for one pass from an empty cache). An object larger than the whole cache is read
//! past it: neither stored nor a reason to evict.

use super::histogram::Bucket;
use super::trace::Trace;

/// The hits of each of `budgets`, bytes, in their order: exactly those of a cache that, after each
/// miss, evicts until its bytes are within the budget.
///
/// O(R log R) for R references, in 8 bytes a reference and an object; once more for each budget
/// below which there are sizes that the next smaller budget is below, too.
///
/// Objects in the order of their last references are a stack; the cache holds the longest prefix
/// that fits. So a reference is a hit if its object and all that were referenced since fit. In a
/// sample by key each of those since represents several (SHARDS, Waldspurger et al. 2015), and the
/// hits are those of the sample. It is of little use for caches that hold fewer objects than that.
/// The trace must be countable.
pub fn in_order(trace: &Trace, budgets: &[u64]) -> Vec<u64> {
    let mut ascending = budgets.to_vec();
    ascending.sort_unstable();
    ascending.dedup();
    let groups = alike(&trace.sizes, &ascending);
    let found: Vec<u64> = groups.into_iter().flat_map(|group| pass(trace, group)).collect();
    let place = |budget| ascending.binary_search(budget).expect("it holds all budgets");
    budgets.iter().map(|budget| found[place(budget)]).collect()
}

/// The expected number of hits in a cache of `budget_bytes`, among objects of known size whose
/// references come in random order.
///
/// The references of an object are k points in a pass of length 1; between two that follow each
/// other, more than t passes with probability (1-t)^k. The cache holds what was referenced within
/// the last t, where sum size·(1-(1-t)^k) is the budget, and so hits are sum (k-1)·(1-(1-t)^k).
/// Right for many objects, none of which takes much of the cache.
pub fn in_random_order(buckets: &[Bucket], budget_bytes: u64) -> f64 {
    let referenced = |bucket: &Bucket, t: f64| 1.0 - (bucket.k as f64 * (-t).ln_1p()).exp();
    let held = |t| buckets.iter().map(|bucket| bucket.bytes as f64 * referenced(bucket, t)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    if held(high) <= budget_bytes as f64 {
        low = high;
    }
    // Until the two are neighbours, for any t that is not tiny.
    for _ in 0..64 {
        let t = (low + high) / 2.0;
        *if held(t) <= budget_bytes as f64 { &mut low } else { &mut high } = t;
    }
    let hits =
        |bucket: &Bucket| bucket.sized_objects as f64 * (bucket.k - 1) as f64 * referenced(bucket, low);
    buckets.iter().map(hits).sum()
}

/// Divides ascending budgets where one holds an object that the one before is too small for.
fn alike<'a>(sizes: &[u64], budgets: &'a [u64]) -> Vec<&'a [u64]> {
    // Before each budget, and after the last.
    let mut apart = vec![false; budgets.len() + 1];
    for &size in sizes {
        apart[budgets.partition_point(|&budget| budget < size)] = true;
    }
    let mut groups = Vec::new();
    let mut rest = budgets;
    for place in (1..budgets.len()).rev().filter(|&place| apart[place]) {
        let (below, group) = rest.split_at(place);
        groups.push(group);
        rest = below;
    }
    groups.push(rest);
    groups.reverse();
    groups
}

/// The hits of each of `budgets`, ascending; the same objects are too large for all of them.
fn pass(trace: &Trace, budgets: &[u64]) -> Vec<u64> {
    let Trace { references, sizes, stands_for } = trace;
    let Some(&smallest) = budgets.first() else { return Vec::new() };
    // One more than the place of an object's last reference; 0 before the first.
    let mut last = vec![0; sizes.len()];
    let mut stack = LruStack { tree: vec![0; references.len() + 1], bytes: 0 };
    // At first what each budget serves and the one before does not.
    let mut hits = vec![0; budgets.len()];
    for (place, &object) in (1..).zip(references) {
        let object = object as usize;
        let size = sizes[object];
        if size > smallest {
            continue;
        }
        if last[object] > 0 {
            let distance = stack.above(last[object]) * stands_for + size;
            if let Some(hits) = hits.get_mut(budgets.partition_point(|&budget| budget < distance)) {
                *hits += 1;
            }
            stack.remove(last[object], size);
        }
        stack.insert(place, size);
        last[object] = place;
    }
    for nth in 1..hits.len() {
        hits[nth] += hits[nth - 1];
    }
    hits
}

/// Bytes by the place of an object's last reference, as a Fenwick tree: the sums of runs of
/// places, found by the bits of a place.
struct LruStack {
    tree: Vec<u64>,
    bytes: u64,
}

impl LruStack {
    fn insert(&mut self, place: usize, size: u64) {
        self.bytes += size;
        let mut at = place;
        while let Some(sum) = self.tree.get_mut(at) {
            *sum += size;
            at += at & at.wrapping_neg();
        }
    }

    fn remove(&mut self, place: usize, size: u64) {
        self.bytes -= size;
        let mut at = place;
        while let Some(sum) = self.tree.get_mut(at) {
            *sum -= size;
            at += at & at.wrapping_neg();
        }
    }

    /// Bytes of the objects that were referenced after this place.
    fn above(&self, place: usize) -> u64 {
        let (mut at, mut below) = (place, 0);
        while at > 0 {
            below += self.tree[at];
            at &= at - 1;
        }
        self.bytes - below
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, Random, table_of, trace, whole};
    use super::*;

    /// The cache itself: objects, the one used last at the end.
    fn simulated(trace: &[u32], sizes: &[u64], budget: u64) -> u64 {
        let (mut cache, mut hits): (Vec<u32>, _) = (Vec::new(), 0);
        for &object in trace {
            let size = sizes[object as usize];
            if let Some(place) = cache.iter().position(|&cached| cached == object) {
                hits += 1;
                cache.remove(place);
            }
            if size <= budget {
                cache.push(object);
            }
            while cache.iter().map(|&object| sizes[object as usize]).sum::<u64>() > budget {
                cache.remove(0);
            }
        }
        hits
    }

    #[test]
    fn stack_distances_give_the_hits_of_a_simulated_cache() {
        let mut random = Random::new(1);
        for round in 0..200 {
            let objects = 1 + random.below(20);
            let largest = 1 + random.below(12);
            let sizes: Vec<_> = (0..objects).map(|_| random.below(largest + 1)).collect();
            let trace: Vec<_> = (0..random.below(120)).map(|_| random.below(objects) as u32).collect();
            let budgets: Vec<_> = (0..8).map(|_| random.below(6 * largest)).chain([0, 9999]).collect();
            let found = in_order(&whole(&trace, &sizes), &budgets);
            for (&budget, found) in budgets.iter().zip(found) {
                let expected = simulated(&trace, &sizes, budget);
                assert_eq!(found, expected, "round {round}: {budget} {sizes:?} {trace:?}");
            }
        }
    }

    #[test]
    fn an_object_larger_than_the_cache_disturbs_nothing() {
        let found = in_order(&whole(&[0, 1, 0, 1], &[10, 11]), &[9, 10, 20, 21]);
        assert_eq!(found, [0, 1, 0, 2]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(in_order(&whole(&[], &[]), &[0, 5]), [0, 0]);
        assert_eq!(in_order(&whole(&[0, 0], &[3]), &[]), [0u64; 0]);
        assert_eq!(in_random_order(&[], 7), 0.0);
    }

    #[test]
    fn random_order_gives_the_hits_of_a_shuffled_trace() {
        let objects = samples::draw(20_000, 1);
        let histogram = table_of(&objects).histogram();
        let trace = trace(&objects, 2);
        let all = histogram.unique_bytes() as f64;
        let budgets = [0.0, 0.01, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0].map(|share| (share * all) as u64);
        for (&budget, found) in budgets.iter().zip(in_order(&trace, &budgets)) {
            let expected = in_random_order(histogram.buckets(), budget) / trace.references.len() as f64;
            let found = found as f64 / trace.references.len() as f64;
            assert!((found - expected).abs() < 0.004, "{budget}: {found}, not {expected}");
        }
        assert_eq!(in_random_order(histogram.buckets(), u64::MAX).round() as u64, histogram.duplicates());
    }
}
