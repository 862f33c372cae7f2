//! What becomes of rows that fail: the four policies, and how many failures are a success.

use super::*;
use crate::support::files;

/// Kinds of failure: met while rows are scanned, while payloads are fetched, while rows are
/// written.
const FAILURES: [(&str, &str); 3] = [
    ("bad_locator", "{"),
    ("not_found", r#"{"path":"missing"}"#),
    ("frame_missing", r#"{"path":"empty.tiff","frame_index":7}"#),
];

/// Three samples of two images each; the second image of `s1` fails.
fn bench(failure: &str) -> Bench {
    let bench = Bench::new();
    bench.write("data/good", "good").write("data/empty.tiff", b"II*\0\x08\0\0\0\0\0\0\0\0\0");
    let row = |sample: &str, position, text: &str| Row::image(sample, position, text);
    let good = whole("good").to_string();
    let rows = [
        row("s0", 0, &good),
        row("s0", 1, &good),
        row("s1", 0, &good),
        row("s1", 1, failure),
        row("s2", 0, &good),
        row("s2", 1, &good),
    ];
    bench.jsonl("in/m.jsonl", &rows);
    bench
}

/// Samples and positions of the rows of a shard.
fn places(rows: &[Written]) -> Vec<(&str, i64)> {
    rows.iter().map(|row| (row.sample_id.as_str(), row.position)).collect()
}

#[test]
fn kept_rows_carry_their_error_and_dropped_ones_are_counted() {
    let all = [("s0", 0), ("s0", 1), ("s1", 0), ("s1", 1), ("s2", 0), ("s2", 1)];
    for (class, failure) in FAILURES {
        let bench = bench(failure);
        for format in FORMATS {
            for (policy, gone) in [("keep", &all[..0]), ("drop-row", &all[3..4]), ("drop-sample", &all[2..4])]
            {
                let run = bench.run_afresh(&["--format", format, "--on-error", policy]);
                let context = format!("{class} {format} {policy}: {}", run.stderr);
                assert_eq!((run.code, &run.report["errors"]), (3, &json!({class: 1})), "{context}");
                let rows = bench.shard(format);
                let left: Vec<_> = all.iter().copied().filter(|place| !gone.contains(place)).collect();
                assert_eq!(places(&rows), left, "{context}");
                assert_eq!(run.count("rows_dropped"), gone.len() as u64, "{context}");
                for row in rows {
                    let bad = (row.sample_id.as_str(), row.position) == all[3];
                    assert_eq!(row.payload.is_none(), bad, "{context}");
                    assert_eq!(row.error.is_some_and(|error| error.starts_with(class)), bad, "{context}");
                }
            }
        }
    }
}

#[test]
fn a_run_that_must_not_fail_ends_with_the_reason_and_without_a_shard() {
    for (class, failure) in FAILURES {
        let bench = bench(failure);
        for format in FORMATS {
            let run = bench.run_afresh(&["--format", format, "--on-error", "fail"]);
            assert_eq!((run.code, &run.report), (1, &Value::Null), "{class}: {}", run.stderr);
            let ends = run.stderr.lines().last().unwrap();
            assert!(ends.starts_with("error: ") && ends.contains(&format!("{class}: ")), "{ends}");
            assert!(files::shards(&bench.path("out")).is_empty(), "{class} {format}");
        }
    }
}

#[test]
fn failures_up_to_the_limit_are_a_success() {
    for (class, failure) in FAILURES {
        let bench = bench(failure);
        for (limit, code) in [("0", 3), ("1", 0), ("10%", 3), ("25%", 0), ("100%", 0), ("0%", 3)] {
            for policy in ["keep", "drop-row", "drop-sample"] {
                let run = bench.run(&["--overwrite", "--max-errors", limit, "--on-error", policy]);
                assert_eq!(run.code, code, "{class}, {limit}, {policy}: {}", run.stderr);
            }
        }
    }
}

#[test]
fn a_sample_is_dropped_whole_also_when_it_is_longer_than_a_batch() {
    let bench = Bench::new();
    bench.write("data/good", "good");
    let good = whole("good").to_string();
    let mut rows: Vec<Row> = (0..2500).map(|at| Row::text("long", at, "words")).collect();
    rows.push(Row::image("long", 2500, whole("missing").to_string()));
    rows.extend((0..3).map(|at| Row::image("other", at, good.clone())));
    bench.write("in/m.parquet", manifests::parquet(&rows, 1000));
    for format in FORMATS {
        let flags = ["--format", format, "--on-error", "drop-sample", "--row-group-size", "1kB"];
        let run = bench.run_afresh(&flags);
        assert_eq!(run.count("rows_dropped"), 2501, "{}", run.stderr);
        assert_eq!(places(&bench.shard(format)), [("other", 0), ("other", 1), ("other", 2)]);
    }
}

#[test]
fn a_row_that_failed_before_loses_its_error_when_it_is_served() {
    let bench = Bench::new();
    bench.write("data/good", "good");
    let mut row = image("s", whole("good")).json();
    row["materialize_error"] = json!("not_found: it was not there yesterday");
    bench.write("in/m.jsonl", row.to_string());
    for format in FORMATS {
        bench.run_afresh(&["--format", format]).complete();
        let rows = bench.shard(format);
        assert_eq!((rows[0].payload.as_deref(), &rows[0].error), (Some(&b"good"[..]), &None));
    }
}
