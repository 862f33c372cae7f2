//! `size`: how large a cache is worth buying.
//!
//! From a multiplicity table, counted from manifests or saved by `analyze`, to hit rates and costs by cache
//! size. No payload is read.

mod build_report;
mod eviction_bounds;
mod load_counts;
mod report;

use std::path::PathBuf;
use std::time::Instant;

pub use crate::analysis::cost::Objective;
use crate::commands::analyze;
use crate::monitor::Monitor;
pub use report::*;

/// What to size.
#[derive(Clone, Debug)]
pub struct Options {
    pub origin: Origin,
    /// Cache sizes, bytes; empty: a ladder up to the bytes of all objects.
    pub budgets: Vec<u64>,
    /// A third policy beside `count` and `density`.
    pub objective: Objective,
    /// Request hit rates to find the smallest cache for, between 0 and 1.
    pub targets: Vec<f64>,
    /// Bytes to assume for objects of unknown size; `None`: they are left out.
    pub assumed_size: Option<u64>,
    /// How many objects of unknown size to probe; all of them are then assumed to have the mean size
    /// found. 0: none. Saved counts have no sources to probe.
    pub probe_sizes: usize,
    /// No source outside these is probed; empty: no limit.
    pub allow: Vec<PathBuf>,
    pub root: Option<PathBuf>,
    /// Files that the caller writes afterwards, see [`crate::commands::outputs::places`].
    pub outputs: Vec<PathBuf>,
    /// Threads, at least 1.
    pub jobs: usize,
    /// Bound on memory, bytes.
    pub memory: u64,
}

/// Where the multiplicities come from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Files, or folders that are walked.
    Manifests(Vec<PathBuf>),
    /// What `analyze --save` wrote.
    Table(PathBuf),
}

/// Sizes the cache of a corpus.
///
/// Fails when an input does not exist, when a saved table is damaged, when temporary files cannot be
/// written, and when interrupted ([`crate::monitor::Interrupted`]).
pub fn run(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Report> {
    let start = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    let (counted, probed) = load_counts::load(options, &pool, monitor)?;
    let read = match options.origin {
        Origin::Table(_) => start.elapsed().as_secs_f64(),
        Origin::Manifests(_) => 0.0,
    };
    monitor.check()?;
    let size_start = Instant::now();
    let mut table = counted.table;
    if let Some(size) = options.assumed_size.or(probed.and_then(|probed| probed.mean)) {
        table.assume(size);
    }
    let trace = counted.followed.map(|followed| followed.into_trace(table.assumed()));
    let mut report = pool.install(|| build_report::build_report(&table, trace.as_ref(), options));
    report.probed_sizes = probed;
    report.no_locator = counted.tally.no_locator;
    counted.tally.add_errors_to(&mut report.errors);
    report.unreadable = counted.unreadable;
    report.advice = build_report::advice(&report, &options.origin);
    let size = size_start.elapsed().as_secs_f64();
    let analyze::Seconds { scan, group, fetch, .. } = counted.seconds;
    report.seconds = Seconds { scan, group, fetch, read, size, total: start.elapsed().as_secs_f64() };
    Ok(report)
}
