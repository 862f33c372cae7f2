//! Joins what the threads counted: text by text, then object by object.

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
use crate::commands::saved_counts::SavedCounts;
use crate::counting::counter::{CountTotals, PARTITIONS, Partition};
use crate::counting::texts::TABLES;
use crate::monitor::{Monitor, Phase};

/// What was counted.
pub struct Counts {
    pub summary: Summary,
    pub sources: SourceSums,
    pub totals: CountTotals,
    pub found: Found,
    /// What a replay came to, if there was one.
    pub placed: Option<placement::Outcome>,
    /// Why the counts could not be saved.
    pub unwritten: Option<anyhow::Error>,
}

/// Sums up all that was scanned. Counts that cannot be saved are reported all the same.
///
/// Fails when a temporary file cannot be written or read, and when interrupted.
pub fn group(counting: Counting, options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Counts> {
    let Counting { inputs, references, placements, sources, found, .. } = counting;
    let (jobs, found) = (options.jobs, found.into_inner());
    let replayed = if placements.is_some() { PARTITIONS } else { 0 };
    monitor.start(Phase::Group, (TABLES + PARTITIONS + replayed) as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };
    references.texts.drain(jobs, &references.objects, done)?;

    // One of each for all threads, since there may be millions of sources and of sizes.
    let sums: Mutex<SourceSums> = Mutex::default();
    let saved: Option<Mutex<SavedCounts>> = options.save.is_some().then(Mutex::default);
    let add = |summary: &mut Summary, _, partition: Partition| {
        let objects: Vec<_> = partition.objects().collect();
        drop(partition);
        objects.iter().for_each(|object| summary.add(object.count, object.size));
        sums.lock().add_all(&objects);
        if let Some(saved) = &saved {
            let mut saved = saved.lock();
            objects.iter().for_each(|object| saved.add(object.count, object.size));
        }
        done()
    };
    let (summary, totals) = references
        .objects
        .fold(jobs, Summary::default, add, |summary, other| summary.merge(&other))
        .context("cannot count the references")?;
    let mut sums = sums.into_inner();
    sums.name(sources);
    let saving = options.save.as_deref().zip(saved);
    let unwritten = saving.and_then(|(file, saved)| saved.into_inner().write(file).err());

    let replay = |placements: placement::Placements| {
        let schedules = schedules(inputs.len(), &found, options);
        placements.replay(jobs, &schedules, done).context("cannot replay the references")
    };
    let placed = placements.map(replay).transpose()?;
    monitor.finish(Phase::Group);
    Ok(Counts { summary, sources: sums, totals, found, placed, unwritten })
}

/// All objects of what was scanned, for a sizing, and what else was found.
///
/// Fails when a temporary file cannot be written or read, and when interrupted.
pub fn objects(
    counting: Counting,
    jobs: usize,
    monitor: &dyn Monitor,
) -> anyhow::Result<(Objects, Option<Sequence>, Found)> {
    let Counting { references, sequence, found, .. } = counting;
    monitor.start(Phase::Group, (TABLES + PARTITIONS) as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };
    references.texts.drain(jobs, &references.objects, done)?;
    let add = |table: &mut Objects, _, partition: Partition| {
        partition.objects().for_each(|object| table.push(object.id, object.count, object.size));
        done()
    };
    let (table, _) = references
        .objects
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
