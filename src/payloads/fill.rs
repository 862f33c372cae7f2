//! Plans a run and fetches, in source order, every object that the cache lacks and should hold, before
//! any row asks for it.

use std::path::Path;

use bytes::Bytes;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::{Counter, Payloads};
use crate::cache;
use crate::counting::named::NamedCounts;
use crate::monitor::{Monitor, Phase};
use crate::object::{Key, Object, ObjectName};
use crate::plan::{self, FileFetch, Mark, Marks, Plan};

/// How far [`Payloads::obtain`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    Done,
    CacheIsFull,
}

/// Adds all objects to `plan`, in batches of `batch_bytes`. The cache at `root`, if there is one, is asked
/// which of them it holds.
///
/// Fails when the objects cannot be read back, and when interrupted.
pub fn plan(
    mut plan: Plan,
    counts: &NamedCounts,
    batch_bytes: u64,
    root: Option<&Path>,
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Plan> {
    for objects in counts.batches(batch_bytes) {
        monitor.check()?;
        let objects = objects?;
        let held: Vec<Option<u64>> = match root {
            None => vec![None; objects.len()],
            Some(root) => {
                let held = |object: &Object| held(root, object);
                pool.install(|| objects.par_iter().with_min_len(256).map(held).collect())
            }
        };
        plan.add(&objects, &held);
    }
    Ok(plan.finish())
}

/// The bytes of the payload, if there is an entry for the object in the cache at `root`.
pub fn held(root: &Path, object: &Object) -> Option<u64> {
    cache::held(root, &object.name.key())
}

impl Payloads<'_> {
    /// Fetches every object that the cache lacks and should hold. Failures are noted and do not end the
    /// run. Stops early when the cache is full: the remaining objects are read when a row needs them.
    pub fn fill(&self, counts: &NamedCounts, batch_bytes: u64) -> anyhow::Result<()> {
        let probed = self.seen.lock().probed.len() as u64;
        self.monitor.start(Phase::Fetch, self.plan.totals.fetch.objects - probed);
        self.counters.add(Counter::UniqueBytes, self.plan.totals.held_bytes);
        for (objects, marks) in counts.batches(batch_bytes).zip(&self.plan.batches) {
            let files = self.to_fetch(&objects?, marks);
            self.obtain(&files, Until::CacheIsFull, &|key, payload| {
                let bytes = payload.as_ref().map_or(0, Bytes::len) as u64;
                if let Some(payload) = payload {
                    self.counters.add(Counter::Reads, 1);
                    self.counters.add(Counter::UniqueBytes, bytes);
                    self.keep(key, &payload);
                    self.memory.offer(key, &payload);
                }
                self.monitor.advance(Phase::Fetch, 1, bytes);
            })?;
        }
        self.monitor.finish(Phase::Fetch);
        Ok(())
    }

    /// The objects of a batch to read, except those that a probe has read.
    pub fn to_fetch(&self, objects: &[Object], marks: &Marks) -> Vec<FileFetch> {
        let names: Vec<&ObjectName> = marks.names(objects, Mark::Fetch).collect();
        let keys: Vec<Key> =
            self.pool.install(|| names.par_iter().with_min_len(256).map(|name| name.key()).collect());
        let probed = &self.seen.lock().probed;
        plan::files(names.into_iter().zip(keys).filter(|(_, key)| !probed.contains(key)))
    }

    /// An object was read by a probe, and is in the cache.
    pub fn was_probed(&self, key: Key) {
        self.seen.lock().probed.insert(key);
    }
}
