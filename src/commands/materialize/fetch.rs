//! Obtains objects: from their sources, through requests that carry many, into the cache.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::admission::AdmittedObjects;
use super::counters::{Counter, Counters};
use super::failures::Failures;
use crate::cache::memory::MemoryTier;
use crate::cache::{self, Cache};
use crate::counting::objects::Groups;
use crate::fault::Fault;
use crate::fetch::obtain;
use crate::locator::{SourcePath, Target};
use crate::monitor::{Monitor, Phase};
use crate::object::{Key, Object};
use crate::plan::{self, FileFetch};
use crate::store::Source;

/// What the threads of a run share.
pub struct Run<'a> {
    pub source: &'a dyn Source,
    pub cache: Option<&'a Cache>,
    pub memory: &'a MemoryTier,
    /// `None`: the cache takes every object.
    pub admission: Option<&'a AdmittedObjects>,
    pub counters: &'a Counters,
    pub failures: &'a Failures,
    pub monitor: &'a dyn Monitor,
    pub pool: &'a rayon::ThreadPool,
    pub full: Full,
}

/// What is known once the cache could not keep something.
#[derive(Default)]
pub struct Full {
    /// The cache takes nothing more: its disk is full, or can be read only.
    no_space: AtomicBool,
    /// Objects that were read and could not be kept.
    unkept: Mutex<HashSet<Key>>,
}

/// How far [`Run::obtain`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    Done,
    CacheIsFull,
}

/// What is already where it is needed, and what is to be fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planned {
    /// Objects that only finished shards need, and their bytes as far as locators or cache tell.
    pub reused: u64,
    pub reused_bytes: u64,
    pub held: u64,
    pub held_bytes: u64,
    /// What goes into the cache.
    pub fetch: plan::Size,
    /// What the cache neither holds nor is to hold, if each object were read once; and the
    /// references to it.
    pub apart: plan::Size,
    pub apart_references: u64,
    /// Source files that something is fetched from.
    pub files: u64,
}

/// The cache as a plan sees it.
#[derive(Clone, Copy, Default)]
pub struct Stock<'a> {
    /// The folder of a cache that is there.
    pub root: Option<&'a Path>,
    /// See [`Run::admission`].
    pub admission: Option<&'a AdmittedObjects>,
}

impl Stock<'_> {
    fn admits(&self, object: &Object) -> bool {
        self.admission.is_none_or(|admission| admission.contain(&object.name))
    }
}

/// A batch of objects, planned.
pub struct Batch {
    pub planned: Planned,
    /// What goes into the cache.
    pub files: Vec<FileFetch>,
    /// What is read for each shard that needs it.
    pub apart: Vec<FileFetch>,
}

/// Plans one batch: asks the cache, if there is one, what it holds.
pub fn plan_batch(objects: &[Object], stock: Stock, pool: &rayon::ThreadPool) -> Batch {
    let look_up = |object: &Object| {
        let key = object.name.key();
        (key, stock.root.and_then(|root| cache::held(root, &key)))
    };
    let looked_up: Vec<(Key, Option<u64>)> =
        pool.install(|| objects.par_iter().with_min_len(256).map(look_up).collect());
    let mut planned = Planned::default();
    let (mut missing, mut apart) = (Vec::new(), Vec::new());
    for (object, (key, held)) in objects.iter().zip(looked_up) {
        match held {
            _ if !object.wanted => {
                planned.reused += 1;
                planned.reused_bytes += held.or_else(|| object.name.size()).unwrap_or(0);
            }
            Some(bytes) => {
                planned.held += 1;
                planned.held_bytes += bytes;
            }
            None if stock.admits(object) => missing.push((&object.name, key)),
            None => {
                planned.apart_references += object.count;
                apart.push((&object.name, key));
            }
        }
    }
    let (files, apart) = (plan::plan(missing), plan::plan(apart));
    files.iter().for_each(|file| planned.fetch += plan::size(file));
    apart.iter().for_each(|file| planned.apart += plan::size(file));
    Batch { planned, files, apart }
}

