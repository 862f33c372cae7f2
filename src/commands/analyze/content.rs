//! Are different objects different payloads? Reads a sample and compares.
//!
//! Locators tell objects apart; the bytes behind them may still be equal: a store with one copy per
//! sample, a site that answers every name with the same picture. No cache by locator helps there.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::payloads;
use super::report::Content;
use crate::monitor::Monitor;
use crate::object::{Key, ObjectName};
use crate::store::Source;

/// Pairs that are shown.
const EXAMPLES: usize = 3;

/// Reads the objects of `sample`, which are distinct, once each, and compares the BLAKE3 of
/// their payloads, which are not kept. The result does not depend on the number of threads.
///
/// Fails when interrupted; objects that cannot be read are counted and told.
pub fn compare(
    source: &dyn Source,
    sample: &[ObjectName],
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
) -> anyhow::Result<Content> {
    let found: Mutex<(Vec<Found>, u64)> = Mutex::default();
    let read = payloads::read(source, sample, pool, monitor, &|key, payload| {
        let hash = *blake3::hash(&payload).as_bytes();
        let mut found = found.lock();
        found.0.push(Found { hash, key });
        found.1 += payload.len() as u64;
    })?;
    let (mut found, bytes) = found.into_inner();
    found.sort_unstable();
    let groups = || found.chunk_by(|a, b| a.hash == b.hash);
    let repeated = || groups().filter(|group| group.len() > 1);
    Ok(Content {
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
struct Found {
    /// BLAKE3 of the payload.
    hash: [u8; 32],
    key: Key,
}

/// The first two locators of some groups of objects with equal payloads, in source order.
fn examples<'a>(sample: &[ObjectName], groups: impl Iterator<Item = &'a [Found]>) -> Vec<[String; 2]> {
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
    use std::sync::atomic::Ordering;

    use super::super::samples::{Counting, Told, corpus, object, objects, pool};
    use super::*;
    use crate::locator::Target;
    use crate::monitor::{Interrupted, Phase};

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
            let (source, told) = (Counting::new(), Told::default());
            let content = compare(&source, &sample, &pool(jobs), &told).unwrap();
            assert_eq!((content.objects, content.failed), (names + 1, 0), "{:?}", told.problems);
            assert_eq!((content.payloads, content.equal), (names, 2));
            assert_eq!(content.examples, [[house.clone(), format!("{house} [0, +{size}]")]]);
            assert_eq!(source.results.into_inner(), names + 1);
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
            let content = compare(&Counting::new(), &sample, &pool(3), &Told::default()).unwrap();
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
        let (source, told) = (Counting::new(), Told::default());
        let content = compare(&source, &sample, &pool(2), &told).unwrap();
        assert_eq!((content.objects, content.failed, content.payloads, content.equal), (4, 3, 1, 0));
        assert_eq!(source.results.into_inner(), 3, "the source is not asked for remote objects");
        let mut problems = told.problems.into_inner();
        problems.sort();
        let starts = ["not_found: /no/such/file", "short_body: /", "unsupported: s3://bucket/key.jpg: "];
        assert_eq!(problems.len(), starts.len());
        assert!(problems.iter().zip(starts).all(|(p, start)| p.starts_with(start)), "{problems:?}");
        assert_eq!(told.done.into_inner(), 4);
    }

    #[test]
    fn an_interruption_ends_it_before_everything_is_read() {
        let source = Counting::new();
        let told = Told { stop_after: 1, ..Told::default() };
        let error = compare(&source, &objects(), &pool(1), &told).unwrap_err();
        assert!(error.is::<Interrupted>());
        assert!(source.results.load(Ordering::Relaxed) < objects().len() as u64);
    }

    #[test]
    fn an_empty_sample_is_no_error() {
        let content = compare(&Counting::new(), &[], &pool(1), &Told::default()).unwrap();
        assert_eq!(content, Content::default());
    }
}
