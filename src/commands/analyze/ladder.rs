//! What caches of round sizes reach, one line each.

use super::report::Budget;
use super::scale::scaled;
use crate::analysis::admission::{Admission, Policy, admit};
use crate::analysis::cache_sizes::round_sizes;
use crate::analysis::table::MultiplicityTable;

/// Cache sizes up to the smallest one that reaches `ceiling`, which is the last. Every object in
/// `table` stands for `scale` objects. Empty where no size is known, or nothing recurs.
pub fn budgets(table: &MultiplicityTable, scale: f64, ceiling: f64) -> Vec<Budget> {
    let totals = table.totals();
    let (all, hits) = (totals.unique_bytes as f64 * scale, (totals.references - totals.objects) as f64);
    if all == 0.0 || hits == 0.0 {
        return Vec::new();
    }
    let enough = (totals.recurring.bytes as f64 * scale).max(1.0);
    let mut sizes = round_sizes(enough as u128, PARTS);
    sizes.retain(|size| (*size as f64) < enough);
    let mut counted: Vec<u64> = sizes.iter().map(|size| (*size as f64 / scale) as u64).collect();
    // Not by way of a float, lest the last object is missing.
    sizes.push(enough as u64);
    counted.push(u64::try_from(totals.recurring.bytes).unwrap_or(u64::MAX));
    let line = |(budget_bytes, admission): (u64, Admission)| Budget {
        budget_bytes,
        byte_share: budget_bytes as f64 / all,
        // By way of the ceiling: in a sample that is a better estimate than the sample's own.
        hit_rate: ceiling * admission.admitted.hits as f64 / hits,
        byte_hit_rate: admission.admitted.hit_bytes as f64 / totals.reference_bytes as f64,
        objects: scaled(admission.admitted.objects.into(), scale),
    };
    let lines = sizes.into_iter().zip(admit(table, Policy::Density, &counted)).map(line);
    lines.skip_while(|line| line.hit_rate < FIRST_HITS * ceiling).collect()
}

/// The smallest size is about this part of the largest; much smaller caches hold hardly an object.
const PARTS: u32 = 10_000;

/// The first line is that of a cache that gives this share of the hits.
const FIRST_HITS: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    fn table(objects: impl IntoIterator<Item = (u64, Option<u64>)>) -> MultiplicityTable {
        let mut table = MultiplicityTable::default();
        objects.into_iter().for_each(|(k, size)| table.push(k, size));
        table.settle();
        table
    }

    #[test]
    fn sizes_ascend_to_the_smallest_cache_that_reaches_the_ceiling() {
        // The n-th object has n % 6 + 1 references; every fourth has no known size.
        let counted = table((0..1_200).map(|n| (n % 6 + 1, (n % 4 > 0).then_some(1_000 + n))));
        let ceiling = counted.histogram().ceiling();
        let found = budgets(&counted, 1.0, ceiling);
        assert!(found.len() > 8, "{found:?}");
        assert!(found.is_sorted_by(|a, b| a.budget_bytes < b.budget_bytes && a.hit_rate <= b.hit_rate));
        let recurring = |n: &u64| !n.is_multiple_of(6) && !n.is_multiple_of(4);
        let bytes: u64 = (0..1_200).filter(recurring).map(|n| 1_000 + n).sum();
        let hits: u64 = (0..1_200).filter(recurring).map(|n| n % 6).sum();
        let last = found.last().unwrap();
        assert_eq!((last.budget_bytes, last.objects), (bytes, (0..1_200).filter(recurring).count() as u64));
        assert_eq!(last.hit_rate, hits as f64 / 4_200.0);
        assert!((last.byte_hit_rate - counted.histogram().byte_ceiling().unwrap()).abs() < 1e-12);
        let least = FIRST_HITS * ceiling;
        assert!((least..2.0 * least).contains(&found[0].hit_rate), "{:?}", found[0]);
    }

    #[test]
    fn without_sizes_or_duplicates_there_are_no_budgets() {
        let none = |objects: &[(u64, Option<u64>)]| {
            let counted = table(objects.iter().copied());
            budgets(&counted, 1.0, counted.histogram().ceiling()).is_empty()
        };
        assert!(none(&[(3, None), (1, None)]));
        assert!(none(&[(1, Some(5)), (1, Some(7))]));
        assert!(none(&[(9, Some(0))]));
        assert!(none(&[]));
        assert!(!none(&[(2, Some(1))]));
    }
}
