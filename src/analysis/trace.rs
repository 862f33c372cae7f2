//! References in the order in which a corpus makes them: what caches that evict depend on.

use std::collections::HashMap;

use super::objects::Objects;
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
    /// The trace of `digests`, which are the references, in order, to those objects of a table that
    /// are in `sample`. Objects of unknown size are left out: there is no telling what they take.
    pub fn new(digests: impl Iterator<Item = u64>, objects: &Objects, sample: Sample) -> Trace {
        let known = || {
            let sampled = objects.iter().filter(|object| sample.keeps(object.digest));
            sampled.filter_map(|object| Some((object.digest, object.size?)))
        };
        // Counted first: a map that grows takes half as much again.
        let count = known().count();
        let (mut numbers, mut sizes) = (HashMap::with_capacity(count), Vec::with_capacity(count));
        for (digest, size) in known() {
            numbers.insert(digest, sizes.len() as u32);
            sizes.push(size);
        }
        let references = digests.filter_map(|digest| numbers.get(&digest).copied()).collect();
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
pub struct Sample {
    halvings: u32,
}

impl Sample {
    /// One object of so many is in it.
    pub fn stands_for(self) -> u64 {
        1 << self.halvings
    }

    /// Half of this sample.
    pub fn halved(self) -> Sample {
        Sample { halvings: self.halvings + 1 }
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
        let mut objects = Objects::default();
        objects.push(70, 2, Some(7));
        objects.push(50, 3, Some(5));
        objects.push(90, 2, None);
        objects.push(30, 1, None);
        let trace = |objects: &Objects| {
            let digests = [50, 90, 70, 50, 30, 50, 90, 70];
            let Trace { references, sizes, stands_for } =
                Trace::new(digests.into_iter(), objects, Sample::default());
            let sizes: Vec<u64> = references.iter().map(|number| sizes[*number as usize]).collect();
            (sizes, stands_for)
        };
        assert_eq!(trace(&objects), (vec![5, 7, 5, 5, 7], 1));
        objects.assume(9);
        assert_eq!(trace(&objects), (vec![5, 9, 7, 5, 9, 5, 9, 7], 1));
    }

    #[test]
    fn a_half_is_about_half_and_a_part_of_the_whole() {
        let quarter = Sample::default().halved().halved();
        assert_eq!(quarter.stands_for(), 4);
        let kept = |sample: Sample| (0..10_000).filter(|digest| sample.keeps(*digest)).count();
        assert_eq!(kept(Sample::default()), 10_000);
        assert!(kept(quarter).abs_diff(2_500) < 200, "{}", kept(quarter));
        assert!((0..10_000).all(|digest| quarter.halved().keeps(digest) <= quarter.keeps(digest)));
    }
}
