//! The text of whole reports, as strings.

use onepull::commands::Unreadable;
use onepull::commands::size::{
    BreakEven, Budget, Objective, Policies, ProbedSizes, Reached, Report, Seconds,
};
use unicode_width::UnicodeWidthStr as _;

use super::samples::report;
use crate::cli::args::Detail;

const SECONDS: Objective =
    Objective::Seconds { latency: 0.05, bandwidth: 100e6, hit_cost: 0.002, put_cost: 0.0105 };

fn text(r: &Report, objective: &Objective, detail: Detail, columns: usize) -> String {
    super::report(r, objective, detail, columns - 2)
}

fn usual(r: &Report) -> String {
    text(r, &Objective::Requests, Detail::Usual, 80)
}

/// The report of `objective`, in which a cache saves `saved` an object that is hit.
fn costing(objective: &'static str, cost: f64) -> Report {
    let mut report = report();
    for budget in &mut report.budgets {
        let saving = |of: Reached| Reached { saved: Some(cost * (of.hit_rate - 0.01)), ..of };
        let Policies { count, density, .. } = budget.policies;
        let own = Reached { hit_rate: density.hit_rate + 0.001, byte_hit_rate: 0.2, ..density };
        budget.policies =
            Policies { count: saving(count), density: saving(density), objective: Some(saving(own)) };
    }
    Report { objective, cost_without_cache: Some(cost), ..report }
}

fn assert_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

fn assert_fits(text: &str, columns: usize) {
    assert!(text.lines().all(|line| line.width() <= columns - 2), "{text}");
}

#[test]
fn a_report_fits_80_columns_and_starts_with_the_answers() {
    assert_eq!(
        usual(&report()),
        "\
references  1,582,193,028  = 355,970,000 objects + 1,226,223,028 duplicates
                   40.2 %  of objects are referenced once and never admitted
bytes             51.0 TB  in objects, 226.7 TB in references
ceiling           77.50 %  hit rate of an unlimited cache
                  77.45 %  of the bytes
                  30.3 TB  is the smallest such cache: 212,870,060 objects

target            40.00 %  hit rate takes 1.3 TB by density, 3.2 TB by count
                  80.00 %  hit rate is above the ceiling
equal              2.0 TB  by density reaches 46.40 %; by count that takes
                           4.4 TB, 2.21 times as much
knee               8.0 TB  by density; beyond it, one more byte gives less
                           than the average byte

Hit rate in % for each cache size, by references (hits) and by bytes:
                  ----- by count ------  ---- by density -----
   cache  of all                                                          any
    size   bytes   hits  bytes  objects   hits  bytes  objects    LRU  policy
500.0 GB     1.0  12.80  12.10    2.9 M  27.00   8.20   18.2 M   6.00   41.00
  1.0 TB     2.0  20.20  19.10    6.9 M  36.00  13.30   32.5 M   9.50   50.00
  2.0 TB     3.9  31.01  29.90   14.8 M  46.40  19.60   56.1 M  15.50   58.00
  5.0 TB     9.8  48.90  48.10   36.8 M  60.70  38.20  106.7 M  29.00   68.00
 30.3 TB    59.4  77.50  77.45  212.9 M  77.50  77.45  212.9 M  67.00   77.50
by count: most references first; by density: most hits per byte first
LRU, any policy: all objects compete, references come in random order
bound: no choice of objects gives over 0.0002 points more (bytes by count,
hits by density)

time           1 min 02 s  scan   40.0 s
                           group  20.0 s  79,109,651 references/s
                           size   2.10 s
note: from 500.0 GB on, a cache holds more than 10 million files (212,870,060
      at 30.3 TB); put it on a file system that can hold them
"
    );
}

#[test]
fn seconds_have_costs_a_break_even_and_their_own_order() {
    let report = Report {
        worthwhile_bytes: Some(15_000_000_000_000),
        break_even: Some(BreakEven { storing_all: 0.005_05, storing_repeated: 0.0038 }),
        ..costing("seconds", 8.2e7)
    };
    let narrow = text(&report, &SECONDS, Detail::Usual, 80);
    assert_fits(&narrow, 80);
    assert_holds(
        &narrow,
        &[
            "\
cost             949 days  without a cache, at latency 50.00 ms, bandwidth
                           100.0 MB/s, hit 2.00 ms, put 10.50 ms
worthwhile        15.0 TB  up to here, one more GB saves more than it costs
break-even        5.05 ms  per object: a cache pays if the source is slower
                  3.80 ms  per object, if only objects that repeat are stored
",
            "\
What a cache saves of the 949 days of all reads, after its own costs:
          ------ saved -------  -------------- by seconds --------------
   cache                         hits  bytes                     of cost
    size  by count  by density      %      %  objects     saved        %
500.0 GB  112 days    247 days  27.10  20.00   18.2 M  248 days     26.1
",
        ],
    );
}

