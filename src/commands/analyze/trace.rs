//! The places of references: their order, which matters to caches that evict, and their manifests, which
//! a replay of several workers needs.
//!
//! The ids of all references are kept while there are few enough of them; beyond that those of
//! every second object, of every fourth, and so on. How far that goes depends on the manifests
//! alone, not on threads. An object with more references than are kept is in no such sample.
//!
//! For a replay, a pair of object and manifest is counted as if it were an object. 64 bits distinguish
//! objects here: of 350 million, 0.003 pairs collide, which a replay can bear.

use std::collections::BTreeMap;
use std::io;

use parking_lot::Mutex;

use crate::analysis::concurrency::{ReplayedReads, Schedule};
use crate::analysis::sampling::Share;
use crate::analysis::trace::Trace;
use crate::counting::Meaning;
use crate::counting::counter::{CountInserter, ObjectCounter, PARTITIONS};
use crate::object::ObjectId;
use crate::threads::in_turns;

/// Where some consecutive rows stand: the number of their manifest, and of the first row in it.
pub type Place = (usize, u64);

/// References in the order of their manifests, from several threads.
pub struct TraceRecorder {
    most: usize,
    state: Mutex<RecorderState>,
}

struct RecorderState {
    sample: Share,
    kept: usize,
    stretches: BTreeMap<Place, Vec<u64>>,
}

impl TraceRecorder {
    /// Keeps at most `most` references.
    pub fn new(most: usize) -> TraceRecorder {
        let state = RecorderState { sample: Share::ALL, kept: 0, stretches: BTreeMap::new() };
        TraceRecorder { most, state: Mutex::new(state) }
    }

    /// The objects whose references are still kept; later there may be fewer.
    pub fn sample(&self) -> Share {
        self.state.lock().sample
    }

    /// Adds the references of the rows at `place`: row and digest of those that are in a recent
    /// sample, in any order. Leaves `references` empty.
    pub fn add(&self, place: Place, references: &mut Vec<(u32, u64)>) {
        references.sort_unstable_by_key(|(row, _)| *row);
        // Of just the length that is needed, or nearly: samples rarely shrink.
        let mut stretch: Vec<u64> = references.drain(..).map(|(_, digest)| digest).collect();
        let mut state = self.state.lock();
        let sample = state.sample;
        stretch.retain(|digest| sample.keeps(*digest));
        if stretch.is_empty() {
            return;
        }
        state.kept += stretch.len();
        state.stretches.insert(place, stretch);
        while state.kept > self.most {
            state.halve();
        }
    }

    /// The references that are followed; `sizes` are those of the objects in the sample.
    pub fn into_followed(self, sizes: Vec<(u64, Option<u64>)>) -> FollowedReferences {
        let RecorderState { sample, stretches, .. } = self.state.into_inner();
        FollowedReferences { sample, stretches, sizes }
    }
}

/// References in the order of their manifests, and the sizes of their objects.
pub struct FollowedReferences {
    sample: Share,
    stretches: BTreeMap<Place, Vec<u64>>,
    /// By digest.
    sizes: Vec<(u64, Option<u64>)>,
}

impl FollowedReferences {
    /// The trace of these references. Without a known or an `assumed` size objects are left out: what
    /// they take is unknown.
    pub fn into_trace(self, assumed: Option<u64>) -> Trace {
        let sized = self.sizes.into_iter().filter_map(|(digest, size)| Some((digest, size.or(assumed)?)));
        let sizes: Vec<(u64, u64)> = sized.collect();
        Trace::new(self.stretches.into_values().flatten(), sizes.into_iter(), self.sample)
    }
}

impl RecorderState {
    fn halve(&mut self) {
        let sample = self.sample.halved();
        self.sample = sample;
        for stretch in self.stretches.values_mut() {
            stretch.retain(|digest| sample.keeps(*digest));
            stretch.shrink_to_fit();
        }
        self.stretches.retain(|_, stretch| !stretch.is_empty());
        self.kept = self.stretches.values().map(Vec::len).sum();
    }
}

/// The source reads of several workers.
pub struct ReplayOutcome {
    /// By schedule.
    pub reads: Vec<ReplayedReads>,
    /// Pairs of object and manifest.
    pub pairs: u64,
}

/// Adds a reference to each of `objects` in the manifest at `task` to the placements, and empties the list.
///
/// Fails when the temporary file cannot be written.
pub fn place(placements: &mut CountInserter, task: usize, objects: &mut Vec<ObjectId>) -> io::Result<()> {
    let source = task as u32;
    for object in objects.drain(..) {
        let id = ObjectId(object.0 & !u128::from(u32::MAX) | u128::from(source));
        placements.add(&Meaning { id, source, size: None, text: 0, wanted: true }, 1)?;
    }
    Ok(())
}

