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
    /// How many objects each one represents: 1 where these are all, more in a sample by key.
    pub stands_for: u64,
}

impl Trace {
    /// The references, in order, to `objects`, each given once with its size; other references are left
    /// out. `sample` is the share of all objects that these are, one over an integer.
    pub fn new(
        references: impl Iterator<Item = u64>,
        objects: impl ExactSizeIterator<Item = (u64, u64)>,
        sample: Share,
    ) -> Trace {
        // A map that grows takes half as much again.
        let (mut numbers, mut sizes) =
            (HashMap::with_capacity(objects.len()), Vec::with_capacity(objects.len()));
        for (object, size) in objects {
            numbers.insert(object, sizes.len() as u32);
            sizes.push(size);
        }
        let references = references.filter_map(|object| numbers.get(&object).copied()).collect();
        Trace { references, sizes, stands_for: (1.0 / sample.share).round() as u64 }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_the_objects_of_known_size_in_the_order_of_their_references() {
        let references = [50, 90, 70, 50, 30, 50, 90, 70];
        let sizes = [(70, 7), (50, 5)];
        let trace = Trace::new(references.into_iter(), sizes.into_iter(), Share::ALL);
        let Trace { references, sizes, stands_for } = trace;
        let sizes: Vec<u64> = references.iter().map(|number| sizes[*number as usize]).collect();
        assert_eq!((sizes, stands_for), (vec![5, 7, 5, 5, 7], 1));
    }
}
