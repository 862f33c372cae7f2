//! Admission against tables small enough for every choice, and against the published corpus.

use std::cmp::Ordering;

use super::super::samples::{self, Random};
use super::*;
use crate::analysis::cost::Objective;

/// Objects drawn from the law, and of the corpus that it is calibrated to.
const DRAWN: usize = 2_000_000;
const CORPUS: f64 = 355.97e6;

const SECONDS: Policy =
    Policy::Objective(Objective::Seconds { latency: 2.0, bandwidth: 4.0, hit_cost: 0.5, put_cost: 3.0 });

/// Multiplicity and size.
type Row = (u64, u64);

fn table(rows: impl IntoIterator<Item = Row>) -> MultiplicityTable {
    let mut table = MultiplicityTable::default();
    rows.into_iter().for_each(|(k, size)| table.push(k, Some(size)));
    table.settle();
    table
}

fn sums<'a>(rows: impl IntoIterator<Item = &'a Row>) -> ObjectSums {
    let mut sums = ObjectSums::default();
    rows.into_iter().for_each(|&(k, size)| sums.add(&ObjectSums::new(k, size, 1)));
    sums
}

/// A budget of the published corpus, scaled to the draw.
fn scaled(terabytes: f64) -> u64 {
    (terabytes * 1e12 * DRAWN as f64 / CORPUS) as u64
}

fn percent(part: f64, whole: f64) -> f64 {
    100.0 * part / whole
}

/// In words of the definition, without a float where none is needed: what comes first.
fn order(policy: Policy, a: &Row, b: &Row) -> Ordering {
    let first = match policy {
        Policy::Count => b.0.cmp(&a.0),
        Policy::Density => ((b.0 - 1) * a.1).cmp(&((a.0 - 1) * b.1)),
        Policy::Objective(objective) => {
            let density = |row: &Row| objective.value(row.0, row.1) / row.1 as f64;
            density(b).total_cmp(&density(a))
        }
    };
    first.then(a.1.cmp(&b.1))
}

fn by_hand(rows: &[Row], policy: Policy, budget: u64) -> Vec<Row> {
    let pays = |row: &Row| match policy {
        Policy::Objective(objective) => objective.value(row.0, row.1) > 0.0,
        _ => true,
    };
    let mut rows: Vec<Row> =
        rows.iter().copied().filter(|row| row.0 > 1 && row.1 <= budget && pays(row)).collect();
    rows.sort_by(|a, b| order(policy, a, b));
    let mut left = budget;
    let fits = |row: &Row| left.checked_sub(row.1).inspect(|&rest| left = rest).is_some();
    rows.into_iter().take_while(fits).collect()
}

/// The best value of any choice of objects within the budget.
fn exhaustive(rows: &[Row], objective: Objective, budget: u64) -> f64 {
    let mut choices = vec![(0, 0.0)];
    for &(k, size) in rows {
        let with = |&(bytes, value): &(u64, f64)| (bytes + size, value + objective.value(k, size));
        choices.extend(choices.iter().map(with).filter(|choice| choice.0 <= budget).collect::<Vec<_>>());
    }
    choices.into_iter().map(|choice| choice.1).fold(0.0, f64::max)
}

/// Sizes from 1 on: a density without a remainder to compare is not defined for 0.
fn random_rows(random: &mut Random, objects: u64, largest: u64) -> Vec<Row> {
    (0..objects).map(|_| (1 + random.below(6), 1 + random.below(largest))).collect()
}

fn assert_as_by_hand(rows: &[Row], policy: Policy, budgets: &[u64]) {
    let objects = table(rows.iter().copied());
    let goals: Vec<_> = budgets.iter().map(|&budget| SearchGoal::Bytes { budget, overhead: 0 }).collect();
    let divided = search(&objects, policy, &goals, 0);
    assert_eq!(divided, search(&objects, policy, &goals, FEW));
    for (admission, found) in admit(&objects, policy, budgets).into_iter().zip(divided) {
        let expected = by_hand(rows, policy, admission.budget_bytes);
        assert_eq!(admission.admitted, sums(&expected), "{policy:?} {} {rows:?}", admission.budget_bytes);
        assert_eq!(found.sums, admission.admitted);
        assert_eq!(admitted(rows, &admission), expected);
    }
}

