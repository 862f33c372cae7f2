//! The text of whole reports, as strings.

use onepull::commands::Unreadable;
use onepull::commands::analyze::{
    Concentration, Concurrency, ContentComparison, Multiplicity, OracleBudget, Replayed, Report, Sample,
    Seconds, SourceShare, Timings,
};
use unicode_width::UnicodeWidthStr as _;

use crate::cli::args::Detail;

fn text(r: &Report, detail: Detail, columns: usize) -> String {
    super::report(r, detail, columns - 2)
}

fn report() -> Report {
    let of = |k, objects, bytes| Multiplicity { k, objects, bytes };
    let line = |workers, hit_rate, source_reads| Concurrency {
        workers,
        tasks: 8,
        hit_rate,
        source_reads,
        replayed: None,
    };
    Report {
        manifests: 8,
        rows: 15_000,
        rows_by_modality: [("image", 6_000), ("metadata", 0), ("text", 9_000)].into(),
        references: 6_000,
        objects: 3_003,
        duplicates: 2_997,
        spellings: 3_010,
        mean_multiplicity: 1.998002,
        median_multiplicity: 1,
        max_multiplicity: 997,
        singleton_share: 0.666,
        unique_bytes: 48_700_000,
        reference_bytes: 168_100_000,
        sized_share: 1.0,
        sized_reference_share: 1.0,
        oracle_hit_rate: 0.4995,
        oracle_byte_hit_rate: Some(0.710291),
        histogram: vec![of(1, 2_000, 0), of(2, 2, 0), of(3, 1_000, 0), of(997, 1, 0)],
        concentration: vec![
            Concentration { object_share: 0.001, objects: 4, hits: 1_002, hit_share: 0.334 },
            Concentration { object_share: 0.01, objects: 31, hits: 1_056, hit_share: 0.352 },
        ],
        budgets: vec![
            OracleBudget {
                budget_bytes: 1_000,
                byte_share: 0.00002,
                hit_rate: 0.0,
                byte_hit_rate: 0.0,
                objects: 0,
            },
            OracleBudget {
                budget_bytes: 5_000_000,
                byte_share: 0.1,
                hit_rate: 0.31,
                byte_hit_rate: 0.2,
                objects: 340,
            },
        ],
        sources: vec![SourceShare {
            prefix: "/data/images".into(),
            references: 4_500,
            objects: 2_000,
            bytes: 30_000_000,
        }],
        concurrency: vec![line(1, 0.4995, 3_003), line(4, 0.3, 4_200)],
        in_task_duplicates: 12,
        seconds: Seconds { scan: 0.1, group: 0.0, fetch: 0.0, total: 0.11 },
        advice: vec!["seven locators are spelt in two ways, which costs tools that compare texts".into()],
        ..Report::default()
    }
}

fn sampled() -> Report {
    let sample = Sample {
        share: 1.0 / 180.0,
        objects_counted: 17,
        references_counted: 33,
        objects: [2_900.4, 3_100.0],
        oracle_hit_rate: [0.49, 0.51],
        singleton_share: [0.64, 0.69],
        unique_bytes: [48_000_000.0, 49_000_000.0],
    };
    Report { sample: Some(sample), ..report() }
}

fn assert_holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn a_report_fits_80_columns() {
    assert_eq!(
        text(&report(), Detail::Usual, 80),
        "\
rows           15,000  in 8 manifests
                9,000  text
                6,000  image
references      6,000  = 3,003 objects + 2,997 duplicates
spellings       3,010  distinct locators as written
multiplicity    1.998  references per object; median 1, largest 997
               66.6 %  of the objects are referenced once
bytes         48.7 MB  in objects, 168.1 MB in references
ceiling       49.95 %  hit rate if every object is read once
              71.03 %  of the bytes
top objects     0.1 %  4 objects give 33.4 % of the hits
                1.0 %  31 objects give 35.2 % of the hits

multiplicity  objects  references    hits  objects, log scale
1               2,000      33.3 %     0 %  ###################################
2-3             1,002      50.1 %  66.8 %  ################################
4-511               0         0 %     0 %
512-1,023           1      16.6 %  33.2 %  ###

What the best fixed choice of objects reaches, by value density (k-1)/size:
cache size  of all bytes  hit rate  byte hit rate  objects
    5.0 MB        10.0 %   31.00 %        20.00 %      340

Workers sharing a cache, 8 tasks, each looks up first and stores last:
         expected  source  times
workers  hit rate   reads  ideal
      1   49.95 %   3,003   1.00
      4   30.00 %   4,200   1.40
    any   49.95 %   3,003   1.00
any: with key affinity, single flight, or counting before fetching
in-task: 12 duplicates (expected) within one task; some tools skip them

source        references   share  objects  mean k    bytes
/data/images       4,500  75.0 %    2,000    2.25  30.0 MB

time           0.11 s  scan   0.10 s  150,000 rows/s
                       group  0.00 s
note: seven locators are spelt in two ways, which costs tools that compare
      texts
"
    );
}

