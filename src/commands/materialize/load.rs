//! Gives rows their payloads: from the cache, or from the source where the cache fails.
//!
//! Of several threads that miss one entry, one reads the source and stores the entry again; the
//! others then find it in the cache. What the cache is not to hold is read for whoever asks.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use parking_lot::Mutex;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::admission::AdmittedObjects;
use super::counters::Counter;
use super::fetch::{Run, Until};
use crate::cache::Lookup;
use crate::cache::flight::Flight;
use crate::fault::{Class, Fault};
use crate::locator::Target;
use crate::monitor::Monitor;
use crate::object::{Key, Object};
use crate::plan;
use crate::steps::tiff;

/// Loads payloads for the threads that write shards.
pub struct Loader<'a> {
    run: &'a Run<'a>,
    flight: Flight,
    /// Objects read from their source for a row.
    read: Mutex<HashSet<Key>>,
    /// Objects whose entry is not what it says.
    damaged: Mutex<HashSet<Key>>,
    /// Pages that are not in their payload, and were told of.
    no_pages: Mutex<HashSet<(Key, u32)>>,
}

impl<'a> Loader<'a> {
    pub fn new(run: &'a Run<'a>) -> Loader<'a> {
        Loader {
            run,
            flight: Flight::default(),
            read: Mutex::default(),
            damaged: Mutex::default(),
            no_pages: Mutex::default(),
        }
    }

    pub fn monitor(&self) -> &'a dyn Monitor {
        self.run.monitor
    }

    /// See [`Run::admission`].
    pub fn admission(&self) -> Option<&'a AdmittedObjects> {
        self.run.admission
    }

    /// The payloads of `objects`, which are distinct and may be stored, in their order.
    ///
    /// Fails only when the run is to stop.
    pub fn load(&self, objects: &[(Key, Object)]) -> anyhow::Result<Vec<Result<Bytes, Fault>>> {
        let mut found: Vec<Option<Bytes>> =
            self.run.pool.install(|| objects.par_iter().map(|(key, _)| self.look_up(key)).collect());
        let mut missing: Vec<usize> = (0..objects.len()).filter(|&at| found[at].is_none()).collect();
        while !missing.is_empty() {
            missing.retain(|&at| self.run.failures.get(&objects[at].0).is_none());
            missing = self.read_source(objects, &missing, &mut found)?;
        }
        Ok(self.results(objects, found))
    }

    /// The payloads of `objects`, which are distinct and are not to be stored, in their order: from
    /// the cache if an earlier run put them there, else from their sources.
    ///
    /// Fails only when the run is to stop.
    pub fn load_apart(&self, objects: &[(Key, Object)]) -> anyhow::Result<Vec<Result<Bytes, Fault>>> {
        let look_up = |(key, _): &(Key, Object)| self.look_up_on_disk(key);
        let mut found: Vec<Option<Bytes>> =
            self.run.pool.install(|| objects.par_iter().map(look_up).collect());
        self.run.counters.add(Counter::ShardFinds, found.iter().flatten().count() as u64);
        let missing = |&at: &usize| found[at].is_none() && self.run.failures.get(&objects[at].0).is_none();
        let missing: Vec<usize> = (0..objects.len()).filter(missing).collect();
        self.obtain(objects, missing, &mut found, &|key, payload| {
            let bytes = if self.count_read(key) { payload.len() as u64 } else { 0 };
            self.run.counters.add(Counter::UniqueBytes, bytes);
            self.run.counters.add(Counter::ShardReads, 1);
        })?;
        Ok(self.results(objects, found))
    }

    /// Whether the object could not be had.
    pub fn has_failed(&self, key: &Key) -> bool {
        self.run.failures.get(key).is_some()
    }

    /// Page `index` of `payload`, which is that of `object`. A fault names the object.
    ///
    /// Fails only when the run is to stop.
    pub fn page(
        &self,
        key: Key,
        object: &Object,
        payload: &Bytes,
        index: u32,
    ) -> anyhow::Result<Result<Bytes, Fault>> {
        let page = tiff::extract(payload, index).map_err(|fault| {
            let path = object.name.location();
            let what = match object.name.target() {
                Target::Whole => format!("{path}: {}", fault.what),
                Target::Member(name) => format!("{path}: member {name}: {}", fault.what),
                Target::Range { offset, size } => format!("{path}: {size} bytes at {offset}: {}", fault.what),
            };
            Fault::new(fault.class, what)
        });
        if let Err(fault) = &page
            && self.no_pages.lock().insert((key, index))
        {
            self.run.failures.tell(fault, self.run.monitor)?;
        }
        Ok(page)
    }

    /// How long the payload will be, where locator or cache say it, in bytes.
    pub fn expected_bytes(&self, key: &Key, object: &Object) -> Option<u64> {
        object.name.size().or_else(|| self.run.cache?.held(key))
    }

    fn look_up(&self, key: &Key) -> Option<Bytes> {
        let memory = self.run.memory;
        memory.get(key).or_else(|| self.look_up_on_disk(key).inspect(|payload| memory.offer(*key, payload)))
    }

    fn look_up_on_disk(&self, key: &Key) -> Option<Bytes> {
        let cache = self.run.cache?;
        let counters = self.run.counters;
        match counters.timed(Counter::LookupNanos, || cache.lookup(key)) {
            Lookup::Hit(payload) => {
                counters.add(Counter::Lookups, 1);
                counters.add(Counter::LookupBytes, payload.len() as u64);
                Some(payload)
            }
            Lookup::Absent => None,
            Lookup::Damaged { length } => {
                if self.damaged.lock().insert(*key) {
                    // The plan counted the length that the file claimed.
                    counters.add(Counter::DamagedBytes, length);
                    let what = format!("cache entry {key} is damaged; its object is fetched again");
                    self.run.monitor.problem(&what);
                }
                None
            }
        }
    }

    fn results(&self, objects: &[(Key, Object)], found: Vec<Option<Bytes>>) -> Vec<Result<Bytes, Fault>> {
        let result = |(payload, (key, _)): (Option<Bytes>, &(Key, Object))| {
            let fault = || self.run.failures.get(key).unwrap_or_else(|| Fault::new(Class::Io, "not read"));
            payload.ok_or_else(fault)
        };
        found.into_iter().zip(objects).map(result).collect()
    }

    /// Counts an object that was read from its source for a row; whether it is the first time.
    fn count_read(&self, key: Key) -> bool {
        let first = self.read.lock().insert(key) && !self.run.could_not_keep(&key);
        self.run.counters.add(if first { Counter::Reads } else { Counter::Rereads }, 1);
        first
    }

    /// Reads the objects at `places` from their sources into `found`; `each` is told of every
    /// payload.
    fn obtain(
        &self,
        objects: &[(Key, Object)],
        mut places: Vec<usize>,
        found: &mut [Option<Bytes>],
        each: &(dyn Fn(Key, &Bytes) + Sync),
    ) -> anyhow::Result<()> {
        places.sort_by(|&a, &b| objects[a].1.name.cmp(&objects[b].1.name));
        let files = plan::plan(places.iter().map(|&at| (&objects[at].1.name, objects[at].0)));
        let payloads: Mutex<HashMap<Key, Bytes>> = Mutex::default();
        self.run.obtain(&files, Until::Done, &|key, payload| {
            let Some(payload) = payload else { return };
            each(key, &payload);
            payloads.lock().insert(key, payload);
        })?;
        let mut payloads = payloads.into_inner();
        places.iter().for_each(|&at| found[at] = payloads.remove(&objects[at].0));
        Ok(())
    }

    /// Reads those of `missing` that no other thread is reading, waits for the others, and
    /// returns what is still to be had.
    fn read_source(
        &self,
        objects: &[(Key, Object)],
        missing: &[usize],
        found: &mut [Option<Bytes>],
    ) -> anyhow::Result<Vec<usize>> {
        let (mut mine, mut others) = (Vec::new(), Vec::new());
        let mut leads = Vec::new();
        for &at in missing {
            if self.run.cache.is_none() {
                // Nobody could find what another thread has read.
                mine.push(at);
                continue;
            }
            match self.flight.try_lead(objects[at].0) {
                Some(lead) => {
                    // Another thread may have led and landed since the entry was missed.
                    found[at] = self.look_up(&objects[at].0);
                    if found[at].is_none() {
                        mine.push(at);
                        leads.push(lead);
                    }
                }
                None => others.push(at),
            }
        }
        self.obtain(objects, mine, found, &|key, payload| {
            // The bytes of entries that were there when they were planned are counted already.
            let uncounted =
                self.run.cache.is_none() || self.run.is_full() || self.damaged.lock().contains(&key);
            if self.count_read(key) && uncounted {
                self.run.counters.add(Counter::UniqueBytes, payload.len() as u64);
            }
            self.run.keep(key, payload);
        })?;
        drop(leads);
        others.retain(|&at| {
            self.flight.wait(objects[at].0);
            found[at] = self.look_up(&objects[at].0);
            found[at].is_none()
        });
        Ok(others)
    }
}