/// Those that are admitted, object by object, in the order of the policy.
fn admitted(rows: &[Row], admission: &Admission) -> Vec<Row> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| order(admission.policy, a, b));
    let mut last = 0;
    sorted.retain(|row| match admission.verdict(row.0, row.1) {
        Verdict::Admitted => true,
        Verdict::LeftOut => false,
        Verdict::AmongTheLast(objects) => {
            last += 1;
            last <= objects
        }
    });
    sorted
}

#[test]
fn small_tables_are_filled_as_by_hand_and_no_choice_passes_the_bound() {
    let mut random = Random::new(1);
    for _ in 0..500 {
        let (objects, largest) = (random.below(15), 1 + random.below(9));
        let rows = random_rows(&mut random, objects, largest);
        let budgets: Vec<_> = (0..4).map(|_| random.below(30)).chain([0, largest - 1, 1000]).collect();
        for policy in [Policy::Count, Policy::Density, SECONDS] {
            assert_as_by_hand(&rows, policy, &budgets);
            for found in admit(&table(rows.iter().copied()), policy, &budgets) {
                let best = exhaustive(&rows, policy.objective(), found.budget_bytes);
                assert!(
                    found.bound >= best - 1e-9 && found.value <= best + 1e-9,
                    "{found:?} {best} {rows:?}"
                );
                assert!(found.value + found.gap >= best - 1e-9 && found.gap >= 0.0);
            }
        }
    }
}

#[test]
fn entries_with_overhead_fill_the_budget_as_far_as_whole_objects_do() {
    let mut random = Random::new(11);
    for _ in 0..300 {
        let rows = random_rows(&mut random, 14, 12);
        let (budget, overhead) = (random.below(120), random.below(20));
        for policy in [Policy::Count, Policy::Density] {
            let found = admit_entries(&table(rows.iter().copied()), policy, &[budget], overhead).remove(0);
            let place = |row: &Row| row.1 + overhead;
            let mut fitting: Vec<Row> =
                rows.iter().copied().filter(|row| row.0 > 1 && place(row) <= budget).collect();
            fitting.sort_by(|a, b| order(policy, a, b));
            let mut left = budget;
            let fits = |row: &&Row| left.checked_sub(place(row)).inspect(|&rest| left = rest).is_some();
            let expected: Vec<Row> = fitting.iter().take_while(fits).copied().collect();
            assert_eq!(found.admitted, sums(&expected), "{policy:?} {budget} {overhead} {rows:?}");
            assert_eq!(admitted(&rows, &found), expected);
            assert!(found.gap >= 0.0 && found.gap.is_finite(), "{found:?}");
        }
    }
    // Each takes 1 + 96 bytes: ten entries, not none.
    let pixels = table((0..2_000).map(|_| (3, 1)));
    assert_eq!(admit_entries(&pixels, Policy::Density, &[1_000], 96)[0].admitted.objects, 10);
    assert_eq!(admit_entries(&table([(3, 0)]), Policy::Density, &[95, 96], 96)[0].admitted.objects, 0);
}

#[test]
fn ties_of_thousands_are_divided_by_size_then_by_number() {
    let mut random = Random::new(2);
    for (multiplicities, largest) in [(1, 1), (1, 50), (3, 1), (4, 1 << 36), (900, 7)] {
        let k = |random: &mut Random| 2 + random.below(multiplicities);
        let rows: Vec<Row> = (0..3000).map(|_| (k(&mut random), 1 + random.below(largest))).collect();
        let all = sums(&rows).bytes as f64;
        let budget = |_| (random.uniform() * random.uniform() * all) as u64;
        let budgets: Vec<_> = (0..7).map(budget).chain([1, largest / 2]).collect();
        for policy in [Policy::Count, Policy::Density] {
            assert_as_by_hand(&rows, policy, &budgets);
            // Here objects are larger than every budget.
            assert_as_by_hand(&rows, policy, &[largest / 4, largest / 2]);
        }
    }
}

