//! What a cache shared by tasks loses when tasks run at the same time: a replay.
//!
//! Tasks run in order on W workers. A task starts when a worker is free, lasts as long as it has
//! references, looks all its keys up when it starts and publishes them when it ends. What ends at
//! one moment comes before what starts at it. When a task runs depends on nothing that it reads,
//! so the schedule comes first and each object is replayed by itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::AddAssign;

/// When each task runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// By task.
    spans: Vec<Span>,
}

/// From a task's start to its end, in references handled by one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u64,
    end: u64,
}

/// Source reads of one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Every reference that is no hit.
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
            let span = Span { start: earliest.0, end: earliest.0 + duration };
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
    pub fn reads(&self, tasks: impl Iterator<Item = (u32, u64)> + Clone) -> Reads {
        let span = |task: u32| self.spans[task as usize];
        let published = tasks.clone().map(|(task, _)| span(task).end).min();
        let mut reads = Reads::default();
        for (task, references) in tasks {
            if published.is_some_and(|published| span(task).start < published) {
                reads.source_reads += references;
                reads.deduplicated_source_reads += 1;
            }
        }
        reads
    }
}

impl AddAssign for Reads {
    fn add_assign(&mut self, other: Reads) {
        self.source_reads += other.source_reads;
        self.deduplicated_source_reads += other.deduplicated_source_reads;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::super::samples::{self, Random};
    use super::*;

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

    fn replay(placement: &Placement, workers: u64) -> Reads {
        let durations: Vec<u64> = placement.iter().map(|references| references.len() as u64).collect();
        let schedule = Schedule::new(&durations, workers);
        let mut reads = Reads::default();
        for tasks in by_object(placement).values() {
            reads += schedule.reads(tasks.iter().map(|(&task, &references)| (task, references)));
        }
        reads
    }

    /// A clock that advances one reference at a time, and the keys that are published.
    fn brute_force(placement: &Placement, workers: usize) -> Reads {
        let mut published: HashSet<u32> = HashSet::new();
        let mut running: Vec<(usize, usize)> = Vec::new();
        let (mut waiting, mut now, mut reads) = (0..placement.len(), 0, Reads::default());
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
        let reads =
            |source_reads, deduplicated_source_reads| Reads { source_reads, deduplicated_source_reads };
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
