//! What a hit is worth, and how slow a source must be for a cache to pay.
//!
//! The value of a set of admitted objects is linear in its number of objects, bytes, hits and hit
//! bytes, so that it is read from exact sums and never added up in floating point.

use super::table::{ObjectSums, TableTotals};

/// What admission is to save.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Objective {
    /// Source reads: (k-1) an object.
    #[default]
    Requests,
    /// Bytes read from the source: (k-1)·size.
    Bytes,
    /// Time: (k-1)·(latency + size/bandwidth - hit cost) - put cost, in seconds.
    Seconds {
        /// Seconds until the first byte of a source read.
        latency: f64,
        /// Bytes per second of a source read. Infinite where latency is all.
        bandwidth: f64,
        /// Seconds that a hit takes.
        hit_cost: f64,
        /// Seconds to store an object.
        put_cost: f64,
    },
    /// Money: (k-1)·(price of a GET + egress·size) - storage·size, in dollars.
    Dollars {
        /// Dollars per 1000 GETs.
        price_get: f64,
        /// Dollars per GB (10^9 bytes) read from the source.
        egress: f64,
        /// Dollars per GB and month in the cache.
        price_storage: f64,
        /// How long the cache is kept.
        months: f64,
    },
}

/// Bytes of a GB, as prices are quoted.
const GB: f64 = 1e9;

impl Objective {
    /// What admitting an object of `k >= 1` references and `size` bytes saves, in units of the
    /// objective. Negative where it does not pay.
    #[inline]
    pub fn value(&self, k: u64, size: u64) -> f64 {
        let (hits, size) = ((k - 1) as f64, size as f64);
        self.linear(1.0, size, hits, hits * size)
    }

    /// Value per byte. Infinite for an object of size 0 that is worth something; NaN for one that
    /// is not.
    #[inline]
    pub fn density(&self, k: u64, size: u64) -> f64 {
        match self {
            // Exact, so that objects of equal k tie whatever their size is.
            Objective::Bytes if size > 0 => (k - 1) as f64,
            _ => self.value(k, size) / size as f64,
        }
    }

    /// What admitting these objects saves, in units of the objective.
    pub fn value_of(&self, admitted: &ObjectSums) -> f64 {
        let ObjectSums { objects, bytes, hits, hit_bytes } = *admitted;
        self.linear(objects as f64, bytes as f64, hits as f64, hit_bytes as f64)
    }

    /// What reading every reference from the source costs: all source reads, all bytes, the
    /// seconds or dollars of both. With a cache, [`Objective::value_of`] is subtracted.
    /// References to objects of unknown size count without bytes.
    pub fn without_cache(&self, totals: &TableTotals) -> f64 {
        let (reads, bytes) = (totals.references as f64, totals.reference_bytes as f64);
        match *self {
            Objective::Requests => reads,
            Objective::Bytes => bytes,
            Objective::Seconds { latency, bandwidth, .. } => reads * latency + bytes / bandwidth,
            Objective::Dollars { price_get, egress, .. } => reads * price_get / 1000.0 + bytes / GB * egress,
        }
    }

    #[inline]
    fn linear(&self, objects: f64, bytes: f64, hits: f64, hit_bytes: f64) -> f64 {
        match *self {
            Objective::Requests => hits,
            Objective::Bytes => hit_bytes,
            Objective::Seconds { latency, bandwidth, hit_cost, put_cost } => {
                hits * (latency - hit_cost) + hit_bytes / bandwidth - objects * put_cost
            }
            Objective::Dollars { price_get, egress, price_storage, months } => {
                hits * price_get / 1000.0 + hit_bytes / GB * egress - bytes / GB * price_storage * months
            }
        }
    }
}

/// What one object costs, means in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AccessCosts {
    /// To read it from its source.
    pub source: f64,
    /// To store it in the cache.
    pub put: f64,
    /// To read it from the cache.
    pub hit: f64,
}

/// The work of a cache in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheWork {
    pub puts: u64,
    /// Reads from the cache.
    pub hits: u64,
    /// Source reads that it saves.
    pub saved: u64,
}

impl CacheWork {
    /// Of a cache beside the tasks: it stores `puts` objects and serves `hits` references.
    pub fn serving(puts: u64, hits: u64) -> CacheWork {
        CacheWork { puts, hits, saved: hits }
    }

    /// Of a run that fetches each object once, before rows are written: the first reference takes
    /// its payload from the cache, too.
    pub fn fetching_first(references: u64, objects: u64) -> CacheWork {
        CacheWork { puts: objects, hits: references, saved: references.saturating_sub(objects) }
    }

