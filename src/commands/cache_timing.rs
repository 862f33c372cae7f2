//! What a cache costs beside a source, timed with some objects of the corpus.

use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::analysis::cost::AccessCosts;

/// Objects that were stored in a cache and found there again, by several threads.
#[derive(Default)]
pub struct CacheTiming(Mutex<TimedSums>);

/// Sums over the timed objects.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimedSums {
    pub objects: u64,
    pub bytes: u64,
    put: Duration,
    hit: Duration,
}

impl CacheTiming {
    /// Stores a payload with `put` and reads it back with `get`, which returns whether it was found. Only
    /// then it counts. Returns what both returned.
    pub fn time<T>(&self, payload: &Bytes, put: impl FnOnce() -> T, get: impl FnOnce() -> bool) -> (T, bool) {
        let start = Instant::now();
        let stored = put();
        let put = start.elapsed();
        let start = Instant::now();
        let found = get();
        let hit = start.elapsed();
        if found {
            let mut sums = self.0.lock();
            sums.objects += 1;
            sums.bytes += payload.len() as u64;
            sums.put += put;
            sums.hit += hit;
        }
        (stored, found)
    }

    pub fn into_sums(self) -> TimedSums {
        self.0.into_inner()
    }
}

impl TimedSums {
    /// Mean costs of one object, if `reads` objects took `source` to read; all zero if none was timed.
    pub fn costs(&self, source: Duration, reads: u64) -> AccessCosts {
        if self.objects == 0 {
            return AccessCosts::default();
        }
        let mean = |time: Duration, count: u64| time.as_secs_f64() / count.max(1) as f64;
        AccessCosts {
            source: mean(source, reads),
            put: mean(self.put, self.objects),
            hit: mean(self.hit, self.objects),
        }
    }
}
