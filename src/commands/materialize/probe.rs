//! Is the cache worth its cost here? Times the source of some objects beside the cache.
//!
//! With k references an object costs k source reads without a cache, and one source read, one put
//! and k hits with it. So the cache pays when (R - U) source reads cost more than U puts and R
//! hits. This is the break-even of caching: remote sources are far on one side of it, files on a
//! fast disk on the other.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::counters::Counter;
use super::fetch::{Run, Until, plan_batch};
use crate::grouping::{Groups, Totals};
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

/// Times a sample of what is not in the cache at `root` and decides. What the sample read is in
/// the cache afterwards.
pub fn choose(run: &Run, groups: &Groups, batch_bytes: u64, root: &Path) -> anyhow::Result<Route> {
    let Some(objects) = groups.batches(batch_bytes).next() else { return Ok(Route::Cache) };
    let files = sample(plan_batch(&objects?, Some(root), run.pool).files);
    let (timed, hit) = (AtomicU64::new(0), AtomicU64::new(0));
    let before = [Counter::SourceNanos, Counter::PutNanos].map(|counter| run.counters.get(counter));
    run.obtain(&files, Until::CacheIsFull, &|key, payload| {
        let Some(payload) = payload else { return };
        run.keep(key, &payload);
        let start = Instant::now();
        if run.cache.is_some_and(|cache| cache.get(&key).is_some()) {
            hit.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            timed.fetch_add(1, Ordering::Relaxed);
        }
    })?;
    let timed = timed.into_inner();
    let each = |nanos: u64| nanos as f64 / timed.max(1) as f64;
    let source = each(run.counters.get(Counter::SourceNanos) - before[0]);
    let put = each(run.counters.get(Counter::PutNanos) - before[1]);
    let Totals { references, objects, .. } = groups.totals;
    let saved = (references - objects) as f64 * source;
    let spent = objects as f64 * put + references as f64 * each(hit.into_inner());
    let route = if timed == 0 || saved > spent { Route::Cache } else { Route::Direct };
    // Without the cache these objects are read again when a row needs them.
    run.counters.add(if route == Route::Cache { Counter::Reads } else { Counter::Rereads }, timed);
    Ok(route)
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
