//! `materialize`: manifests in, shards that hold the payloads out, one source read per object.
//!
//! The run is the picture in the crate documentation, from top to bottom: inputs, scan, plan,
//! fetch, write, report. Each step is a file of its own here.

mod admission;
mod budget;
mod build_report;
mod chunks;
mod inputs;
mod options;
mod output;
mod probe;
mod report;
mod scan;
mod wants;
mod write;

use std::time::Instant;

use anyhow::{Context, ensure};

use crate::cache::Cache;
use crate::commands::{Unreadable, manifests};
use crate::fetch::Source;
use crate::locator::Target;
use crate::locator::allow::Allow;
use crate::monitor::Monitor;
use crate::object::Object;
use crate::payloads::{self, FailedObjects, FirstFailure, OnFailure, Payloads};
use crate::plan::Plan;
use crate::plan::uses::Uses;
use crate::shard::ShardSpec;
use crate::store::{Local, Store};
use budget::WriteMemory;
use inputs::{Input, Inputs};
pub use options::*;
use output::{OutputFolder, ShardRecord};
use probe::Route;
pub use report::*;
use scan::ScannedInputs;

/// Runs `options` to the end or to the plan, reading from local files.
///
/// Fails when nothing sensible can be done: a wrong folder, a full output disk, a fault under
/// [`OnError::Fail`], an interruption ([`crate::monitor::Interrupted`]). References that fail do
/// not fail the run; they are in the report.
pub fn run(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Outcome> {
    run_from(&Local, options, monitor)
}

/// [`run`] with another store.
pub fn run_from(store: &dyn Store, options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let allow = Allow::new(options.allow.clone()).context("cannot resolve the --allow prefixes")?;
    let source = Source { store, allow: &allow };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    ensure!(
        options.cache_limit.is_none() || options.cache_mode == CacheMode::Always,
        "a limit of the cache needs the cache mode `always`"
    );
    let found = inputs::find(options)?;
    found.unreadable.iter().for_each(|manifest| monitor.problem(&manifest.to_string()));
    if found.readable.is_empty() && found.unreadable.is_empty() {
        monitor.problem(&manifests::none_in(&options.manifests));
    }
    match options.stop_after {
        StopAfter::Plan => {
            let mut prepared = Prepared::new(source, found, options, &pool, monitor)?;
            let plan = prepared.plan(options, &pool, monitor)?;
            Ok(Outcome::Planned(build_report::plan(&prepared, plan.totals, options, start)))
        }
        StopAfter::Shards => {
            let folder = options.output.as_deref().context("no output folder was given")?;
            WriteMemory::new(&found.readable, options)?;
            let output = OutputFolder::open(folder)?;
            let prepared = Prepared::new(source, found, options, &pool, monitor)?;
            let mut report = materialize(source, prepared, &output, options, &pool, monitor)?;
            report.seconds.total = start.elapsed().as_secs_f64();
            Ok(Outcome::Done(report))
        }
    }
}

/// Everything that is known before the first fetch.
struct Prepared {
    /// What a limited cache takes.
    uses: Option<Uses>,
    choice: Option<CacheAdmission>,
    inputs: Vec<Input>,
    specs: Vec<ShardSpec>,
    /// See [`ShardRecord::options`], by input.
    fingerprints: Vec<String>,
    /// Finished shards, by input.
    finished: Vec<Option<ShardRecord>>,
    scanned: ScannedInputs,
    unreadable: Vec<Unreadable>,
    seconds: Seconds,
}

impl Prepared {
    fn new(
        source: Source,
        found: Inputs,
        options: &Options,
        pool: &rayon::ThreadPool,
        monitor: &dyn Monitor,
    ) -> anyhow::Result<Prepared> {
        let inputs = found.readable;
        let scan_start = Instant::now();
        let shards: Vec<_> = inputs.iter().map(|input| (&input.manifest, input.format)).collect();
        let specs = ShardSpec::for_all(&shards, &options.shards(), options.jobs, &|| monitor.check())?;
        let fingerprints: Vec<String> =
            inputs.iter().zip(&specs).map(|(input, spec)| fingerprint(options, input, spec)).collect();
        let finished = finished(&inputs, &fingerprints, options, pool, monitor)?;
        let wanted: Vec<bool> = finished.iter().map(Option::is_none).collect();
        let on_fault = |input: &Input, place: &str, fault: &crate::fault::Fault| {
            let message = format!("{}: {place}: {fault}", input.manifest.path.display());
            if options.on_error == OnError::Fail {
                return Err(FirstFailure(message).into());
            }
            monitor.problem(&message);
            Ok(())
        };
        let settings = scan::Settings {
            jobs: options.jobs,
            memory: budget::CountMemory::new(options),
            wanted: &wanted,
            outputs: &options.outputs,
            on_fault: &on_fault,
        };
        let references = scan::scan(&inputs, &settings, monitor)?;
        let scan = scan_start.elapsed().as_secs_f64();
        let group_start = Instant::now();
        let scanned = references.group(options.jobs, settings.memory, monitor)?;
        scanned.unreadable.iter().for_each(|manifest| monitor.problem(&manifest.to_string()));
        let seconds = Seconds { scan, group: group_start.elapsed().as_secs_f64(), ..Seconds::default() };
        let admit = |limit| {
            let size = |object: &Object| size(source, object, options);
            admission::admit(&scanned.counts, budget::batch_bytes(options), limit, &size, pool, monitor)
        };
        let (uses, choice) = options.cache_limit.map(admit).transpose()?.unzip();
        let unreadable = found.unreadable;
        Ok(Prepared { uses, choice, inputs, specs, fingerprints, finished, scanned, unreadable, seconds })
    }

    fn plan(
        &mut self,
        options: &Options,
        pool: &rayon::ThreadPool,
        monitor: &dyn Monitor,
    ) -> anyhow::Result<Plan> {
        let root = (options.cache_mode != CacheMode::Never && options.cache_dir.is_dir())
            .then_some(options.cache_dir.as_path());
        let totals = self.scanned.counts.totals;
        let recurring = totals.objects.min(totals.references - totals.objects);
        let plan = match self.uses.take() {
            Some(uses) => Plan::limited(uses),
            None if budget::uses_fit(recurring, options) => Plan::counting(),
            None => Plan::default(),
        };
        payloads::plan(plan, &self.scanned.counts, budget::batch_bytes(options), root, pool, monitor)
    }

    /// Inputs whose shard is to be written now.
    fn pending(&self) -> Vec<usize> {
        let readable = |at: &usize| self.finished[*at].is_none() && self.scanned.tallies[*at].is_some();
        (0..self.inputs.len()).filter(readable).collect()
    }
}

/// The bytes of an object whose locator does not say them: as the cache holds it, or as its file is
/// long. Members of archives would take more than a look at their file.
fn size(source: Source, object: &Object, options: &Options) -> Option<u64> {
    let held = || payloads::held(&options.cache_dir, object);
    let length = || source.length(&object.name.location());
    held().or_else(|| if object.name.target() == Target::Whole { length() } else { None })
}

/// What decides the bytes of a shard beside manifest and payloads.
fn fingerprint(options: &Options, input: &Input, spec: &ShardSpec) -> String {
    let (on_error, base) = (options.on_error, &input.manifest.base);
    let text = format!("{} {on_error:?} {base:?} {}", env!("CARGO_PKG_VERSION"), spec.fingerprint());
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn finished(
    inputs: &[Input],
    fingerprints: &[String],
    options: &Options,
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Vec<Option<ShardRecord>>> {
    use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
    let Some(folder) = options.output.as_deref() else { return Ok(vec![None; inputs.len()]) };
    let find = |(input, fingerprint): (&Input, &String)| {
        output::find(folder, &input.shard, &input.manifest.path, fingerprint, options.existing, monitor)
    };
    pool.install(|| inputs.par_iter().zip(fingerprints).map(find).collect())
}

fn materialize(
    source: Source,
    mut prepared: Prepared,
    output: &OutputFolder,
    options: &Options,
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Report> {
    let mut seconds = prepared.seconds;
    let fetch_start = Instant::now();
    let cache = match options.cache_mode {
        CacheMode::Never => None,
        CacheMode::Always | CacheMode::Auto => Some(Cache::open(&options.cache_dir)?),
    };
    let memory = WriteMemory::new(&prepared.inputs, options)?;
    let plan = prepared.plan(options, pool, monitor)?;
    let on_failure = if options.on_error == OnError::Fail { OnFailure::End } else { OnFailure::GoOn };
    let failures = FailedObjects::new(on_failure);
    let mut payloads = Payloads::new(source, cache, &plan, memory.payloads, failures, pool, monitor);
    let (counts, batch_bytes) = (&prepared.scanned.counts, budget::batch_bytes(options));
    let route = match options.cache_mode {
        CacheMode::Always => Route::Cache,
        CacheMode::Never => Route::Direct,
        CacheMode::Auto => probe::choose(&payloads, counts, batch_bytes)?,
    };
    match route {
        Route::Cache => payloads.fill(counts, batch_bytes)?,
        Route::Direct => payloads.cache = None,
    }
    seconds.fetch = fetch_start.elapsed().as_secs_f64();

    let write_start = Instant::now();
    prepared.scanned.counts.release();
    let written = write::write_all(&prepared, output, &payloads, &memory, options)?;
    seconds.write = write_start.elapsed().as_secs_f64();
    let done = build_report::Done { planned: plan.totals, route, payloads: &payloads, written, seconds };
    Ok(build_report::report(&prepared, done, options))
}
