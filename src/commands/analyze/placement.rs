//! Which manifests name which objects: what a replay of several workers starts from.
//!
//! A pair of object and manifest is counted as if it were an object. Objects are told apart by 64
//! bits here, which with 350 million of them takes 0.003 pairs for one: no matter for a replay.

use std::io;
use std::sync::Arc;

use crate::analysis::concurrency::{ReplayedReads, Schedule};
use crate::counting::Meaning;
use crate::counting::counter::{CountInserter, ObjectCounter, Partition};
use crate::memory::MemoryBudget;
use crate::object::ObjectId;

/// The references of each object in each manifest.
pub struct Placements(ObjectCounter);

/// Adds placements from one thread; what is buffered counts once it is finished.
pub struct Placer<'a>(CountInserter<'a>);

/// What the placements amount to.
pub struct Outcome {
    /// By schedule.
    pub reads: Vec<ReplayedReads>,
    /// Pairs of object and manifest.
    pub pairs: u64,
}

impl Placements {
    pub fn new(budget: Arc<MemoryBudget>) -> Placements {
        Placements(ObjectCounter::new(budget))
    }

    pub fn placer(&self) -> Placer<'_> {
        Placer(self.0.inserter())
    }

    /// Replays the placements on each of `schedules`.
    ///
    /// Fails when the temporary file cannot be read, or `done` fails.
    pub fn replay<E: Send + From<io::Error>>(
        self,
        jobs: usize,
        schedules: &[Schedule],
        done: impl Fn() -> Result<(), E> + Sync,
    ) -> Result<Outcome, E> {
        let empty = || Outcome { reads: vec![ReplayedReads::default(); schedules.len()], pairs: 0 };
        let add = |sum: &mut Outcome, _, partition: Partition| {
            let mut pairs: Vec<_> = partition.objects().collect();
            sum.pairs += pairs.len() as u64;
            pairs.sort_unstable_by_key(|pair| (pair.id, pair.source));
            for object in pairs.chunk_by(|a, b| a.id == b.id) {
                let tasks = object.iter().map(|pair| (pair.source, pair.count));
                for (reads, schedule) in sum.reads.iter_mut().zip(schedules) {
                    *reads += schedule.reads(tasks.clone());
                }
            }
            done()
        };
        let join = |sum: &mut Outcome, other: Outcome| {
            sum.pairs += other.pairs;
            sum.reads.iter_mut().zip(other.reads).for_each(|(reads, more)| *reads += more);
        };
        Ok(self.0.fold(jobs, empty, add, join)?.0)
    }
}

impl Placer<'_> {
    /// Adds a reference to each of `objects` in the manifest at `task`, and empties the list.
    ///
    /// Fails when the temporary file cannot be written.
    pub fn add_all(&mut self, task: usize, objects: &mut Vec<ObjectId>) -> io::Result<()> {
        let source = task as u32;
        for object in objects.drain(..) {
            let id = ObjectId(object.0 & !u128::from(u32::MAX) | u128::from(source));
            self.0.add(&Meaning { id, source, size: None, text: 0, wanted: true }, 1)?;
        }
        Ok(())
    }

    /// Hands everything over. Fails when the temporary file could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The objects of each manifest, in `memory` bytes.
    fn outcome(manifests: &[&[u64]], workers: &[u64], memory: u64, jobs: usize) -> Outcome {
        let placements = Placements::new(Arc::new(MemoryBudget::new(memory)));
        let mut placer = placements.placer();
        for (task, objects) in manifests.iter().enumerate() {
            let id = |object: &u64| ObjectId(u128::from(*object) << 64 | 77);
            let mut ids: Vec<ObjectId> = objects.iter().filter(|object| **object > 0).map(id).collect();
            placer.add_all(task, &mut ids).unwrap();
            assert!(ids.is_empty());
        }
        placer.finish().unwrap();
        let durations: Vec<u64> = manifests.iter().map(|objects| objects.len() as u64).collect();
        let schedules: Vec<_> = workers.iter().map(|workers| Schedule::new(&durations, *workers)).collect();
        placements.replay(jobs, &schedules, || Ok::<(), io::Error>(())).unwrap()
    }

    #[test]
    fn references_are_replayed_where_they_stand_whatever_spills() {
        // 0 is no locator. With two workers the third manifest starts when the second ends.
        let manifests: [&[u64]; 3] = [&[1, 1, 2, 3, 0, 1], &[1, 4], &[2, 4, 4, 5]];
        let reads = |source_reads, deduplicated_source_reads| ReplayedReads {
            source_reads,
            deduplicated_source_reads,
        };
        for (memory, jobs) in [(1 << 30, 1), (1 << 30, 3), (0, 2)] {
            let Outcome { reads: found, pairs } = outcome(&manifests, &[1, 2, 3], memory, jobs);
            assert_eq!(pairs, 3 + 2 + 3);
            assert_eq!(found, [reads(7, 5), reads(9, 7), reads(11, 8)]);
        }
    }

    #[test]
    fn manifests_without_references_change_nothing() {
        let found = outcome(&[&[], &[1, 1], &[], &[1]], &[1, 9], 1 << 30, 2);
        assert_eq!(found.pairs, 2);
        assert_eq!(found.reads.iter().map(|reads| reads.source_reads).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(outcome(&[], &[1], 0, 1).reads, [ReplayedReads::default()]);
    }
}
