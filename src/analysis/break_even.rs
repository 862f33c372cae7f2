//! How slow a source must be for a cache to pay.
//!
//! Without a cache every reference costs a source read. With one, each stored object costs a put,
//! once, and each of its k-1 further references a hit instead of a source read. All costs are
//! seconds, or any other one unit.

/// The cost of a source read above which a cache that stores `puts` objects and gives `hits` hits
/// is a gain: hit cost + put cost · puts/hits. `None` without hits: it never is.
///
/// With every miss stored, `puts` are all objects; with an admission, those admitted.
pub fn source_cost(puts: u64, hits: u64, put_cost: f64, hit_cost: f64) -> Option<f64> {
    (hits > 0).then(|| hit_cost + put_cost * puts as f64 / hits as f64)
}

/// The least number of references with which one object pays: (k-1)·(source cost - hit cost) >
/// put cost. `None` where a hit costs no less than a source read.
pub fn least_multiplicity(source_cost: f64, put_cost: f64, hit_cost: f64) -> Option<u64> {
    let saved = source_cost - hit_cost;
    // One more than the largest number of hits that do not pay.
    (saved > 0.0).then(|| ((put_cost / saved).floor() as u64).saturating_add(2))
}

#[cfg(test)]
mod tests {
    use super::super::law::{self, MAX_MULTIPLICITY};
    use super::*;

    #[test]
    fn at_the_law_sources_must_be_slower_than_published() {
        let objects = 1e9;
        let mean: f64 = (1..=MAX_MULTIPLICITY).map(law::survival).sum();
        let hits = ((mean - 1.0) * objects) as u64;
        let milliseconds = |share: f64| source_cost((share * objects) as u64, hits, 10.5, 2.0).unwrap();
        assert!((milliseconds(1.0) - 5.05).abs() < 0.005, "{}", milliseconds(1.0));
        assert!((milliseconds(law::survival(2)) - 3.8).abs() < 0.05, "{}", milliseconds(law::survival(2)));
    }

    #[test]
    fn a_cache_without_hits_never_pays() {
        assert_eq!(source_cost(10, 0, 1.0, 1.0), None);
        assert_eq!(source_cost(0, 0, 1.0, 1.0), None);
    }

    #[test]
    fn an_object_pays_from_the_first_hit_that_gains_more_than_its_put() {
        // 3 saved a hit, 10.5 for the put: three hits are not enough.
        assert_eq!(least_multiplicity(5.0, 10.5, 2.0), Some(5));
        // Exactly the put is no gain.
        assert_eq!(least_multiplicity(5.0, 9.0, 2.0), Some(5));
        assert_eq!(least_multiplicity(5.0, 0.0, 2.0), Some(2));
        assert_eq!(least_multiplicity(2.0, 1.0, 2.0), None);
    }
}
