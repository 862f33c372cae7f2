//! What plots show, and that every report can be drawn.

use onepull::commands::analyze::{Multiplicity, Sample};
use plotters::coord::ranged1d::ValueFormatter as _;

use super::*;
use crate::cli::render::size::samples;

fn analysis() -> Analysis {
    let budget = |budget_bytes, hit_rate| OracleBudget {
        budget_bytes,
        byte_share: 0.5,
        hit_rate,
        byte_hit_rate: hit_rate / 2.0,
        objects: 1,
    };
    Analysis {
        references: 10,
        objects: 5,
        duplicates: 5,
        unique_bytes: 5_000,
        sized_share: 1.0,
        oracle_hit_rate: 0.5,
        oracle_byte_hit_rate: Some(0.4),
        histogram: vec![
            Multiplicity { k: 1, objects: 4, bytes: 4_000 },
            Multiplicity { k: 6, objects: 1, bytes: 1_000 },
        ],
        budgets: vec![budget(10_000, 0.3), budget(1_000_000, 0.5)],
        ..Analysis::default()
    }
}

fn assert_holds(svg: &str, parts: &[&str]) {
    for part in parts {
        assert!(svg.contains(part), "{part}\nis not in\n{svg}");
    }
    assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn an_analysis_has_its_numbers_with_units() {
    let svg = analyze(&analysis()).unwrap();
    assert_holds(&svg, &["10 references to 5 objects, ceiling 50.0 %", "10 kB", "1 MB", "ceiling"]);
}

#[test]
fn without_sizes_the_curve_is_over_objects_and_ends_at_the_ceiling() {
    // The scaled references of a sample are 10, those of the corpus 12.
    let of = Analysis { references: 12, oracle_hit_rate: 1.0 - 5.0 / 12.0, budgets: vec![], ..analysis() };
    let svg = analyze(&of).unwrap();
    assert_holds(&svg, &["most referenced first"]);
    assert!(!svg.contains("MB"), "{svg}");
    let points = |width: u32| {
        let start = format!("stroke=\"#0969DA\" stroke-width=\"{width}\" points=\"");
        svg.split_once(&start).and_then(|(_, rest)| rest.split('"').next()).expect("a line").trim()
    };
    let end = |points: &str| points.rsplit(',').next().map(str::to_owned);
    assert_eq!(end(points(2 * SCALE)), end(points(SCALE)));
}

#[test]
fn every_curve_of_a_sizing_has_its_name() {
    let report = samples::report();
    let svg = size(&report).unwrap();
    assert_holds(
        &svg,
        &[
            "1,582,193,028 references to 355,970,000 objects, ceiling 77.5 %",
            "by value density",
            "by count",
            "LRU, random order",
            "bound of any policy, random order",
            ">\nceiling\n",
            "10 TB",
        ],
    );
}

#[test]
fn the_smallest_reports_can_be_drawn_and_where_there_is_no_curve_a_sentence_says_why() {
    let once = Multiplicity { k: 1, objects: 1, bytes: 0 };
    let one = Analysis { references: 1, objects: 1, histogram: vec![once], ..Analysis::default() };
    let uncounted = Analysis {
        references: 7,
        sample: Some(Sample { share: 0.01, ..Sample::default() }),
        ..Analysis::default()
    };
    for (report, sentence) in [
        (&one, "no object repeats"),
        (&Analysis::default(), "nothing to draw"),
        (&uncounted, "no object repeats"),
    ] {
        assert_holds(&analyze(report).unwrap(), &[sentence]);
    }
    for (report, sentence) in [
        (Sizing::default(), "nothing to draw"),
        (Sizing { references: 5, objects: 5, ..Sizing::default() }, "no object repeats"),
        (Sizing { references: 5, objects: 4, ..Sizing::default() }, "no size is known"),
    ] {
        assert_holds(&size(&report).unwrap(), &[sentence]);
    }
}

#[test]
fn an_empty_cache_and_a_single_point_can_be_drawn() {
    let point = |bytes, rate| Point { bytes, count: rate, density: rate, lru: rate, any_policy_bound: rate };
    let mut report = samples::report();
    report.budgets.truncate(1);
    report.budgets[0].budget = 0;
    report.curve = vec![point(0, 0.0), point(7, 0.2)];
    let svg = size(&report).unwrap();
    assert_holds(&svg, &["by count"]);
}

#[test]
fn ticks_have_round_values_and_short_names() {
    let names = |axis: Axis| -> Vec<String> { axis.ticks.iter().map(|tick| axis.format_ext(tick)).collect() };
    let counts = |high| names(Axis::log("", 0.51..high, count_label));
    assert_eq!(counts(30.0), ["1", "2", "5", "10", "20"]);
    assert_eq!(counts(20_000.0), ["1", "10", "100", "1 k", "10 k"]);
    assert_eq!(counts(1e9), ["1", "100", "10 k", "1 M", "100 M"]);
    let sizes = Axis::log("", 4e9..4e13, size_label);
    assert_eq!(names(sizes), ["10 GB", "100 GB", "1 TB", "10 TB"]);
    assert_eq!(names(Axis::share("", 0.775)), ["0 %", "20 %", "40 %", "60 %", "80 %"]);
    assert_eq!(names(Axis::share("", 0.0011))[5..], ["0.1 %", "0.12 %"]);
    assert_eq!(names(Axis::share("", 0.0)).last().unwrap(), "100 %");
}
