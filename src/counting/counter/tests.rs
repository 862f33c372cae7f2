//! Counting against the naive model: a map from objects to counts.

use super::super::samples::{Model, TestReference, references};
use super::*;

/// Counts `references` with `threads`, in `memory` bytes.
fn counted(references: &[TestReference], memory: u64, threads: usize) -> ObjectCounter {
    let counter = ObjectCounter::new(Arc::new(MemoryBudget::new(memory)));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let counter = &counter;
            scope.spawn(move || {
                let mut inserter = counter.inserter();
                for reference in references.iter().skip(thread).step_by(threads) {
                    inserter.add(&reference.meaning(), 1).unwrap();
                }
                inserter.finish().unwrap();
            });
        }
    });
    counter
}

#[test]
fn counts_sizes_sources_wants_and_texts_are_those_of_a_map_at_any_memory_and_threads() {
    let references = references(1, 30_000);
    let expected = Model::of(&references);
    for (memory, threads) in [(1 << 40, 1), (1 << 40, 4), (256 << 10, 2), (64 << 10, 3), (0, 1)] {
        let counter = counted(&references, memory, threads);
        let (found, spilled) = Model::found(counter, threads);
        assert!(found == expected, "{memory} bytes, {threads} threads");
        assert_eq!(spilled > 0, memory < 1 << 20, "it spills when told to");
    }
}

#[test]
fn an_object_that_spilled_many_times_is_still_one() {
    let reference = TestReference { object: 4, spelling: 0 };
    let many: Vec<TestReference> =
        (0..2_000).flat_map(|n| [reference, TestReference { object: 100 + n, spelling: 0 }]).collect();
    let (found, spilled) = Model::found(counted(&many, 0, 2), 2);
    assert!(spilled > 0);
    assert_eq!(found, Model::of(&many));
    assert_eq!(found.objects[&reference.meaning().id.short()].2, 2_000);
}

#[test]
fn counts_add_up_far_beyond_32_bits() {
    for memory in [0, 1 << 30] {
        let counter = ObjectCounter::new(Arc::new(MemoryBudget::new(memory)));
        let mut inserter = counter.inserter();
        let meaning = |spelling| TestReference { object: 7, spelling }.meaning();
        for spelling in 0..5 {
            inserter.add(&meaning(spelling), 100_000_000_000).unwrap();
        }
        inserter.add(&meaning(0), 1).unwrap();
        inserter.finish().unwrap();
        let (found, _) = Model::found(counter, 1);
        let counts: Vec<u64> = found.objects.values().map(|object| object.2).collect();
        assert_eq!((counts, found.texts), (vec![500_000_000_001], 5));
    }
}

#[test]
fn ids_of_a_partition_are_above_those_of_the_ones_before() {
    let counter = counted(&references(2, 1_000), 1 << 30, 2);
    let mut before = 0;
    for number in 0..PARTITIONS {
        let mut ids: Vec<u64> = counter.take(number).unwrap().objects().map(|object| object.id).collect();
        ids.sort_unstable();
        assert!(ids.first().is_none_or(|id| *id > before));
        before = ids.last().copied().unwrap_or(before);
    }
    assert!(before > 0);
}

#[test]
fn nothing_counted_is_nothing() {
    let (found, spilled) = Model::found(counted(&[], 0, 2), 2);
    assert_eq!((found, spilled), (Model::default(), 0));
}