#[test]
fn a_target_that_the_order_of_the_objective_misses_is_not_said_to_be_above_the_ceiling() {
    let mut report = costing("seconds", 8.2e7);
    let target = |report: &Report| {
        let text = text(report, &SECONDS, Detail::Usual, 80);
        assert_fits(&text, 80);
        let lines: Vec<_> = text.lines().skip_while(|line| !line.starts_with("target")).collect();
        lines[..lines.iter().position(|line| line.starts_with("equal")).unwrap()].join("\n")
    };
    assert_eq!(
        target(&report),
        "\
target            40.00 %  hit rate takes 1.3 TB by density, 3.2 TB by count;
                           by seconds it is out of reach: too few objects are
                           worth more than they cost
                  80.00 %  hit rate is above the ceiling"
    );
    report.targets[0].objective_bytes = Some(1_400_000_000_000);
    let reached = target(&report);
    assert_holds(&reached, &["1.3 TB by density, 3.2 TB by count,\n", "1.4 TB by seconds\n"]);
    assert!(!reached.contains("out of reach"), "{reached}");
}

#[test]
fn dollars_say_the_prices_and_when_no_cache_pays() {
    let prices = Objective::Dollars { price_get: 0.0004, egress: 0.02, price_storage: 0.08, months: 3.0 };
    let mut report = costing("dollars", 4_534_000.0);
    report.budgets[0].policies.objective = Some(Reached { saved: Some(-45_340.0), ..Reached::default() });
    let text = text(&report, &prices, Detail::Usual, 80);
    assert_fits(&text, 80);
    assert_holds(
        &text,
        &[
            "cost           $4,534,000  without a cache, at $0.0004 per 1000 GETs, $0.02\n",
            "worthwhile           none  a cache of any size costs more than it saves\n",
            "-$45,340     -1.0\n",
        ],
    );
    let free = Objective::Dollars { price_get: 0.0004, egress: 0.02, price_storage: 0.0, months: 3.0 };
    assert!(!super::report(&report, &free, Detail::Usual, 78).contains("worthwhile"));
}

#[test]
fn certificates_are_a_table_where_everything_is_asked_for() {
    for (report, objective) in [(report(), Objective::Requests), (costing("seconds", 8.2e7), SECONDS)] {
        let text = text(&report, &objective, Detail::Full, 80);
        assert_fits(&text, 80);
        assert_holds(
            &text,
            &["how far below it each order stays:\n", "31.0101 %  0.0002  46.4001 %  0.0002"],
        );
    }
    assert!(!usual(&report()).contains("below it each order"));
}

#[test]
fn many_files_are_a_warning_and_few_are_none() {
    let mut report = report();
    report.budgets.drain(..2);
    report.budgets.truncate(1);
    let spaces = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_holds(
        &spaces(usual(&report)),
        &["note: a cache of 2.0 TB holds 56,100,000 files by density; put it on a file system that can hold"],
    );
    report.budgets[0].policies.density.objects = 10_000_000;
    assert_holds(&usual(&report), &["note: a cache of 2.0 TB holds 14,800,000 files; put"]);
    report.budgets[0].policies.count.objects = 10_000_000;
    assert!(!usual(&report).contains("note:"));
}

#[test]
fn a_corpus_without_references_is_said_in_a_few_lines() {
    let report =
        Report { seconds: Seconds { read: 0.25, total: 0.25, ..Seconds::default() }, ..Report::default() };
    assert_eq!(
        usual(&report),
        "\
references       0  no row needs an image, so there is nothing to cache

time        0.25 s  read   0.25 s
                    size   0.00 s
"
    );
}

#[test]
fn where_nothing_recurs_there_is_no_table() {
    let report = Report { references: 7, objects: 7, singletons: 7, ceiling: 0.0, ..report() };
    let text = usual(&report);
    assert_holds(
        &text,
        &[
            "= 7 objects + 0 duplicates\n",
            "0.00 %  no object repeats: no cache gives a hit\n",
            "51.0 TB  in objects",
        ],
    );
    for part in ["cache size", "by density", "knee", "note:"] {
        assert!(!text.contains(part), "{part}\nis in\n{text}");
    }
}