/// Replays the placements on each of `schedules`.
///
/// Fails when the temporary file cannot be read, or `done` fails.
pub fn replay(
    placements: &ObjectCounter,
    jobs: usize,
    schedules: &[Schedule],
    done: impl Fn() -> anyhow::Result<()> + Sync,
) -> anyhow::Result<ReplayOutcome> {
    let none = || ReplayOutcome { reads: vec![ReplayedReads::default(); schedules.len()], pairs: 0 };
    let by_thread = in_turns(jobs, PARTITIONS, |turns| -> anyhow::Result<_> {
        let mut sum = none();
        for number in turns {
            let mut pairs: Vec<_> = placements.take(number)?.objects().collect();
            sum.pairs += pairs.len() as u64;
            pairs.sort_unstable_by_key(|pair| (pair.id, pair.source));
            for object in pairs.chunk_by(|a, b| a.id == b.id) {
                let tasks = object.iter().map(|pair| (pair.source, pair.count));
                for (reads, schedule) in sum.reads.iter_mut().zip(schedules) {
                    *reads += schedule.reads(tasks.clone());
                }
            }
            done()?;
        }
        Ok(sum)
    })?;
    Ok(by_thread.into_iter().fold(none(), |mut sum, more| {
        sum.pairs += more.pairs;
        sum.reads.iter_mut().zip(more.reads).for_each(|(reads, more)| *reads += more);
        sum
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory::MemoryBudget;

    /// Stretches of a hundred references each, in two manifests.
    fn stretches() -> Vec<(Place, Vec<(u32, u64)>)> {
        let reference = |stretch: u64, row: u32| (row, (stretch * 7 + u64::from(row) % 13) % 50);
        let stretch =
            |n: u64| ((n as usize / 5, n % 5 * 100), (0..100).map(|row| reference(n, row)).collect());
        (0..10).map(stretch).collect()
    }

    fn found(most: usize, order: impl Iterator<Item = usize>) -> (Vec<u64>, Share) {
        let (sequence, all) = (TraceRecorder::new(most), stretches());
        for nth in order {
            let (place, mut references) = all[nth].clone();
            // A thread hands them over as its tables find them.
            references.reverse();
            sequence.add(place, &mut references);
            assert!(references.is_empty());
        }
        let FollowedReferences { sample, stretches, .. } = sequence.into_followed(Vec::new());
        (stretches.into_values().flatten().collect(), sample)
    }

    #[test]
    fn references_come_back_in_the_order_of_their_rows_whoever_adds_first() {
        let all: Vec<u64> =
            stretches().iter().flat_map(|(_, of)| of.iter().map(|(_, digest)| *digest)).collect();
        assert_eq!(found(1000, 0..10), (all.clone(), Share::ALL));
        assert_eq!(found(1000, (0..10).rev()), (all, Share::ALL));
    }

    #[test]
    fn beyond_the_bound_all_references_to_some_of_the_objects_are_kept() {
        let (whole, _) = found(1000, 0..10);
        let (digests, sample) = found(300, 0..10);
        assert!(digests.len() <= 300 && sample.share <= 0.25, "{}", digests.len());
        assert!(digests.len() > 60, "{}", digests.len());
        assert_eq!(digests, whole.into_iter().filter(|digest| sample.keeps(*digest)).collect::<Vec<_>>());
        assert_eq!(found(300, [7, 2, 9, 0, 1, 3, 8, 5, 4, 6].into_iter()), (digests, sample));
    }

    #[test]
    fn nothing_may_be_kept() {
        assert!(found(0, 0..10).0.is_empty());
        assert!(found(0, 0..0).0.is_empty());
    }

    /// The objects of each manifest, in `memory` bytes.
    fn outcome(manifests: &[&[u64]], workers: &[u64], memory: u64, jobs: usize) -> ReplayOutcome {
        let placements = ObjectCounter::new(Arc::new(MemoryBudget::new(memory)));
        let mut inserter = placements.inserter();
        for (task, objects) in manifests.iter().enumerate() {
            let id = |object: &u64| ObjectId(u128::from(*object) << 64 | 77);
            let mut ids: Vec<ObjectId> = objects.iter().filter(|object| **object > 0).map(id).collect();
            place(&mut inserter, task, &mut ids).unwrap();
            assert!(ids.is_empty());
        }
        inserter.finish().unwrap();
        let durations: Vec<u64> = manifests.iter().map(|objects| objects.len() as u64).collect();
        let schedules: Vec<_> = workers.iter().map(|workers| Schedule::new(&durations, *workers)).collect();
        replay(&placements, jobs, &schedules, || Ok(())).unwrap()
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
            let ReplayOutcome { reads: found, pairs } = outcome(&manifests, &[1, 2, 3], memory, jobs);
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
