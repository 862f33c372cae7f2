//! Reads a sample of the objects, or probes their sizes. Each object is read once, neighbours in one
//! request, as in a run that writes shards. An object that cannot be read is reported and counted.
//!
//! [`compare`] finds different objects with equal payloads: a store with one copy per sample, or a site
//! that returns the same image for every name. A cache by locator does not help there.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;

use super::report::ContentComparison;
use crate::fault::Fault;
use crate::fetch::{self, Source, Spent, obtain};
use crate::locator::url;
use crate::monitor::{Monitor, Phase};
use crate::object::{Key, ObjectName};
use crate::plan::{self, FileFetch};

/// How the reading went.
pub struct SampleRead {
    pub failed: u64,
    pub spent: Spent,
}

/// Reads the objects of `sample`, distinct and in any order, and hands over each
/// payload, from several threads. Remote objects fail.
///
/// Fails when interrupted.
pub fn read(
    source: Source,
    sample: &[ObjectName],
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
    deliver: &(dyn Fn(Key, Bytes) + Sync),
) -> anyhow::Result<SampleRead> {
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
    Ok(SampleRead { failed: failures.count.into_inner(), spent })
}

/// Probes the sizes of the objects of `sample`, distinct and in any order; returns
/// those that are known, in the order of `sample`. No payload is read. Remote objects fail.
///
/// Fails when interrupted.
pub fn sizes(
    source: Source,
    sample: &[ObjectName],
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Vec<u64>> {
    let failures = Failures { count: AtomicU64::new(0), monitor };
    let files = start(sample, &failures);
    let known = Mutex::new(HashMap::new());
    let go_on = || monitor.check().map(|()| true);
    fetch::sizes(source, &files, pool, &go_on, &|key, size| match size {
        Ok(size) => {
            known.lock().insert(key, size);
            monitor.advance(Phase::Fetch, 1, 0);
        }
        Err(fault) => failures.add(&fault),
    })?;
    monitor.finish(Phase::Fetch);
    let known = known.into_inner();
    Ok(sample.iter().filter_map(|name| known.get(&name.key()).copied()).collect())
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

/// Pairs that are shown.
const EXAMPLES: usize = 3;

/// Reads the objects of `sample`, which are distinct, once each, and compares the BLAKE3 of
/// their payloads, which are not kept. The result does not depend on the number of threads.
///
/// Fails when interrupted; objects that cannot be read are counted and reported.
pub fn compare(
    source: Source,
    sample: &[ObjectName],
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<ContentComparison> {
    let found: Mutex<(Vec<PayloadHash>, u64)> = Mutex::default();
    let read = read(source, sample, pool, monitor, &|key, payload| {
        let hash = *blake3::hash(&payload).as_bytes();
        let mut found = found.lock();
        found.0.push(PayloadHash { hash, key });
        found.1 += payload.len() as u64;
    })?;
    let (mut found, bytes) = found.into_inner();
    found.sort_unstable();
    let groups = || found.chunk_by(|a, b| a.hash == b.hash);
    let repeated = || groups().filter(|group| group.len() > 1);
    Ok(ContentComparison {
        objects: sample.len() as u64,
        failed: read.failed,
        payloads: groups().count() as u64,
        equal: repeated().map(|group| group.len() as u64).sum(),
        bytes,
        examples: examples(sample, repeated()),
    })
}

/// An object that was read.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PayloadHash {
    /// BLAKE3 of the payload.
    hash: [u8; 32],
    key: Key,
}

/// The first two locators of some groups of objects with equal payloads, in source order.
fn examples<'a>(sample: &[ObjectName], groups: impl Iterator<Item = &'a [PayloadHash]>) -> Vec<[String; 2]> {
    let names: HashMap<Key, &ObjectName> = sample.iter().map(|name| (name.key(), name)).collect();
    let mut pairs: Vec<[&ObjectName; 2]> = groups
        .map(|group| {
            let mut members: Vec<&ObjectName> = group.iter().map(|found| names[&found.key]).collect();
            members.sort_unstable();
            [members[0], members[1]]
        })
        .collect();
    pairs.sort_unstable();
    pairs.truncate(EXAMPLES);
    pairs.into_iter().map(|pair| pair.map(ToString::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Counting, Told, corpus, local, object, objects, pool};
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
        read(local(), &sample, &pool(2), &Told::default(), &deliver).unwrap();
        let lengths = lengths.into_inner();
        let answers: Vec<u64> = sample.iter().map(|name| lengths[&name.key()]).collect();
        for jobs in [1, 4] {
            let (store, told) = (Counting::default(), Told::default());
            let source = Source { store: &store, allow: local().allow };
            assert_eq!(sizes(source, &sample, &pool(jobs), &told).unwrap(), answers);
            assert_eq!(store.bytes.into_inner(), 0, "no payload was read");
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
        assert_eq!(sizes(local(), &sample, &pool(2), &told).unwrap(), [size]);
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
        let error = sizes(local(), &objects(), &pool(1), &told).unwrap_err();
        assert!(error.is::<Interrupted>());
    }

    #[test]
    fn equal_payloads_under_other_locators_are_found_and_each_object_is_read_once() {
        let mut sample = objects();
        let names = sample.len() as u64;
        assert!(names > 5);
        let house = corpus().join("loose/house.png").display().to_string();
        let whole = object(&house, &Target::Whole);
        assert!(sample.contains(&whole));
        let size = std::fs::metadata(&house).unwrap().len();
        sample.insert(0, object(&house, &Target::Range { offset: 0, size }));
        for jobs in [1, 4] {
            let (source, told) = (local(), Told::default());
            let content = compare(source, &sample, &pool(jobs), &told).unwrap();
            assert_eq!((content.objects, content.failed), (names + 1, 0), "{:?}", told.problems);
            assert_eq!((content.payloads, content.equal), (names, 2));
            assert_eq!(content.examples, [[house.clone(), format!("{house} [0, +{size}]")]]);
            assert_eq!(*told.totals.lock(), [(Phase::Fetch, names + 1)]);
            assert_eq!(told.done.into_inner(), names + 1);
        }
    }

    #[test]
    fn three_examples_are_the_first_by_locator_whatever_the_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut sample = Vec::new();
        for n in 0..20 {
            let path = folder.path().join(format!("{n:02}"));
            std::fs::write(&path, [n % 5]).unwrap();
            sample.push(object(path.to_str().unwrap(), &Target::Whole));
        }
        let name = |n: u8| folder.path().join(format!("{n:02}")).display().to_string();
        let expected: Vec<_> = [0, 1, 2].map(|n| [name(n), name(n + 5)]).into();
        for _ in 0..3 {
            sample.rotate_left(7);
            let content = compare(local(), &sample, &pool(3), &Told::default()).unwrap();
            assert_eq!((content.payloads, content.equal, content.bytes), (5, 20, 20));
            assert_eq!(content.examples, expected);
        }
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_told_and_the_rest_compared() {
        let house = corpus().join("loose/house.png").display().to_string();
        let sample = [
            object("s3://bucket/key.jpg", &Target::Whole),
            object(&house, &Target::Whole),
            object("/no/such/file", &Target::Whole),
            object(&house, &Target::Range { offset: 1 << 40, size: 1 }),
        ];
        let (source, told) = (local(), Told::default());
        let content = compare(source, &sample, &pool(2), &told).unwrap();
        assert_eq!((content.objects, content.failed, content.payloads, content.equal), (4, 3, 1, 0));
        let mut problems = told.problems.into_inner();
        problems.sort();
        let starts = ["not_found: /no/such/file", "short_body: /", "unsupported: s3://bucket/key.jpg: "];
        assert_eq!(problems.len(), starts.len());
        assert!(problems.iter().zip(starts).all(|(p, start)| p.starts_with(start)), "{problems:?}");
        assert_eq!(told.done.into_inner(), 4);
    }

    #[test]
    fn an_interruption_ends_it_before_everything_is_read() {
        let source = local();
        let told = Told { stop_after: 1, ..Told::default() };
        let error = compare(source, &objects(), &pool(1), &told).unwrap_err();
        assert!(error.is::<Interrupted>());
        assert!(told.done.into_inner() < objects().len() as u64);
    }

    #[test]
    fn an_empty_sample_is_no_error() {
        let content = compare(local(), &[], &pool(1), &Told::default()).unwrap();
        assert_eq!(content, ContentComparison::default());
    }
}
