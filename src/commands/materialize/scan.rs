//! Reads all manifests and counts their references by object, with the names of the objects.

use std::path::PathBuf;

use parking_lot::Mutex;

use super::budget::CountMemory;
use super::inputs::Input;
use super::wants::resolve;
use crate::commands::Unreadable;
use crate::commands::references::Tally;
use crate::commands::references::{Names, ReferenceCounter, ReferenceWorker, RowsOf, Taken, threads};
use crate::commands::scan::{self, Collector};
use crate::counting::named::NamedCounts;
use crate::fault::Fault;
use crate::manifest::rows::Rows;
use crate::monitor::Monitor;

/// The inputs of a run, read.
pub struct ScannedInputs<C = NamedCounts> {
    /// One for each input; `None` where reading failed.
    pub tallies: Vec<Option<Tally>>,
    pub unreadable: Vec<Unreadable>,
    pub counts: C,
}

/// How to scan.
pub struct Settings<'a> {
    pub jobs: usize,
    /// Bytes for reading and counting, and for the counted objects.
    pub memory: CountMemory,
    /// Whether the references of an input are still to be served, by input.
    pub wanted: &'a [bool],
    /// Files that are no sources.
    pub outputs: &'a [PathBuf],
    /// Called with each row that has a fault and its place; an error ends the run.
    pub on_fault: &'a (dyn Fn(&Input, &str, &Fault) -> anyhow::Result<()> + Sync),
}

/// Scans all inputs. One that cannot be read to its end counts for nothing.
pub fn scan(
    inputs: &[Input],
    settings: &Settings,
    monitor: &dyn Monitor,
) -> anyhow::Result<ScannedInputs<ReferenceCounter>> {
    let manifests: Vec<_> = inputs.iter().map(|input| &input.manifest).collect();
    let bases = || manifests.iter().map(|manifest| &manifest.base);
    let Settings { jobs, memory, .. } = *settings;
    let scanned = scan::scan(&manifests, threads(memory.scan, jobs), monitor, |reading| NamedCollector {
        inputs,
        settings,
        counter: ReferenceCounter::new(bases(), Names::Keep, resolve, memory.scan, jobs)
            .with_outputs(settings.outputs),
        tallies: Mutex::new(vec![Tally::default(); inputs.len()]),
        reading,
    })?;
    let NamedCollector { counter, tallies, .. } = scanned.collector;
    let unreadable = scanned.unreadable;
    let tallies = tallies.into_inner().into_iter().enumerate();
    Ok(ScannedInputs {
        tallies: tallies.map(|(at, tally)| (!unreadable.contains_key(&at)).then_some(tally)).collect(),
        unreadable: unreadable.into_values().collect(),
        counts: counter,
    })
}

impl ScannedInputs<ReferenceCounter> {
    /// Joins the references of each object, with `jobs` threads.
    pub fn group(
        self,
        jobs: usize,
        memory: CountMemory,
        monitor: &dyn Monitor,
    ) -> anyhow::Result<ScannedInputs> {
        let ScannedInputs { tallies, unreadable, counts } = self;
        let counts = counts.named(jobs, memory.objects, || monitor.check())?;
        Ok(ScannedInputs { tallies, unreadable, counts })
    }
}

/// One reading of all inputs.
struct NamedCollector<'a> {
    inputs: &'a [Input],
    settings: &'a Settings<'a>,
    counter: ReferenceCounter,
    tallies: Mutex<Vec<Tally>>,
    /// Faults are reported in the first one.
    reading: usize,
}

impl Collector for NamedCollector<'_> {
    type Worker<'a>
        = ReferenceWorker<'a>
    where
        Self: 'a;

    fn worker(&self) -> ReferenceWorker<'_> {
        self.counter.worker()
    }

    fn rows(&self, worker: &mut ReferenceWorker<'_>, at: usize, rows: &Rows) -> anyhow::Result<()> {
        let input = &self.inputs[at];
        let on_fault = |place: &str, fault: &Fault| {
            if self.reading > 0 { Ok(()) } else { (self.settings.on_fault)(input, place, fault) }
        };
        let of = RowsOf { manifest: at, base: &input.manifest.base, wanted: self.settings.wanted[at] };
        let take = |_, _, _: &_| Some(Taken { source: 0, again: false });
        let tally = self.counter.count(worker, of, rows, take, on_fault)?;
        self.tallies.lock()[at].add(&tally);
        Ok(())
    }

    fn finish(&self, worker: ReferenceWorker<'_>) -> anyhow::Result<()> {
        worker.finish()
    }
}
