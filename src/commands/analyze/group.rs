//! Joins what the threads counted: text by text, then object by object.

use anyhow::Context;
use parking_lot::Mutex;

use super::found::Found;
use super::options::Options;
use super::placement;
use super::scan::Counting;
use super::sequence::{FollowedReferences, Sequence};
use super::sources::SourceSums;
use crate::analysis::concurrency::Schedule;
use crate::analysis::table::MultiplicityTable;
use crate::commands::references::FOLD_STEPS;
use crate::commands::saved_counts;
use crate::counting::counter::{CountTotals, PARTITIONS, Partition};
use crate::monitor::{Monitor, Phase};

/// What was counted.
pub struct Counts {
    pub table: MultiplicityTable,
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
    monitor.start(Phase::Group, (FOLD_STEPS + replayed) as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };

    // One for all threads, since there may be millions of sources.
    let sums: Mutex<SourceSums> = Mutex::default();
    let add = |table: &mut MultiplicityTable, partition: Partition| {
        let objects: Vec<_> = partition.objects().collect();
        drop(partition);
        objects.iter().for_each(|object| table.push(object.count, object.size));
        sums.lock().add_all(&objects);
    };
    let (mut table, totals) =
        references.fold(jobs, MultiplicityTable::default, add, MultiplicityTable::append, done)?;
    table.settle();
    let mut sums = sums.into_inner();
    sums.name(sources);
    let unwritten = options.save.as_deref().and_then(|file| saved_counts::write(&table, file).err());

    let replay = |placements: placement::Placements| {
        let schedules = schedules(inputs.len(), &found, options);
        placements.replay(jobs, &schedules, done).context("cannot replay the references")
    };
    let placed = placements.map(replay).transpose()?;
    monitor.finish(Phase::Group);
    Ok(Counts { table, sources: sums, totals, found, placed, unwritten })
}

/// The table of what was scanned, for a sizing, and what else was found.
///
/// Fails when a temporary file cannot be written or read, and when interrupted.
pub fn objects(
    counting: Counting,
    jobs: usize,
    monitor: &dyn Monitor,
) -> anyhow::Result<(MultiplicityTable, Option<FollowedReferences>, Found)> {
    let Counting { references, sequence, found, .. } = counting;
    monitor.start(Phase::Group, FOLD_STEPS as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };
    let followed = sequence.as_ref().map(Sequence::sample);
    let add = |(table, sizes): &mut (MultiplicityTable, Vec<_>), partition: Partition| {
        for object in partition.objects() {
            table.push(object.count, object.size);
            if followed.is_some_and(|sample| sample.keeps(object.id)) {
                sizes.push((object.id, object.size));
            }
        }
    };
    let join = |one: &mut (MultiplicityTable, Vec<_>), mut other: (MultiplicityTable, Vec<_>)| {
        one.0.append(other.0);
        one.1.append(&mut other.1);
    };
    let ((mut table, sizes), _) = references.fold(jobs, Default::default, add, join, done)?;
    table.settle();
    monitor.finish(Phase::Group);
    Ok((table, sequence.map(|sequence| sequence.into_followed(sizes)), found.into_inner()))
}

/// One task for each manifest that was read, as long as it has references, for each number of
/// workers. Manifests that could not be read keep their place and last 0.
fn schedules(inputs: usize, found: &Found, options: &Options) -> Vec<Schedule> {
    let references = |input: usize| found.by_manifest.get(&input).copied().unwrap_or(0);
    let durations: Vec<u64> = (0..inputs).map(references).collect();
    options.workers.iter().map(|workers| Schedule::new(&durations, *workers)).collect()
}
