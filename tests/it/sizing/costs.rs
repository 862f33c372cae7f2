//! Seconds and dollars of one small corpus, computed by hand.

use onepull::commands::size::{HitRateTarget, Objective, Options, Report};

use super::model::{Object, corpus, objects};
use super::{assert_near, command, options, size, stdout};
use crate::support::corpus::Corpus;

const SECONDS: Objective =
    Objective::Seconds { latency: 0.05, bandwidth: 1e6, hit_cost: 0.002, put_cost: 0.01 };
const DOLLARS: Objective =
    Objective::Dollars { price_get: 0.4, egress: 0.09, price_storage: 0.02, months: 3.0 };

/// 10 references to 4 objects, 6 of which are not the first to theirs.
const TABLE: [(u64, u64); 4] = [(5, 100_000), (2, 1_000_000), (2, 10), (1, 50)];

fn report(of: &[(u64, u64)], objective: Objective, budgets: &[u64]) -> Report {
    size(&Options { objective, budgets: budgets.to_vec(), ..options(&corpus(&objects(of))) })
}

#[test]
fn seconds_are_as_calculated_by_hand() {
    let report = report(&TABLE, SECONDS, &[100_010, 1_100_000]);
    // Ten times 50 ms, and 2,500,070 bytes at 1 MB/s.
    assert_near(report.cost_without_cache.unwrap(), 3.00007, "without a cache");
    // 4 · (50 + 100 - 2) - 10 ms; 50 + 1000 - 2 - 10 ms; 50 + 0.01 - 2 - 10 ms.
    let [first, second, third] = [0.582, 1.038, 0.03801];
    assert_eq!(report.worthwhile_bytes, Some(1_100_010));
    for line in &report.budgets {
        let own = line.policies.objective.unwrap();
        assert_eq!((own.objects, own.bytes), (2, 100_010), "{line:?}");
        assert_near(own.saved.unwrap(), first + third, "saved");
        assert_near(own.hit_rate, 0.5, "hit rate");
        assert_near(own.byte_hit_rate, 400_010.0 / 2_500_070.0, "byte hit rate");
        // Of what all three save. The second does not fit, or is larger than the cache.
        let (all, fits) = (first + second + third, if line.budget > 1_000_000 { 0.99999 } else { 0.0 });
        assert_near(own.gap, second * fits / all, "gap");
        assert_near(own.bound, (first + third + second * fits) / all, "bound");
    }
    let policies = report.budgets[1].policies;
    // The third by value density, the first by count; then the other one of these.
    assert_near(policies.count.saved.unwrap(), first + third, "by count");
    assert_near(policies.density.saved.unwrap(), first + third, "by density");
    let even = report.break_even.unwrap();
    assert_near(even.storing_all, 0.002 + 0.01 * 4.0 / 6.0, "storing all");
    assert_near(even.storing_repeated, 0.002 + 0.01 * 3.0 / 6.0, "storing what recurs");
}

#[test]
fn break_even_counts_objects_whatever_is_known_of_their_size() {
    let unknown = |k| Object { k, size: None };
    let known = |k| Object { k, size: Some(100) };
    let corpus = corpus(&[known(2), unknown(5), unknown(2), known(1), unknown(1)]);
    let even = size(&Options { objective: SECONDS, ..options(&corpus) }).break_even.unwrap();
    assert_near(even.storing_all, 0.002 + 0.01 * 5.0 / 6.0, "storing all");
    assert_near(even.storing_repeated, 0.002 + 0.01 * 3.0 / 6.0, "storing what recurs");
}

#[test]
fn an_object_that_does_not_win_its_put_back_is_never_admitted() {
    // A hit saves 7 ms and what its bytes take; the put costs 10 ms.
    let objective = Objective::Seconds { latency: 0.009, bandwidth: 1e9, hit_cost: 0.002, put_cost: 0.01 };
    let report = report(&TABLE, objective, &[2_000_000]);
    let own = report.budgets[0].policies.objective.unwrap();
    assert_eq!((own.objects, report.worthwhile_bytes), (1, Some(100_000)));
    assert_near(own.saved.unwrap(), 4.0 * 0.0071 - 0.01, "saved");
    // The others cost 2 and 2.99999 ms more than they save.
    let density = report.budgets[0].policies.density;
    assert_near(density.saved.unwrap(), 0.0184 - 0.002 - 0.00299999, "by density");
}

