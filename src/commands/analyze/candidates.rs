//! A few objects out of all, chosen by a hash: the same ones in whatever order they are seen.

use std::collections::BTreeMap;

/// The objects of the lowest ranks among those that were offered.
#[derive(Clone, Debug)]
pub struct Candidates {
    most: usize,
    /// Canonical bytes by rank and digest.
    lowest: BTreeMap<(u64, u128), Box<[u8]>>,
}

impl Candidates {
    /// Keeps at most this many.
    pub fn new(most: usize) -> Candidates {
        Candidates { most, lowest: BTreeMap::new() }
    }

    /// Whether none are wanted.
    pub fn is_none(&self) -> bool {
        self.most == 0
    }

    /// Offers an object; a second time changes nothing.
    #[inline]
    pub fn offer(&mut self, rank: u64, digest: u128, canonical: &[u8]) {
        if self.lowest.len() < self.most
            || self.lowest.last_key_value().is_some_and(|(highest, _)| (rank, digest) < *highest)
        {
            self.insert(rank, digest, canonical.into());
        }
    }

    pub fn merge(&mut self, other: Candidates) {
        for ((rank, digest), canonical) in other.lowest {
            self.insert(rank, digest, canonical);
        }
    }

    /// The canonical bytes, in order of rank.
    pub fn into_objects(self) -> Vec<Box<[u8]>> {
        self.lowest.into_values().collect()
    }

    fn insert(&mut self, rank: u64, digest: u128, canonical: Box<[u8]>) {
        self.lowest.insert((rank, digest), canonical);
        if self.lowest.len() > self.most {
            self.lowest.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_ranks_are_kept_in_whatever_order_they_come() {
        let objects: Vec<u64> = (0..100).map(|n| n * 37 % 100).collect();
        let mut halves = [Candidates::new(5), Candidates::new(5)];
        for (nth, rank) in objects.iter().chain(&objects).enumerate() {
            halves[nth % 2].offer(*rank, u128::from(*rank), &rank.to_be_bytes());
        }
        let [mut all, other] = halves;
        all.merge(other);
        let lowest: Vec<Box<[u8]>> = (0..5u64).map(|rank| rank.to_be_bytes().into()).collect();
        assert_eq!(all.into_objects(), lowest);
    }

    #[test]
    fn none_are_kept_if_none_are_wanted() {
        let mut none = Candidates::new(0);
        none.offer(0, 0, b"x");
        assert!(none.into_objects().is_empty());
    }
}
