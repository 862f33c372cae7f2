//! Reads a sample of the objects, or asks how large they are: what comparing, timing and sizing have
//! in common.
//!
//! Each object is read once, neighbours in one request, as in a run that writes shards. What cannot
//! be read is told and counted and ends nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::fault::Fault;
use crate::fetch::{Spent, obtain};
use crate::locator::url;
use crate::monitor::{Monitor, Phase};
use crate::object::{Key, ObjectName};
use crate::plan::{self, FileFetch};
use crate::store::Source;

/// How the reading went.
pub struct Read {
    pub failed: u64,
    pub spent: Spent,
}

/// Reads the objects of `sample`, distinct and in any order, and hands over each
/// payload, from several threads. Remote objects fail.
///
/// Fails when interrupted.
pub fn read(
    source: &dyn Source,
    sample: &[ObjectName],
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
    deliver: &(dyn Fn(Key, Bytes) + Sync),
) -> anyhow::Result<Read> {
    let failures = Failures { count: AtomicU64::new(0), monitor };
    let files = start(sample, &failures);
    let go_on = || monitor.check().map(|()| true);
    let spent = obtain(source, &files, pool, &go_on, &|key, result| match result {
        Ok(payload) => {
            let bytes = payload.len() as u64;
            deliver(key, payload);
            monitor.advance(Phase::Fetch, 1, bytes);
        }
        Err(fault) => failures.add(&fault),
    })?;
    monitor.finish(Phase::Fetch);
    Ok(Read { failed: failures.count.into_inner(), spent })
}

/// Asks for the sizes of the objects of `sample`, distinct and in any order; returns
/// those that are known, in the order of `sample`. No payload is read. Remote objects fail.
///
/// Fails when interrupted.
pub fn sizes(
    source: &dyn Source,
    sample: &[ObjectName],
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Vec<u64>> {
    let failures = Failures { count: AtomicU64::new(0), monitor };
    let files = start(sample, &failures);
    let told = Mutex::new(HashMap::new());
    let ask = |file: &FileFetch| {
        monitor.check()?;
        let prepared = source.prepare(&file.path, &file.targets);
        prepared.faults.iter().for_each(|(_, fault)| failures.add(fault));
        for request in &prepared.requests {
            source.measure(request, &mut |target, size| match size {
                Ok(size) => {
                    told.lock().insert(file.keys[target], size);
                    monitor.advance(Phase::Fetch, 1, 0);
                }
                Err(fault) => failures.add(&fault),
            });
        }
        anyhow::Ok(())
    };
    pool.install(|| files.par_iter().with_max_len(1).try_for_each(ask))?;
    monitor.finish(Phase::Fetch);
    let told = told.into_inner();
    Ok(sample.iter().filter_map(|name| told.get(&name.key()).copied()).collect())
}

/// Objects of a sample that cannot be read.
struct Failures<'a> {
    count: AtomicU64,
    monitor: &'a dyn Monitor,
}

impl Failures<'_> {
    fn add(&self, fault: &Fault) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.monitor.problem(&fault.to_string());
        self.monitor.advance(Phase::Fetch, 1, 0);
    }
}

/// Starts the phase; returns the files of the local objects, the others fail.
fn start(sample: &[ObjectName], failures: &Failures) -> Vec<FileFetch> {
    failures.monitor.start(Phase::Fetch, sample.len() as u64);
    let (remotes, mut locals): (Vec<&ObjectName>, Vec<&ObjectName>) =
        sample.iter().partition(|name| name.is_remote());
    remotes.into_iter().for_each(|name| failures.add(&url::refusal(name)));
    locals.sort_unstable();
    plan::files(locals.into_iter().map(|name| (name, name.key())))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Counting, Told, corpus, object, objects, pool};
    use super::*;
    use crate::locator::Target;
    use crate::monitor::Interrupted;

    #[test]
    fn sizes_are_those_of_the_payloads_and_nothing_is_read_for_them() {
        let mut sample = objects();
        sample.reverse();
        let lengths = Mutex::new(HashMap::new());
        let deliver = |key, payload: Bytes| {
            lengths.lock().insert(key, payload.len() as u64);
        };
        read(&Counting::new(), &sample, &pool(2), &Told::default(), &deliver).unwrap();
        let lengths = lengths.into_inner();
        let answers: Vec<u64> = sample.iter().map(|name| lengths[&name.key()]).collect();
        for jobs in [1, 4] {
            let (source, told) = (Counting::new(), Told::default());
            assert_eq!(sizes(&source, &sample, &pool(jobs), &told).unwrap(), answers);
            assert_eq!(source.results.into_inner(), 0, "no payload was handed over");
            assert_eq!(*told.totals.lock(), [(Phase::Fetch, sample.len() as u64)]);
            assert_eq!(told.done.into_inner(), sample.len() as u64);
        }
    }

    #[test]
    fn objects_that_do_not_tell_their_size_are_told_and_the_others_asked() {
        let house = corpus().join("loose/house.png").display().to_string();
        let sample = [
            object("s3://bucket/key.jpg", &Target::Whole),
            object("/no/such/file", &Target::Whole),
            object(&house, &Target::Whole),
            object(&house, &Target::Member("x".into())),
        ];
        let told = Told::default();
        let size = std::fs::metadata(&house).unwrap().len();
        assert_eq!(sizes(&Counting::new(), &sample, &pool(2), &told).unwrap(), [size]);
        let mut problems = told.problems.into_inner();
        problems.sort();
        let starts = ["archive_corrupt: ", "not_found: /no/such/file", "unsupported: s3://bucket/key.jpg: "];
        assert_eq!(problems.len(), starts.len());
        assert!(problems.iter().zip(starts).all(|(p, start)| p.starts_with(start)), "{problems:?}");
        assert_eq!(told.done.into_inner(), 4);
    }

    #[test]
    fn an_interruption_ends_the_asking() {
        let told = Told { stop_after: 1, ..Told::default() };
        let error = sizes(&Counting::new(), &objects(), &pool(1), &told).unwrap_err();
        assert!(error.is::<Interrupted>());
    }
}
