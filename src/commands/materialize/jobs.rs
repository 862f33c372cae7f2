//! One job for each manifest: its shard, whether that is finished, and what its rows are. The scan
//! counts the references of all jobs by object.

use parking_lot::Mutex;

use super::budget;
use super::inputs::Input;
use super::options::{OnError, Options};
use super::output::{self, ShardRecord};
use super::wants::resolve;
use crate::commands::Unreadable;
use crate::commands::references::{Names, ReferenceCounter, ReferenceWorker, RowsOf, Taken, Tally, threads};
use crate::commands::scan::{self, Collector};
use crate::fault::Fault;
use crate::manifest::rows::Rows;
use crate::monitor::Monitor;
use crate::payloads::FirstFailure;
use crate::shard::ShardSpec;

/// A manifest and the shard that it becomes.
pub struct ShardJob {
    pub input: Input,
    pub spec: ShardSpec,
    /// See [`ShardRecord::options`].
    pub fingerprint: String,
    /// The shard, where an earlier run finished it.
    pub finished: Option<ShardRecord>,
    /// What the rows are; `None` before they are scanned, and where they cannot be read.
    pub tally: Option<Tally>,
}

impl ShardJob {
    /// Looks whether the shard is finished. Fails as [`output::find_finished`].
    pub fn new(
        input: Input,
        spec: ShardSpec,
        options: &Options,
        monitor: &dyn Monitor,
    ) -> anyhow::Result<ShardJob> {
        // What decides the bytes of a shard beside manifest and payloads.
        let (on_error, base) = (options.on_error, &input.manifest.base);
        let text = format!("{} {on_error:?} {base:?} {}", env!("CARGO_PKG_VERSION"), spec.fingerprint());
        let fingerprint = blake3::hash(text.as_bytes()).to_hex().to_string();
        let finished = output::find_finished(&input, &fingerprint, options, monitor)?;
        Ok(ShardJob { input, spec, fingerprint, finished, tally: None })
    }

    /// The rows, if they are to be written now.
    pub fn pending(&self) -> Option<&Tally> {
        self.tally.as_ref().filter(|_| self.finished.is_none())
    }
}

/// Scans all manifests and notes in each job what its rows are. A manifest that cannot be read to its
/// end counts for nothing and is in the second result.
pub fn scan(
    jobs: &mut [ShardJob],
    options: &Options,
    monitor: &dyn Monitor,
) -> anyhow::Result<(ReferenceCounter, Vec<Unreadable>)> {
    let manifests: Vec<_> = jobs.iter().map(|job| &job.input.manifest).collect();
    let bases = || manifests.iter().map(|manifest| &manifest.base);
    let (most, memory) = (options.jobs, budget::counting_bytes(options));
    let scanned = scan::scan(&manifests, threads(memory, most), monitor, |reading| NamedCollector {
        jobs,
        options,
        monitor,
        counter: ReferenceCounter::new(bases(), Names::Keep, resolve, memory, most)
            .with_outputs(&options.outputs),
        tallies: Mutex::new(vec![Tally::default(); jobs.len()]),
        reading,
    })?;
    let NamedCollector { counter, tallies, .. } = scanned.collector;
    let unreadable = scanned.unreadable;
    for (at, (job, tally)) in jobs.iter_mut().zip(tallies.into_inner()).enumerate() {
        job.tally = (!unreadable.contains_key(&at)).then_some(tally);
    }
    Ok((counter, unreadable.into_values().collect()))
}

/// One reading of all manifests.
struct NamedCollector<'a> {
    jobs: &'a [ShardJob],
    options: &'a Options,
    monitor: &'a dyn Monitor,
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
        let ShardJob { input, finished, .. } = &self.jobs[at];
        let on_fault = |place: &str, fault: &Fault| {
            if self.reading > 0 {
                return Ok(());
            }
            let message = format!("{}: {place}: {fault}", input.manifest.path.display());
            if self.options.on_error == OnError::Fail {
                return Err(FirstFailure(message).into());
            }
            self.monitor.problem(&message);
            Ok(())
        };
        let of = RowsOf { manifest: at, base: &input.manifest.base, wanted: finished.is_none() };
        let take = |_, _, _: &_| Some(Taken { source: 0, again: false });
        let tally = self.counter.count(worker, of, rows, take, on_fault)?;
        self.tallies.lock()[at].add(&tally);
        Ok(())
    }

    fn finish(&self, worker: ReferenceWorker<'_>) -> anyhow::Result<()> {
        worker.finish()
    }
}
