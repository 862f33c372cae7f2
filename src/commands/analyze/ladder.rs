//! What caches of round sizes reach, one line each.

use super::report::Budget;
use super::scale::scaled;
use crate::analysis::Summary;

/// A ladder of cache sizes up to the smallest one that reaches `ceiling`, which ends it. Every
/// object in `summary` stands for `scale` objects. Empty where no size is known, or nothing recurs.
pub fn budgets(summary: &Summary, scale: f64, ceiling: f64) -> Vec<Budget> {
    let (all, hits) = (summary.unique_bytes() as f64 * scale, summary.duplicates() as f64);
    if all == 0.0 || hits == 0.0 {
        return Vec::new();
    }
    let line = |budget: f64| {
        let counted = (budget / scale).min(u64::MAX as f64) as u64;
        let admitted = summary.admitted(counted);
        Budget {
            budget_bytes: budget as u64,
            byte_share: budget / all,
            // By way of the ceiling: in a sample that is a better estimate than the sample's own.
            hit_rate: ceiling * admitted.hits as f64 / hits,
            byte_hit_rate: admitted.hit_bytes as f64 / summary.reference_bytes() as f64,
            objects: scaled(admitted.objects.into(), scale),
        }
    };
    let enough = (summary.admitted(u64::MAX).bytes as f64 * scale).max(1.0);
    let steps =
        (0..=enough.log10().ceil() as i32).flat_map(|decade| STEPS.map(|step| step * 10f64.powi(decade)));
    let lines = steps.filter(|budget| *budget < enough).map(line);
    let lines = lines.skip_while(|line| line.hit_rate < FIRST_HITS * ceiling);
    lines.chain([line(enough)]).collect()
}

/// Steps of a ladder of round sizes; the finer ones make a curve.
const STEPS: [f64; 10] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// The ladder begins where a cache gives this share of the hits.
const FIRST_HITS: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(objects: impl IntoIterator<Item = (u64, Option<u64>)>) -> Summary {
        let mut summary = Summary::default();
        objects.into_iter().for_each(|(k, size)| summary.add(k, size));
        summary
    }

    #[test]
    fn the_ladder_ascends_to_the_smallest_cache_that_reaches_the_ceiling() {
        // The n-th object has n % 6 + 1 references; every fourth does not say its size.
        let counted = summary((0..1_200).map(|n| (n % 6 + 1, (n % 4 > 0).then_some(1_000 + n))));
        let found = budgets(&counted, 1.0, counted.ceiling());
        assert!(found.len() > 10);
        assert!(found.is_sorted_by(|a, b| a.budget_bytes < b.budget_bytes && a.hit_rate <= b.hit_rate));
        let recurring = |n: &u64| !n.is_multiple_of(6) && !n.is_multiple_of(4);
        let bytes: u64 = (0..1_200).filter(recurring).map(|n| 1_000 + n).sum();
        let hits: u64 = (0..1_200).filter(recurring).map(|n| n % 6).sum();
        let last = found.last().unwrap();
        assert_eq!((last.budget_bytes, last.objects), (bytes, (0..1_200).filter(recurring).count() as u64));
        assert_eq!(last.hit_rate, hits as f64 / 4_200.0);
        assert!((last.byte_hit_rate - counted.byte_ceiling().unwrap()).abs() < 1e-12);
        let least = FIRST_HITS * counted.ceiling();
        assert!((least..2.0 * least).contains(&found[0].hit_rate), "{:?}", found[0]);
    }

    #[test]
    fn without_sizes_or_duplicates_there_are_no_budgets() {
        let none = |objects: &[(u64, Option<u64>)]| {
            let counted = summary(objects.iter().copied());
            budgets(&counted, 1.0, counted.ceiling()).is_empty()
        };
        assert!(none(&[(3, None), (1, None)]));
        assert!(none(&[(1, Some(5)), (1, Some(7))]));
        assert!(none(&[(9, Some(0))]));
        assert!(none(&[]));
        assert!(!none(&[(2, Some(1))]));
    }
}
