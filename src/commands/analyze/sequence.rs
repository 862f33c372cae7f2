//! In which order the manifests name their objects.
//!
//! The digests of all references are kept while there are few enough of them; beyond that those of
//! every second object, of every fourth, and so on. How far that goes depends on the manifests
//! alone, not on threads. An object with more references than are kept is in no such sample.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::analysis::trace::{KeySample, Trace};

/// Where some consecutive rows stand: the number of their manifest, and of the first row in it.
pub type Place = (usize, u64);

/// References in the order of their manifests, from several threads.
pub struct Sequence {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sample: KeySample,
    kept: usize,
    stretches: BTreeMap<Place, Vec<u64>>,
}

impl Sequence {
    /// Keeps at most so many references.
    pub fn new(most: usize) -> Sequence {
        Sequence { most, state: Mutex::default() }
    }

    /// The objects whose references are still kept; later there may be fewer.
    pub fn sample(&self) -> KeySample {
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
        let State { sample, stretches, .. } = self.state.into_inner();
        FollowedReferences { sample, stretches, sizes }
    }
}

/// References in the order of their manifests, and the sizes of their objects.
pub struct FollowedReferences {
    sample: KeySample,
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

impl State {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Stretches of a hundred references each, in two manifests.
    fn stretches() -> Vec<(Place, Vec<(u32, u64)>)> {
        let reference = |stretch: u64, row: u32| (row, (stretch * 7 + u64::from(row) % 13) % 50);
        let stretch =
            |n: u64| ((n as usize / 5, n % 5 * 100), (0..100).map(|row| reference(n, row)).collect());
        (0..10).map(stretch).collect()
    }

    fn found(most: usize, order: impl Iterator<Item = usize>) -> (Vec<u64>, KeySample) {
        let (sequence, all) = (Sequence::new(most), stretches());
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
        assert_eq!(found(1000, 0..10), (all.clone(), KeySample::default()));
        assert_eq!(found(1000, (0..10).rev()), (all, KeySample::default()));
    }

    #[test]
    fn beyond_the_bound_all_references_to_some_of_the_objects_are_kept() {
        let (whole, _) = found(1000, 0..10);
        let (digests, sample) = found(300, 0..10);
        assert!(digests.len() <= 300 && sample.stands_for() >= 4, "{}", digests.len());
        assert!(digests.len() > 60, "{}", digests.len());
        assert_eq!(digests, whole.into_iter().filter(|digest| sample.keeps(*digest)).collect::<Vec<_>>());
        assert_eq!(found(300, [7, 2, 9, 0, 1, 3, 8, 5, 4, 6].into_iter()), (digests, sample));
    }

    #[test]
    fn nothing_may_be_kept() {
        assert!(found(0, 0..10).0.is_empty());
        assert!(found(0, 0..0).0.is_empty());
    }
}