#[test]
fn the_shortest_prefix_with_enough_hits_is_found() {
    let mut random = Random::new(4);
    for few in [0, FEW] {
        let rows = random_rows(&mut random, 400, 30);
        let objects = table(rows.iter().copied());
        let all = objects.totals().recurring.hits;
        for policy in [Policy::Count, Policy::Density] {
            let sorted = by_hand(&rows, policy, u64::MAX);
            let targets: Vec<_> = (0..=all + 1).step_by(7).chain([1, all, all + 1]).collect();
            let goals: Vec<_> = targets.iter().map(|&hits| SearchGoal::Hits(hits.max(1))).collect();
            let found = search(&objects, policy, &goals, few);
            for ((&target, reached), found) in
                targets.iter().zip(reach(&objects, policy, &targets)).zip(found)
            {
                let prefix = (0..=sorted.len()).map(|taken| sums(&sorted[..taken]));
                assert_eq!(reached, prefix.into_iter().find(|sums| sums.hits >= target));
                assert!(target == 0 || reached.is_none_or(|reached| reached == found.sums));
            }
        }
    }
}

#[test]
fn budgets_at_the_edges_admit_what_they_hold() {
    let rows = [(3, 10), (5, 20), (1, 1), (2, 0)];
    let objects = table(rows);
    for policy in [Policy::Count, Policy::Density] {
        let found = admit(&objects, policy, &[0, 9, 10, 30, u64::MAX]);
        let admitted = found.iter().map(|found| (found.admitted.objects, found.admitted.bytes));
        // The one of size 0 comes last by count, but nothing bars it.
        assert_eq!(admitted.collect::<Vec<_>>(), [(1, 0), (1, 0), (2, 10), (3, 30), (3, 30)]);
        assert!(found.iter().all(|found| found.gap == 0.0 && found.next.is_none()));
    }
    assert!(admit(&objects, Policy::Count, &[]).is_empty());
    let empty = &admit(&table([]), Policy::Density, &[0, 5])[1];
    assert_eq!((empty.admitted, empty.bound), (ObjectSums::default(), 0.0));
    let once = table((0..50).map(|size| (1, size)));
    assert_eq!(admit(&once, Policy::Density, &[1000])[0].admitted, ObjectSums::default());
    assert_eq!(reach(&once, Policy::Count, &[0, 1]), [Some(ObjectSums::default()), None]);
    assert_eq!(knee(&once, Policy::Count), ObjectSums::default());
}

#[test]
fn hostile_sizes_neither_wrap_nor_panic() {
    let objects = table([(u64::MAX >> 1, u64::MAX), (2, u64::MAX), (3, 1), (1 << 40, 0)]);
    for policy in [Policy::Count, Policy::Density, SECONDS] {
        let found = &admit(&objects, policy, &[u64::MAX])[0];
        assert!(found.admitted.bytes <= u64::MAX.into() && found.bound.is_finite(), "{found:?}");
        assert!(found.value <= found.bound);
    }
}

#[test]
fn the_admission_ends_at_the_first_object_that_does_not_fit() {
    let found = &admit(&table([(9, 5), (8, 7), (7, 1)]), Policy::Count, &[10])[0];
    assert_eq!((found.admitted.objects, found.next), (1, Some((8, 7))));
    assert_eq!((found.value, found.gap, found.bound), (40.0, 35.0, 75.0));
}

#[test]
fn the_knee_is_farthest_above_the_straight_line() {
    let rows = random_rows(&mut Random::new(5), 60, 40);
    let objects = table(rows.iter().copied());
    let sorted = by_hand(&rows, Policy::Density, u64::MAX);
    let all = sums(&sorted);
    let above = |at: &ObjectSums| at.hits as f64 - all.hits as f64 * (at.bytes as f64 / all.bytes as f64);
    let highest = (0..=sorted.len()).map(|taken| above(&sums(&sorted[..taken]))).fold(0.0, f64::max);
    let found = knee(&objects, Policy::Density);
    assert!((above(&found) - highest).abs() < 1e-9, "{found:?}");
    // On a straight line every point is as high; all of it is taken.
    let equal = table((0..9).map(|_| (7, 13)));
    assert_eq!(knee(&equal, Policy::Density).objects, 9);
}

#[test]
fn objects_that_cost_more_than_they_save_are_never_admitted() {
    // Kept for a month, a GB costs a dollar; a GET saves 0.001 and a GB read 0.1.
    let objective = Objective::Dollars { price_get: 1.0, egress: 0.1, price_storage: 1.0, months: 1.0 };
    let objects = table([(2, 1_000_000), (2, 10_000_000), (30, 10_000_000), (1, 1)]);
    let admission = admit(&objects, Policy::Objective(objective), &[u64::MAX])[0];
    assert_eq!(admission.admitted, sums(&[(2, 1_000_000), (30, 10_000_000)]));
    assert_eq!(worthwhile(&objects, Policy::Objective(objective)), admission.admitted);
    assert!((admission.value - (0.001 + 0.0001 - 0.001 + 29.0 * 0.002 - 0.01)).abs() < 1e-12);
}