#[test]
fn a_wide_terminal_gets_longer_bars_and_no_line_passes_it() {
    let replayed = Replayed {
        hit_rate: 0.2,
        source_reads: 4_800,
        deduplicated_hit_rate: 0.25,
        deduplicated_source_reads: 4_500,
    };
    let mut report = report();
    report.concurrency[1].replayed = Some(replayed);
    for (columns, longest) in [(80, 35), (160, 80)] {
        let text = text(&report, Detail::Usual, columns);
        assert!(text.lines().all(|line| line.width() <= columns - 2), "{text}");
        let bars = text.lines().map(|line| line.matches('#').count());
        assert_eq!(bars.max(), Some(longest), "{text}");
    }
    assert_holds(
        &text(&report, Detail::Usual, 160),
        &["spelt in two ways, which costs tools that compare texts"],
    );
}

#[test]
fn a_replay_stands_beside_the_formula() {
    let mut report = report();
    let rates = Replayed {
        hit_rate: 0.2,
        source_reads: 4_800,
        deduplicated_hit_rate: 0.25,
        deduplicated_source_reads: 4_500,
    };
    report.concurrency[1].replayed = Some(rates);
    assert_holds(
        &text(&report, Detail::Usual, 80),
        &[
            "\
         expected  source  times  replayed  source  once a task
workers  hit rate   reads  ideal  hit rate   reads     hit rate
      1   49.95 %   3,003   1.00
      4   30.00 %   4,200   1.40   20.00 %   4,800      25.00 %
",
            "\nonce a task: if each task reads an object only once",
        ],
    );
}

#[test]
fn estimates_are_marked_and_exact_numbers_are_not() {
    let text = text(&sampled(), Detail::Usual, 80);
    assert_holds(
        &text,
        &[
            "references       6,000  = ~3,003 objects + ~2,997 duplicates",
            "sample           1/180  of the objects are counted: 17 objects, 33 references\n",
            "  objects  2,900 to 3,100\n",
            "  ceiling  49.00 % to 51.00 %\n",
            "  once     64.0 % to 69.0 %\n",
            "  bytes    48.0 MB to 49.0 MB\n",
            "multiplicity    ~1.998  references per object; median ~1, largest 997+",
            "ceiling       ~49.95 %",
            "multiplicity  ~objects",
            "~hit rate",
            "rows            15,000",
        ],
    );
}

#[test]
fn a_corpus_without_references_is_said_in_a_few_lines() {
    let report =
        Report { manifests: 1, rows: 2, rows_by_modality: [("text", 2)].into(), ..Report::default() };
    assert_eq!(
        text(&report, Detail::Usual, 80),
        "\
rows             2  in 1 manifest
                 2  text
references       0  no row needs an image, so there is nothing to fetch

time        0.00 s  scan   0.00 s
                    group  0.00 s
"
    );
}

#[test]
fn where_nothing_recurs_no_table_of_zeros_is_printed() {
    let once = Multiplicity { k: 1, objects: 6_000, bytes: 0 };
    let report = Report {
        objects: 6_000,
        duplicates: 0,
        oracle_hit_rate: 0.0,
        oracle_byte_hit_rate: None,
        sized_share: 0.0,
        unique_bytes: 0,
        budgets: vec![],
        histogram: vec![once],
        ..report()
    };
    let text = text(&report, Detail::Usual, 80);
    assert_holds(
        &text,
        &["= 6,000 objects + 0 duplicates", "bytes         unknown  no locator gives a size"],
    );
    for part in ["top objects", "cache size", "workers"] {
        assert!(!text.contains(part), "{part}\nis in\n{text}");
    }
}

