//! Which manifests name which objects: what a replay of several workers starts from.
//!
//! A pair of object and manifest is counted as if it were an object. Objects are told apart by 64
//! bits here, which with 350 million of them takes 0.003 pairs for one: no matter for a replay.

use std::io;
use std::sync::Arc;

use crate::analysis::replay::{Reads, Schedule};
use crate::grouping::multiplicity::{Counted, Counter, Inserter, Named};
use crate::grouping::room::Room;
use crate::grouping::spellings::{Batch, Passed};

/// The references of each object in each manifest.
pub struct Placements(Counter);

/// What the placements amount to.
pub struct Outcome {
    /// By schedule.
    pub reads: Vec<Reads>,
    /// Pairs of object and manifest.
    pub pairs: u64,
}

impl Placements {
    pub fn new(room: Arc<Room>) -> Placements {
        Placements(Counter::new(room))
    }

    pub fn inserter(&self) -> Inserter<'_> {
        self.0.inserter()
    }

    /// Counts all texts of `batch` in the manifest at `task` and empties it; see
    /// [`crate::grouping::spellings::Spellings::count`], of which this is the way without memory.
    pub fn count(
        inserter: &mut Inserter,
        task: usize,
        batch: &mut Batch,
        mut read: impl FnMut(u32, u128) -> Option<Named>,
        passed: &mut Vec<Passed>,
    ) -> io::Result<u64> {
        let before = passed.len();
        passed.extend(batch.drain().filter_map(|(hash, row)| Some((read(row, hash)?, 1))));
        for (named, count) in &passed[before..] {
            let task = task as u32;
            let digest = named.digest & !u128::from(u32::MAX) | u128::from(task);
            inserter.add(&Named { digest, source: task, ..*named }, *count)?;
        }
        Ok((passed.len() - before) as u64)
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
        let add = |sum: &mut Outcome, mut pairs: Vec<Counted>| {
            sum.pairs += pairs.len() as u64;
            pairs.sort_unstable_by_key(|pair| (pair.digest, pair.source));
            for object in pairs.chunk_by(|a, b| a.digest == b.digest) {
                let tasks = object.iter().map(|pair| (pair.source, pair.count));
                for (reads, schedule) in sum.reads.iter_mut().zip(schedules) {
                    *reads += schedule.reads(tasks.clone());
                }
            }
        };
        let join = |sum: &mut Outcome, other: Outcome| {
            sum.pairs += other.pairs;
            sum.reads.iter_mut().zip(other.reads).for_each(|(reads, more)| *reads += more);
        };
        Ok(self.0.fold(jobs, empty, add, join, done)?.0)
    }
}
