//! Reads all manifests, counts what their references name, and takes samples of the objects; then
//! joins what the threads counted, text by text and object by object.

use anyhow::Context;
use parking_lot::Mutex;

use super::options::Options;
use super::scan_summary::ScanSummary;
use super::sources::{SourceCache, SourceSums, Sources};
use super::trace::{FollowedReferences, ReplayOutcome, TaskPlacements, TaskPlacer, TraceRecorder};
use crate::analysis::concurrency::Schedule;
use crate::analysis::table::MultiplicityTable;
use crate::commands::references::{
    CANNOT_COUNT, FOLD_STEPS, Names, ReferenceCounter, ReferenceWorker, RowsOf, Taken, threads,
};
use crate::commands::saved_counts;
use crate::commands::scan::{self, Collector, Scanned};
use crate::counting::counter::{CountTotals, PARTITIONS, Partition};
use crate::fault::Fault;
use crate::locator::{Base, Locator};
use crate::manifest::Manifest;
use crate::manifest::rows::Rows;
use crate::monitor::{Monitor, Phase};
use crate::object::{ObjectId, ObjectName};

/// What all threads count together in one reading of all manifests.
pub struct Counting<'a> {
    pub inputs: &'a [Manifest],
    options: &'a Options,
    monitor: &'a dyn Monitor,
    /// Faults are reported in the first one.
    reading: usize,
    pub references: ReferenceCounter,
    /// Where references stand, if that is to be replayed.
    pub placements: Option<TaskPlacements>,
    /// In which order, if that matters.
    pub sequence: Option<TraceRecorder>,
    pub sources: Sources,
    pub found: Mutex<ScanSummary>,
}

/// What one thread keeps to itself.
pub struct ScanWorker<'a> {
    references: ReferenceWorker<'a>,
    sources: SourceCache<'a>,
    placer: Option<TaskPlacer<'a>>,
    /// Objects of references that are to be replayed.
    placed: Vec<ObjectId>,
    /// Row and id of references whose order matters.
    ordered: Vec<(u32, u64)>,
    found: ScanSummary,
}

/// Scans all inputs. One that cannot be read to its end counts for nothing.
///
/// Fails when a temporary file cannot be written, and when interrupted.
pub fn scan<'a>(
    inputs: &'a [Manifest],
    options: &'a Options,
    monitor: &'a dyn Monitor,
) -> anyhow::Result<Scanned<Counting<'a>>> {
    let manifests: Vec<_> = inputs.iter().collect();
    let counting = |reading| Counting::new(inputs, options, monitor, reading);
    scan::scan(&manifests, threads(options.memory, options.jobs), monitor, counting)
}

impl<'a> Counting<'a> {
    fn new(
        inputs: &'a [Manifest],
        options: &'a Options,
        monitor: &'a dyn Monitor,
        reading: usize,
    ) -> Counting<'a> {
        let sequence = (options.ordered * size_of::<u64>()) as u64;
        let memory = options.memory.saturating_sub(sequence);
        let bases = inputs.iter().map(|input| &input.base);
        let resolve = |locator: &Locator, base: &Base, name: &mut ObjectName| name.resolve(locator, base);
        let references = ReferenceCounter::new(bases, Names::Drop, resolve, memory, options.jobs)
            .with_outputs(&options.outputs);
        Counting {
            inputs,
            options,
            monitor,
            reading,
            placements: options.simulate.then(|| TaskPlacements::new(references.budget.clone())),
            references,
            sequence: (options.ordered > 0).then(|| TraceRecorder::new(options.ordered)),
            sources: Sources::default(),
            found: Mutex::new(ScanSummary::new(options)),
        }
    }
}

impl Collector for Counting<'_> {
    type Worker<'a>
        = ScanWorker<'a>
    where
        Self: 'a;

    fn worker(&self) -> ScanWorker<'_> {
        ScanWorker {
            references: self.references.worker(),
            sources: SourceCache::new(&self.sources),
            placer: self.placements.as_ref().map(TaskPlacements::placer),
            placed: Vec::new(),
            ordered: Vec::new(),
            found: ScanSummary::new(self.options),
        }
    }

    fn rows(&self, worker: &mut ScanWorker<'_>, input: usize, rows: &Rows) -> anyhow::Result<()> {
        let ScanWorker { references, sources, placer, placed, ordered, found } = worker;
        found.modalities.count(&rows.modality);
        let Manifest { path, base, .. } = &self.inputs[input];
        let sample = self.sequence.as_ref().map(TraceRecorder::sample);
        let take = |row: usize, id: ObjectId, name: &ObjectName| {
            // What a sample leaves out is not remembered either: it would take the memory that the
            // sample saves.
            if self.options.sample.is_some_and(|share| !share.keeps(id.random())) {
                return None;
            }
            found.offer(id, name);
            let in_order = sample.is_some_and(|sample| sample.keeps(id.short()));
            if in_order {
                ordered.push((row as u32, id.short()));
            }
            if placer.is_some() {
                placed.push(id);
            }
            Some(Taken { source: sources.number(name.source()), again: in_order || placer.is_some() })
        };
        let on_fault = |place: &str, fault: &Fault| {
            if self.reading == 0 {
                self.monitor.problem(&format!("{}: {place}: {fault}", path.display()));
            }
            Ok(())
        };
        let of = RowsOf { manifest: input, base, wanted: true };
        let tally = self.references.count(references, of, rows, take, on_fault)?;
        found.add_rows_of(input, &tally);
        if let Some(sequence) = &self.sequence {
            sequence.add((input, rows.places.first()), ordered);
        }
        if let Some(placer) = placer {
            placer.add_all(input, placed).context(CANNOT_COUNT)?;
        }
        Ok(())
    }

    fn finish(&self, worker: ScanWorker<'_>) -> anyhow::Result<()> {
        worker.references.finish()?;
        worker.placer.map(TaskPlacer::finish).transpose().context(CANNOT_COUNT)?;
        self.found.lock().merge(worker.found);
        Ok(())
    }
}

/// What was counted.
pub struct Counts {
    pub table: MultiplicityTable,
    pub sources: SourceSums,
    pub totals: CountTotals,
    pub found: ScanSummary,
    /// What a replay came to, if there was one.
    pub placed: Option<ReplayOutcome>,
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

    let replay = |placements: TaskPlacements| {
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
pub fn table(
    counting: Counting,
    jobs: usize,
    monitor: &dyn Monitor,
) -> anyhow::Result<(MultiplicityTable, Option<FollowedReferences>, ScanSummary)> {
    let Counting { references, sequence, found, .. } = counting;
    monitor.start(Phase::Group, FOLD_STEPS as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };
    let followed = sequence.as_ref().map(TraceRecorder::sample);
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
fn schedules(inputs: usize, found: &ScanSummary, options: &Options) -> Vec<Schedule> {
    let references = |input: usize| found.by_manifest.get(&input).copied().unwrap_or(0);
    let durations: Vec<u64> = (0..inputs).map(references).collect();
    options.workers.iter().map(|workers| Schedule::new(&durations, *workers)).collect()
}
