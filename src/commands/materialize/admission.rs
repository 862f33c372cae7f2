//! What goes through the cache: decided once, before the first fetch.
//!
//! Of objects that do not all fit, [`admit`] chooses as [`crate::analysis::admission`] does. Nothing is
//! evicted: entries of earlier runs stay, and what is not admitted is read again for each shard that
//! needs it. [`probe`] bypasses the cache where the break-even of caching ([`AccessCosts::cache_pays`])
//! says that it is not worth its cost.

use std::time::Duration;

use bytesize::ByteSize;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use super::options::{CacheLimit, CachePolicy};
use super::{RunContext, budget};
use crate::analysis::admission::{Policy, Verdict, admit_entries};
use crate::analysis::cost::{AccessCosts, CacheWork};
use crate::analysis::table::MultiplicityTable;
use crate::cache::ENTRY_OVERHEAD;
use crate::commands::cache_timing::CacheTiming;
use crate::counting::named::{NamedCounts, NamedTotals};
use crate::locator::Target;
use crate::monitor::Monitor;
use crate::object::Object;
use crate::payloads::{self, Counter, Payloads, Until};
use crate::plan::FileFetch;
use crate::plan::uses::{CacheTakes, Uses};

/// What a cache of limited size takes, and what that predicts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CacheAdmission {
    /// `count` or `density`.
    pub policy: &'static str,
    /// What the entries of the admitted objects fit in, bytes.
    pub budget: u64,
    /// Admitted objects, and the bytes of their payloads, assumed ones included.
    pub admitted_objects: u64,
    pub admitted_bytes: u64,
    /// What a cache that holds these, and nothing at first, gives.
    pub predicted_hit_rate: f64,
}

/// The size of each object where none is known, bytes.
const GUESS_BYTES: u64 = 1 << 20;

/// Admits objects to a cache of `limit`, by the sizes that their locators name or that are cheap to find
/// out. Takes 32 bytes for each object that repeats while it chooses.
///
/// Fails when the counts cannot be read back, and when interrupted.
pub fn admit(
    counts: &NamedCounts,
    limit: CacheLimit,
    context: &RunContext,
) -> anyhow::Result<(Uses, CacheAdmission)> {
    let RunContext { pool, monitor, .. } = *context;
    let (mut table, mut recurring) = (MultiplicityTable::default(), Vec::new());
    for batch in counts.batches(budget::batch_bytes(context.options)) {
        monitor.check()?;
        let batch = batch?;
        let objects: Vec<&Object> = batch.iter().filter(|object| object.count > 1).collect();
        let sized = |object: &&Object| size(object, context);
        let sizes: Vec<Option<u64>> =
            pool.install(|| objects.par_iter().with_min_len(64).map(sized).collect());
        for (object, size) in objects.into_iter().zip(sizes) {
            table.push(object.count, size);
            recurring.push((object.name.id().short(), object.count, size));
        }
    }
    table.settle();
    assume_sizes(&mut table, monitor);
    let policy = match limit.policy {
        CachePolicy::Count => Policy::Count,
        CachePolicy::Density => Policy::Density,
    };
    let admission = pool.install(|| admit_entries(&table, policy, &[limit.bytes], ENTRY_OVERHEAD));
    let admission = &admission[0];
    recurring.sort_unstable();
    let mut alike = 0;
    let mut admits = |k, size| match admission.verdict(k, size) {
        Verdict::Admitted => true,
        Verdict::AmongTheLast(objects) => {
            alike += 1;
            alike <= objects
        }
        Verdict::LeftOut => false,
    };
    let mut uses = Uses::new(CacheTakes::Admitted);
    for (id, k, size) in recurring {
        if size.or(table.assumed()).is_some_and(|size| admits(k, size)) {
            uses.push(id, k);
        }
    }
    let (sums, references) = (admission.admitted, counts.totals.references);
    let summary = CacheAdmission {
        policy: limit.policy.name(),
        budget: limit.bytes,
        admitted_objects: sums.objects,
        admitted_bytes: u64::try_from(sums.bytes).unwrap_or(u64::MAX),
        predicted_hit_rate: if references == 0 { 0.0 } else { sums.hits as f64 / references as f64 },
    };
    Ok((uses, summary))
}

