//! Numbers of whole runs equal the naive ones.

use onepull::commands::size::{Options, Origin, Reached, Report};

use super::model::{Object, Order, corpus, greedy, in_order, random_objects, smallest};
use super::{assert_near, options, save, size};
use crate::support::random::Random;

const TARGETS: [f64; 5] = [0.05, 0.2, 0.4, 0.6, 0.99];

/// Sums over all objects.
struct Whole {
    references: u64,
    /// Of known sizes.
    unique_bytes: u64,
    reference_bytes: u64,
}

impl Whole {
    fn new(objects: &[Object]) -> Whole {
        let bytes = |of: &Object| of.size.unwrap_or(0);
        Whole {
            references: objects.iter().map(|of| of.k).sum(),
            unique_bytes: objects.iter().map(bytes).sum(),
            reference_bytes: objects.iter().map(|of| of.k * bytes(of)).sum(),
        }
    }

    fn of_requests(&self, hits: u64) -> f64 {
        hits as f64 / self.references as f64
    }

    fn of_bytes(&self, hit_bytes: u64) -> f64 {
        hit_bytes as f64 / self.reference_bytes as f64
    }
}

#[test]
fn both_orders_are_those_of_a_naive_greedy_with_and_without_assumed_sizes() {
    for (seed, assumed) in [(1, None), (2, Some(400)), (3, Some(5_000))] {
        let mut random = Random::new(seed);
        let mut objects = random_objects(&mut random, 500);
        let corpus = corpus(&objects);
        objects.iter_mut().for_each(|of| of.size = of.size.or(assumed));
        let whole = Whole::new(&objects);
        let mut budgets: Vec<u64> =
            (0..150).map(|_| random.below(whole.unique_bytes as usize) as u64).collect();
        // Small ones, and those that end exactly with an object.
        budgets.extend((0..100).map(|_| random.below(5_000) as u64));
        budgets.extend([0, 1, whole.unique_bytes, 2 * whole.unique_bytes]);
        budgets.extend((1..80).filter_map(|hits| smallest(&objects, Order::Density, 9 * hits)));
        save(&corpus, 2, 1 << 30);
        let origin = Origin::Table(corpus.path("counts"));
        let targets = TARGETS.to_vec();
        let given = Options { origin, budgets, targets, assumed_size: assumed, ..options(&corpus) };
        let report = size(&given);

        assert!(report.budgets.len() > 250);
        for line in &report.budgets {
            let what = format!("seed {seed}, {} bytes", line.budget);
            assert_reached(&line.policies.count, &objects, Order::Count, line.budget, &what);
            assert_reached(&line.policies.density, &objects, Order::Density, line.budget, &what);
        }
        for point in &report.curve {
            let hits = |order| whole.of_requests(greedy(&objects, order, point.bytes).hits);
            assert_near(point.count, hits(Order::Count), "curve");
            assert_near(point.density, hits(Order::Density), "curve");
        }
        assert_answers(&report, &objects, &whole);
        assert_bounds(&report, &objects, &whole);
    }
}

fn assert_reached(found: &Reached, objects: &[Object], order: Order, budget: u64, what: &str) {
    let whole = Whole::new(objects);
    let naive = greedy(objects, order, budget);
    let what = format!("{what}, {order:?}");
    assert_eq!((found.objects, found.bytes, found.saved), (naive.objects, naive.bytes, None), "{what}");
    assert_near(found.hit_rate, whole.of_requests(naive.hits), &what);
    assert_near(found.byte_hit_rate, whole.of_bytes(naive.hit_bytes), &what);
    let left = naive.next.map(|(k, size)| (k, (budget - naive.bytes) as f64 / size as f64, size));
    let (gap, reached) = match order {
        Order::Count => (
            left.map_or(0.0, |(k, fits, size)| (k - 1) as f64 * fits * size as f64)
                / whole.reference_bytes as f64,
            found.byte_hit_rate,
        ),
        Order::Density => {
            (left.map_or(0.0, |(k, fits, _)| (k - 1) as f64 * fits) / whole.references as f64, found.hit_rate)
        }
    };
    assert_near(found.gap, gap, &what);
    assert_near(found.bound, reached + gap, &what);
}

