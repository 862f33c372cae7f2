//! Obtains objects: from their sources, through requests that carry many, into the cache.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::counters::{Counter, Counters};
use super::failures::Failures;
use crate::cache::memory::MemoryTier;
use crate::cache::{self, Cache};
use crate::corpus::Object;
use crate::corpus::{Key, key};
use crate::fault::Fault;
use crate::grouping::Groups;
use crate::monitor::{Monitor, Phase};
use crate::plan::{self, FileFetch};
use crate::source::{Request, Source};

/// What the threads of a run share.
pub struct Run<'a> {
    pub source: &'a dyn Source,
    pub cache: Option<&'a Cache>,
    pub memory: &'a MemoryTier,
    pub counters: &'a Counters,
    pub failures: &'a Failures,
    pub monitor: &'a dyn Monitor,
    pub pool: &'a rayon::ThreadPool,
    /// The cache has no space left.
    pub full: AtomicBool,
}

/// What is already where it is needed, and what is to be fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planned {
    /// Objects that only finished shards need, and their bytes as far as locators or cache tell.
    pub reused: u64,
    pub reused_bytes: u64,
    pub held: u64,
    pub held_bytes: u64,
    pub fetch: plan::Size,
    /// Source files that something is fetched from.
    pub files: u64,
}

/// A batch of objects, planned.
pub struct Batch {
    pub planned: Planned,
    pub files: Vec<FileFetch>,
}

/// Plans one batch: asks the cache at `root`, if there is one, what it holds.
pub fn plan_batch(objects: &[Object], root: Option<&std::path::Path>, pool: &rayon::ThreadPool) -> Batch {
    let look_up = |object: &Object| {
        let key = key::key(&object.canonical);
        (key, root.and_then(|root| cache::held(root, &key)))
    };
    let looked_up: Vec<(Key, Option<u64>)> =
        pool.install(|| objects.par_iter().with_min_len(256).map(look_up).collect());
    let mut planned = Planned::default();
    let mut missing = Vec::new();
    for (object, (key, held)) in objects.iter().zip(looked_up) {
        match held {
            _ if !object.wanted => {
                planned.reused += 1;
                planned.reused_bytes += held.or_else(|| object.size()).unwrap_or(0);
            }
            Some(bytes) => {
                planned.held += 1;
                planned.held_bytes += bytes;
            }
            None => missing.push((object, key)),
        }
    }
    let files = plan::plan(missing);
    for file in &files {
        planned.fetch += plan::size(file);
    }
    Batch { planned, files }
}

/// Plans everything, batch by batch.
pub fn plan_all(
    groups: &Groups,
    batch_bytes: u64,
    root: Option<&std::path::Path>,
    pool: &rayon::ThreadPool,
) -> anyhow::Result<Planned> {
    let mut total = Planned::default();
    // A large file comes in several batches and counts once.
    let mut paths: HashSet<u64> = HashSet::new();
    for objects in groups.batches(batch_bytes) {
        let batch = plan_batch(&objects?, root, pool);
        paths.extend(batch.files.iter().map(|file| key::short_hash(&file.path)));
        total += batch.planned;
    }
    Ok(Planned { files: paths.len() as u64, ..total })
}

impl std::ops::AddAssign for Planned {
    fn add_assign(&mut self, other: Planned) {
        self.reused += other.reused;
        self.reused_bytes += other.reused_bytes;
        self.held += other.held;
        self.held_bytes += other.held_bytes;
        self.fetch += other.fetch;
    }
}

impl Run<'_> {
    /// Fetches everything that the cache lacks. What fails is noted and does not end the run.
    /// Ends early when the cache is full: what it cannot keep is read when a row needs it.
    pub fn fill(&self, groups: &Groups, batch_bytes: u64, root: &std::path::Path) -> anyhow::Result<()> {
        for objects in groups.batches(batch_bytes) {
            let mut batch = plan_batch(&objects?, Some(root), self.pool);
            if self.full.load(Ordering::Relaxed) {
                batch.files.clear();
            }
            self.counters.add(Counter::UniqueBytes, batch.planned.held_bytes);
            self.obtain(&batch.files, &|key, payload| {
                self.counters.add(Counter::Fetched, 1);
                self.counters.add(Counter::UniqueBytes, payload.len() as u64);
                self.monitor.advance(Phase::Fetch, 1, payload.len() as u64);
                self.keep(key, &payload);
                self.memory.offer(key, &payload);
            })?;
        }
        Ok(())
    }

    /// Reads the objects of `files` and hands over each payload. Objects that fail are noted.
    ///
    /// Fails when the run is to stop, with some objects neither handed over nor noted.
    pub fn obtain(&self, files: &[FileFetch], deliver: &(dyn Fn(Key, Bytes) + Sync)) -> anyhow::Result<()> {
        self.pool.install(|| -> anyhow::Result<()> {
            let prepared: Vec<(&FileFetch, Vec<Request>)> = files
                .par_iter()
                .map(|file| {
                    let prepared = self.source.prepare(&file.path, &file.targets);
                    for (target, fault) in prepared.faults {
                        self.fail(file.keys[target], fault);
                    }
                    (file, prepared.requests)
                })
                .collect();
            let requests: Vec<(&FileFetch, &Request)> = prepared
                .iter()
                .flat_map(|(file, requests)| requests.iter().map(move |r| (*file, r)))
                .collect();
            requests.par_iter().with_max_len(1).try_for_each(|(file, request)| {
                self.monitor.check()?;
                self.failures.check()?;
                self.perform(file, request, deliver);
                anyhow::Ok(())
            })
        })?;
        self.failures.check()
    }

    fn perform(&self, file: &FileFetch, request: &Request, deliver: &(dyn Fn(Key, Bytes) + Sync)) {
        let mut results: Vec<(usize, Result<Bytes, Fault>)> = Vec::new();
        let cost = self.counters.timed(Counter::SourceNanos, || {
            self.source.perform(request, &mut |target, result| results.push((target, result)))
        });
        self.counters.add(Counter::Requests, cost.requests);
        self.counters.add(Counter::SourceBytes, cost.bytes);
        for (target, result) in results {
            match result {
                Ok(payload) => deliver(file.keys[target], payload),
                Err(fault) => self.fail(file.keys[target], fault),
            }
        }
    }

    fn fail(&self, key: Key, fault: Fault) {
        self.failures.insert(key, fault, self.monitor);
        self.monitor.advance(Phase::Fetch, 1, 0);
    }

    /// Puts a payload into the cache; a cache that cannot take it is no problem of the payload.
    pub fn keep(&self, key: Key, payload: &Bytes) {
        let Some(cache) = self.cache else { return };
        match self.counters.timed(Counter::PutNanos, || cache.put(&key, payload)) {
            Ok(()) => {
                self.counters.add(Counter::Puts, 1);
                self.counters.add(Counter::PutBytes, payload.len() as u64);
            }
            Err(error) => {
                self.counters.add(Counter::PutFailures, 1);
                self.monitor
                    .problem(&format!("the cache cannot keep an object of {} bytes: {error}", payload.len()));
            }
        }
    }
}
