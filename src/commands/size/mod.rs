//! `size`: how large a cache is worth buying.
//!
//! A multiplicity table comes in, from manifests or from a file that `analyze` saved; hit rates and
//! costs by size of the cache go out. No payload is read.

mod advice;
mod answers;
mod competition;
mod options;
mod origin;
mod probe;
mod report;

use std::time::Instant;

use crate::monitor::Monitor;
pub use options::*;
use origin::Loaded;
pub use report::*;

/// Sizes the cache of a corpus.
///
/// Fails when an input does not exist, when a saved table is damaged, when temporary files cannot be
/// written, and when interrupted ([`crate::monitor::Interrupted`]).
pub fn run(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Report> {
    let start = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    let Loaded { mut table, followed, probed, no_locator, errors, unreadable, seconds } =
        origin::load(options, &pool, monitor)?;
    monitor.check()?;
    let size_start = Instant::now();
    if let Some(size) = options.assumed_size.or(probed.and_then(|probed| probed.mean)) {
        table.assume(size);
    }
    let trace = followed.map(|followed| followed.into_trace(table.assumed()));
    let mut report = pool.install(|| answers::report(&table, trace.as_ref(), options));
    report.probed_sizes = probed;
    report.no_locator = no_locator;
    report.errors = errors;
    report.unreadable = unreadable;
    report.advice = advice::advice(&report, &options.origin);
    let size = size_start.elapsed().as_secs_f64();
    report.seconds = Seconds { size, total: start.elapsed().as_secs_f64(), ..seconds };
    Ok(report)
}
