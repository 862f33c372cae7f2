//! The static oracle: which objects to admit to a cache of a given size before the pass.
//!
//! A 0/1 knapsack, filled greedily in the order of a [`Policy`]. Objects larger than the whole
//! budget are set aside; then objects are admitted in order until the first that does not fit.
//! It stops there, although smaller ones might still fit: so an admission is a prefix of one
//! order, a single comparison tells whether an object is admitted, and what is lost is less than
//! one object. The certificate is the bound of the linear relaxation (Dantzig 1957): what is
//! admitted plus the fraction of that first object that fits. No choice of objects passes it.

mod order;
mod search;
#[cfg(test)]
mod tests;

pub use order::Policy;

use order::Rank;
use search::{Found, Goal, search};

use super::objects::{Objects, Sums};

/// Cells of so many objects are sorted: with sixty budgets, a million objects or 50 MB at most.
const FEW: u64 = 1 << 14;

/// The least key above 0.
const LEAST: f64 = f64::from_bits(1);

/// What a policy admits to a cache of one size, and what it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admission {
    pub policy: Policy,
    pub budget_bytes: u64,
    /// The admitted objects; never more bytes than the budget, overhead included.
    pub admitted: Sums,
    /// What they save, in units of [`Policy::objective`].
    pub value: f64,
    /// What no choice of objects within the budget passes, in the same units.
    pub bound: f64,
    /// Bound less value, before rounding: 0 where all that pays is admitted.
    pub gap: f64,
    /// Multiplicity and size of the first object that is not admitted although it is no larger
    /// than the budget. A little more cache would serve this one.
    pub next: Option<(u64, u64)>,
    /// Larger objects are set aside.
    limit: u64,
    end: Option<Rank>,
}

impl Admission {
    /// Whether an object of `k` references and `size` bytes is admitted. Over a table, true for
    /// just as many objects as are counted.
    pub fn admits(&self, digest: u64, k: u64, size: u64) -> bool {
        if k < 2 || size > self.limit {
            return false;
        }
        let key = self.policy.key(k, size);
        key > 0.0 && self.end.is_none_or(|end| Rank::new(key, size, digest) < end)
    }

    /// What one more byte of cache would save, in units of [`Policy::objective`]; times 10^9, one
    /// more GB. 0 where all that pays is admitted.
    pub fn marginal_value(&self) -> f64 {
        self.next.map_or(0.0, |(k, size)| self.policy.objective().density(k, size))
    }

    /// Hits that one more byte of cache would give, whatever the policy is greedy for.
    pub fn marginal_hits(&self) -> f64 {
        self.next.map_or(0.0, |(k, size)| (k - 1) as f64 / size as f64)
    }

    fn new(policy: Policy, budget_bytes: u64, overhead: u64, limit: u64, found: Found) -> Admission {
        let objective = policy.objective();
        let value = objective.value_of(&found.sums);
        let gap = found.next.map_or(0.0, |next| {
            // It does not fit, so it is larger than what is left, and not empty.
            let left = u128::from(budget_bytes) - found.sums.with_overhead(overhead);
            objective.value(next.k, next.size) * (left as f64 / (next.size as f64 + overhead as f64))
        });
        Admission {
            policy,
            budget_bytes,
            admitted: found.sums,
            value,
            bound: value + gap,
            gap,
            next: found.next.map(|next| (next.k, next.size)),
            limit,
            end: found.next.map(|next| next.rank),
        }
    }
}

/// The admission of each of `budgets`, in their order. Exact, in a few passes over the table for
/// all budgets together.
pub fn admit(objects: &Objects, policy: Policy, budgets: &[u64]) -> Vec<Admission> {
    admit_entries(objects, policy, budgets, 0)
}

/// [`admit`], in the same order, to caches in which an object takes `overhead` bytes beside its
/// own. With it an object may not fit although it is smaller than the budget.
pub fn admit_entries(objects: &Objects, policy: Policy, budgets: &[u64], overhead: u64) -> Vec<Admission> {
    let goals: Vec<_> = budgets.iter().map(|&budget| Goal::Bytes { budget, overhead }).collect();
    let found = search(objects, policy, &goals, FEW);
    let admission = |((&budget, goal), found): ((&u64, &Goal), Found)| {
        Admission::new(policy, budget, overhead, goal.limit(), found)
    };
    budgets.iter().zip(&goals).zip(found).map(admission).collect()
}

/// The shortest prefix of the policy's order with at least so many hits, for each of `hits`: its
/// bytes are the smallest cache that gives them, short of setting aside objects larger than the
/// cache. `None` where all that the policy ever admits gives fewer.
pub fn reach(objects: &Objects, policy: Policy, hits: &[u64]) -> Vec<Option<Sums>> {
    let goals: Vec<_> = hits.iter().map(|&hits| Goal::Hits(hits.max(1))).collect();
    let found = search(objects, policy, &goals, FEW);
    let reached = |(&hits, found): (&u64, Found)| match hits {
        // Not even the first object is needed.
        0 => Some(Sums::default()),
        _ => Some(found.sums).filter(|sums| sums.hits >= hits),
    };
    hits.iter().zip(found).map(reached).collect()
}

/// All that the policy ever admits: the cache beyond which more is no gain. For dollars, where one
/// more GB costs more to keep than it saves; for the other objectives, where nothing recurs or no
/// object is worth its put.
pub fn worthwhile(objects: &Objects, policy: Policy) -> Sums {
    match policy {
        Policy::Count | Policy::Density => objects.totals().recurring,
        Policy::Objective(_) => sum_from(objects, policy, LEAST),
    }
}

/// The knee of the curve of value, in units of [`Policy::objective`], against size: the admission
/// of all objects that give at least as much per byte as all worthwhile ones do in the mean. There
/// the curve is farthest above the straight line between its ends; a byte before gives more than
/// the mean, a byte beyond gives less.
pub fn knee(objects: &Objects, policy: Policy) -> Sums {
    let all = worthwhile(objects, policy);
    let mean = policy.objective().value_of(&all) / all.bytes as f64;
    // A hair lower, lest rounding part objects that are all equal from their mean. Where none has
    // bytes, all that is admitted is free.
    let from = if mean.is_finite() { mean * (1.0 - 1e-12) } else { LEAST };
    sum_from(objects, policy, from)
}

/// The objects with a key of at least `least`, above 0.
fn sum_from(objects: &Objects, policy: Policy, least: f64) -> Sums {
    let mut sums = Sums::default();
    objects.recurring().for_each(|(_, k, size)| {
        if policy.key(k, size) >= least {
            sums.add(&Sums::of(k, size));
        }
    });
    sums
}