    /// The cost of a source read above which the cache pays: what puts and hits cost, over the
    /// source reads that it saves. `None` where it saves none.
    pub fn break_even(&self, put: f64, hit: f64) -> Option<f64> {
        (self.saved > 0).then(|| (self.puts as f64 * put + self.hits as f64 * hit) / self.saved as f64)
    }
}

impl AccessCosts {
    /// Whether a cache that does this saves more than it costs.
    pub fn cache_pays(&self, work: &CacheWork) -> bool {
        work.break_even(self.put, self.hit).is_some_and(|least| self.source > least)
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::{self, MAX_MULTIPLICITY};
    use super::*;

    const SECONDS: Objective =
        Objective::Seconds { latency: 0.05, bandwidth: 1e6, hit_cost: 0.002, put_cost: 0.01 };
    const DOLLARS: Objective =
        Objective::Dollars { price_get: 0.4, egress: 0.09, price_storage: 0.02, months: 3.0 };

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found}, not {expected}");
    }

    #[test]
    fn values_are_as_calculated_by_hand() {
        assert_close(Objective::Requests.value(5, 100), 4.0);
        assert_close(Objective::Bytes.value(5, 100), 400.0);
        // 4 · (50 + 100 - 2) - 10 milliseconds.
        assert_close(SECONDS.value(5, 100_000), 0.582);
        // 4 · (0.0004 + 0.18) - 0.12 dollars.
        assert_close(DOLLARS.value(5, 2_000_000_000), 0.6016);
        assert_close(SECONDS.value(1, 100_000), -0.01);
    }

    #[test]
    fn the_value_of_a_set_is_the_sum_over_its_objects() {
        let objects = [(2, 10), (9, 123_456), (1584, 7_000_000), (3, 0)];
        let mut sums = ObjectSums::default();
        objects.iter().for_each(|&(k, size)| sums.add(&ObjectSums::new(k, size, 1)));
        for objective in [Objective::Requests, Objective::Bytes, SECONDS, DOLLARS] {
            let sum = objects.iter().map(|&(k, size)| objective.value(k, size)).sum();
            assert_close(objective.value_of(&sums), sum);
        }
    }

    #[test]
    fn density_is_value_per_byte() {
        assert_eq!(Objective::Requests.density(4, 12), 0.25);
        assert_eq!(Objective::Requests.density(4, 0), f64::INFINITY);
        // The product of these is no float.
        assert_eq!(Objective::Bytes.density(8, (1 << 53) - 1), 7.0);
        assert!(Objective::Bytes.density(8, 0).is_nan());
        assert_close(SECONDS.density(5, 100_000), 5.82e-6);
    }

    #[test]
    fn without_a_cache_every_reference_is_paid() {
        let totals =
            TableTotals { references: 1000, reference_bytes: 5_000_000_000, ..TableTotals::default() };
        assert_close(Objective::Requests.without_cache(&totals), 1000.0);
        assert_close(Objective::Bytes.without_cache(&totals), 5e9);
        assert_close(SECONDS.without_cache(&totals), 5050.0);
        assert_close(DOLLARS.without_cache(&totals), 0.85);
    }

    #[test]
    fn at_the_law_sources_must_be_slower_than_published() {
        let objects = 1e9;
        let mean: f64 = (1..=MAX_MULTIPLICITY).map(law::survival).sum();
        let hits = ((mean - 1.0) * objects) as u64;
        let milliseconds =
            |share: f64| CacheWork::serving((share * objects) as u64, hits).break_even(10.5, 2.0).unwrap();
        assert!((milliseconds(1.0) - 5.05).abs() < 0.005, "{}", milliseconds(1.0));
        assert!((milliseconds(law::survival(2)) - 3.8).abs() < 0.05, "{}", milliseconds(law::survival(2)));
    }

    #[test]
    fn where_objects_are_fetched_first_the_source_must_be_slower_than_5_63_ms() {
        let work = CacheWork::fetching_first(1_582_193_028, 355_970_000);
        let pays = |source| AccessCosts { source, put: 10.5e-3, hit: 2.0e-3 }.cache_pays(&work);
        // (355.97 * 10.5 + 1582.193 * 2.0) / (1582.193 - 355.97) = 5.6288
        assert!(pays(5.629e-3) && !pays(5.628e-3));
    }

    #[test]
    fn where_nothing_recurs_or_nothing_is_known_no_cache_pays() {
        let slow = AccessCosts { source: 1.0, put: 1e-9, hit: 1e-9 };
        assert!(slow.cache_pays(&CacheWork::fetching_first(2, 1)));
        assert!(!slow.cache_pays(&CacheWork::fetching_first(7, 7)));
        assert!(!slow.cache_pays(&CacheWork::serving(10, 0)));
        assert!(!AccessCosts::default().cache_pays(&CacheWork::fetching_first(1000, 1)));
    }
}