/// Plans everything, batch by batch.
pub fn plan_all(
    groups: &Groups,
    batch_bytes: u64,
    stock: Stock,
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Planned> {
    let mut total = Planned::default();
    // A large file comes in several batches, or is read for both purposes, and counts once; one
    // without ranges comes in a single batch.
    let mut ranged: HashSet<SourcePath> = HashSet::new();
    for objects in groups.batches(batch_bytes) {
        monitor.check()?;
        let batch = plan_batch(&objects?, stock, pool);
        let mut others: HashSet<SourcePath> = HashSet::new();
        for file in batch.files.iter().chain(&batch.apart) {
            match file.targets.last() {
                Some(Target::Range { .. }) => ranged.insert(file.path.clone()),
                _ => others.insert(file.path.clone()),
            };
        }
        total.files += others.difference(&ranged).count() as u64;
        total += batch.planned;
    }
    Ok(Planned { files: total.files + ranged.len() as u64, ..total })
}

impl std::ops::AddAssign for Planned {
    fn add_assign(&mut self, other: Planned) {
        self.reused += other.reused;
        self.reused_bytes += other.reused_bytes;
        self.held += other.held;
        self.held_bytes += other.held_bytes;
        self.fetch += other.fetch;
        self.apart += other.apart;
        self.apart_references += other.apart_references;
    }
}

impl Run<'_> {
    /// Fetches everything that the cache is to hold and lacks. What fails is noted and does not end the run.
    /// Ends early when the cache is full: what it cannot keep is read when a row needs it.
    pub fn fill(&self, groups: &Groups, batch_bytes: u64, root: &Path) -> anyhow::Result<()> {
        let stock = Stock { root: Some(root), admission: self.admission };
        for objects in groups.batches(batch_bytes) {
            let batch = plan_batch(&objects?, stock, self.pool);
            self.counters.add(Counter::UniqueBytes, batch.planned.held_bytes);
            self.obtain(&batch.files, Until::CacheIsFull, &|key, payload| {
                let bytes = payload.as_ref().map_or(0, |payload| payload.len() as u64);
                if let Some(payload) = payload {
                    self.counters.add(Counter::Reads, 1);
                    self.counters.add(Counter::UniqueBytes, bytes);
                    self.keep(key, &payload);
                    self.memory.offer(key, &payload);
                }
                self.monitor.advance(Phase::Fetch, 1, bytes);
            })?;
        }
        Ok(())
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
        let each = |key, result: Result<Bytes, Fault>| match result {
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

    /// Puts a payload into the cache; a cache that cannot take it is no problem of the payload.
    pub fn keep(&self, key: Key, payload: &Bytes) {
        let Some(cache) = self.cache else { return };
        if self.is_full() {
            self.full.unkept.lock().insert(key);
            self.counters.add(Counter::PutFailures, 1);
            return;
        }
        match self.counters.timed(Counter::PutNanos, || cache.put(&key, payload)) {
            Ok(()) => {
                self.counters.add(Counter::Puts, 1);
                self.counters.add(Counter::PutBytes, payload.len() as u64);
            }
            Err(error) => {
                self.full.unkept.lock().insert(key);
                self.counters.add(Counter::PutFailures, 1);
                use ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
                let lasting = [StorageFull, QuotaExceeded, ReadOnlyFilesystem, PermissionDenied];
                if lasting.contains(&error.kind()) && self.full.no_space.swap(true, Ordering::Relaxed) {
                    return;
                }
                let length = payload.len();
                self.monitor.problem(&format!(
                    "the cache cannot keep an object of {length} bytes: {error}; such objects are read again when \
                     a row needs them"
                ));
            }
        }
    }

    pub fn is_full(&self) -> bool {
        self.full.no_space.load(Ordering::Relaxed)
    }

    /// Whether this run has read the object before and could not keep it.
    pub fn could_not_keep(&self, key: &Key) -> bool {
        self.full.unkept.lock().contains(key)
    }
}