/// The bytes of an object, if its locator, its entry in the cache or the length of its file gives them.
/// Members of archives would take more than a look at their file.
fn size(object: &Object, context: &RunContext) -> Option<u64> {
    let held = || payloads::held(&context.options.cache_dir, object);
    let is_file = object.name.target() == Target::Whole;
    let length = || is_file.then(|| context.source.length(&object.name.location())).flatten();
    object.name.size().or_else(held).or_else(length)
}

/// Assumes the mean size of the others for objects of unknown size.
fn assume_sizes(table: &mut MultiplicityTable, monitor: &dyn Monitor) {
    let totals = table.totals();
    let (unknown, known) = (totals.unsized_objects, totals.objects - totals.unsized_objects);
    if unknown == 0 {
        return;
    }
    let mean = totals.unique_bytes.checked_div(known.into());
    let mean = mean.map_or(GUESS_BYTES, |mean| u64::try_from(mean).unwrap_or(u64::MAX));
    table.assume(mean);
    monitor.problem(&format!(
        "{unknown} of {} objects that repeat have no known size. --cache-limit assumes {} for each, so the \
         cache may exceed the limit",
        totals.objects,
        ByteSize(mean).display().si()
    ));
}

/// How payloads get from sources to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Cache,
    Direct,
}

/// How many files are sampled, and how many objects of each: neighbours, so that an archive is read
/// through once, as in a run.
const FILES: usize = 8;
const OBJECTS: usize = 6;

/// Times the source and the cache with a sample of the missing objects, which are in the cache
/// afterwards, and decides.
pub fn probe(payloads: &Payloads, counts: &NamedCounts, batch_bytes: u64) -> anyhow::Result<Route> {
    let batch = counts.batches(batch_bytes).zip(&payloads.plan.batches).next();
    let Some((objects, marks)) = batch else { return Ok(Route::Cache) };
    let files = sample(payloads.to_fetch(&objects?, marks));
    let counters = &payloads.counters;
    let timing = CacheTiming::default();
    let before = counters.get(Counter::SourceNanos);
    payloads.obtain(&files, Until::CacheIsFull, &|key, payload| {
        let Some(payload) = payload else { return };
        let get = || payloads.cache.as_ref().is_some_and(|cache| cache.get(&key).is_some());
        if let (_, true) = timing.time(&payload, || payloads.keep(key, &payload), get) {
            payloads.was_probed(key);
        }
    })?;
    let source = Duration::from_nanos(counters.get(Counter::SourceNanos) - before);
    let sums = timing.into_sums();
    let costs = sums.costs(source, sums.objects);
    let NamedTotals { references, objects, .. } = counts.totals;
    if sums.objects == 0 || costs.cache_pays(&CacheWork::fetching_first(references, objects)) {
        counters.add(Counter::Reads, sums.objects);
        counters.add(Counter::UniqueBytes, sums.bytes);
        return Ok(Route::Cache);
    }
    // Without the cache, rows that need these objects read them again.
    counters.add(Counter::Rereads, sums.objects);
    Ok(Route::Direct)
}

/// Neighbouring objects of some files from all over the plan.
fn sample(files: Vec<FileFetch>) -> Vec<FileFetch> {
    let step = files.len().div_ceil(FILES).max(1);
    let mut sample: Vec<FileFetch> = files.into_iter().step_by(step).collect();
    for file in &mut sample {
        file.targets.truncate(OBJECTS);
        file.keys.truncate(OBJECTS);
    }
    sample
}

/// What to say where the measured times show that the cache, which held all objects, did not pay.
pub fn advice(payloads: &Payloads, totals: NamedTotals) -> Option<String> {
    let get = |counter| payloads.counters.get(counter);
    let each = |nanos, count| get(nanos) as f64 / get(count).max(1) as f64 / 1e9;
    let costs = AccessCosts {
        source: each(Counter::SourceNanos, Counter::Reads),
        put: each(Counter::PutNanos, Counter::Puts),
        hit: each(Counter::LookupNanos, Counter::Lookups),
    };
    let measured = get(Counter::Reads) > 0 && get(Counter::Lookups) > 0;
    if !measured || costs.cache_pays(&CacheWork::fetching_first(totals.references, totals.objects)) {
        return None;
    }
    let [source, put, hit] = [costs.source, costs.put, costs.hit].map(|seconds| seconds * 1e6);
    Some(format!(
        "the cache is slower than the source here: a source read takes {source:.0} µs per object, a put {put:.0} \
         µs, a hit {hit:.0} µs. --cache-mode auto bypasses the cache"
    ))
}
