//! Which objects of unknown size are asked for it: half of them such that recur.
//!
//! Often few objects recur, and a sample of all would hold next to none of them, while a cache is for
//! them alone. Which ones recur is known only after counting. So more objects are kept than are
//! asked, those of the lowest hashes, and both kinds are taken from these in that order: of either
//! kind a random sample.

use std::collections::HashSet;

use crate::analysis::objects::Objects;
use crate::commands::admission;

/// Objects that are kept for each one that is asked.
const SPARE: usize = 16;

/// Beyond so many, none are kept that are not asked: each thread keeps their locators.
const MOST: usize = 1 << 16;

/// So many objects are kept to ask `wanted` of them.
pub fn kept(wanted: usize) -> usize {
    wanted.max(wanted.saturating_mul(SPARE).min(MOST))
}

/// Of the canonical bytes in `kept`, those of `wanted` objects: half of them recur, more where there
/// are too few others, fewer where too few recur. They are the first ones of `kept` of each kind.
pub fn choose(kept: Vec<Box<[u8]>>, objects: &Objects, wanted: usize) -> Vec<Box<[u8]>> {
    let digests: HashSet<u64> = kept.iter().map(|canonical| admission::digest(canonical)).collect();
    let digests = objects.recurring_among(&digests);
    let (mut recurring, mut once): (Vec<_>, Vec<_>) =
        kept.into_iter().partition(|canonical| digests.contains(&admission::digest(canonical)));
    recurring.truncate(wanted.div_ceil(2).max(wanted.saturating_sub(once.len())));
    once.truncate(wanted - recurring.len());
    recurring.append(&mut once);
    recurring
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of both kinds are chosen, and that they are the first ones.
    fn chosen(recurring: usize, once: usize, wanted: usize) -> (usize, usize) {
        let object = |kind: &str, nth: usize| format!("/{kind}/{nth:03}\0").into_bytes().into_boxed_slice();
        let recurring: Vec<_> = (0..recurring).map(|nth| object("recurring", nth)).collect();
        let once: Vec<_> = (0..once).map(|nth| object("once", nth)).collect();
        let mut objects = Objects::default();
        recurring.iter().for_each(|canonical| objects.push(admission::digest(canonical), 2, None));
        once.iter().for_each(|canonical| objects.push(admission::digest(canonical), 1, None));
        let mut kept = [&once[..], &recurring].concat();
        kept.sort_by_key(|canonical| canonical[canonical.len() - 2]);
        let chosen = choose(kept.clone(), &objects, wanted);
        let of = |kind: &[Box<[u8]>]| {
            let first: Vec<_> = kept.iter().filter(|object| kind.contains(object)).collect();
            let found: Vec<_> = chosen.iter().filter(|object| kind.contains(object)).collect();
            assert!(first.starts_with(&found), "the first ones");
            found.len()
        };
        assert!(chosen.len() <= wanted);
        (of(&recurring), of(&once))
    }

    #[test]
    fn half_of_those_that_are_asked_recur_as_far_as_there_are_so_many() {
        assert_eq!(chosen(50, 50, 20), (10, 10));
        assert_eq!(chosen(50, 50, 21), (11, 10));
        assert_eq!(chosen(50, 50, 1), (1, 0));
        assert_eq!(chosen(4, 50, 20), (4, 16));
        assert_eq!(chosen(50, 4, 20), (16, 4));
        assert_eq!(chosen(4, 5, 20), (4, 5));
        assert_eq!(chosen(0, 50, 20), (0, 20));
        assert_eq!(chosen(50, 50, 0), (0, 0));
        assert_eq!(chosen(0, 0, 20), (0, 0));
    }

    #[test]
    fn more_are_kept_than_asked_but_not_of_very_many() {
        assert_eq!([0, 1, 1_000, 5_000, 1 << 20].map(kept), [0, 16, 16_000, 1 << 16, 1 << 20]);
        assert_eq!(kept(usize::MAX), usize::MAX);
    }
}
