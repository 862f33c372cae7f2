//! Counting with names against the naive model: a map from names to counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::Meaning;
use super::super::names::{NameLog, PLACE_BYTES, id};
use super::super::record::partition_of;
use super::super::texts::{TextBatch, TextRead, Texts};
use super::*;
use crate::locator::Target;
use crate::memory::MemoryBudget;

/// What is expected of each object: its references, and whether any of them is wanted.
type Expected = BTreeMap<ObjectName, (u64, bool)>;

fn name(n: u64) -> ObjectName {
    let target = match n % 5 {
        0 => Target::Member(format!("m{n}").into()),
        1 => Target::Whole,
        _ => Target::Range { offset: n * (1 << 20), size: 9 },
    };
    let location = if n % 5 == 1 { format!("/files/{n}.jpg") } else { format!("/t{}.tar", n % 3) };
    ObjectName::new(location.as_bytes(), &target)
}

/// References to 5,000 objects of a few files in random order, the n-th named n % 7 + 1 times, in
/// three ways of which one is wanted, from several threads; and what is expected.
fn counted(memory: u64, threads: usize) -> (NamedCounts, Expected) {
    let mut references: Vec<(u64, u64)> =
        (0..5_000u64).flat_map(|n| (0..=n % 7).map(move |nth| (n, nth % 3))).collect();
    references.sort_by_key(|(n, nth)| xxhash_rust::xxh3::xxh3_64(&(n << 8 | nth).to_le_bytes()));
    let mut expected = Expected::new();
    for (n, way) in &references {
        let object = expected.entry(name(*n)).or_default();
        object.0 += 1;
        object.1 |= *way == 2;
    }
    let budget = Arc::new(MemoryBudget::new(memory));
    let (texts, counter) = (Texts::new(budget.clone()), ObjectCounter::new(budget));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (texts, counter, references) = (&texts, &counter, &references);
            scope.spawn(move || {
                let (mut batch, mut flushed) = (TextBatch::default(), Vec::new());
                let (mut inserter, mut names) = (counter.inserter(), NameLog::default());
                for rows in references.chunks(700).skip(thread).step_by(threads) {
                    for (row, (n, way)) in (0..).zip(rows) {
                        batch.push(xxhash_rust::xxh3::xxh3_128(&(n << 8 | way).to_le_bytes()), row);
                    }
                    let read = |row: u32, hash: u128| {
                        let (n, way) = rows[row as usize];
                        let (name, text) = (name(n), hash as u64);
                        let id = id(&name);
                        names.push(id, &name);
                        let meaning = Meaning { id, source: 0, size: name.size(), text, wanted: way == 2 };
                        Some(TextRead { meaning, again: false })
                    };
                    texts.count(&mut batch, read, &mut flushed);
                    flushed.drain(..).for_each(|(meaning, count)| inserter.add(&meaning, count).unwrap());
                    inserter.add_names(&mut names).unwrap();
                }
                inserter.finish().unwrap();
            });
        }
    });
    let done = || Ok(());
    texts.drain(threads, &counter, done).unwrap();
    (NamedCounts::new(counter, threads, memory / 4, done).unwrap(), expected)
}

fn found(counts: &NamedCounts, batch_bytes: u64) -> Expected {
    let mut found = Expected::new();
    for batch in counts.batches(batch_bytes) {
        let batch = batch.unwrap();
        assert!(batch.is_sorted_by(|a, b| a.name < b.name));
        for Object { name, count, wanted } in batch {
            assert_eq!(found.insert(name, (count, wanted)), None, "an object comes once");
        }
    }
    found
}

#[test]
fn counts_are_those_of_a_map_at_any_memory_and_any_number_of_threads() {
    for (memory, threads) in [(1 << 30, 1), (1 << 30, 3), (256 << 10, 1), (256 << 10, 3), (0, 2)] {
        let (counts, expected) = counted(memory, threads);
        assert_eq!(counts.totals.objects, expected.len() as u64);
        assert_eq!(counts.totals.references, expected.values().map(|(count, _)| count).sum::<u64>());
        assert_eq!(counts.totals.spilled_bytes > 0, memory < 1 << 20, "it spills when told to");
        assert!(found(&counts, u64::MAX) == expected, "{memory} bytes, {threads} threads");
        assert!(found(&counts, 10_000) == expected, "{memory} bytes, {threads} threads");
    }
}

#[test]
fn objects_stay_in_small_batches_and_are_gone_when_released() {
    let (mut counts, expected) = counted(1 << 30, 2);
    let sizes: Vec<usize> = counts.batches(10_000).map(|batch| batch.unwrap().len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), expected.len());
    assert!(sizes.len() > 10 && sizes.iter().all(|objects| *objects > 0), "{sizes:?}");
    counts.release();
    assert_eq!(counts.batches(10_000).count(), 0);
    assert_eq!(counts.totals.objects, expected.len() as u64);
}

#[test]
fn nothing_counted_is_nothing() {
    let counter = ObjectCounter::new(Arc::new(MemoryBudget::new(0)));
    let counts = NamedCounts::new(counter, 2, 0, || Ok(())).unwrap();
    assert_eq!((counts.totals, counts.batches(1).count()), (NamedTotals::default(), 0));
}

#[test]
fn an_error_ends_the_counting() {
    let counter = ObjectCounter::new(Arc::new(MemoryBudget::new(0)));
    let error = NamedCounts::new(counter, 2, 0, || Err(anyhow::anyhow!("enough"))).err().unwrap();
    assert_eq!(error.to_string(), "enough");
}

#[test]
fn neighbours_in_a_file_share_a_partition() {
    let place =
        |offset: u64| partition_of(id(&ObjectName::new(b"/a.tar", &Target::Range { offset, size: 1 })));
    assert_eq!(place(0), place(PLACE_BYTES - 1));
    let distinct: BTreeSet<_> = (0..100).map(|n| place(n * PLACE_BYTES)).collect();
    assert!(distinct.len() > 50, "a huge file spreads over the partitions");
}
