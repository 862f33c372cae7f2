//! `analyze`: manifests in, a report of their redundancy out.
//!
//! Manifests are scanned, references are counted by object, and the counts become a report:
//! what the best cache could do, what several workers would lose, and whether a cache is worth it.
//! Payloads are read only where that was asked for.

mod advice;
mod candidates;
mod conclude;
mod content;
mod naming;
mod options;
mod payloads;
mod placement;
mod report;
#[cfg(test)]
mod samples;
mod scan;
mod sources;
mod tally;
mod timing;

use std::time::Instant;

use anyhow::Context;

use crate::analysis::Summary;
use crate::analysis::replay::Schedule;
use crate::commands::manifests::{self, Opened};
use crate::commands::scan::{self as reading, Scanned};
use crate::grouping::multiplicity::{Counted, PARTITIONS, Totals};
use crate::grouping::spellings::SHELVES;
use crate::monitor::{Monitor, Phase};
use crate::source::Source;
use crate::source::local::Local;
pub use options::*;
pub use report::*;
use scan::{Counting, Found};
use sources::SourceSums;

/// Analyzes the manifests; payloads, where asked for, come from local files.
///
/// Fails when an input does not exist, when temporary files cannot be written, and when
/// interrupted ([`crate::monitor::Interrupted`]). Manifests that cannot be read and rows that are
/// wrong do not fail the run; they are in the report.
pub fn run(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Report> {
    let local = Local::new(options.allow.clone()).context("cannot resolve the --allow prefixes")?;
    run_from(&local, options, monitor)
}

/// [`run`] with another source of bytes.
pub fn run_from(source: &dyn Source, options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Report> {
    let start = Instant::now();
    let (inputs, mut unreadable) = manifests::open_all(&options.manifests, &[], options.root.as_deref(), Ok)?;
    if inputs.is_empty() && unreadable.is_empty() {
        monitor.problem(&manifests::none_in(&options.manifests));
    }
    unreadable.iter().for_each(|manifest| monitor.problem(&manifest.to_string()));

    let scanned = scan(&inputs, options, monitor)?;
    scanned.unreadable.values().for_each(|manifest| monitor.problem(&manifest.to_string()));
    let manifests = inputs.len() - scanned.unreadable.len();
    unreadable.extend(scanned.unreadable.values().cloned());
    let scan = start.elapsed().as_secs_f64();

    let group_start = Instant::now();
    let counts = group(scanned, &inputs, options, monitor)?;
    let group = group_start.elapsed().as_secs_f64();

    let mut report = conclude::report(&counts, manifests as u64, unreadable, options);
    let fetch_start = Instant::now();
    fetch(source, counts.found, &mut report, options, monitor)?;
    report.seconds = Seconds { scan, group, fetch: fetch_start.elapsed().as_secs_f64(), total: 0.0 };
    report.advice = advice::advice(&report);
    report.seconds.total = start.elapsed().as_secs_f64();
    Ok(report)
}

/// What was counted.
struct Counts {
    summary: Summary,
    sources: SourceSums,
    totals: Totals,
    found: Found,
    placed: Option<placement::Outcome>,
}

fn scan<'a>(
    inputs: &'a [Opened],
    options: &Options,
    monitor: &'a dyn Monitor,
) -> anyhow::Result<Scanned<Counting<'a>>> {
    let manifests: Vec<_> = inputs
        .iter()
        .map(|input| reading::Input { manifest: &input.manifest, outline: &input.outline })
        .collect();
    reading::scan(&manifests, options.jobs, monitor, |nth| Counting::new(inputs, options, monitor, nth))
}

/// Joins what the threads counted, spelling by spelling and object by object.
fn group(
    scanned: Scanned<Counting>,
    inputs: &[Opened],
    options: &Options,
    monitor: &dyn Monitor,
) -> anyhow::Result<Counts> {
    let jobs = options.jobs;
    let Counting { room, spellings, counter, placements, sources, found, .. } = scanned.collector;
    let replays = if placements.is_some() { PARTITIONS } else { 0 };
    monitor.start(Phase::Group, (SHELVES + PARTITIONS + replays) as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };
    let framed = spellings.drain(jobs, &room, &counter, done)?;
    let mut found = found.into_inner();
    found.framed += framed;

    let add = |sum: &mut (Summary, SourceSums), objects: Vec<Counted>| {
        for object in objects {
            sum.0.add(object.count, object.size);
            sum.1.add(&object);
        }
    };
    let join = |sum: &mut (Summary, SourceSums), other: (Summary, SourceSums)| {
        sum.0.merge(&other.0);
        sum.1.merge(other.1);
    };
    let empty = || (Summary::default(), SourceSums::default());
    let ((summary, mut sums), totals) =
        counter.fold(jobs, empty, add, join, done).context("cannot count the references")?;
    sums.name(sources);

    let placed = match placements {
        None => None,
        Some(placements) => {
            let schedules = schedules(inputs.len(), &found, options);
            Some(placements.replay(jobs, &schedules, done).context("cannot replay the references")?)
        }
    };
    monitor.finish(Phase::Group);
    Ok(Counts { summary, sources: sums, totals, found, placed })
}

/// One task for each manifest that was read, as long as it has references, for each number of
/// workers. Manifests that could not be read keep their place and last 0.
fn schedules(inputs: usize, found: &Found, options: &Options) -> Vec<Schedule> {
    let references = |at: usize| found.tally.by_manifest.get(&at).copied().unwrap_or(0);
    let durations: Vec<u64> = (0..inputs).map(references).collect();
    options.workers.iter().map(|workers| Schedule::new(&durations, *workers)).collect()
}

/// Reads payloads, where that was asked for.
fn fetch(
    source: &dyn Source,
    found: Found,
    report: &mut Report,
    options: &Options,
    monitor: &dyn Monitor,
) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    let scattered = found.scattered.into_objects();
    if !scattered.is_empty() {
        report.content = Some(content::compare(source, &scattered, &pool, monitor)?);
    }
    let neighbours = found.neighbours.into_objects();
    if !neighbours.is_empty() {
        let (references, objects) = (report.references, report.objects);
        let timed =
            timing::probe(source, &neighbours, &options.cache_dir, references, objects, &pool, monitor)?;
        report.timing = Some(timed);
    }
    Ok(())
}