#[test]
fn what_was_found_beside_is_listed() {
    let content = ContentComparison {
        objects: 1_000,
        failed: 3,
        payloads: 980,
        equal: 17,
        bytes: 144_000_000,
        examples: vec![["a.jpg".into(), "b\u{7}.jpg".into()]],
    };
    let timing = Timings {
        objects: 64,
        failed: 0,
        bytes: 9_000_000,
        source: 0.000_183,
        put: 0.0105,
        hit: 0.002,
        cache_pays: false,
    };
    let report = Report {
        content: Some(content),
        timing: Some(timing),
        errors: [("bad_locator", 2), ("bad_row", 12)].into(),
        bad_locator: 2,
        unreadable: vec![Unreadable { path: "x.parquet".into(), error: "not Parquet".into() }],
        spilled_bytes: 3_200_000,
        sized_share: 0.5,
        sized_reference_share: 0.75,
        ..report()
    };
    assert_holds(
        &text(&report, Detail::Usual, 160),
        &[
            "image rows      6,002  = 6,000 references + 2 with a bad locator",
            "; sizes are known for 50.0 % of the objects, 75.0 % of the references",
            "content           997  objects compared, 144.0 MB: 17 have the bytes of another one, 3 could not be read",
            "                       a.jpg\n                       = b\\u{7}.jpg\n",
            "timing             64  objects, 9.0 MB: source 183 us, put 10.50 ms, hit 2.00 ms each; \
         a cache costs more than it saves",
            "errors             14  12 bad_row\n                       2 bad_locator\n",
            "unreadable          1  x.parquet: not Parquet\n",
            "spilled        3.2 MB  went through temporary files\n",
            "fetch  0.00 s",
        ],
    );
}

#[test]
fn numbers_of_workers_that_run_all_tasks_at_once_share_a_line() {
    let mut report = report();
    let at_once =
        |workers| Concurrency { workers, hit_rate: 0.0, source_reads: 6_000, ..report.concurrency[0] };
    let lines = [at_once(8), at_once(1_000)];
    report.concurrency.extend(lines);
    assert_holds(
        &text(&report, Detail::Usual, 80),
        &[
            "      4   30.00 %   4,200   1.40\n     8+    0.00 %   6,000   2.00\n    any ",
            "\n8+: all tasks run at once, and none finds what another one reads\n",
        ],
    );
    report.concurrency = vec![Concurrency { tasks: 1, ..report.concurrency[0] }];
    assert_holds(
        &text(&report, Detail::Usual, 80),
        &["\n1: one task, which looks up before anything is stored\n"],
    );
}

#[test]
fn what_is_not_known_or_was_not_done_is_not_told_as_a_number() {
    let report = Report {
        content: Some(ContentComparison { objects: 3, failed: 3, ..ContentComparison::default() }),
        timing: Some(Timings { failed: 3, ..Timings::default() }),
        sized_share: 0.5,
        sized_reference_share: 0.5,
        ..report()
    };
    assert_holds(
        &text(&report, Detail::Usual, 80),
        &[
            "content             0  objects compared, 3 could not be read\n",
            "timing              0  objects timed, 3 could not be read\n",
            "              71.03 %  of the bytes, where sizes are known\n",
        ],
    );
}

#[test]
fn the_top_objects_of_a_small_corpus_are_the_share_that_they_are() {
    let one = |object_share| Concentration { object_share, objects: 1, hits: 5, hit_share: 0.5 };
    let report = Report { objects: 14, concentration: vec![one(0.001), one(0.01)], ..report() };
    let text = text(&report, Detail::Usual, 80);
    assert_holds(&text, &["top objects     7.1 %  1 object gives 50.0 % of the hits\n"]);
    assert_eq!(text.matches("of the hits").count(), 1);
}

#[test]
fn a_corpus_of_billions_fits_80_columns() {
    let replayed = Replayed {
        hit_rate: 0.7,
        source_reads: 474_657_908,
        deduplicated_hit_rate: 0.72,
        deduplicated_source_reads: 443_014_048,
    };
    let line = |workers| Concurrency {
        workers,
        tasks: 100_000,
        hit_rate: 0.68,
        source_reads: 1_582_193_028,
        replayed: Some(replayed),
    };
    let of = |k, objects| Multiplicity { k, objects, bytes: 0 };
    let report = Report {
        rows: 5_582_193_028,
        references: 1_582_193_028,
        objects: 355_970_000,
        duplicates: 1_226_223_028,
        unique_bytes: 51_000_000_000_000,
        reference_bytes: 220_000_000_000_000,
        histogram: vec![of(1, 143_099_940), of(1_584, 12)],
        concurrency: vec![line(256), line(200_000), line(1_000_000)],
        in_task_duplicates: 123_456_789,
        ..report()
    };
    let text = text(&report, Detail::Usual, 80);
    assert!(text.lines().all(|line| line.width() <= 78), "{text}");
}
