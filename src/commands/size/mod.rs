//! `size`: how large a cache is worth buying.
//!
//! A multiplicity table comes in, from manifests or from a file that `analyze` saved; hit rates and
//! costs by size of the cache go out. No payload is read.

mod build_report;
mod eviction_bounds;
mod load_counts;
mod report;

use std::path::PathBuf;
use std::time::Instant;

pub use crate::analysis::cost::Objective;
use crate::monitor::Monitor;
use load_counts::LoadedCounts;
pub use report::*;

/// Everything `size` needs to know.
#[derive(Clone, Debug)]
pub struct Options {
    pub origin: Origin,
    /// Cache sizes, bytes; empty: a ladder up to the bytes of all objects.
    pub budgets: Vec<u64>,
    /// The policies `count` and `density` are always there; this one beside them.
    pub objective: Objective,
    /// Request hit rates to find the smallest cache for, between 0 and 1.
    pub targets: Vec<f64>,
    /// Bytes to assume for an object of unknown size; `None`: such objects are left out.
    pub assumed_size: Option<u64>,
    /// Objects of unknown size to ask the sources about: all objects of unknown size are then
    /// assumed to have the mean of the answers. 0: none. A saved table has no sources to ask.
    pub probe_sizes: usize,
    /// No source outside these is asked; empty: no limit.
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
    let LoadedCounts { mut table, followed, probed, no_locator, errors, unreadable, seconds } =
        load_counts::load(options, &pool, monitor)?;
    monitor.check()?;
    let size_start = Instant::now();
    if let Some(size) = options.assumed_size.or(probed.and_then(|probed| probed.mean)) {
        table.assume(size);
    }
    let trace = followed.map(|followed| followed.into_trace(table.assumed()));
    let mut report = pool.install(|| build_report::build_report(&table, trace.as_ref(), options));
    report.probed_sizes = probed;
    report.no_locator = no_locator;
    report.errors = errors;
    report.unreadable = unreadable;
    report.advice = build_report::advice(&report, &options.origin);
    let size = size_start.elapsed().as_secs_f64();
    report.seconds = Seconds { size, total: start.elapsed().as_secs_f64(), ..seconds };
    Ok(report)
}