#[test]
fn of_equal_sizes_both_orders_are_optimal() {
    let mut random = Random::new(6);
    for _ in 0..50 {
        let rows: Vec<Row> = (0..12).map(|_| (1 + random.below(9), 5)).collect();
        let objects = table(rows.iter().copied());
        for budget in [5, 12, 30, 60] {
            let admitted = |policy| admit(&objects, policy, &[budget])[0].admitted;
            assert_eq!(admitted(Policy::Count), admitted(Policy::Density));
            let best = exhaustive(&rows, Objective::Requests, budget);
            assert_eq!(admitted(Policy::Density).hits as f64, best);
            assert_eq!(admitted(Policy::Count).hit_bytes as f64, best * 5.0);
        }
    }
}

#[test]
fn a_draw_of_the_law_has_the_published_hit_rates_and_admits_just_these_objects() {
    let draw = samples::draw(DRAWN, 1);
    let law = samples::table_of(&draw);
    let totals = law.totals();
    let (references, bytes) = (totals.references as f64, totals.reference_bytes as f64);
    let hit_rate = |found: &Admission| percent(found.admitted.hits as f64, references);
    let byte_hit_rate = |found: &Admission| percent(found.admitted.hit_bytes as f64, bytes);
    let budgets = [1.0, 2.0, 3.0, 5.0, 10.0].map(scaled);
    let count = admit(&law, Policy::Count, &budgets);
    let density = admit(&law, Policy::Density, &budgets);
    let published = [(20.2, 36.0), (31.0, 46.4), (38.6, 52.8), (48.9, 60.7), (63.3, 70.0)];
    for ((count, density), (by_count, by_density)) in count.iter().zip(&density).zip(published) {
        let within = if count.budget_bytes == budgets[0] { 0.6 } else { 0.3 };
        assert!((hit_rate(count) - by_count).abs() < within, "{}, not {by_count}", hit_rate(count));
        assert!((hit_rate(density) - by_density).abs() < within, "{}, not {by_density}", hit_rate(density));
        // Each is the better one for its own objective.
        assert!(hit_rate(density) > hit_rate(count) && byte_hit_rate(count) > byte_hit_rate(density));
        // By count, the object that did not fit may be the largest of its multiplicity, which is
        // more of a draw than of the corpus.
        let gap = count.gap / bytes * if within > 0.3 { DRAWN as f64 / CORPUS } else { 1.0 };
        assert!(gap < 1e-5 && density.gap / references < 1e-5, "{gap}");
    }
    assert!((byte_hit_rate(&count[1]) - 29.9).abs() < 0.3, "{}", byte_hit_rate(&count[1]));
    assert!((byte_hit_rate(&density[1]) - 19.6).abs() < 0.3, "{}", byte_hit_rate(&density[1]));
    let millions = |found: &Admission| found.admitted.objects as f64 * CORPUS / DRAWN as f64 / 1e6;
    assert!((millions(&count[1]) - 14.8).abs() < 0.3, "{}", millions(&count[1]));
    assert!((millions(&density[1]) - 56.1).abs() < 0.5, "{}", millions(&density[1]));

    for admission in [&count[1], &density[1]] {
        let mut found = ObjectSums::default();
        law.recurring().for_each(|(k, size, objects)| match admission.verdict(k, size) {
            Verdict::Admitted => found.add(&ObjectSums::new(k, size, objects)),
            Verdict::AmongTheLast(objects) => found.add(&ObjectSums::new(k, size, objects)),
            Verdict::LeftOut => {}
        });
        assert_eq!(found, admission.admitted);
    }

    let equal = reach(&law, Policy::Count, &[density[1].admitted.hits])[0].unwrap();
    let larger = equal.bytes as f64 / budgets[1] as f64;
    assert!((larger - 2.21).abs() < 0.05, "{larger}");
    assert!((percent(totals.recurring.hits as f64, references) - 77.5).abs() < 0.1);
    // With 30.3 of the 51 TB.
    let share = totals.recurring.bytes as f64 / totals.unique_bytes as f64;
    assert!((share - 30.3 / 51.0).abs() < 0.005, "{share}");
}
