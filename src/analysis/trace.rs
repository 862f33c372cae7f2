//! References in the order in which a corpus makes them: what caches that evict depend on.

use std::collections::HashMap;

use super::sampling::Share;

/// All references to some objects, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The number of the object of each reference.
    pub references: Vec<u32>,
    /// By number, bytes.
    pub sizes: Vec<u64>,
    /// So many objects each one stands for: 1 where these are all, more in a sample of the keys.
    pub stands_for: u64,
}

impl Trace {
    /// The references, in order, to the objects in `sample`, of which `objects` has each once with
    /// its size. References to objects that are not there are left out.
    pub fn new(
        references: impl Iterator<Item = u64>,
        objects: impl ExactSizeIterator<Item = (u64, u64)>,
        sample: KeySample,
    ) -> Trace {
        // A map that grows takes half as much again.
        let (mut numbers, mut sizes) =
            (HashMap::with_capacity(objects.len()), Vec::with_capacity(objects.len()));
        for (object, size) in objects {
            numbers.insert(object, sizes.len() as u32);
            sizes.push(size);
        }
        let references = references.filter_map(|object| numbers.get(&object).copied()).collect();
        Trace { references, sizes, stands_for: sample.stands_for() }
    }

    /// Whether the bytes of all objects, and those that they stand for, are less than 2^64.
    pub fn is_countable(&self) -> bool {
        let all: u128 = self.sizes.iter().map(|size| u128::from(*size)).sum();
        u64::try_from(all * u128::from(self.stands_for)).is_ok()
    }

    /// References beyond the first to each object: the hits of a cache without bound.
    pub fn duplicates(&self) -> u64 {
        (self.references.len() - self.sizes.len()) as u64
    }
}

/// All objects, half of them, a quarter, and so on: by a hash of the key, so that all references to
/// an object are in the sample or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySample {
    halvings: u32,
}

impl KeySample {
    /// One object of so many is in it.
    pub fn stands_for(self) -> u64 {
        1 << self.halvings
    }

    /// Half of this sample.
    pub fn halved(self) -> KeySample {
        KeySample { halvings: self.halvings + 1 }
    }

    /// Whether the object with this digest is in the sample.
    #[inline]
    pub fn keeps(self, digest: u64) -> bool {
        self.halvings == 0 || Share { share: 0.5f64.powi(self.halvings as i32) }.keeps(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_the_objects_of_known_size_in_the_order_of_their_references() {
        let references = [50, 90, 70, 50, 30, 50, 90, 70];
        let sizes = [(70, 7), (50, 5)];
        let trace = Trace::new(references.into_iter(), sizes.into_iter(), KeySample::default());
        let Trace { references, sizes, stands_for } = trace;
        let sizes: Vec<u64> = references.iter().map(|number| sizes[*number as usize]).collect();
        assert_eq!((sizes, stands_for), (vec![5, 7, 5, 5, 7], 1));
    }

    #[test]
    fn a_half_is_about_half_and_a_part_of_the_whole() {
        let quarter = KeySample::default().halved().halved();
        assert_eq!(quarter.stands_for(), 4);
        let kept = |sample: KeySample| (0..10_000).filter(|object| sample.keeps(*object)).count();
        assert_eq!(kept(KeySample::default()), 10_000);
        assert!(kept(quarter).abs_diff(2_500) < 200, "{}", kept(quarter));
        assert!((0..10_000).all(|object| quarter.halved().keeps(object) <= quarter.keeps(object)));
    }
}
