//! Is the cache worth its cost here? Times the source of some objects beside the cache, and lets
//! the break-even of caching ([`AccessCosts::cache_pays`]) decide.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::analysis::cost::{AccessCosts, CacheWork};
use crate::counting::named::{NamedCounts, NamedTotals};
use crate::payloads::{Counter, Payloads, Until};
use crate::plan::FileFetch;

/// How payloads get from sources to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Cache,
    Direct,
}

/// Files that are sampled, and objects of each that are timed: neighbours, so that an archive is
/// looked through once, as in a run.
const FILES: usize = 8;
const OBJECTS: usize = 6;

/// Times a sample of what the cache lacks and decides. What the sample read is in the cache
/// afterwards.
pub fn choose(payloads: &Payloads, counts: &NamedCounts, batch_bytes: u64) -> anyhow::Result<Route> {
    let batch = counts.batches(batch_bytes).zip(&payloads.plan.batches).next();
    let Some((objects, marks)) = batch else { return Ok(Route::Cache) };
    let files = sample(payloads.to_fetch(&objects?, marks));
    let counters = &payloads.counters;
    let (timed, bytes, hit) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let before = [Counter::SourceNanos, Counter::PutNanos].map(|counter| counters.get(counter));
    payloads.obtain(&files, Until::CacheIsFull, &|key, payload| {
        let Some(payload) = payload else { return };
        payloads.keep(key, &payload);
        let start = Instant::now();
        if payloads.cache.as_ref().is_some_and(|cache| cache.get(&key).is_some()) {
            hit.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            timed.fetch_add(1, Ordering::Relaxed);
            bytes.fetch_add(payload.len() as u64, Ordering::Relaxed);
            payloads.was_probed(key);
        }
    })?;
    let timed = timed.into_inner();
    let each = |nanos: u64| nanos as f64 / 1e9 / timed.max(1) as f64;
    let costs = AccessCosts {
        source: each(counters.get(Counter::SourceNanos) - before[0]),
        put: each(counters.get(Counter::PutNanos) - before[1]),
        hit: each(hit.into_inner()),
    };
    let NamedTotals { references, objects, .. } = counts.totals;
    if timed == 0 || costs.cache_pays(&CacheWork::fetching_first(references, objects)) {
        counters.add(Counter::Reads, timed);
        counters.add(Counter::UniqueBytes, bytes.into_inner());
        return Ok(Route::Cache);
    }
    // Without the cache these objects are read again when a row needs them.
    counters.add(Counter::Rereads, timed);
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
