//! Which manifests name which objects: what a replay of several workers starts from.
//!
//! A pair of object and manifest is counted as if it were an object. Objects are told apart by 64
//! bits here, which with 350 million of them takes 0.003 pairs for one: no matter for a replay.

use std::io;
use std::sync::Arc;

use crate::analysis::replay::{Reads, Schedule};
use crate::counting::multiplicity::{Counted, Counter, Inserter, Named};
use crate::counting::spellings::{Batch, Meaning, Passed};
use crate::memory::MemoryBudget;
use crate::object::ObjectId;

/// The references of each object in each manifest.
pub struct Placements(Counter);

/// Adds placements from one thread; what is buffered counts once it is finished.
pub struct Placer<'a>(Inserter<'a>);

/// What the placements amount to.
pub struct Outcome {
    /// By schedule.
    pub reads: Vec<Reads>,
    /// Pairs of object and manifest.
    pub pairs: u64,
}

impl Placements {
    pub fn new(room: Arc<MemoryBudget>) -> Placements {
        Placements(Counter::new(room))
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
        let empty = || Outcome { reads: vec![Reads::default(); schedules.len()], pairs: 0 };
        let add = |sum: &mut Outcome, _, mut pairs: Vec<Counted>| {
            sum.pairs += pairs.len() as u64;
            pairs.sort_unstable_by_key(|pair| (pair.digest, pair.source));
            for object in pairs.chunk_by(|a, b| a.digest == b.digest) {
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
    /// Counts all texts of `batch` in the manifest at `task` and empties it. As
    /// [`crate::counting::spellings::Spellings::count`], but every text is read, and passed on with
    /// one reference.
    ///
    /// Fails when the temporary file cannot be written.
    pub fn count(
        &mut self,
        task: usize,
        batch: &mut Batch,
        mut read: impl FnMut(u32, u128) -> Option<Meaning>,
        passed: &mut Vec<Passed>,
    ) -> io::Result<u64> {
        let before = passed.len();
        passed.extend(batch.drain().filter_map(|(hash, row)| Some((read(row, hash)?.named, 1))));
        for (named, count) in &passed[before..] {
            let task = task as u32;
            let id = ObjectId(named.id.0 & !u128::from(u32::MAX) | u128::from(task));
            self.0.add(&Named { id, source: task, ..*named }, *count)?;
        }
        Ok((passed.len() - before) as u64)
    }

    /// Hands everything over. Fails when the temporary file could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(object: u64) -> Named {
        Named {
            id: ObjectId(u128::from(object) << 64 | 77),
            source: 9,
            size: Some(1),
            spelling: 0,
            framed: false,
        }
    }

    /// The objects of each manifest, in a room of `memory` bytes.
    fn outcome(manifests: &[&[u64]], workers: &[u64], memory: u64, jobs: usize) -> Outcome {
        let placements = Placements::new(Arc::new(MemoryBudget::new(memory)));
        let (mut placer, mut passed) = (placements.placer(), Vec::new());
        for (task, objects) in manifests.iter().enumerate() {
            let mut batch = Batch::default();
            (0..).zip(*objects).for_each(|(row, object)| batch.push(u128::from(*object), row));
            let read = |row, hash: u128| {
                assert_eq!(u128::from(objects[row as usize]), hash);
                let object = objects[row as usize];
                (object > 0).then(|| Meaning { named: named(object), again: false })
            };
            let counted = placer.count(task, &mut batch, read, &mut passed).unwrap();
            assert_eq!(counted, objects.iter().filter(|object| **object > 0).count() as u64);
            assert!(passed.drain(..).all(|(named, count)| named.source == 9 && count == 1));
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
        let reads =
            |source_reads, deduplicated_source_reads| Reads { source_reads, deduplicated_source_reads };
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
        assert_eq!(outcome(&[], &[1], 0, 1).reads, [Reads::default()]);
    }
}
