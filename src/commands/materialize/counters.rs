//! What a run counts while it works: one set of numbers, from which the report is made.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The things counted. Counters of time end in `Nanos`.
#[derive(Clone, Copy, Debug)]
pub enum Counter {
    /// Objects read from their source for the first time.
    Reads,
    /// Objects read again because no cache could keep them, or was to.
    Rereads,
    /// Those of both kinds that were read for one shard alone, and objects found in the cache for
    /// one shard alone.
    ShardReads,
    ShardFinds,
    /// Read calls on sources, and what they moved.
    Requests,
    SourceBytes,
    SourceNanos,
    Puts,
    PutFailures,
    PutBytes,
    PutNanos,
    /// Entries read back.
    Lookups,
    LookupBytes,
    LookupNanos,
    /// Bytes of the distinct payloads obtained from sources or found in the cache, and what
    /// damaged entries claimed of them.
    UniqueBytes,
    DamagedBytes,
}

const COUNTERS: usize = Counter::DamagedBytes as usize + 1;

/// All counters of a run.
#[derive(Default)]
pub struct Counters([AtomicU64; COUNTERS]);

impl Counters {
    pub fn add(&self, counter: Counter, amount: u64) {
        self.0[counter as usize].fetch_add(amount, Ordering::Relaxed);
    }

    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize].load(Ordering::Relaxed)
    }

    /// Runs `work` and adds its duration to `counter`.
    pub fn timed<T>(&self, counter: Counter, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add_time(counter, start.elapsed());
        result
    }

    pub fn add_time(&self, counter: Counter, duration: Duration) {
        self.add(counter, u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }
}
