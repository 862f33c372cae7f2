//! The static oracle: which objects to admit to a cache of a given size before the pass.
//!
//! A 0/1 knapsack, filled greedily in the order of a [`Policy`]. Objects larger than the whole
//! budget are set aside; then objects are admitted in order until the first that does not fit.
//! It stops there, although smaller ones might still fit: so an admission is a prefix of one
//! order, one comparison decides whether an object is admitted, and the loss is less than one object.
//! Objects of equal multiplicity and size are interchangeable. The certificate is the bound of the
//! linear relaxation (Dantzig 1957): what is admitted plus the fraction of that first object that fits.
//! No choice of objects exceeds it.

mod rank;
mod search;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

pub use rank::Policy;

use rank::Rank;
use search::{Prefix, SearchGoal, search};

use super::table::{MultiplicityTable, ObjectSums};

/// Cells of up to this many rows are sorted: with sixty budgets, at most a million rows or 50 MB.
const FEW: u64 = 1 << 14;

/// The least key above 0.
const LEAST: f64 = f64::from_bits(1);

/// What a policy admits to a cache of one size, and what it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admission {
    pub policy: Policy,
    pub budget_bytes: u64,
    /// The admitted objects; never more bytes than the budget, overhead included.
    pub admitted: ObjectSums,
    /// What they save, in units of [`Policy::objective`].
    pub value: f64,
    /// The most that any choice of objects within the budget saves, in the same units.
    pub bound: f64,
    /// Bound minus value, before rounding: 0 where every object that pays is admitted.
    pub gap: f64,
    /// Multiplicity and size of the first object that is not admitted although it is no larger
    /// than the budget. A little more cache would serve this one.
    pub next: Option<(u64, u64)>,
    /// Larger objects are set aside.
    limit: u64,
    end: Option<Rank>,
    end_admitted: u64,
}

/// Whether an object is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Admitted,
    LeftOut,
    /// Only this many of the objects of this multiplicity and size are admitted; any of them will do.
    AmongTheLast(u64),
}

impl Admission {
    /// Whether an object of `k` references and `size` bytes is admitted.
    pub fn verdict(&self, k: u64, size: u64) -> Verdict {
        let key = if k < 2 || size > self.limit { 0.0 } else { self.policy.key(k, size) };
        if key.is_nan() || key <= 0.0 {
            return Verdict::LeftOut;
        }
        match self.end.map_or(Ordering::Less, |end| Rank::new(key, k, size).cmp(&end)) {
            Ordering::Less => Verdict::Admitted,
            Ordering::Equal => Verdict::AmongTheLast(self.end_admitted),
            Ordering::Greater => Verdict::LeftOut,
        }
    }

    fn new(policy: Policy, budget_bytes: u64, overhead: u64, limit: u64, found: Prefix) -> Admission {
        let objective = policy.objective();
        let value = objective.value_of(&found.sums);
        let gap = found.next.map_or(0.0, |next| {
            // It does not fit, so it is larger than the space left, and not empty.
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
            end_admitted: found.next_admitted,
        }
    }
}

/// The admission of each of `budgets`, in their order. Exact, in a few passes over the table for
/// all budgets together.
pub fn admit(table: &MultiplicityTable, policy: Policy, budgets: &[u64]) -> Vec<Admission> {
    admit_entries(table, policy, budgets, 0)
}

/// [`admit`], in the same order, to caches in which an object takes `overhead` bytes beside its
/// own. With it an object may not fit although it is smaller than the budget.
pub fn admit_entries(
    table: &MultiplicityTable,
    policy: Policy,
    budgets: &[u64],
    overhead: u64,
) -> Vec<Admission> {
    let goals: Vec<_> = budgets.iter().map(|&budget| SearchGoal::Bytes { budget, overhead }).collect();
    let found = search(table, policy, &goals, FEW);
    let admission = |((&budget, goal), found): ((&u64, &SearchGoal), Prefix)| {
        Admission::new(policy, budget, overhead, goal.limit(), found)
    };
    budgets.iter().zip(&goals).zip(found).map(admission).collect()
}

/// The shortest prefix of the policy's order with at least so many hits, for each of `hits`: its
/// bytes are the smallest cache that gives them, short of setting aside objects larger than the
/// cache. `None` where all that the policy ever admits gives fewer.
pub fn reach(table: &MultiplicityTable, policy: Policy, hits: &[u64]) -> Vec<Option<ObjectSums>> {
    let goals: Vec<_> = hits.iter().map(|&hits| SearchGoal::Hits(hits.max(1))).collect();
    let found = search(table, policy, &goals, FEW);
    let reached = |(&hits, found): (&u64, Prefix)| match hits {
        // Not even the first object is needed.
        0 => Some(ObjectSums::default()),
        _ => Some(found.sums).filter(|sums| sums.hits >= hits),
    };
    hits.iter().zip(found).map(reached).collect()
}

/// All objects that the policy ever admits; a larger cache gains nothing. For dollars, one more GB costs
/// more to keep than it saves; for the other objectives, nothing else repeats or is worth its put.
pub fn worthwhile(table: &MultiplicityTable, policy: Policy) -> ObjectSums {
    match policy {
        Policy::Count | Policy::Density => table.totals().recurring,
        Policy::Objective(_) => sum_from(table, policy, LEAST),
    }
}

/// The knee of the curve of value, in units of [`Policy::objective`], against size: the admission
/// of all objects that give at least as much per byte as all worthwhile ones do on average. There
/// the curve is farthest above the straight line between its ends; a byte before gives more than
/// the mean, a byte beyond gives less.
pub fn knee(table: &MultiplicityTable, policy: Policy) -> ObjectSums {
    let all = worthwhile(table, policy);
    let mean = policy.objective().value_of(&all) / all.bytes as f64;
    // Slightly lower, so that rounding does not separate equal objects from their mean. Where none has
    // bytes, all admitted objects are free.
    let from = if mean.is_finite() { mean * (1.0 - 1e-12) } else { LEAST };
    sum_from(table, policy, from)
}

/// The objects with a key of at least `least`, above 0.
fn sum_from(table: &MultiplicityTable, policy: Policy, least: f64) -> ObjectSums {
    let mut sums = ObjectSums::default();
    table.recurring().for_each(|(k, size, objects)| {
        if policy.key(k, size) >= least {
            sums.add(&ObjectSums::new(k, size, objects));
        }
    });
    sums
}
