//! Is the cache worth its cost here? Times the source of some objects beside the cache, and lets
//! the break-even of caching ([`Costs::favour_a_cache`]) decide.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::counters::Counter;
use super::fetch::{Run, Stock, Until, plan_batch};
use crate::commands::break_even::Costs;
use crate::counting::objects::{Groups, Totals};
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
    let files = sample(plan_batch(&objects?, Stock { root: Some(root), admission: None }, run.pool).files);
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
    let each = |nanos: u64| nanos as f64 / 1e9 / timed.max(1) as f64;
    let costs = Costs {
        source: each(run.counters.get(Counter::SourceNanos) - before[0]),
        put: each(run.counters.get(Counter::PutNanos) - before[1]),
        hit: each(hit.into_inner()),
    };
    let Totals { references, objects, .. } = groups.totals;
    let cached = timed == 0 || costs.favour_a_cache(references, objects);
    let route = if cached { Route::Cache } else { Route::Direct };
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
