//! The counters and the failed objects of a run, which its report is made from.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use crate::fault::Fault;
use crate::monitor::Monitor;
use crate::object::Key;

/// The things counted. Counters of time end in `Nanos`.
#[derive(Clone, Copy, Debug)]
pub enum Counter {
    /// Objects read from their source for the first time.
    Reads,
    /// Objects read again, because the cache could not or should not keep them.
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
    /// Bytes of the distinct payloads read from sources or found in the cache, and the part of them that
    /// damaged entries claimed.
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

/// What a failure does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    GoOn,
    End,
}

/// The failed objects of a run, and why.
pub struct FailedObjects {
    faults: RwLock<HashMap<Key, Fault>>,
    on_failure: OnFailure,
}

/// The error of a run that ends at its first failure.
#[derive(Debug)]
pub struct FirstFailure(pub String);

impl fmt::Display for FirstFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (--on-error fail)", self.0)
    }
}

impl std::error::Error for FirstFailure {}

impl FailedObjects {
    pub fn new(on_failure: OnFailure) -> FailedObjects {
        FailedObjects { faults: RwLock::default(), on_failure }
    }

    /// Notes that the object cannot be read, and reports it the first time.
    pub fn insert(&self, key: Key, fault: Fault, monitor: &dyn Monitor) {
        let message = fault.to_string();
        if self.faults.write().insert(key, fault).is_none() {
            monitor.problem(&message);
        }
    }

    /// Reports a payload that was read but lacks what a row wants. Fails if the run must end because of
    /// it.
    pub fn report(&self, fault: &Fault, monitor: &dyn Monitor) -> anyhow::Result<()> {
        if self.on_failure == OnFailure::End {
            return Err(FirstFailure(fault.to_string()).into());
        }
        monitor.problem(&fault.to_string());
        Ok(())
    }

    pub fn get(&self, key: &Key) -> Option<Fault> {
        self.faults.read().get(key).cloned()
    }

    pub fn len(&self) -> u64 {
        self.faults.read().len() as u64
    }

    /// Fails once the run must end because of a fault.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.on_failure != OnFailure::End {
            return Ok(());
        }
        match self.faults.read().values().next() {
            Some(fault) => Err(FirstFailure(fault.to_string()).into()),
            None => Ok(()),
        }
    }
}
