//! Payloads: the one place where a want is met, by memory, the cache, a thread that is fetching it
//! already, or the source.
//!
//! [`Payloads::fill`] fetches what a plan says before any row asks, in source order. A
//! [`ShardPayloads`] then hands the payloads to the rows of one shard, window by window, with their
//! steps applied. Of several threads that miss one entry, one reads the source and stores the entry
//! again; the others then find it in the cache. A cache that fails is no payload's problem.

mod counters;
mod fill;
mod shard;
mod tiers;

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::cache::flight::Flight;
use crate::cache::{Cache, Lookup};
use crate::fault::{Fault, FaultClass};
use crate::fetch::{Source, obtain};
use crate::monitor::Monitor;
use crate::object::Key;
use crate::plan::uses::Uses;
use crate::plan::{self, FileFetch, Plan};
pub use counters::{Counter, Counters, FailedObjects, FirstFailure, OnFailure};
pub use fill::{Until, held, plan};
pub use shard::{ShardPayloads, Want, Window};
use tiers::MemoryTier;
pub use tiers::{ShardTier, Supplied};

/// A payload, or why there is none.
pub type PayloadResult = Result<Bytes, Fault>;

/// The payloads of distinct objects, without steps.
type Loaded = Vec<(Key, PayloadResult)>;

/// The sources, the cache and the memory that the threads of a run share.
pub struct Payloads<'a> {
    pub source: Source<'a>,
    /// `None`: payloads are read when a row needs them.
    pub cache: Option<Cache>,
    pub plan: &'a Plan,
    pub counters: Counters,
    pub failures: FailedObjects,
    pub monitor: &'a dyn Monitor,
    pub pool: &'a rayon::ThreadPool,
    memory: MemoryTier,
    flight: Flight,
    /// The cache takes nothing more: its disk is full or read-only.
    full: AtomicBool,
    seen: Mutex<Seen>,
}

/// Objects with a history in this run.
#[derive(Default)]
struct Seen {
    /// Read while a probe timed the source.
    probed: HashSet<Key>,
    /// Read for a row.
    read: HashSet<Key>,
    /// Read, and the cache could not keep it.
    unkept: HashSet<Key>,
    /// Its entry is damaged.
    damaged: HashSet<Key>,
    /// Wants whose steps failed, by [`Want::id`].
    failed_steps: HashSet<Key>,
}

