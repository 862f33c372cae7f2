//! Is a cache worth it here? Times sources and a cache by doing what a run does.
//!
//! The times are those of this moment on this machine. An entry is read right after it is written, so it
//! comes from memory and not from the disk, as does a source that was read recently: `hit` is a lower
//! bound. Puts into an empty cache also create its folders. Objects that are far apart need a request
//! each, where a run merges neighbours: `source` is an upper bound, unless the sample has neighbours.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

use super::report::Timings;
use super::sample_reads;
use crate::analysis::cost::CacheWork;
use crate::cache::Cache;
use crate::commands::cache_timing::CacheTiming;
use crate::fetch::Source;
use crate::monitor::Monitor;
use crate::object::ObjectName;

/// Reads the objects of `sample`, which are distinct, from their sources, puts each into a
/// cache of its own below `cache_dir` and hits it. Nothing of that stays on the disk. `references`
/// and `objects` are those of the whole corpus.
///
/// Means are over the objects that were read, stored and found; with none, all are zero and no
/// cache pays. Fails when interrupted, or when there is no place for a cache.
pub fn probe(
    source: Source,
    sample: &[ObjectName],
    cache_dir: &Path,
    references: u64,
    objects: u64,
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Timings> {
    let folder = Folder::below(cache_dir).with_context(|| {
        format!(
            "cannot make a folder for the probe in {}; choose another folder with --cache",
            cache_dir.display()
        )
    })?;
    let cache = Cache::open(folder.path())?;
    let timing = CacheTiming::default();
    let read = sample_reads::read(source, sample, pool, monitor, &|key, payload| {
        let get = || cache.get(&key).is_some();
        match timing.time(&payload, || cache.put(&key, &payload), get) {
            (_, true) => {}
            (Ok(()), false) => monitor.problem("--probe: a cache entry differs from what was stored"),
            (Err(error), false) => {
                monitor.problem(&format!("--probe: cannot store an object in the cache: {error}"));
            }
        }
    })?;
    let sums = timing.into_sums();
    let costs = sums.costs(read.spent.time, sample.len() as u64 - read.failed);
    Ok(Timings {
        objects: sums.objects,
        failed: sample.len() as u64 - sums.objects,
        bytes: sums.bytes,
        source: costs.source,
        put: costs.put,
        hit: costs.hit,
        cache_pays: costs.cache_pays(&CacheWork::fetching_first(references, objects)),
    })
}

/// A folder that goes away with this value, and with it those above that were made for it.
struct Folder {
    own: Option<TempDir>,
    /// Innermost first.
    made: Vec<PathBuf>,
}

impl Folder {
    fn below(parent: &Path) -> std::io::Result<Folder> {
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = parent.ancestors().take_while(missing).map(Path::to_owned).collect();
        let mut folder = Folder { own: None, made };
        fs::create_dir_all(parent)?;
        folder.own = Some(tempfile::Builder::new().prefix("probe-").tempdir_in(parent)?);
        Ok(folder)
    }

    fn path(&self) -> &Path {
        self.own.as_ref().expect("made by `below`").path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.own.take());
        // One that others use by now is not empty and stays.
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Told, local, object, objects, pool};
    use super::*;
    use crate::analysis::cost::AccessCosts;
    use crate::locator::Target;
    use crate::monitor::{Interrupted, Phase};

    fn is_empty(folder: &Path) -> bool {
        fs::read_dir(folder).unwrap().next().is_none()
    }

    #[test]
    fn each_object_is_read_once_and_timed_and_the_folders_are_gone_afterwards() {
        let outside = tempfile::tempdir().unwrap();
        let (sample, source, told) = (objects(), local(), Told::default());
        let count = sample.len() as u64;
        let cache_dir = outside.path().join("not/yet/there");
        let timings = probe(source, &sample, &cache_dir, 1000, 1, &pool(2), &told).unwrap();
        assert_eq!((timings.objects, timings.failed), (count, 0), "{:?}", told.problems);
        assert!(timings.bytes > 0);
        for (what, seconds) in [("source", timings.source), ("put", timings.put), ("hit", timings.hit)] {
            assert!(seconds > 0.0 && seconds < 10.0, "{what} {seconds}");
        }
        assert_eq!(*told.totals.lock(), [(Phase::Fetch, count)]);
        assert_eq!(told.done.into_inner(), count);
        assert!(is_empty(outside.path()));
    }

    #[test]
    fn the_decision_is_that_of_the_measured_costs() {
        let cache_dir = tempfile::tempdir().unwrap();
        let probe = |references, objects_in_all| {
            let sample = objects();
            let source = local();
            let told = Told::default();
            probe(source, &sample, cache_dir.path(), references, objects_in_all, &pool(1), &told).unwrap()
        };
        assert!(!probe(1000, 1000).cache_pays, "nothing recurs");
        let timings = probe(1_000_000, 10);
        let costs = AccessCosts { source: timings.source, put: timings.put, hit: timings.hit };
        assert_eq!(timings.cache_pays, costs.cache_pays(&CacheWork::fetching_first(1_000_000, 10)));
        assert!(is_empty(cache_dir.path()));
    }

    #[test]
    fn a_cache_that_is_there_stays_as_it_is() {
        let cache_dir = tempfile::tempdir().unwrap();
        drop(Cache::open(cache_dir.path()).unwrap());
        let names = || {
            let entries = walkdir::WalkDir::new(cache_dir.path()).sort_by_file_name();
            entries.into_iter().map(|entry| entry.unwrap().into_path()).collect::<Vec<_>>()
        };
        let before = names();
        probe(local(), &objects(), cache_dir.path(), 9, 3, &pool(2), &Told::default()).unwrap();
        assert_eq!(names(), before);
    }

    #[test]
    fn a_sample_of_which_nothing_can_be_read_times_nothing() {
        let cache_dir = tempfile::tempdir().unwrap();
        let sample = [object("https://h/a", &Target::Whole), object("/no/such/file", &Target::Whole)];
        let told = Told::default();
        let timings = probe(local(), &sample, cache_dir.path(), 1000, 1, &pool(1), &told).unwrap();
        assert_eq!(timings, Timings { failed: 2, ..Timings::default() });
        assert_eq!(told.problems.lock().len(), 2);
    }

    #[test]
    fn an_interrupted_probe_leaves_nothing_behind() {
        let outside = tempfile::tempdir().unwrap();
        let cache_dir = outside.path().join("cache");
        let told = Told { stop_after: 1, ..Told::default() };
        let error = probe(local(), &objects(), &cache_dir, 9, 3, &pool(1), &told).unwrap_err();
        assert!(error.is::<Interrupted>());
        assert!(is_empty(outside.path()));
    }

    #[test]
    fn a_place_that_takes_no_folder_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = probe(local(), &objects(), file.path(), 9, 3, &pool(1), &Told::default()).unwrap_err();
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
    }
}
