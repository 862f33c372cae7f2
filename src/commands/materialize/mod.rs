//! `materialize`: manifests in, shards that hold the payloads out, one source read per object.
//!
//! [`run_from`] is the run from top to bottom: find the manifests, scan and count, plan, fetch, write,
//! report. Each step is a file of its own here.

mod admission;
mod budget;
mod chunks;
mod inputs;
mod jobs;
mod options;
mod output;
mod report;
mod wants;
mod write;

use std::time::Instant;

use anyhow::{Context, ensure};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::cache::Cache;
use crate::commands::{Unreadable, manifests};
use crate::counting::named::NamedCounts;
use crate::fetch::Source;
use crate::locator::allow::Allow;
use crate::monitor::Monitor;
use crate::payloads::{self, FailedObjects, OnFailure, Payloads};
use crate::plan::Plan;
use crate::plan::uses::{CacheTakes, Uses};
use crate::shard::ShardSpec;
use crate::store::{Local, Store};
pub use admission::CacheAdmission;
use admission::Route;
use budget::WriteMemory;
use inputs::Inputs;
use jobs::ShardJob;
pub use options::*;
use output::OutputFolder;
pub use report::*;

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
    ensure!(
        options.cache_limit.is_none() || options.cache_mode == CacheMode::Always,
        "a limit of the cache needs the cache mode `always`"
    );
    let allow = Allow::new(options.allow.clone()).context("cannot resolve the --allow prefixes")?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build()?;
    let context = RunContext { source: Source { store, allow: &allow }, options, pool: &pool, monitor };
    let found = inputs::find(options)?;
    found.unreadable.iter().for_each(|manifest| monitor.problem(&manifest.to_string()));
    if found.readable.is_empty() && found.unreadable.is_empty() {
        monitor.problem(&manifests::none_in(&options.manifests));
    }
    let output = match options.stop_after {
        StopAfter::Plan => None,
        StopAfter::Shards => {
            let folder = options.output.as_deref().context("no output folder was given")?;
            Some((WriteMemory::new(&found.readable, options)?, OutputFolder::open(folder)?))
        }
    };
    let mut prepared = Prepared::new(&context, found)?;

    let fetch_start = Instant::now();
    let Some((memory, output)) = output else {
        let plan = prepared.plan(&context)?;
        return Ok(Outcome::Planned(report::planned(&prepared, plan.totals, options, start)));
    };
    let cache = match options.cache_mode {
        CacheMode::Never => None,
        CacheMode::Always | CacheMode::Auto => Some(Cache::open(&options.cache_dir)?),
    };
    let plan = prepared.plan(&context)?;
    let on_failure = if options.on_error == OnError::Fail { OnFailure::End } else { OnFailure::GoOn };
    let failures = FailedObjects::new(on_failure);
    let mut payloads = Payloads::new(context.source, cache, &plan, memory.payloads, failures, &pool, monitor);
    let (counts, batch_bytes) = (&prepared.counts, budget::batch_bytes(options));
    let route = match options.cache_mode {
        CacheMode::Always => Route::Cache,
        CacheMode::Never => Route::Direct,
        CacheMode::Auto => admission::probe(&payloads, counts, batch_bytes)?,
    };
    match route {
        Route::Cache => payloads.fill(counts, batch_bytes)?,
        Route::Direct => payloads.cache = None,
    }
    prepared.seconds.fetch = fetch_start.elapsed().as_secs_f64();

    let write_start = Instant::now();
    prepared.counts.release();
    let written = write::write_all(&prepared.jobs, &output, &payloads, &memory, options.on_error)?;
    prepared.seconds.write = write_start.elapsed().as_secs_f64();
    prepared.seconds.total = start.elapsed().as_secs_f64();
    Ok(Outcome::Done(report::done(&prepared, &payloads, route, &written, options)))
}

/// What all steps of a run share.
struct RunContext<'a> {
    source: Source<'a>,
    options: &'a Options,
    pool: &'a rayon::ThreadPool,
    monitor: &'a dyn Monitor,
}

/// Everything that is known before the first fetch.
struct Prepared {
    jobs: Vec<ShardJob>,
    counts: NamedCounts,
    unreadable: Vec<Unreadable>,
    /// What a limited cache takes.
    admitted: Option<Uses>,
    choice: Option<CacheAdmission>,
    seconds: Seconds,
}

impl Prepared {
    fn new(context: &RunContext, found: Inputs) -> anyhow::Result<Prepared> {
        let RunContext { options, pool, monitor, .. } = *context;
        let Inputs { readable, mut unreadable } = found;
        let scan_start = Instant::now();
        let shards: Vec<_> = readable.iter().map(|input| (&input.manifest, input.format)).collect();
        let specs = ShardSpec::for_all(&shards, &options.shards(), options.jobs, &|| monitor.check())?;
        let job = |(input, spec)| ShardJob::new(input, spec, options, monitor);
        let jobs = readable.into_par_iter().zip(specs).map(job);
        let mut jobs: Vec<ShardJob> = pool.install(|| jobs.collect::<anyhow::Result<_>>())?;
        let (references, broken) = jobs::scan(&mut jobs, options, monitor)?;
        let scan = scan_start.elapsed().as_secs_f64();
        let group_start = Instant::now();
        let counts = references.named(options.jobs, budget::object_bytes(options), || monitor.check())?;
        broken.iter().for_each(|manifest| monitor.problem(&manifest.to_string()));
        unreadable.extend(broken);
        let seconds = Seconds { scan, group: group_start.elapsed().as_secs_f64(), ..Seconds::default() };
        let admit = |limit| admission::admit(&counts, limit, context);
        let (admitted, choice) = options.cache_limit.map(admit).transpose()?.unzip();
        Ok(Prepared { jobs, counts, unreadable, admitted, choice, seconds })
    }

    fn plan(&mut self, context: &RunContext) -> anyhow::Result<Plan> {
        let RunContext { options, pool, monitor, .. } = *context;
        let root = (options.cache_mode != CacheMode::Never && options.cache_dir.is_dir())
            .then_some(options.cache_dir.as_path());
        let totals = self.counts.totals;
        let recurring = totals.objects.min(totals.references - totals.objects);
        let all = || budget::uses_fit(recurring, options).then(|| Uses::new(CacheTakes::All));
        let plan = Plan::new(self.admitted.take().or_else(all));
        payloads::plan(plan, &self.counts, budget::batch_bytes(options), root, pool, monitor)
    }
}
