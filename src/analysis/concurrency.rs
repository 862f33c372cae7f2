//! The hits that a shared cache loses when tasks run at the same time.
//!
//! Of P tasks W are in flight. Each looks up its keys when it starts and publishes what it read when it
//! ends, so it sees nothing of the others in flight. With references placed at random that gives an
//! expectation; where the place of each reference is known, a [`Schedule`] is replayed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::AddAssign;

use super::histogram::Bucket;

/// One pass with references placed at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedReads {
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
///
/// `buckets` hold each object with probability `share`, 1 where nothing is sampled, while `references` is
/// the exact number in the whole corpus. Knowing it removes most of the error of a sample, which comes
/// from the few objects with many references: hits = (1-u)·R - sum of (1 - u^k), and only the sum, whose
/// terms are below 1, is estimated.
pub fn expected(buckets: &[Bucket], share: f64, references: u64, workers: u64, tasks: u64) -> ExpectedReads {
    if references == 0 {
        return ExpectedReads { hit_rate: 0.0, source_reads: 0 };
    }
    // 1-u, exact also where u is almost 1.
    let apart = if workers >= tasks { 0.0 } else { (tasks - workers) as f64 / tasks as f64 };
    let all = references as f64;
    let scaled = |sum: f64| sum / share;
    let objects = scaled(buckets.iter().map(|bucket| bucket.objects as f64).sum());
    let first_reads = scaled(weighted(buckets, |k| -power_minus_one(-apart, k)));
    // Rounding and the error of a sample must not leave what is possible.
    let hits = (apart * all - first_reads).clamp(0.0, (all - objects).max(0.0));
    ExpectedReads { hit_rate: hits / all, source_reads: references - hits.round() as u64 }
}

/// References to an object that the same one of `tasks` references already, expected.
///
/// An object with k references is in P·(1 - (1 - 1/P)^k) of P tasks, the occupancy of P boxes by
/// k balls; the other k less that are duplicates. Some tools remove these without a cache.
pub fn in_task_duplicates(buckets: &[Bucket], tasks: u64) -> f64 {
    let tasks = tasks.max(1) as f64;
    weighted(buckets, |k| match k {
        0 | 1 => 0.0,
        _ => (k as f64 + tasks * power_minus_one(-1.0 / tasks, k)).max(0.0),
    })
}

/// Sum of a function of k over the objects.
fn weighted(buckets: &[Bucket], of: impl Fn(u64) -> f64) -> f64 {
    buckets.iter().map(|bucket| bucket.objects as f64 * of(bucket.k)).sum()
}

/// (1+x)^k - 1 for -1 <= x <= 0, without loss where x is small.
fn power_minus_one(x: f64, k: u64) -> f64 {
    (k as f64 * x.ln_1p()).exp_m1()
}

/// When each task runs: in order, on W workers. A task starts when a worker is free and takes one unit of
/// time per reference. At the same moment, ends come before starts. The schedule does not depend on what
/// tasks read, so it is made first and each object is replayed on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// By task.
    spans: Vec<TaskSpan>,
}

/// From a task's start to its end, in references handled by one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TaskSpan {
    start: u64,
    end: u64,
}

/// Source reads of one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayedReads {
    /// Every reference that is not a hit.
    pub source_reads: u64,
    /// When a task reads an object once, however often it names it.
    pub deduplicated_source_reads: u64,
}

impl Schedule {
    /// Places tasks that last `durations`, in this order, on `workers`, at least one. A task that
    /// has references must not last 0, or it would find what it publishes itself.
    pub fn new(durations: &[u64], workers: u64) -> Schedule {
        let workers = usize::try_from(workers).unwrap_or(usize::MAX).clamp(1, durations.len().max(1));
        let mut free: BinaryHeap<Reverse<u64>> = (0..workers).map(|_| Reverse(0)).collect();
        let mut place = |&duration: &u64| {
            let mut earliest = free.peek_mut().expect("there is a worker");
            let span = TaskSpan { start: earliest.0, end: earliest.0 + duration };
            *earliest = Reverse(span.end);
            span
        };
        Schedule { spans: durations.iter().map(&mut place).collect() }
    }