impl<'a> Payloads<'a> {
    /// `memory` bytes of payloads are kept for a second use.
    pub fn new(
        source: Source<'a>,
        cache: Option<Cache>,
        plan: &'a Plan,
        memory: u64,
        failures: FailedObjects,
        pool: &'a rayon::ThreadPool,
        monitor: &'a dyn Monitor,
    ) -> Payloads<'a> {
        Payloads {
            source,
            memory: MemoryTier::new(if cache.is_some() { memory } else { 0 }),
            cache,
            plan,
            counters: Counters::default(),
            failures,
            monitor,
            pool,
            flight: Flight::default(),
            full: AtomicBool::new(false),
            seen: Mutex::default(),
        }
    }

    /// The bytes of the object, if its locator or its entry in the cache gives them.
    pub fn expected_bytes(&self, want: &Want) -> Option<u64> {
        want.object.size().or_else(|| self.cache.as_ref()?.held(&want.key))
    }

    /// Reads the objects of `files` and hands over each payload, or nothing for an object that
    /// failed, which is noted.
    ///
    /// Fails when the run is to stop, with some objects not handed over.
    pub fn obtain(
        &self,
        files: &[FileFetch],
        until: Until,
        deliver: &(dyn Fn(Key, Option<Bytes>) + Sync),
    ) -> anyhow::Result<()> {
        let go_on = || {
            self.monitor.check()?;
            self.failures.check()?;
            Ok(until == Until::Done || !self.is_full())
        };
        let each = |key, result: PayloadResult| match result {
            Ok(payload) => deliver(key, Some(payload)),
            Err(fault) => {
                self.failures.insert(key, fault, self.monitor);
                deliver(key, None);
            }
        };
        let spent = obtain(self.source, files, self.pool, &go_on, &each)?;
        self.counters.add_time(Counter::SourceNanos, spent.time);
        self.counters.add(Counter::Requests, spent.requests);
        self.counters.add(Counter::SourceBytes, spent.bytes);
        self.failures.check()
    }

    /// Puts a payload into the cache, if it can.
    pub fn keep(&self, key: Key, payload: &Bytes) {
        let Some(cache) = &self.cache else { return };
        let put = || self.counters.timed(Counter::PutNanos, || cache.put(&key, payload));
        let stored = (!self.is_full()).then(put);
        if let Some(Ok(())) = stored {
            self.counters.add(Counter::Puts, 1);
            self.counters.add(Counter::PutBytes, payload.len() as u64);
            return;
        }
        self.seen.lock().unkept.insert(key);
        self.counters.add(Counter::PutFailures, 1);
        let Some(Err(error)) = stored else { return };
        use ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let lasting = [StorageFull, QuotaExceeded, ReadOnlyFilesystem, PermissionDenied];
        if lasting.contains(&error.kind()) && self.full.swap(true, Ordering::Relaxed) {
            return;
        }
        self.monitor.problem(&format!(
            "cannot store an object of {} bytes in the cache: {error}. It is read again for each shard that needs it",
            payload.len()
        ));
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Loads `wants`, of distinct objects that the cache may hold.
    ///
    /// Fails only when the run is to stop.
    fn load(&self, wants: &[&Want]) -> anyhow::Result<Loaded> {
        let look_up = |want: &&Want| self.look_up(want);
        let mut found: Vec<Option<Bytes>> = self.pool.install(|| wants.par_iter().map(look_up).collect());
        let mut missing: Vec<usize> = (0..wants.len()).filter(|&at| found[at].is_none()).collect();
        while !missing.is_empty() {
            missing.retain(|&at| self.failures.get(&wants[at].key).is_none());
            missing = self.read_source(wants, &missing, &mut found)?;
        }
        Ok(self.results(wants, found))
    }

    /// Loads `wants`, of distinct objects that the cache does not take: from the cache if an earlier
    /// run put them there, else from their sources.
    ///
    /// Fails only when the run is to stop.
    fn load_apart(&self, wants: &[&Want]) -> anyhow::Result<Loaded> {
        let look_up = |want: &&Want| self.look_up_on_disk(&want.key);
        let mut found: Vec<Option<Bytes>> = self.pool.install(|| wants.par_iter().map(look_up).collect());
        self.counters.add(Counter::ShardFinds, found.iter().flatten().count() as u64);
        let missing = |&at: &usize| found[at].is_none() && self.failures.get(&wants[at].key).is_none();
        let missing: Vec<usize> = (0..wants.len()).filter(missing).collect();
        self.read(wants, missing, &mut found, &|key, payload| {
            let bytes = if self.count_read(key) { payload.len() as u64 } else { 0 };
            self.counters.add(Counter::UniqueBytes, bytes);
            self.counters.add(Counter::ShardReads, 1);
        })?;
        Ok(self.results(wants, found))
    }

    fn results(&self, wants: &[&Want], found: Vec<Option<Bytes>>) -> Loaded {
        let fault = |key: &Key| {
            self.failures.get(key).unwrap_or_else(|| Fault::new(FaultClass::Io, "it was not read"))
        };
        let result =
            |(payload, want): (Option<Bytes>, &&Want)| (want.key, payload.ok_or_else(|| fault(&want.key)));
        found.into_iter().zip(wants).map(result).collect()
    }

    fn look_up(&self, want: &Want) -> Option<Bytes> {
        let keep = |payload: &Bytes| {
            if self.plan.uses.as_ref().is_none_or(|uses| uses.recur(&want.object)) {
                self.memory.offer(want.key, payload);
            }
        };
        self.memory.get(&want.key).or_else(|| self.look_up_on_disk(&want.key).inspect(keep))
    }

    /// What a limited cache takes; `None`: the cache takes every object.
    pub fn limited(&self) -> Option<&'a Uses> {
        self.plan.uses.as_ref().filter(|uses| uses.cache_is_limited())
    }

    fn look_up_on_disk(&self, key: &Key) -> Option<Bytes> {
        let cache = self.cache.as_ref()?;
        match self.counters.timed(Counter::LookupNanos, || cache.lookup(key)) {
            Lookup::Hit(payload) => {
                self.counters.add(Counter::Lookups, 1);
                self.counters.add(Counter::LookupBytes, payload.len() as u64);
                Some(payload)
            }
            Lookup::Absent => None,
            Lookup::Damaged { length } => {
                if self.seen.lock().damaged.insert(*key) {
                    // The plan counted the length that the file claimed.
                    self.counters.add(Counter::DamagedBytes, length);
                    let what =
                        format!("cache entry {key} is damaged; reading the object from its source again");
                    self.monitor.problem(&what);
                }
                None
            }
        }
    }

    /// Counts an object that was read from its source for a row; whether it is the first time.
    fn count_read(&self, key: Key) -> bool {
        let first = {
            let mut seen = self.seen.lock();
            seen.read.insert(key) && !seen.unkept.contains(&key)
        };
        self.counters.add(if first { Counter::Reads } else { Counter::Rereads }, 1);
        first
    }

    /// Reads the objects at `places` from their sources into `found`; `each` is called with every
    /// payload.
    fn read(
        &self,
        wants: &[&Want],
        mut places: Vec<usize>,
        found: &mut [Option<Bytes>],
        each: &(dyn Fn(Key, &Bytes) + Sync),
    ) -> anyhow::Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        places.sort_by(|&a, &b| wants[a].object.cmp(&wants[b].object));
        let files = plan::files(places.iter().map(|&at| (&*wants[at].object, wants[at].key)));
        let payloads: Mutex<HashMap<Key, Bytes>> = Mutex::default();
        self.obtain(&files, Until::Done, &|key, payload| {
            let Some(payload) = payload else { return };
            each(key, &payload);
            payloads.lock().insert(key, payload);
        })?;
        let mut payloads = payloads.into_inner();
        places.iter().for_each(|&at| found[at] = payloads.remove(&wants[at].key));
        Ok(())
    }

    /// Reads those of `missing` that no other thread is reading, waits for the others, and returns
    /// what is still missing.
    fn read_source(
        &self,
        wants: &[&Want],
        missing: &[usize],
        found: &mut [Option<Bytes>],
    ) -> anyhow::Result<Vec<usize>> {
        let (mut mine, mut others) = (Vec::new(), Vec::new());
        let mut leads = Vec::new();
        for &at in missing {
            if self.cache.is_none() {
                // Nobody could find what another thread has read.
                mine.push(at);
                continue;
            }
            match self.flight.try_lead(wants[at].key) {
                Some(lead) => {
                    // Another thread may have led and landed since the entry was missed.
                    found[at] = self.look_up(wants[at]);
                    if found[at].is_none() {
                        mine.push(at);
                        leads.push(lead);
                    }
                }
                None => others.push(at),
            }
        }
        self.read(wants, mine, found, &|key, payload| {
            // The bytes of entries that were there when they were planned are counted already.
            let uncounted = self.cache.is_none() || self.is_full() || self.seen.lock().damaged.contains(&key);
            if self.count_read(key) && uncounted {
                self.counters.add(Counter::UniqueBytes, payload.len() as u64);
            }
            self.keep(key, payload);
        })?;
        drop(leads);
        others.retain(|&at| {
            self.flight.wait(wants[at].key);
            found[at] = self.look_up(wants[at]);
            found[at].is_none()
        });
        Ok(others)
    }
}
