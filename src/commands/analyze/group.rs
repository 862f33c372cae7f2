//! Joins what the threads counted: spelling by spelling, then object by object.

use anyhow::Context;
use parking_lot::Mutex;

use super::found::Found;
use super::options::Options;
use super::placement;
use super::scan::Counting;
use super::sequence::Sequence;
use super::sources::SourceSums;
use crate::analysis::Summary;
use crate::analysis::objects::Objects;
use crate::analysis::replay::Schedule;
use crate::commands::table::{self, Row};
use crate::counting::multiplicity::{Counted, PARTITIONS, Totals};
use crate::counting::spellings::SHELVES;
use crate::monitor::{Monitor, Phase};

/// What was counted.
pub struct Counts {
    pub summary: Summary,
    pub sources: SourceSums,
    pub totals: Totals,
    pub found: Found,
    /// What a replay came to, if there was one.
    pub placed: Option<placement::Outcome>,
    /// Why the counts could not be saved.
    pub unwritten: Option<anyhow::Error>,
}

/// Sums up all that was scanned. That the counts cannot be saved is no reason not to tell them.
///
/// Fails when a temporary file cannot be written or read, and when interrupted.
pub fn group(counting: Counting, options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Counts> {
    let Counting { inputs, spellings, counter, placements, sources, found, .. } = counting;
    let (jobs, found) = (options.jobs, found.into_inner());
    let replayed = if placements.is_some() { PARTITIONS } else { 0 };
    monitor.start(Phase::Group, (SHELVES + PARTITIONS + replayed) as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };
    spellings.drain(jobs, &counter, done)?;

    let (table, uncreated) = match options.save.as_deref().map(table::Writer::create).transpose() {
        Ok(table) => (table, None),
        Err(error) => (None, Some(error)),
    };
    // One for all threads, since there may be millions of sources.
    let sums: Mutex<SourceSums> = Mutex::default();
    let add = |summary: &mut Summary, partition, objects: Vec<Counted>| {
        objects.iter().for_each(|object| summary.add(object.count, object.size));
        sums.lock().add_all(&objects);
        if let Some(table) = &table {
            table.add(partition, &rows(objects));
        }
        done()
    };
    let (summary, totals) = counter
        .fold(jobs, Summary::default, add, |summary, other| summary.merge(&other))
        .context("cannot count the references")?;
    let mut sums = sums.into_inner();
    sums.name(sources);
    let unwritten = uncreated.or(table.and_then(|table| table.finish().err()));

    let replay = |placements: placement::Placements| {
        let schedules = schedules(inputs.len(), &found, options);
        placements.replay(jobs, &schedules, done).context("cannot replay the references")
    };
    let placed = placements.map(replay).transpose()?;
    monitor.finish(Phase::Group);
    Ok(Counts { summary, sources: sums, totals, found, placed, unwritten })
}

/// The objects of a partition as a table keeps them.
fn rows(objects: Vec<Counted>) -> Vec<Row> {
    let row = |object: Counted| Row { digest: object.digest, count: object.count, size: object.size };
    let mut rows: Vec<Row> = objects.into_iter().map(row).collect();
    rows.sort_unstable_by_key(|row| row.digest);
    rows
}

/// All objects of what was scanned, for a sizing, and what else was found.
///
/// Fails when a temporary file cannot be written or read, and when interrupted.
pub fn objects(
    counting: Counting,
    jobs: usize,
    monitor: &dyn Monitor,
) -> anyhow::Result<(Objects, Option<Sequence>, Found)> {
    let Counting { spellings, counter, sequence, found, .. } = counting;
    monitor.start(Phase::Group, (SHELVES + PARTITIONS) as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };
    spellings.drain(jobs, &counter, done)?;
    let add = |table: &mut Objects, _, objects: Vec<Counted>| {
        objects.iter().for_each(|object| table.push(object.digest, object.count, object.size));
        done()
    };
    let (table, _) = counter
        .fold(jobs, Objects::default, add, |table, other| table.append(other))
        .context("cannot count the references")?;
    monitor.finish(Phase::Group);
    Ok((table, sequence, found.into_inner()))
}

/// One task for each manifest that was read, as long as it has references, for each number of
/// workers. Manifests that could not be read keep their place and last 0.
fn schedules(inputs: usize, found: &Found, options: &Options) -> Vec<Schedule> {
    let references = |input: usize| found.by_manifest.get(&input).copied().unwrap_or(0);
    let durations: Vec<u64> = (0..inputs).map(references).collect();
    options.workers.iter().map(|workers| Schedule::new(&durations, *workers)).collect()
}
