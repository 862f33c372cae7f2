//! Reads all manifests, counts the objects that they reference and samples some of them; then sums up
//! the counts of all threads.

use anyhow::Context;
use parking_lot::Mutex;

use super::options::Options;
use super::scan_summary::ScanSummary;
use super::sources::{SourceCache, SourceSums, Sources};
use super::trace::{FollowedReferences, ReplayOutcome, TraceRecorder, place, replay};
use crate::analysis::concurrency::Schedule;
use crate::analysis::table::MultiplicityTable;
use crate::commands::references::{
    CANNOT_COUNT, Names, ReferenceCounter, ReferenceWorker, RowsOf, Taken, threads,
};
use crate::commands::saved_counts;
use crate::commands::scan::{self, Collector, Scanned};
use crate::counting::counter::{CountInserter, ObjectCounter, PARTITIONS};
use crate::counting::texts::TABLES;
use crate::fault::Fault;
use crate::locator::{Base, Locator};
use crate::manifest::Manifest;
use crate::manifest::rows::Rows;
use crate::monitor::{Monitor, Phase};
use crate::object::{ObjectId, ObjectName};
use crate::threads::in_turns;

/// What all threads count together in one reading of all manifests.
pub struct Counting<'a> {
    pub inputs: &'a [Manifest],
    options: &'a Options,
    monitor: &'a dyn Monitor,
    /// Faults are reported in the first one.
    reading: usize,
    pub references: ReferenceCounter,
    /// The references of each object in each manifest, if workers are simulated.
    pub placements: Option<ObjectCounter>,
    /// References in order, if that is asked for.
    pub sequence: Option<TraceRecorder>,
    pub sources: Sources,
    pub found: Mutex<ScanSummary>,
}

/// What one thread keeps to itself.
pub struct ScanWorker<'a> {
    references: ReferenceWorker<'a>,
    sources: SourceCache<'a>,
    placements: Option<CountInserter<'a>>,
    /// Objects to add to the placements.
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
        // A sixth is for the multiplicity table, which grows while the partitions give theirs back.
        let memory = options.memory.saturating_sub(sequence) / 6 * 5;
        let bases = inputs.iter().map(|input| &input.base);
        let resolve = |locator: &Locator, base: &Base, name: &mut ObjectName| name.resolve(locator, base);
        let references = ReferenceCounter::new(bases, Names::Drop, resolve, memory, options.jobs)
            .with_outputs(&options.outputs);
        Counting {
            inputs,
            options,
            monitor,
            reading,
            placements: options.simulate.then(|| ObjectCounter::new(references.budget.clone())),
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
            placements: self.placements.as_ref().map(ObjectCounter::inserter),
            placed: Vec::new(),
            ordered: Vec::new(),
            found: ScanSummary::new(self.options),
        }
    }

    fn rows(&self, worker: &mut ScanWorker<'_>, input: usize, rows: &Rows) -> anyhow::Result<()> {
        let ScanWorker { references, sources, placements, placed, ordered, found } = worker;
        found.modalities.count(&rows.modality);
        let Manifest { path, base, .. } = &self.inputs[input];
        let sample = self.sequence.as_ref().map(TraceRecorder::sample);
        let take = |row: usize, id: ObjectId, name: &ObjectName| {
            // Objects outside the sample are not remembered either: that would take the memory that the
            // sample saves.
            if self.options.sample.is_some_and(|share| !share.keeps(id.random())) {
                return None;
            }
            found.offer(id, name);
            let in_order = sample.is_some_and(|sample| sample.keeps(id.short()));
            if in_order {
                ordered.push((row as u32, id.short()));
            }
            if placements.is_some() {
                placed.push(id);
            }
            Some(Taken { source: sources.number(name.source()), again: in_order || placements.is_some() })
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
        if let Some(placements) = placements {
            place(placements, input, placed).context(CANNOT_COUNT)?;
        }
        Ok(())
    }

    fn finish(&self, worker: ScanWorker<'_>) -> anyhow::Result<()> {
        worker.references.finish()?;
        worker.placements.map(CountInserter::finish).transpose().context(CANNOT_COUNT)?;
        self.found.lock().merge(worker.found);
        Ok(())
    }
}

