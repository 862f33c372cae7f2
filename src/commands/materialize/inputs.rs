//! The manifests of a run: found, opened, and scanned, with their references counted by object.
//!
//! Whatever makes a run impossible is refused here, before anything is fetched.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use anyhow::bail;
use parking_lot::Mutex;

use super::options::{OnError, Options};
use super::wants::resolve;
use super::write::ShardJob;
use crate::commands::references::{Names, ReferenceCounter, ReferenceWorker, RowsOf, Taken, Tally, threads};
use crate::commands::scan::{self, Collector};
use crate::commands::{Unreadable, manifests};
use crate::fault::Fault;
use crate::manifest::Manifest;
use crate::manifest::rows::Rows;
use crate::monitor::Monitor;
use crate::payloads::FirstFailure;
use crate::shard::ShardFormat;

/// A manifest and the shard it becomes.
pub struct Input {
    pub manifest: Manifest,
    pub format: ShardFormat,
    /// Path of the shard below the output folder.
    pub shard: PathBuf,
}

/// All manifests of a run.
pub struct Inputs {
    pub readable: Vec<Input>,
    pub unreadable: Vec<Unreadable>,
}

/// Finds and opens all manifests.
///
/// Fails when an input does not exist, when two manifests would become one shard, and when the
/// folders of input, output and cache lie inside one another.
pub fn find(options: &Options) -> anyhow::Result<Inputs> {
    keep_folders_apart(options)?;
    let exclude: Vec<PathBuf> = options.output.iter().cloned().collect();
    let root = options.root.as_deref();
    let (readable, unreadable) =
        manifests::open_all(&options.manifests, &exclude, root, |manifest| prepare(options, manifest))?;
    refuse_collisions(&readable, options)?;
    Ok(Inputs { readable, unreadable })
}

fn prepare(options: &Options, manifest: Manifest) -> anyhow::Result<Input> {
    let format = ShardFormat::for_manifest(&manifest, &options.shards())?;
    let mut shard = manifest.name.clone().into_os_string();
    shard.push(".");
    shard.push(format.ending());
    Ok(Input { manifest, format, shard: shard.into() })
}

fn refuse_collisions(inputs: &[Input], options: &Options) -> anyhow::Result<()> {
    let mut seen: HashMap<&Path, &Path> = HashMap::new();
    let manifests: HashSet<PathBuf> = inputs.iter().map(|input| real(&input.manifest.path)).collect();
    for input in inputs {
        if let Some(other) = seen.insert(&input.shard, &input.manifest.path) {
            if real(other) == real(&input.manifest.path) {
                bail!("{} is listed twice on the command line", other.display());
            }
            bail!(
                "{} and {} would both write the shard {}; pass their common folder instead, or use two runs",
                other.display(),
                input.manifest.path.display(),
                input.shard.display()
            );
        }
        let Some(output) = &options.output else { continue };
        let shard = real(&output.join(&input.shard));
        if manifests.contains(&shard) {
            bail!("the shard {} would overwrite a manifest; choose another --output", shard.display());
        }
    }
    Ok(())
}

/// A cache inside a folder that is read or written would be taken for data.
fn keep_folders_apart(options: &Options) -> anyhow::Result<()> {
    let cache = real(&options.cache_dir);
    let inputs = options.manifests.iter().filter(|path| path.is_dir()).map(|path| (path, "input"));
    for (folder, what) in inputs.chain(options.output.iter().map(|path| (path, "output"))) {
        let folder = real(folder);
        if cache.starts_with(&folder) {
            bail!(
                "the cache {} is inside the {what} folder {}; choose another --cache",
                cache.display(),
                folder.display()
            );
        }
        if what == "output" && folder.starts_with(&cache) {
            bail!(
                "the output folder {} is inside the cache {}; choose another --output",
                folder.display(),
                cache.display()
            );
        }
    }
    Ok(())
}

/// The path without symlinks, as far as it exists. What is missing would be made as folders, so
/// that a `..` after it leads back.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut real = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => drop(real.pop()),
            other => real.push(other),
        }
        real = real.canonicalize().unwrap_or(real);
    }
    real
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
    let (most, memory) = (options.jobs, options.memory);
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
