//! Reads all manifests, counts what their references name, and takes samples of the objects.

use anyhow::Context;
use parking_lot::Mutex;

use super::found::Found;
use super::options::{Options, Placement};
use super::placement::{Placements, Placer};
use super::sequence::Sequence;
use super::sources::{SourceCache, Sources};
use crate::commands::references::{
    CANNOT_COUNT, Names, ReferenceCounter, ReferenceWorker, RowsOf, Taken, threads,
};
use crate::commands::scan::{self, Collector, Scanned};
use crate::fault::Fault;
use crate::locator::{Base, Locator};
use crate::manifest::Manifest;
use crate::manifest::rows::Rows;
use crate::monitor::Monitor;
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
    pub placements: Option<Placements>,
    /// In which order, if that matters.
    pub sequence: Option<Sequence>,
    pub sources: Sources,
    pub found: Mutex<Found>,
}

/// What one thread keeps to itself.
pub struct Worker<'a> {
    references: ReferenceWorker<'a>,
    sources: SourceCache<'a>,
    placer: Option<Placer<'a>>,
    /// Objects of references that are to be replayed.
    placed: Vec<ObjectId>,
    /// Row and id of references whose order matters.
    ordered: Vec<(u32, u64)>,
    found: Found,
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
            placements: match options.placement {
                Placement::Assumed => None,
                Placement::Replayed => Some(Placements::new(references.budget.clone())),
            },
            references,
            sequence: (options.ordered > 0).then(|| Sequence::new(options.ordered)),
            sources: Sources::default(),
            found: Mutex::new(Found::new(options)),
        }
    }
}

impl Collector for Counting<'_> {
    type Worker<'a>
        = Worker<'a>
    where
        Self: 'a;

    fn worker(&self) -> Worker<'_> {
        Worker {
            references: self.references.worker(),
            sources: SourceCache::new(&self.sources),
            placer: self.placements.as_ref().map(Placements::placer),
            placed: Vec::new(),
            ordered: Vec::new(),
            found: Found::new(self.options),
        }
    }

    fn rows(&self, worker: &mut Worker<'_>, input: usize, rows: &Rows) -> anyhow::Result<()> {
        let Worker { references, sources, placer, placed, ordered, found } = worker;
        found.modalities.count(&rows.modality);
        let Manifest { path, base, .. } = &self.inputs[input];
        let sample = self.sequence.as_ref().map(Sequence::sample);
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

    fn finish(&self, worker: Worker<'_>) -> anyhow::Result<()> {
        worker.references.finish()?;
        worker.placer.map(Placer::finish).transpose().context(CANNOT_COUNT)?;
        self.found.lock().merge(worker.found);
        Ok(())
    }
}
