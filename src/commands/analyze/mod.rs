//! `analyze`: manifests in, a report of their redundancy out.
//!
//! Manifests are scanned, references are counted by object, and the counts become a report:
//! what the best cache could do, what several workers would lose, and whether a cache is worth it.
//! Payloads are read only where that was asked for.

mod advice;
mod build_report;
mod options;
mod report;
mod sample_reads;
#[cfg(test)]
mod samples;
mod scan;
mod scan_summary;
mod sources;
mod timing;
mod trace;

use std::time::Instant;

use anyhow::Context;

use crate::analysis::table::MultiplicityTable;
use crate::commands::Unreadable;
use crate::commands::manifests;
use crate::commands::references::Tally;
use crate::commands::scan::Scanned;
use crate::fetch::Source;
use crate::locator::allow::Allow;
use crate::manifest::Manifest;
use crate::monitor::Monitor;
use crate::store::{Local, Store};
pub use options::*;
pub use report::*;
use scan::{Counting, Counts};
use scan_summary::ScanSummary;
pub use trace::FollowedReferences;

/// Analyzes the manifests; payloads, where asked for, come from local files.
///
/// Fails when an input does not exist, when temporary files cannot be written, and when
/// interrupted ([`crate::monitor::Interrupted`]). Manifests that cannot be read and rows that are
/// wrong do not fail the run; they are in the report.
pub fn run(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Report> {
    run_from(&Local, options, monitor)
}

/// [`run`] with another store.
pub fn run_from(store: &dyn Store, options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Report> {
    let start = Instant::now();
    let allow = allow(options)?;
    let source = Source { store, allow: &allow };
    let (inputs, unreadable) = open(options, monitor)?;
    let unopened = unreadable.len();
    let (collector, unreadable) = read(&inputs, unreadable, options, monitor)?;
    let manifests = inputs.len() - (unreadable.len() - unopened);
    let scan = start.elapsed().as_secs_f64();

    let group_start = Instant::now();
    let counts = scan::group(collector, monitor)?;
    let group = group_start.elapsed().as_secs_f64();

    let mut report = build_report::build_report(&counts, manifests as u64, unreadable, options);
    let fetch_start = Instant::now();
    fetch(source, counts.found, &mut report, options, monitor)?;
    report.seconds = Seconds { scan, group, fetch: fetch_start.elapsed().as_secs_f64(), total: 0.0 };
    report.advice = advice::advice(&report);
    report.seconds.total = start.elapsed().as_secs_f64();
    Ok(report)
}

/// What a sizing starts from.
#[derive(Default)]
pub struct Counted {
    pub table: MultiplicityTable,
    /// References in order, if that was asked for.
    pub followed: Option<FollowedReferences>,
    pub tally: Tally,
    pub unreadable: Vec<Unreadable>,
    /// Objects of unknown size that were probed for it.
    pub asked: u64,
    /// The sizes found, in an order that depends on the objects alone.
    pub answers: Vec<u64>,
    /// The times of `scan`, `group` and `fetch`.
    pub seconds: Seconds,
}

/// Counts the references of the manifests by object, and probes the sizes of some objects if that is
/// asked for. No payload is read.
///
/// Fails as [`run`] does.
pub fn count(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Counted> {
    let start = Instant::now();
    let allow = allow(options)?;
    let (inputs, unreadable) = open(options, monitor)?;
    let (counting, unreadable) = read(&inputs, unreadable, options, monitor)?;
    let scan = start.elapsed().as_secs_f64();
    let group_start = Instant::now();
    let Counts { table, followed, found, .. } = scan::group(counting, monitor)?;
    let group = group_start.elapsed().as_secs_f64();
    let fetch_start = Instant::now();
    let sample = found.size_sample.into_names();
    let answers = if sample.is_empty() {
        Vec::new()
    } else {
        sample_reads::sizes(Source { store: &Local, allow: &allow }, &sample, &pool(options)?, monitor)?
    };
    let seconds = Seconds { scan, group, fetch: fetch_start.elapsed().as_secs_f64(), total: 0.0 };
    let (tally, asked) = (found.tally, sample.len() as u64);
    Ok(Counted { table, followed, tally, unreadable, asked, answers, seconds })
}

/// Opens all manifests, and reports those that cannot be opened.
fn open(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<(Vec<Manifest>, Vec<Unreadable>)> {
    let (inputs, unreadable) = manifests::open_all(&options.manifests, &[], options.root.as_deref(), Ok)?;
    for path in manifests::repeated(&inputs) {
        // Every reference in it looks like a duplicate then.
        monitor.problem(&format!(
            "{}: listed more than once, so its rows are counted more than once",
            path.display()
        ));
    }
    if inputs.is_empty() && unreadable.is_empty() {
        monitor.problem(&manifests::none_in(&options.manifests));
    }
    unreadable.iter().for_each(|manifest| monitor.problem(&manifest.to_string()));
    Ok((inputs, unreadable))
}

/// Reads all opened manifests; those that cannot be read are reported and join `unreadable`.
fn read<'a>(
    inputs: &'a [Manifest],
    mut unreadable: Vec<Unreadable>,
    options: &'a Options,
    monitor: &'a dyn Monitor,
) -> anyhow::Result<(Counting<'a>, Vec<Unreadable>)> {
    let Scanned { collector, unreadable: unread } = scan::scan(inputs, options, monitor)?;
    unread.values().for_each(|manifest| monitor.problem(&manifest.to_string()));
    unreadable.extend(unread.into_values());
    Ok((collector, unreadable))
}

/// Reads payloads, where that was asked for.
fn fetch(
    source: Source,
    found: ScanSummary,
    report: &mut Report,
    options: &Options,
    monitor: &dyn Monitor,
) -> anyhow::Result<()> {
    let pool = pool(options)?;
    let content_sample = found.content_sample.into_names();
    if !content_sample.is_empty() {
        report.content = Some(sample_reads::compare(source, &content_sample, &pool, monitor)?);
    }
    let timing_sample = found.timing_sample.into_names();
    if !timing_sample.is_empty() {
        let (references, objects) = (report.references, report.objects);
        let timed =
            timing::probe(source, &timing_sample, &options.cache_dir, references, objects, &pool, monitor)?;
        report.timing = Some(timed);
    }
    Ok(())
}

fn allow(options: &Options) -> anyhow::Result<Allow> {
    Allow::new(options.allow.clone()).context("cannot resolve the --allow prefixes")
}

fn pool(options: &Options) -> anyhow::Result<rayon::ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?)
}