/// What was counted.
pub struct Counts {
    pub table: MultiplicityTable,
    pub sources: SourceSums,
    /// Distinct texts of locators, told apart by 24 bits among those of one object: one in
    /// 17 million further texts of an object is missed.
    pub texts: u64,
    pub spilled_bytes: u64,
    pub found: ScanSummary,
    /// References in order, if that was asked for.
    pub followed: Option<FollowedReferences>,
    pub replayed: Option<ReplayOutcome>,
    /// Why the counts could not be saved.
    pub unwritten: Option<anyhow::Error>,
}

/// Sums up all that was scanned. If the counts cannot be saved, they are reported all the same.
///
/// Fails when a temporary file cannot be written or read, and when interrupted.
pub fn group(counting: Counting, monitor: &dyn Monitor) -> anyhow::Result<Counts> {
    let Counting { inputs, options, references, placements, sequence, sources, found, .. } = counting;
    let (jobs, found) = (options.jobs, found.into_inner());
    let replayed = if placements.is_some() { PARTITIONS } else { 0 };
    monitor.start(Phase::Group, (TABLES + PARTITIONS + replayed) as u64);
    let done = || -> anyhow::Result<()> {
        monitor.advance(Phase::Group, 1, 0);
        monitor.check()
    };

    let counter = references.into_objects(jobs, done)?;
    let sample = sequence.as_ref().map(TraceRecorder::sample);
    // One of each for all threads: rows of several threads would take the memory several times, and
    // there may be millions of sources.
    let (table, sums) = (Mutex::<MultiplicityTable>::default(), Mutex::<SourceSums>::default());
    let by_thread = in_turns(jobs, PARTITIONS, |turns| -> anyhow::Result<_> {
        let (mut sizes, mut texts) = (Vec::new(), 0);
        for number in turns {
            let partition = counter.take(number).context(CANNOT_COUNT)?;
            texts += partition.texts();
            let objects: Vec<_> = partition.objects().collect();
            drop(partition);
            table.lock().extend(objects.iter().map(|object| (object.count, object.size)));
            if let Some(sample) = sample {
                let followed = objects.iter().filter(|object| sample.keeps(object.id));
                sizes.extend(followed.map(|object| (object.id, object.size)));
            }
            if options.sources > 0 {
                sums.lock().add_all(&objects);
            }
            done()?;
        }
        Ok((sizes, texts))
    })?;
    let mut table = table.into_inner();
    table.settle();
    let (mut sizes, mut texts) = (Vec::new(), 0);
    for (more_sizes, more_texts) in by_thread {
        sizes.extend(more_sizes);
        texts += more_texts;
    }
    let mut sources_found = sums.into_inner();
    sources_found.name(sources);
    let unwritten = options.save.as_deref().and_then(|file| saved_counts::write(&table, file).err());

    let simulate = |placements| {
        let schedules = schedules(inputs.len(), &found, options);
        replay(&placements, jobs, &schedules, done).context("cannot simulate the workers")
    };
    let replayed = placements.map(simulate).transpose()?;
    monitor.finish(Phase::Group);
    Ok(Counts {
        table,
        sources: sources_found,
        texts,
        spilled_bytes: counter.spill().written(),
        followed: sequence.map(|sequence| sequence.into_followed(sizes)),
        found,
        replayed,
        unwritten,
    })
}

/// One task for each manifest that was read, as long as it has references, for each number of
/// workers. Manifests that could not be read keep their place and last 0.
fn schedules(inputs: usize, found: &ScanSummary, options: &Options) -> Vec<Schedule> {
    let references = |input: usize| found.by_manifest.get(&input).copied().unwrap_or(0);
    let durations: Vec<u64> = (0..inputs).map(references).collect();
    options.workers.iter().map(|workers| Schedule::new(&durations, *workers)).collect()
}
