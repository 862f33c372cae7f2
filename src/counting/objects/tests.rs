//! Grouping against the naive model: a map from canonical bytes to counts.

use std::collections::BTreeMap;

use super::*;
use crate::locator::Base;
use crate::locator::Locator;

/// References to `objects` ranges of a few files, the n-th object named n % 7 + 1 times, from
/// several threads.
fn grouped(memory: u64, threads: usize) -> (Groups, BTreeMap<ObjectName, u64>) {
    let base = Base::new(std::path::Path::new("/")).unwrap();
    let mut expected = BTreeMap::new();
    let mut references = Vec::new();
    for n in 0..5_000u64 {
        let text = format!(
            r#"{{"path":"t{}.tar","member":"m{n}","byte_offset":{},"byte_size":9}}"#,
            n % 3,
            n * (1 << 20)
        );
        let mut name = ObjectName::default();
        name.resolve(&Locator::parse(&text).unwrap().unwrap(), &base).unwrap();
        expected.insert(name.clone(), n % 7 + 1);
        references.extend(std::iter::repeat_n(name, (n % 7 + 1) as usize));
    }
    let grouper = Grouper::new(memory);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (grouper, references) = (&grouper, &references);
            scope.spawn(move || {
                let mut inserter = grouper.inserter();
                for name in references.iter().skip(thread).step_by(threads) {
                    inserter.add(name, thread == 0).unwrap();
                }
                inserter.finish().unwrap();
            });
        }
    });
    (grouper.finish().unwrap(), expected)
}

fn counts(groups: &Groups, batch_bytes: u64) -> BTreeMap<ObjectName, u64> {
    let mut found = BTreeMap::new();
    for batch in groups.batches(batch_bytes) {
        let batch = batch.unwrap();
        assert!(batch.is_sorted_by(|a, b| a.name < b.name));
        for object in batch {
            assert!(found.insert(object.name, object.count).is_none(), "an object comes once");
        }
    }
    found
}

#[test]
fn counts_are_those_of_a_map_at_any_memory_and_any_number_of_threads() {
    for (memory, threads) in [(1 << 30, 1), (1 << 30, 3), (64 << 10, 1), (64 << 10, 3), (0, 2)] {
        let (groups, expected) = grouped(memory, threads);
        assert_eq!(groups.totals.objects, expected.len() as u64);
        assert_eq!(groups.totals.references, expected.values().sum::<u64>());
        assert_eq!(groups.totals.spilled_bytes > 0, memory < 1 << 20, "it spills when told to");
        assert_eq!(counts(&groups, u64::MAX), expected);
        assert_eq!(counts(&groups, 10_000), expected);
    }
}

#[test]
fn an_object_is_wanted_when_one_of_its_references_is() {
    // Of three threads that take references in turn, the first wants what it adds.
    let (groups, _) = grouped(1 << 30, 3);
    let objects: Vec<_> = groups.batches(u64::MAX).flat_map(Result::unwrap).collect();
    assert!(objects.iter().filter(|o| o.count > 2).all(|o| o.wanted));
    assert!(objects.iter().any(|o| !o.wanted), "some single references came from another thread");
}

#[test]
fn neighbours_in_a_file_share_a_partition() {
    let object = |offset: u64| ObjectName::new(b"/a.tar", &crate::locator::Target::Range { offset, size: 1 });
    assert_eq!(place(&object(0)), place(&object(PLACE_BYTES - 1)));
    let distinct: std::collections::BTreeSet<_> = (0..100).map(|n| place(&object(n * PLACE_BYTES))).collect();
    assert!(distinct.len() > 50, "a huge file spreads over the partitions");
}