    /// The source reads of one object: a reference is a hit iff some task with the object ended
    /// at or before the start of its own.
    ///
    /// `tasks` gives each task that has the object once, with the number of its references to it,
    /// in any order.
    pub fn reads(&self, tasks: impl Iterator<Item = (u32, u64)> + Clone) -> ReplayedReads {
        let span = |task: u32| self.spans[task as usize];
        let published = tasks.clone().map(|(task, _)| span(task).end).min();
        let mut reads = ReplayedReads::default();
        for (task, references) in tasks {
            if published.is_some_and(|published| span(task).start < published) {
                reads.source_reads += references;
                reads.deduplicated_source_reads += 1;
            }
        }
        reads
    }
}

impl AddAssign for ReplayedReads {
    fn add_assign(&mut self, other: ReplayedReads) {
        self.source_reads += other.source_reads;
        self.deduplicated_source_reads += other.deduplicated_source_reads;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::super::samples::{self, Random, buckets};
    use super::*;

    fn references(buckets: &[Bucket]) -> u64 {
        buckets.iter().map(|bucket| bucket.k * bucket.objects).sum()
    }

    /// Without a sample.
    fn exact(buckets: &[Bucket], workers: u64, tasks: u64) -> ExpectedReads {
        expected(buckets, 1.0, references(buckets), workers, tasks)
    }

    #[test]
    fn hit_rates_at_the_law_are_those_of_the_published_table() {
        let law = samples::law();
        let published = [(100, 0.0), (50, 33.6), (25, 55.1), (10, 68.5), (5, 73.0), (2, 75.7), (1, 76.6)];
        for (workers, percent) in published {
            let found = exact(&law, workers, 100).hit_rate * 100.0;
            assert!((found - percent).abs() < 0.1, "u = {workers} %: {found}, not {percent}");
        }
    }

    #[test]
    fn the_founding_corpus_gives_the_simulated_hit_rates() {
        let founding = samples::founding();
        for (tasks, workers, simulated, formula) in samples::SIMULATED {
            let found = exact(&founding, workers, tasks).hit_rate;
            assert!((found - simulated).abs() < 0.006, "{workers} of {tasks}: {found}, not {simulated}");
            assert!((found - formula).abs() < 0.003, "{workers} of {tasks}: {found}, not {formula}");
        }
    }

    #[test]
    fn tasks_that_all_run_at_once_share_nothing() {
        let all = buckets(&[(1, 10), (7, 3), (1_000_000, 1)]);
        for (workers, tasks) in [(5, 5), (6, 5), (1, 1), (1, 0), (0, 0)] {
            let found = exact(&all, workers, tasks);
            assert_eq!(
                found,
                ExpectedReads { hit_rate: 0.0, source_reads: 1_000_031 },
                "{workers} of {tasks}"
            );
        }
        assert_eq!(exact(&[], 1, 8), ExpectedReads { hit_rate: 0.0, source_reads: 0 });
    }

    #[test]
    fn expected_reads_lie_between_objects_and_references_at_any_scale() {
        let all = buckets(&[(1, 1_000_000_000), (2, 1_000_000), (999_999, 7), (1_000_000, 3)]);
        let (objects, references) = (1_001_000_010, references(&all));
        let mut before = objects;
        for exponent in 0..50 {
            let found = exact(&all, 1 << exponent, 1 << 49);
            assert!((before..=references).contains(&found.source_reads), "{exponent}: {found:?}");
            before = found.source_reads;
        }
        assert_eq!(exact(&buckets(&[(1, 1_000_000_007)]), 3, 1000).hit_rate, 0.0);
        let almost = exact(&buckets(&[(1_000_000, 1)]), 999_999, 1_000_000).hit_rate;
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
                let found = in_task_duplicates(&buckets(&[(k.into(), 1)]), tasks);
                assert!((found - mean).abs() < 1e-12, "{k} over {tasks}: {found}, not {mean}");
            }
        }
    }

    #[test]
    fn in_task_duplicates_stay_exact_where_they_are_rare() {
        let found = in_task_duplicates(&buckets(&[(2, 1_000_000_000_000)]), 1_000_000_000);
        assert!((found - 1000.0).abs() < 1.0, "{found}");
        assert_eq!(in_task_duplicates(&buckets(&[(1, 1 << 40)]), 3), 0.0);
        assert_eq!(in_task_duplicates(&buckets(&[(5, 2)]), 0), 8.0);
    }

    /// The object of each reference, by task.
    type Placement = Vec<Vec<u32>>;

    /// Objects with their tasks, and the references in each.
    fn by_object(placement: &Placement) -> BTreeMap<u32, BTreeMap<u32, u64>> {
        let mut objects: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
        for (task, references) in (0..).zip(placement) {
            for &object in references {
                *objects.entry(object).or_default().entry(task).or_default() += 1;
            }
        }
        objects
    }

    fn replay(placement: &Placement, workers: u64) -> ReplayedReads {
        let durations: Vec<u64> = placement.iter().map(|references| references.len() as u64).collect();
        let schedule = Schedule::new(&durations, workers);
        let mut reads = ReplayedReads::default();
        for tasks in by_object(placement).values() {
            reads += schedule.reads(tasks.iter().map(|(&task, &references)| (task, references)));
        }
        reads
    }

    /// A clock that advances one reference at a time, and the keys that are published.
    fn brute_force(placement: &Placement, workers: usize) -> ReplayedReads {
        let mut published: HashSet<u32> = HashSet::new();
        let mut running: Vec<(usize, usize)> = Vec::new();
        let (mut waiting, mut now, mut reads) = (0..placement.len(), 0, ReplayedReads::default());
        loop {
            for &(task, _) in running.iter().filter(|&&(_, end)| end == now) {
                published.extend(&placement[task]);
            }
            running.retain(|&(_, end)| end > now);
            while running.len() < workers {
                let Some(task) = waiting.next() else { break };
                let missing = placement[task].iter().filter(|object| !published.contains(object));
                reads.source_reads += missing.clone().count() as u64;
                reads.deduplicated_source_reads += missing.collect::<HashSet<_>>().len() as u64;
                // Without references it ends as it starts, and its worker is free again.
                if !placement[task].is_empty() {
                    running.push((task, now + placement[task].len()));
                }
            }
            if running.is_empty() {
                return reads;
            }
            now += 1;
        }
    }

    #[test]
    fn a_replay_equals_a_simulation_to_the_last_reference() {
        let mut random = Random::new(1);
        for round in 0..400 {
            let (tasks, objects) = (1 + random.below(20), 1 + random.below(30));
            let longest = 1 + random.below(12);
            let placement: Placement = (0..tasks)
                .map(|_| (0..random.below(longest)).map(|_| random.below(objects) as u32).collect())
                .collect();
            for workers in [1, 2, 3, 7, 40] {
                let found = replay(&placement, workers as u64);
                assert_eq!(
                    found,
                    brute_force(&placement, workers),
                    "round {round}: {workers}, {placement:?}"
                );
            }
        }
    }

    #[test]
    fn tasks_take_the_worker_that_is_free_first() {
        let schedule = Schedule::new(&[5, 2, 0, 4, 1], 2);
        let spans: Vec<_> = schedule.spans.iter().map(|span| (span.start, span.end)).collect();
        assert_eq!(spans, [(0, 5), (0, 2), (2, 2), (2, 6), (5, 6)]);
        assert!(Schedule::new(&[], 3).spans.is_empty());
        assert_eq!(Schedule::new(&[3, 3], 0).spans[1].start, 3);
        assert_eq!(Schedule::new(&[3, 3], u64::MAX).spans[1].start, 0);
    }

    #[test]
    fn what_ends_at_a_moment_is_seen_by_what_starts_at_it() {
        // The second task starts when the first ends; references within one task do not help.
        let placement = vec![vec![7, 7, 7], vec![7, 7]];
        let reads = |source_reads, deduplicated_source_reads| ReplayedReads {
            source_reads,
            deduplicated_source_reads,
        };
        assert_eq!(replay(&placement, 1), reads(3, 1));
        assert_eq!(replay(&placement, 2), reads(5, 2));
    }

    #[test]
    fn a_random_placement_of_the_founding_corpus_gives_the_simulated_hit_rates() {
        let multiplicities = samples::founding_multiplicities();
        let references: u64 = multiplicities.iter().sum();
        for (tasks, workers, simulated, _) in samples::SIMULATED {
            let mut random = Random::new(tasks);
            let mut placement: Placement = vec![Vec::new(); tasks as usize];
            for (object, &k) in (0..).zip(&multiplicities) {
                (0..k).for_each(|_| placement[random.below(tasks) as usize].push(object));
            }
            let reads = replay(&placement, workers).source_reads;
            let found = 1.0 - reads as f64 / references as f64;
            assert!((found - simulated).abs() < 0.006, "{workers} of {tasks}: {found}, not {simulated}");
        }
    }
}
