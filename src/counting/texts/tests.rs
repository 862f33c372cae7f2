//! Counting by text against the naive model: whatever is forgotten in between, nothing is lost.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::super::samples::{Model, TestReference, references};
use super::*;

/// Texts that are looked up together.
const AT_ONCE: usize = 700;

struct Outcome {
    model: Model,
    /// How often a text was read.
    reads: u64,
    counted: u64,
}

/// Counts the texts of `references` with `threads`, in `memory` bytes, and flushes all to
/// a counter of the same budget.
fn counted(references: &[TestReference], memory: u64, threads: usize) -> Outcome {
    counted_again(references, memory, threads, |_| false)
}

/// The same; texts of some objects are read each time.
fn counted_again(
    references: &[TestReference],
    memory: u64,
    threads: usize,
    again: impl Fn(&Meaning) -> bool + Sync,
) -> Outcome {
    let again = &again;
    let budget = Arc::new(MemoryBudget::new(memory));
    let (texts, counter) = (Texts::new(budget.clone()), ObjectCounter::new(budget));
    let (reads, counted) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (texts, counter, reads, counted) = (&texts, &counter, &reads, &counted);
            scope.spawn(move || {
                let (mut batch, mut flushed) = (TextBatch::default(), Vec::new());
                let mut inserter = counter.inserter();
                for rows in references.chunks(AT_ONCE).skip(thread).step_by(threads) {
                    (0..).zip(rows).for_each(|(row, text)| batch.push(text.hash(), row));
                    let read = |row: u32, hash: u128| {
                        reads.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(hash, rows[row as usize].hash());
                        let meaning = rows[row as usize].meaning();
                        Some(TextRead { meaning, again: again(&meaning) })
                    };
                    counted.fetch_add(texts.count(&mut batch, read, &mut flushed), Ordering::Relaxed);
                    flushed.drain(..).for_each(|(meaning, count)| inserter.add(&meaning, count).unwrap());
                }
                inserter.finish().unwrap();
            });
        }
    });
    let tables = AtomicUsize::new(0);
    let done = || -> anyhow::Result<()> {
        tables.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    texts.drain(threads, &counter, done).unwrap();
    assert_eq!(tables.into_inner(), TABLES);
    let (model, _) = Model::found(counter, threads);
    Outcome { model, reads: reads.into_inner(), counted: counted.into_inner() }
}

#[test]
fn texts_of_some_objects_are_read_again_until_they_are_no_more_of_them() {
    let references = references(5, 20_000);
    let expected = Model::of(&references);
    let some = |meaning: &Meaning| meaning.id.0.is_multiple_of(4);
    let each = references.iter().filter(|reference| some(&reference.meaning())).count() as u64;
    let texts: BTreeSet<_> = references.iter().filter(|reference| !some(&reference.meaning())).collect();
    let once = texts.len() as u64;
    assert!(each > 1_000 && once > 1_000);
    let Outcome { model, reads, .. } = counted_again(&references, 1 << 40, 2, some);
    assert_eq!((model, reads), (expected, each + once));
    // From the second time on nothing is.
    let first = AtomicU64::new(0);
    let never = |_: &Meaning| first.fetch_add(1, Ordering::Relaxed) < 1;
    let Outcome { reads, .. } = counted_again(&references[..1].repeat(9), 1 << 40, 1, never);
    assert_eq!(reads, 2);
}

#[test]
fn counts_are_those_of_a_map_at_any_memory_and_threads() {
    let references = references(3, 30_000);
    let expected = Model::of(&references);
    for (memory, threads) in [(1 << 40, 1), (1 << 40, 3), (1 << 20, 2), (64 << 10, 3), (0, 1)] {
        let found = counted(&references, memory, threads);
        assert!(found.model == expected, "{memory} bytes, {threads} threads");
        assert_eq!(found.counted, references.len() as u64);
    }
}

#[test]
fn a_text_is_read_once_while_there_is_room_and_again_once_it_is_forgotten() {
    let references = references(4, 20_000);
    let texts = references.iter().collect::<BTreeSet<_>>().len() as u64;
    assert!(texts * 3 / 2 < references.len() as u64, "texts recur");
    for threads in [1, 3] {
        assert_eq!(counted(&references, 1 << 40, threads).reads, texts);
    }
    let forgetful = counted(&references, 0, 1);
    assert!(forgetful.reads > texts * 5 / 4, "{} reads of {texts} texts", forgetful.reads);
    assert_eq!(forgetful.model, Model::of(&references));
}

#[test]
fn a_text_with_more_references_than_a_slot_counts_is_counted_right() {
    let text = TestReference { object: 10, spelling: 1 };
    for count in [(1 << 18) - 1, 1 << 18, (1 << 18) + 1, (1 << 19) + 12_345] {
        let references = vec![text; count];
        for (memory, threads) in [(1 << 30, 1), (1 << 30, 2)] {
            let found = counted(&references, memory, threads);
            let object = found.model.objects.values().next().unwrap();
            assert_eq!((object.2, found.counted), (count as u64, count as u64));
            assert_eq!((object.3, found.model.texts), (false, 1));
        }
    }
}

#[test]
fn what_is_no_locator_is_not_counted_and_asked_for_each_time() {
    let budget = Arc::new(MemoryBudget::new(1 << 30));
    let texts = Texts::new(budget.clone());
    let (mut batch, mut flushed, mut asked) = (TextBatch::default(), Vec::new(), Vec::new());
    for _ in 0..2 {
        (0..6).for_each(|row| batch.push(u128::from(row % 3) << 120 | 5, row));
        let read = |row, _| {
            asked.push(row);
            None
        };
        assert_eq!(texts.count(&mut batch, read, &mut flushed), 0);
    }
    asked.sort_unstable();
    assert_eq!(asked, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    let counter = ObjectCounter::new(budget);
    texts.drain(1, &counter, || Ok(())).unwrap();
    assert_eq!(flushed, []);
    assert_eq!(Model::found(counter, 1).0, Model::default());
}

#[test]
fn an_error_ends_the_draining() {
    let budget = Arc::new(MemoryBudget::new(1 << 30));
    let counter = ObjectCounter::new(budget.clone());
    let fail = || Err(anyhow::anyhow!("enough"));
    let error = Texts::new(budget).drain(2, &counter, fail).unwrap_err();
    assert_eq!(error.to_string(), "enough");
}

#[test]
fn texts_that_came_least_are_forgotten_and_the_others_keep_their_references() {
    let reference = |nth: usize| TestReference { object: nth as u64 % 100, spelling: 0 };
    let texts: Vec<TextHash> =
        (0..100).chain(0..30).chain(0..30).map(|n| TextHash::new(reference(n).hash())).collect();
    let (mut table, mut flushed) = (TextTable::default(), Vec::new());
    let count = |table: &mut TextTable, flushed: &mut Vec<Flushed>| {
        let mut reads = 0;
        table.expect(&texts, 0);
        let read = |nth: usize| {
            reads += 1;
            Some(TextRead { meaning: reference(nth).meaning(), again: false })
        };
        assert_eq!(table.count(&texts, read, flushed), texts.len() as u64);
        reads
    };
    assert_eq!(count(&mut table, &mut flushed), 100);
    table.forget(&mut flushed);
    assert_eq!(flushed.iter().map(|(_, count)| count).collect::<Vec<_>>(), [&1; 70]);
    assert_eq!(count(&mut table, &mut flushed), 70);
    assert_eq!(flushed.len(), 70);
    assert_eq!(table.rest().filter(|(_, count)| *count == 6).count(), 30);
    assert_eq!(table.rest().filter(|(_, count)| *count == 1).count(), 70);
}