#[test]
fn targets_are_reached_where_a_walk_by_hand_reaches_them() {
    // 19 references; 8, 1, 4 and 1 hits. By value per byte: 4.16, 3.80, 0.0058 and 0.0010 ms.
    let table = [(9, 90), (2, 10), (5, 100_000), (2, 1_000_000), (1, 50)];
    let targets = [1, 8, 9, 12, 13, 14, 15].map(|hits| (f64::from(hits) - 0.5) / 19.0);
    let corpus = corpus(&objects(&table));
    let smallest = |objective| {
        let report = size(&Options { objective, targets: targets.to_vec(), ..options(&corpus) });
        let bytes = |of: HitRateTarget| [of.count_bytes, of.density_bytes, of.objective_bytes];
        report.targets.into_iter().map(bytes).collect::<Vec<_>>()
    };
    // By count nine hits take three objects, or a cache for which the largest two are too large.
    let walked = [
        [90, 10, 90],
        [90, 100, 90],
        [100, 100, 100],
        [100_090, 100_100, 100_100],
        [100_100, 100_100, 100_100],
        [1_100_100, 1_100_100, 1_100_100],
    ];
    let expected: Vec<_> = walked.map(|line| line.map(Some)).into_iter().chain([[None; 3]]).collect();
    assert_eq!(smallest(SECONDS), expected);
    let without = |line: &[Option<u64>; 3]| [line[0], line[1], None];
    assert_eq!(smallest(Objective::Requests), expected.iter().map(without).collect::<Vec<_>>());
    // The first and the third alone win their put back: 46.00072 and 18.4 ms, against -3 and -2 ms.
    let dear = Objective::Seconds { latency: 0.009, bandwidth: 1e9, hit_cost: 0.002, put_cost: 0.01 };
    let admitted = smallest(dear).into_iter().map(|line| line[2]).collect::<Vec<_>>();
    let [first, both] = [Some(90), Some(100_090)];
    assert_eq!(admitted, [first, first, both, both, None, None, None]);
}

#[test]
fn dollars_are_as_calculated_by_hand() {
    // The last costs more to keep than it saves: 0.0004 + 0.9 - 1.2 dollars over six months.
    let table = [&TABLE[..], &[(2, 10_000_000_000)]].concat();
    let objective = Objective::Dollars { price_get: 0.4, egress: 0.09, price_storage: 0.02, months: 6.0 };
    let report = report(&table, objective, &[100_000, 20_000_000_000]);
    // 12 GETs, and 20.00250007 GB.
    assert_near(report.cost_without_cache.unwrap(), 12.0 * 0.0004 + 20.00250007 * 0.09, "without a cache");
    // 4 · (0.0004 + 0.0001 GB · 0.09) - 0.0001 GB · 0.12, and so on.
    let [first, second, third] = [0.001_624, 0.000_37, 0.000_399_999_7];
    assert_eq!((report.worthwhile_bytes, report.break_even), (Some(1_100_010), None));
    let [least, most] = [&report.budgets[0], &report.budgets[1]].map(|line| line.policies);
    // By value per byte the third comes first, and leaves too little for the first.
    let own = least.objective.unwrap();
    assert_eq!((own.objects, own.bytes), (1, 10));
    assert_near(own.saved.unwrap(), third, "saved");
    assert_near(own.gap, first * 0.9999 / (first + second + third), "gap");
    let own = most.objective.unwrap();
    assert_eq!((own.objects, own.bytes, own.gap), (3, 1_100_010, 0.0));
    assert_near(own.saved.unwrap(), first + second + third, "saved");
    assert_near(own.bound, 1.0, "bound");
    // The simple orders take the last, too.
    let all = first + second + third + 0.0004 + 0.9 - 1.2;
    assert_near(most.count.saved.unwrap(), all, "by count");
    assert_near(most.density.saved.unwrap(), all, "by density");
}

#[test]
fn requests_and_bytes_have_no_order_of_their_own_and_no_costs() {
    for objective in [Objective::Requests, Objective::Bytes] {
        let report = report(&TABLE, objective, &[100_010]);
        let policies = report.budgets[0].policies;
        assert_eq!((policies.objective, policies.count.saved, policies.density.saved), (None, None, None));
        assert_eq!((report.cost_without_cache, report.worthwhile_bytes), (None, None));
        assert_eq!(report.break_even, None);
    }
}

#[test]
fn the_text_says_costs_savings_and_where_they_end() {
    let corpus = corpus(&objects(&TABLE));
    let flags = ["in", "--budget", "1.1MB", "--objective", "seconds", "--bandwidth", "1MB/s"];
    let text = stdout(&mut command(&corpus, &flags));
    for part in
        ["3.00 s", "without a cache, at latency 50.00 ms", "worthwhile", "8.67 ms", "7.00 ms", "0.62 s"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_targets_are_told(&corpus);
    let text =
        stdout(&mut command(&corpus, &["in", "--objective", "dollars", "--egress", "0", "--price-get", "0"]));
    assert!(text.contains("a cache of any size costs more than it saves"), "{text}");
    assert!(!text.contains("NaN"), "{text}");
    let mut wrong = command(&corpus, &["in", "--latency", "50ms"]);
    let told = predicates::str::contains("--latency needs --objective seconds");
    wrong.assert().code(2).stdout("").stderr(told);
    let objective = report(&TABLE, DOLLARS, &[]).objective;
    assert_eq!((objective, report(&TABLE, SECONDS, &[]).objective), ("dollars", "seconds"));
}

/// Within its reach, beyond what is worth its cost, above the ceiling.
fn assert_targets_are_told(corpus: &Corpus) {
    let costs = ["--latency", "9ms", "--bandwidth", "1GB/s", "--put-cost", "10ms", "--hit-cost", "2ms"];
    let flags = ["in", "--objective", "seconds", "--target", "40%,50%,70%"];
    let text = stdout(&mut command(corpus, &[&flags[..], &costs].concat()));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "100.0 kB by density, 100.0 kB by count, 100.0 kB by seconds 50.00 %",
        "by count; by seconds it is out of reach: too few objects are worth more than they cost 70.00 %",
        "70.00 % hit rate is above the ceiling",
    ] {
        assert!(words.contains(part), "{part} is not in\n{text}");
    }
}
