//! In which order a policy admits objects: a total order on three words.

use super::super::cost::Objective;

/// What is admitted first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Most references.
    Count,
    /// Most references beyond the first per byte, the value density.
    Density,
    /// Most of this objective per byte.
    Objective(Objective),
}

impl Policy {
    /// What the policy is greedy for: its certificate is in units of this.
    pub fn objective(&self) -> Objective {
        match *self {
            Policy::Count => Objective::Bytes,
            Policy::Density => Objective::Requests,
            Policy::Objective(objective) => objective,
        }
    }

    /// The sort key, the highest first, of an object with `k >= 2` references. Objects without a
    /// key above 0 are never admitted. Quotients are floats: two that round to one number tie.
    #[inline]
    pub fn key(&self, k: u64, size: u64) -> f64 {
        match self {
            Policy::Count => (k - 1) as f64,
            Policy::Density => (k - 1) as f64 / size as f64,
            Policy::Objective(objective) => objective.density(k, size),
        }
    }
}

/// The bits of an infinite key, the highest.
const HIGHEST: u64 = f64::INFINITY.to_bits();

/// An object's place in the order, the lowest first: the highest key, then the smaller size, then
/// the lower multiplicity, for keys that round to one number.
///
/// The bits of a float that is not negative, read as an integer, ascend with it. Sizes are words
/// of that kind, too, since their leading bits then tell sizes of any magnitude apart; beyond 2^53
/// bytes, sizes that round to one float tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    key: u64,
    size: u64,
    k: u64,
}

/// One of the words of a rank, most significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Key,
    Size,
    Multiplicity,
}

impl Rank {
    /// `key` is above 0.
    #[inline]
    pub fn new(key: f64, k: u64, size: u64) -> Rank {
        Rank { key: HIGHEST - key.to_bits(), size: size_word(size), k }
    }

    #[inline]
    pub fn word(&self, word: Word) -> u64 {
        match word {
            Word::Key => self.key,
            Word::Size => self.size,
            Word::Multiplicity => self.k,
        }
    }
}

impl Word {
    /// The lowest and the highest value among objects of sizes up to `largest`.
    pub fn bounds(self, largest: u64) -> (u64, u64) {
        match self {
            Word::Key => (0, HIGHEST),
            Word::Size => (size_word(0), size_word(largest)),
            Word::Multiplicity => (0, u64::MAX),
        }
    }

    /// The next less significant one.
    pub fn next(self) -> Option<Word> {
        match self {
            Word::Key => Some(Word::Size),
            Word::Size => Some(Word::Multiplicity),
            Word::Multiplicity => None,
        }
    }
}

/// Ascends with the size, from that of 1.0 on: without a gap between sizes 0 and 1.
#[inline]
fn size_word(size: u64) -> u64 {
    (size as f64 + 1.0).to_bits()
}

/// Objects of the same multiplicity and size near the end of an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub rank: Rank,
    pub k: u64,
    pub size: u64,
    pub objects: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_key_then_size_then_multiplicity() {
        let ranks = [
            Rank::new(f64::INFINITY, 9, 0),
            Rank::new(3.0, 9, 0),
            Rank::new(3.0, 2, 1),
            Rank::new(3.0, 9, 1),
            Rank::new(3.0, 2, 1 << 40),
            Rank::new(3.0, 2, (1 << 40) + 1),
            Rank::new(2.5, 2, 5),
            Rank::new(f64::MIN_POSITIVE, 0, 0),
        ];
        assert!(ranks.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn words_stay_within_their_bounds() {
        for rank in [Rank::new(f64::INFINITY, 0, 0), Rank::new(5e-324, u64::MAX, u64::MAX)] {
            for word in [Word::Key, Word::Size, Word::Multiplicity] {
                let (low, high) = word.bounds(u64::MAX);
                assert!((low..=high).contains(&rank.word(word)), "{word:?}");
            }
        }
    }

    #[test]
    fn requests_and_bytes_order_as_density_and_count_do() {
        for (k, size) in [(2, 1), (9, 1 << 39), (1584, 12_345), (1 << 23, (1 << 40) - 3)] {
            assert_eq!(Policy::Objective(Objective::Requests).key(k, size), Policy::Density.key(k, size));
            assert_eq!(Policy::Objective(Objective::Bytes).key(k, size), Policy::Count.key(k, size));
        }
        assert_eq!(Policy::Density.key(2, 0), f64::INFINITY);
    }
}
