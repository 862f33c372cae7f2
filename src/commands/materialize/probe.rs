//! Is the cache worth its cost here? Times the source of some objects beside the cache.
//!
//! With k references an object costs k source reads without a cache, and one source read, one put
//! and k hits with it. So the cache pays when (R - U) source reads cost more than U puts and R
//! hits: sizing.md calls this break-even, and remote sources are far on one side of it, files on a
//! fast disk on the other.

use std::path::Path;
use std::time::{Duration, Instant};

use super::fetch::{Run, plan_batch};
use crate::grouping::{Groups, Totals};
use crate::plan::FileFetch;

/// How payloads get from sources to rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Cache,
    Direct,
}

/// Objects that are timed.
const SAMPLE: usize = 48;

/// Times a sample of what is not in the cache at `root` and decides. What the sample read is in
/// the cache afterwards.
pub fn choose(run: &Run, groups: &Groups, batch_bytes: u64, root: &Path) -> anyhow::Result<Route> {
    let Some(objects) = groups.batches(batch_bytes).next() else { return Ok(Route::Cache) };
    let files = sample(plan_batch(&objects?, Some(root), run.pool).files);
    let mut source = Duration::ZERO;
    let mut put = Duration::ZERO;
    let mut hit = Duration::ZERO;
    let mut timed = 0;
    for file in &files {
        let prepared = run.source.prepare(&file.path, &file.targets);
        for request in &prepared.requests {
            let mut payloads = Vec::new();
            let start = Instant::now();
            run.source
                .perform(request, &mut |target, result| payloads.extend(result.map(|bytes| (target, bytes))));
            source += start.elapsed();
            for (target, payload) in payloads {
                let key = file.keys[target];
                let start = Instant::now();
                run.keep(key, &payload);
                put += start.elapsed();
                let start = Instant::now();
                let found = run.cache.is_some_and(|cache| cache.get(&key).is_some());
                hit += start.elapsed();
                timed += usize::from(found);
            }
        }
    }
    let Totals { references, objects, .. } = groups.totals;
    let each = |duration: Duration| duration.as_secs_f64() / timed.max(1) as f64;
    let saved = (references - objects) as f64 * each(source);
    let spent = objects as f64 * each(put) + references as f64 * each(hit);
    Ok(if timed == 0 || saved > spent { Route::Cache } else { Route::Direct })
}

/// Single objects from all over the plan.
fn sample(files: Vec<FileFetch>) -> Vec<FileFetch> {
    let objects: usize = files.iter().map(|file| file.keys.len()).sum();
    let step = objects.div_ceil(SAMPLE).max(1);
    let mut sample = Vec::new();
    let mut passed = 0;
    for file in files {
        for (target, key) in file.targets.iter().zip(&file.keys) {
            if passed % step == 0 {
                sample.push(FileFetch {
                    path: file.path.clone(),
                    targets: vec![target.clone()],
                    keys: vec![*key],
                });
            }
            passed += 1;
        }
    }
    sample
}
