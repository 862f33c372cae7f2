//! A few objects out of all, chosen by a hash: the same ones in whatever order they are seen.

use std::collections::BTreeMap;

use crate::object::{ObjectId, ObjectName};

/// The objects of the lowest ranks among those that were offered.
#[derive(Clone, Debug)]
pub struct Candidates {
    most: usize,
    /// By rank and id.
    lowest: BTreeMap<(u64, ObjectId), ObjectName>,
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
    pub fn offer(&mut self, rank: u64, id: ObjectId, name: &ObjectName) {
        if self.lowest.len() < self.most
            || self.lowest.last_key_value().is_some_and(|(highest, _)| (rank, id) < *highest)
        {
            self.insert(rank, id, name.clone());
        }
    }

    pub fn merge(&mut self, other: Candidates) {
        for ((rank, id), name) in other.lowest {
            self.insert(rank, id, name);
        }
    }

    /// The names, in order of rank.
    pub fn into_names(self) -> Vec<ObjectName> {
        self.lowest.into_values().collect()
    }

    fn insert(&mut self, rank: u64, id: ObjectId, name: ObjectName) {
        self.lowest.insert((rank, id), name);
        if self.lowest.len() > self.most {
            self.lowest.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locator::Target;

    fn name(rank: u64) -> ObjectName {
        ObjectName::new(format!("/{rank}").as_bytes(), &Target::Whole)
    }

    #[test]
    fn the_lowest_ranks_are_kept_in_whatever_order_they_come() {
        let objects: Vec<u64> = (0..100).map(|n| n * 37 % 100).collect();
        let mut halves = [Candidates::new(5), Candidates::new(5)];
        for (nth, rank) in objects.iter().chain(&objects).enumerate() {
            halves[nth % 2].offer(*rank, name(*rank).id(), &name(*rank));
        }
        let [mut all, other] = halves;
        all.merge(other);
        assert_eq!(all.into_names(), [0, 1, 2, 3, 4].map(name));
    }

    #[test]
    fn none_are_kept_if_none_are_wanted() {
        let mut none = Candidates::new(0);
        none.offer(0, name(0).id(), &name(0));
        assert!(none.into_names().is_empty());
    }
}
