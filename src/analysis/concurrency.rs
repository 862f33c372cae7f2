//! What a cache shared by tasks loses when tasks run at the same time: the expectation.
//!
//! Of P tasks W are in flight. Each looks its keys up when it starts and publishes what it read
//! when it ends, so it sees nothing of those in flight beside it. References lie over the tasks
//! at random; [`super::replay`] counts for a placement that is known.

use super::Class;

/// One pass with references placed at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// 0 to the ceiling.
    pub hit_rate: f64,
    /// Objects or more, references or fewer.
    pub source_reads: u64,
}

/// The expectation for `workers` of `tasks` in flight.
///
/// Let u = W/P, at most 1, and let the tasks start evenly over the pass, from 0 to 1. A reference
/// at x is a hit iff another one to its object lies before x-u. Over x and the k-1 others, that
/// makes k·(1-u) - (1 - u^k) hits per object, hence 1 + k·u - u^k source reads. Over all objects:
/// hit rate = ceiling - u + (1 - ceiling)·E[u^k].
pub fn expected(classes: &[Class], workers: u64, tasks: u64) -> Expected {
    estimated(classes, 1.0, references(classes), workers, tasks)
}

/// The same from a sample: `classes` hold each object with probability `share`, while
/// `references` is the exact number in the whole corpus.
///
/// Knowing it removes most of the error, which comes from the few objects with many references:
/// hits = (1-u)·R - sum of (1 - u^k), and only the sum, whose terms are below 1, is estimated.
pub fn estimated(classes: &[Class], share: f64, references: u64, workers: u64, tasks: u64) -> Expected {
    if references == 0 {
        return Expected { hit_rate: 0.0, source_reads: 0 };
    }
    // 1-u, exact also where u is almost 1.
    let apart = if workers >= tasks { 0.0 } else { (tasks - workers) as f64 / tasks as f64 };
    let all = references as f64;
    let scaled = |sum: f64| sum / share;
    let objects = scaled(classes.iter().map(|class| class.objects as f64).sum());
    let first_reads = scaled(weighted(classes, |k| -power_minus_one(-apart, k)));
    // Rounding and the error of a sample must not leave what is possible.
    let hits = (apart * all - first_reads).clamp(0.0, (all - objects).max(0.0));
    Expected { hit_rate: hits / all, source_reads: references - hits.round() as u64 }
}

/// References to an object that the same one of `tasks` references already, expected.
///
/// An object with k references is in P·(1 - (1 - 1/P)^k) of P tasks, the occupancy of P boxes by
/// k balls; the other k less that are duplicates. Some tools remove these without a cache.
pub fn in_task_duplicates(classes: &[Class], tasks: u64) -> f64 {
    let tasks = tasks.max(1) as f64;
    weighted(classes, |k| match k {
        0 | 1 => 0.0,
        _ => (k as f64 + tasks * power_minus_one(-1.0 / tasks, k)).max(0.0),
    })
}

fn references(classes: &[Class]) -> u64 {
    classes.iter().map(|class| class.k * class.objects).sum()
}

/// Sum of a function of k over the objects.
fn weighted(classes: &[Class], of: impl Fn(u64) -> f64) -> f64 {
    classes.iter().map(|class| class.objects as f64 * of(class.k)).sum()
}

/// (1+x)^k - 1 for -1 <= x <= 0, without loss where x is small.
fn power_minus_one(x: f64, k: u64) -> f64 {
    (k as f64 * x.ln_1p()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, table};
    use super::*;

    #[test]
    fn hit_rates_at_the_law_are_those_of_the_published_table() {
        let law = samples::law();
        let published = [(100, 0.0), (50, 33.6), (25, 55.1), (10, 68.5), (5, 73.0), (2, 75.7), (1, 76.6)];
        for (workers, percent) in published {
            let found = expected(&law, workers, 100).hit_rate * 100.0;
            assert!((found - percent).abs() < 0.1, "u = {workers} %: {found}, not {percent}");
        }
    }

    #[test]
    fn the_founding_corpus_gives_the_simulated_hit_rates() {
        let founding = samples::founding();
        for (tasks, workers, simulated, formula) in samples::SIMULATED {
            let found = expected(&founding, workers, tasks).hit_rate;
            assert!((found - simulated).abs() < 0.006, "{workers} of {tasks}: {found}, not {simulated}");
            assert!((found - formula).abs() < 0.003, "{workers} of {tasks}: {found}, not {formula}");
        }
    }

    #[test]
    fn tasks_that_all_run_at_once_share_nothing() {
        let classes = table(&[(1, 10), (7, 3), (1_000_000, 1)]);
        for (workers, tasks) in [(5, 5), (6, 5), (1, 1), (1, 0), (0, 0)] {
            let found = expected(&classes, workers, tasks);
            assert_eq!(found, Expected { hit_rate: 0.0, source_reads: 1_000_031 }, "{workers} of {tasks}");
        }
        assert_eq!(expected(&[], 1, 8), Expected { hit_rate: 0.0, source_reads: 0 });
    }

    #[test]
    fn expected_reads_lie_between_objects_and_references_at_any_scale() {
        let classes = table(&[(1, 1_000_000_000), (2, 1_000_000), (999_999, 7), (1_000_000, 3)]);
        let (objects, references) = (1_001_000_010, references(&classes));
        let mut before = objects;
        for exponent in 0..50 {
            let found = expected(&classes, 1 << exponent, 1 << 49);
            assert!((before..=references).contains(&found.source_reads), "{exponent}: {found:?}");
            before = found.source_reads;
        }
        assert_eq!(expected(&table(&[(1, 1_000_000_007)]), 3, 1000).hit_rate, 0.0);
        let almost = expected(&table(&[(1_000_000, 1)]), 999_999, 1_000_000).hit_rate;
        assert!((almost - 1e-6 * (-1.0f64).exp()).abs() < 1e-11, "{almost}");
    }

    #[test]
    fn in_task_duplicates_agree_with_counting_every_placement() {
        for tasks in 1..=4u64 {
            for k in 1..=5 {
                let placements = tasks.pow(k);
                let duplicates = |mut placement: u64| {
                    let mut used = 0u32;
                    (0..k).for_each(|_| {
                        used |= 1 << (placement % tasks);
                        placement /= tasks;
                    });
                    u64::from(k - used.count_ones())
                };
                let mean = (0..placements).map(duplicates).sum::<u64>() as f64 / placements as f64;
                let found = in_task_duplicates(&table(&[(k.into(), 1)]), tasks);
                assert!((found - mean).abs() < 1e-12, "{k} over {tasks}: {found}, not {mean}");
            }
        }
    }

    #[test]
    fn in_task_duplicates_stay_exact_where_they_are_rare() {
        let found = in_task_duplicates(&table(&[(2, 1_000_000_000_000)]), 1_000_000_000);
        assert!((found - 1000.0).abs() < 1.0, "{found}");
        assert_eq!(in_task_duplicates(&table(&[(1, 1 << 40)]), 3), 0.0);
        assert_eq!(in_task_duplicates(&table(&[(5, 2)]), 0), 8.0);
    }
}