/// Ceiling, smallest caches, equal caches and the knee.
fn assert_answers(r: &Report, objects: &[Object], whole: &Whole) {
    let recurring = in_order(objects, Order::Density);
    let (hits, bytes) = recurring.iter().fold((0, 0), |sum, of| (sum.0 + of.0 - 1, sum.1 + of.1));
    let (count, singletons) = (objects.len() as u64, objects.iter().filter(|of| of.k == 1).count() as u64);
    assert_eq!((r.references, r.objects, r.singletons), (whole.references, count, singletons));
    assert_eq!((r.unique_bytes, r.reference_bytes), (whole.unique_bytes, whole.reference_bytes));
    assert_near(r.ceiling, 1.0 - count as f64 / whole.references as f64, "ceiling");
    let byte_ceiling = 1.0 - whole.unique_bytes as f64 / whole.reference_bytes as f64;
    assert_near(r.byte_ceiling.unwrap(), byte_ceiling, "byte ceiling");
    assert_eq!((r.ceiling_bytes, r.ceiling_objects), (bytes, recurring.len() as u64));
    let sized = objects.iter().filter(|of| of.size.is_some()).count() as f64 / count as f64;
    assert_near(r.sized_share + r.assumed_share, sized, "share of sizes");
    assert_eq!((r.worthwhile_bytes, r.cost_without_cache, r.break_even), (None, None, None));

    let dense = |&&(k, size): &&(u64, u64)| (k - 1) * bytes >= hits * size;
    assert_eq!(r.knee_bytes, Some(recurring.iter().filter(dense).map(|of| of.1).sum()));

    assert_eq!(r.targets.len(), TARGETS.len());
    // Of the sizes in the report, too, some may do: what is larger than they are is set aside.
    let sizes = || r.budgets.iter().map(|line| line.budget).chain(r.curve.iter().map(|point| point.bytes));
    let least = |order, hits| {
        let admitted = sizes().map(|bytes| greedy(objects, order, bytes));
        let enough = admitted.filter(|of| of.hits >= hits).map(|of| of.bytes);
        enough.chain(smallest(objects, order, hits)).min()
    };
    for (of, target) in r.targets.iter().zip(TARGETS) {
        let hits = (target * whole.references as f64).ceil() as u64;
        assert_eq!(of.hit_rate, target);
        assert_eq!(of.count_bytes, least(Order::Count, hits), "{of:?}");
        assert_eq!(of.density_bytes, least(Order::Density, hits), "{of:?}");
    }
    let budgets = r.budgets.iter().map(|line| line.budget);
    let equal: Vec<(u64, Option<u64>)> = budgets
        .filter(|budget| *budget < bytes)
        .map(|budget| (budget, greedy(objects, Order::Density, budget).hits))
        .filter(|(_, hits)| *hits > 0)
        .map(|(budget, hits)| (budget, least(Order::Count, hits)))
        .collect();
    let found = r.equivalents.iter().map(|of| (of.density_bytes, Some(of.count_bytes)));
    assert_eq!(found.collect::<Vec<_>>(), equal);
    for of in &r.equivalents {
        assert_near(of.times, of.count_bytes as f64 / of.density_bytes as f64, "times");
    }
}

/// LRU by its formula for random order; of the bound what every bound must hold: nothing passes it, and it is no
/// more than all hits.
fn assert_bounds(r: &Report, objects: &[Object], whole: &Whole) {
    let all: Vec<(i32, u64)> = objects.iter().filter_map(|of| Some((of.k as i32, of.size?))).collect();
    let sum = |t: f64, of: fn(f64, u64) -> f64| -> f64 {
        all.iter().map(|&(k, size)| of(k as f64, size) * (1.0 - (1.0 - t).powi(k))).sum()
    };
    for line in r.budgets.iter().step_by(20) {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let t = (low + high) / 2.0;
            *if sum(t, |_, size| size as f64) <= line.budget as f64 { &mut low } else { &mut high } = t;
        }
        let lru = sum(low, |k, _| k - 1.0) / whole.references as f64;
        assert!((line.lru - lru).abs() < 1e-6, "{line:?}, {lru}");
    }
    for line in r.budgets.iter() {
        let best = line.policies.density.hit_rate.max(line.policies.count.hit_rate);
        assert!(line.any_policy_bound > best - 2e-3, "{line:?}");
    }
    // Objects larger than the cache are set aside, so that the least caches say little.
    let larger = r.budgets.iter().filter(|line| line.budget > 50_000);
    assert!(larger.clone().count() > 50);
    larger.for_each(|line| assert!(line.lru <= line.any_policy_bound + 1e-9, "{line:?}"));
    assert!(r.budgets.is_sorted_by(|a, b| a.lru <= b.lru && a.any_policy_bound <= b.any_policy_bound + 1e-9));
}

#[test]
fn without_budgets_the_sizes_are_round_and_reach_from_a_hundredth_to_all_bytes() {
    let objects = random_objects(&mut Random::new(4), 300);
    let report = size(&options(&corpus(&objects)));
    let all = report.unique_bytes;
    let budgets: Vec<u64> = report.budgets.iter().map(|line| line.budget).collect();
    assert!(budgets[0] >= all / 100 && budgets[0] <= all / 50, "{budgets:?} of {all}");
    assert!(*budgets.last().unwrap() >= all && budgets[budgets.len() - 2] < all, "{budgets:?} of {all}");
    let at_all = report.budgets.last().unwrap().policies;
    let sized: u64 = in_order(&objects, Order::Count).iter().map(|of| of.0 - 1).sum();
    assert_near(at_all.count.hit_rate, sized as f64 / report.references as f64, "all");
    assert_eq!(at_all.count.objects, report.ceiling_objects);
}