#[test]
fn where_no_size_is_known_the_report_says_how_to_go_on() {
    let report = Report { sized_share: 0.0, byte_ceiling: None, unique_bytes: 0, ..report() };
    let text = usual(&report);
    assert_holds(
        &text,
        &[
            "unknown  no size is known; try --probe-sizes N or\n",
            " --assume-size SIZE\n",
            "77.50 %  hit rate of an unlimited cache\n",
        ],
    );
    for part in ["by density", "knee", "30.3 TB", "note:"] {
        assert!(!text.contains(part), "{part}\nis in\n{text}");
    }
    // There is nothing to ask where counts were saved, and no use in asking again where it failed.
    let saved = Report { seconds: Seconds { read: 1.0, ..report.seconds }, ..report.clone() };
    let failed = ProbedSizes { unknown: 9, asked: 9, failed: 9, ..ProbedSizes::default() };
    for report in [saved, Report { probed_sizes: Some(failed), ..report }] {
        let text = usual(&report);
        assert_holds(&text, &["unknown  no size is known; try --assume-size SIZE\n"]);
        assert!(!text.contains("--probe-sizes"), "{text}");
    }
}

#[test]
fn sizes_that_are_assumed_or_missing_are_said() {
    let report = Report { sized_share: 0.5, assumed_share: 0.25, ..report() };
    let mut unreachable = report.clone();
    unreachable.targets[0].count_bytes = None;
    unreachable.targets[0].density_bytes = None;
    assert_holds(
        &usual(&unreachable),
        &[
            "25.0 %  of the objects have an assumed size\n",
            "25.0 %  of the objects have no known size and are left out;\n",
            "77.45 %  of the bytes, where sizes are known\n",
            "30.3 TB  holds all that repeats and has a known size:\n",
            "40.00 %  hit rate is out of reach without the objects of\n",
            "80.00 %  hit rate is above the ceiling\n",
        ],
    );
}

#[test]
fn sizes_that_were_asked_for_say_of_how_many_and_how_far_off_they_may_be() {
    let probed = ProbedSizes {
        unknown: 43_784_310,
        asked: 200,
        answered: 197,
        failed: 3,
        mean: Some(11_912),
        standard_error: Some(803.6),
    };
    let report = Report { sized_share: 0.877, assumed_share: 0.123, probed_sizes: Some(probed), ..report() };
    let text = usual(&report);
    assert_fits(&text, 80);
    assert_holds(
        &text,
        &["\
asked                 200  of 43,784,310 objects of unknown size: the mean is
                           11.9 kB +/- 804 B, assumed for 12.3 % of all
                           objects; 3 did not answer
ceiling"],
    );
    assert!(text.contains("fetch"), "{text}");
    let failed = ProbedSizes { answered: 0, failed: 200, mean: None, standard_error: None, ..probed };
    let text = usual(&Report { assumed_share: 0.0, probed_sizes: Some(failed), ..report.clone() });
    assert_holds(&text, &["of 43,784,310 objects of unknown size: no source\n"]);
    let none = ProbedSizes::default();
    let text = usual(&Report { sized_share: 1.0, assumed_share: 0.0, probed_sizes: Some(none), ..report });
    assert!(!text.contains("asked") && !text.contains("fetch"), "{text}");
}

#[test]
fn an_empty_cache_and_one_larger_than_the_corpus_have_their_lines() {
    let mut report = report();
    let nothing = Reached::default();
    let ends = [(0, nothing, 0.0), (100_000_000_000_000, report.budgets[4].policies.density, 0.775)];
    report.budgets = ends
        .map(|(budget, of, rate)| Budget {
            budget,
            policies: Policies { count: of, density: of, objective: None },
            lru: rate,
            any_policy_bound: rate,
        })
        .to_vec();
    let text = usual(&report);
    assert_holds(
        &text,
        &[
            "\n     0 B       0   0.00   0.00        0   0.00   0.00        0   0.00    0.00\n",
            "\n100.0 TB     100  77.50  77.45  212.9 M  77.50  77.45  212.9 M  77.50   77.50\n",
        ],
    );
}

#[test]
fn what_could_not_be_read_is_listed() {
    let report = Report {
        errors: [("bad_locator", 2), ("bad_row", 12)].into(),
        unreadable: vec![Unreadable { path: "x.parquet".into(), error: "not Parquet".into() }],
        advice: vec!["a locator has a bell: \u{7}".into()],
        ..report()
    };
    assert_holds(
        &usual(&report),
        &["14  12 bad_row\n", "1  x.parquet: not Parquet\n", "note: a locator has a bell: \\u{7}\n"],
    );
}
