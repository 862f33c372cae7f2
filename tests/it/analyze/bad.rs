//! What is wrong with a corpus is named and counted, and the rest counted as if it were not there.

use std::fs;
use std::time::{Duration, Instant};

use onepull::commands::analyze::{Options, run};
use onepull::monitor::Phase;
use predicates::str::contains;
use serde_json::json;

use super::forms::Form;
use super::model::{Manifest, write};
use super::{analyze, analyze_told, assert_same, lasting, options};
use crate::support::corpus::{Corpus, whole};
use crate::support::manifests::{self, Row};
use crate::support::meddler::Meddler;
use crate::support::random::Random;
use crate::support::run::onepull;

/// The command over all manifests of the corpus.
fn command(corpus: &Corpus) -> assert_cmd::Command {
    let mut command = onepull();
    command.arg("analyze").arg(corpus.path("in")).args(["--progress", "none"]);
    command
}

#[test]
fn an_empty_folder_is_no_error_and_what_would_be_a_manifest_is_said() {
    let corpus = Corpus::new();
    let (report, problems) = analyze_told(&options(&corpus));
    assert_eq!((report.manifests, report.rows, report.references), (0, 0, 0));
    assert!(problems.len() == 1 && problems[0].starts_with("no manifests (*.parquet, "), "{problems:?}");
    let folder = corpus.path("in").display().to_string();
    command(&corpus).assert().code(0).stdout(contains("rows")).stderr(contains(&folder));
}

#[test]
fn a_corpus_without_references_has_nothing_to_fetch() {
    let corpus = Corpus::new();
    corpus.jsonl("a.jsonl", &[Row::text("s", 0, "x"), Row::text("s", 1, "y")]);
    corpus.parquet("b.parquet", &[Row::text("s", 0, "x")]);
    corpus.manifest("c.jsonl", b"");
    corpus.parquet("d.parquet", &[]);
    let report = analyze(&Options { simulate: true, ..options(&corpus) });
    assert_eq!((report.manifests, report.rows, report.references, report.objects), (4, 3, 0, 0));
    assert_eq!((report.oracle_hit_rate, report.mean_multiplicity), (0.0, 0.0));
    assert!(report.histogram.is_empty() && report.concurrency.is_empty() && report.budgets.is_empty());
    command(&corpus).arg("--simulate").assert().code(0).stdout(contains("nothing to fetch")).stderr("");
}

#[test]
fn where_nothing_recurs_the_advice_says_that_no_cache_helps() {
    let corpus = Corpus::new();
    let rows: Vec<_> = (0..20).map(|n| Row::image("s", n, whole(&format!("/{n}")))).collect();
    corpus.jsonl("a.jsonl", &rows);
    let report = analyze(&options(&corpus));
    assert_eq!((report.objects, report.duplicates, report.singleton_share), (20, 0, 1.0));
    assert_eq!((report.oracle_hit_rate, report.max_multiplicity), (0.0, 1));
    command(&corpus).assert().code(0).stdout(contains("no object is referenced twice")).stderr("");
}

#[test]
fn where_all_images_are_present_there_is_nothing_to_fetch() {
    let corpus = Corpus::new();
    let row = Row::image("s", 0, whole("/a"));
    let mut value = row.json();
    value["binary_content"] = json!("AAAA");
    let lines = format!("{value}\n{value}\n");
    corpus.manifest("a.jsonl", lines.as_bytes());
    let report = analyze(&options(&corpus));
    assert_eq!((report.already_present, report.references, report.objects), (2, 0, 0));
    command(&corpus).assert().code(0).stdout(contains("all image rows already have their images"));
    // One that is missing is a reference beside them.
    corpus.jsonl("b.jsonl", &[row]);
    let report = analyze(&options(&corpus));
    assert_eq!((report.already_present, report.references, report.objects), (2, 1, 1));
}

#[test]
fn manifests_that_cannot_be_read_are_named_and_the_rest_is_counted_as_without_them() {
    let corpus = Corpus::new();
    let mut random = Random::new(5);
    let good: Vec<Manifest> = (0..6).map(|_| Manifest::random(&mut random, 400, 300)).collect();
    write(&corpus, &good);
    let options = Options { simulate: true, ..options(&corpus) };
    let mut expected = lasting(&analyze(&options));

    let rows = Manifest::random(&mut random, 5_000, 900).rows;
    let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let mut damaged = manifests::parquet(&rows, 500);
    let middle = damaged.len() / 2;
    damaged[middle - 3_000..middle].fill(0);
    let no_locators = {
        let table = manifests::table(&rows);
        let names: Vec<usize> = (0..table.num_columns() - 1).collect();
        parquet_of(&table.project(&names).unwrap())
    };
    let bad = [
        ("00-tail.parquet", half(Form::Encoded.bytes(&rows))),
        ("02-damaged.parquet", damaged),
        ("02-other.parquet", b"this is no Parquet file".to_vec()),
        ("03-half.jsonl.gz", half(Form::Gzip.bytes(&rows))),
        ("03-half.jsonl.zst", half(Form::Zstd.bytes(&rows))),
        ("04-column.parquet", no_locators),
        ("99-empty.jsonl.gz", Vec::new()),
    ];
    bad.iter().for_each(|(name, bytes)| drop(corpus.manifest(name, bytes)));
    let mut told = None;
    for jobs in [1, 2, 8] {
        let (report, problems) = analyze_told(&Options { jobs, ..options.clone() });
        assert_eq!(told.get_or_insert(problems.clone()), &problems, "the same at {jobs} jobs");
        assert_eq!(report.unreadable.len(), bad.len(), "{:#?}", report.unreadable);
        assert_eq!(problems.len(), bad.len(), "{problems:#?}");
        for (name, _) in &bad {
            let path = corpus.path("in").join(name).display().to_string();
            let unreadable: Vec<_> = report.unreadable.iter().filter(|of| of.path == path).collect();
            assert!(unreadable.len() == 1 && !unreadable[0].error.contains(&path), "{unreadable:?}");
            let said = |problem: &&String| problem.contains(&path) && problem.contains("left out");
            assert_eq!(problems.iter().filter(said).count(), 1, "{problems:#?}");
        }
        let found = lasting(&report);
        expected["unreadable"] = found["unreadable"].clone();
        assert_same(&expected, &found, &format!("{jobs} jobs"));
    }
    let mut assert = command(&corpus).assert().code(3).stderr(contains("7 manifests could not be read"));
    for (name, _) in &bad {
        assert = assert.stderr(contains(*name));
    }
    assert.stdout(contains("6 manifests"));
}

fn parquet_of(table: &arrow_array::RecordBatch) -> Vec<u8> {
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), table.schema(), None).unwrap();
    writer.write(table).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_manifest_that_changes_while_it_is_read_is_left_out_and_named() {
    let row = |n: usize| Row::image("s", n as i32, whole(&format!("/{}", n % 7)));
    let rows: Vec<_> = (0..40).map(row).collect();
    for (name, other) in [("b.jsonl", &rows[..9]), ("b.parquet", &rows[..9]), ("b.parquet", &[])] {
        let corpus = Corpus::new();
        corpus.jsonl("a.jsonl", &rows[..20]);
        let write = |rows: &[Row]| match name {
            "b.jsonl" => corpus.jsonl(name, rows),
            _ => corpus.parquet(name, rows),
        };
        let path = write(&rows).display().to_string();
        let report =
            run(&options(&corpus), &Meddler { phase: Phase::Scan, act: || drop(write(other)) }).unwrap();
        assert_eq!((report.manifests, report.rows, report.references), (1, 20, 20));
        assert_eq!((report.unreadable.len(), &report.unreadable[0].path), (1, &path));
        assert!(
            report.unreadable[0].error.contains("changed while it was being read"),
            "{:?}",
            report.unreadable
        );
    }
}

#[test]
fn manifests_that_are_given_twice_are_named() {
    let corpus = Corpus::new();
    let rows: Vec<_> = (0..5).map(|n| Row::image("s", n, whole(&format!("{n}")))).collect();
    let path = corpus.jsonl("a.jsonl", &rows);
    corpus.parquet("b.parquet", &rows);
    let mut options = options(&corpus);
    options.manifests.extend([path.clone(), corpus.path("in/../in/b.parquet"), path]);
    let (report, problems) = analyze_told(&options);
    assert_eq!((report.manifests, report.references, report.objects), (5, 25, 5));
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.contains("listed more than once")), "{problems:?}");
}

#[test]
fn a_file_that_means_something_else_from_another_folder_is_another_manifest() {
    let corpus = Corpus::new();
    let path = corpus.jsonl("a.jsonl", &[Row::image("s", 0, whole("x.jpg"))]);
    fs::create_dir(corpus.path("in/sub")).unwrap();
    std::os::unix::fs::symlink(&path, corpus.path("in/sub/a.jsonl")).unwrap();
    let report = analyze(&options(&corpus));
    assert_eq!((report.manifests, report.references, report.objects), (2, 2, 2));
}

#[test]
fn the_time_for_a_file_grows_with_its_row_groups_not_with_their_square() {
    let corpus = Corpus::new();
    let rows: Vec<_> = (0..4_000).map(|n| Row::image("s", n, whole(&format!("/{}", n % 9)))).collect();
    corpus.manifest("a.parquet", &manifests::parquet(&rows, 1));
    let start = Instant::now();
    let report = analyze(&options(&corpus));
    // A footer for each row group would take minutes.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!((report.references, report.objects), (4_000, 9));
}

#[test]
fn only_manifests_that_cannot_be_read_are_a_report_too() {
    let corpus = Corpus::new();
    corpus.manifest("a.parquet", b"nothing");
    let (report, _) = analyze_told(&options(&corpus));
    assert_eq!((report.manifests, report.rows, report.unreadable.len()), (0, 0, 1));
    command(&corpus).assert().code(3).stderr(contains("1 manifest could not be read"));
}

#[test]
fn an_input_that_is_not_there_fails() {
    let corpus = Corpus::new();
    command(&corpus).arg("missing").assert().code(1).stdout("").stderr(contains("missing"));
    fs::remove_dir(corpus.path("in")).unwrap();
    command(&corpus).assert().code(1).stdout("").stderr(contains(corpus.path("in").display().to_string()));
}

/// Four locators that are none, one twice; one row without; two lines that are no rows.
fn flawed() -> Corpus {
    let corpus = Corpus::new();
    let image = |text: &str| Row::image("s", 0, text);
    let good = whole("/a");
    let rows = [
        image(&good),
        image("{"),
        image(&good),
        image(r#"{"path":"http://"}"#),
        image("{"),
        image(r#"{"path":"/a","byte_offset":-1,"byte_size":3}"#),
        image("{}"),
        image(&good),
    ];
    corpus.parquet("rows.parquet", &rows);
    let mut lines = manifests::jsonl(&rows[..4]);
    lines.push_str("not a row\n\n{\"sample_id\":1}\n");
    lines.push_str(&manifests::jsonl(&rows[4..]));
    corpus.manifest("lines.jsonl", lines.as_bytes());
    corpus
}

#[test]
fn bad_locators_and_lines_are_counted_by_class_and_named_by_file_and_row() {
    let corpus = flawed();
    for simulate in [false, true] {
        let (report, problems) = analyze_told(&Options { simulate, ..options(&corpus) });
        assert_eq!((report.references, report.objects, report.spellings), (6, 1, 1));
        assert_eq!((report.bad_locator, report.no_locator), (8, 2));
        assert_eq!(report.rows, 18);
        assert_eq!(report.errors, [("bad_locator", 8), ("bad_row", 2)].into());
        assert_eq!(problems.len(), 10, "{problems:#?}");
        let place = |name: &str| corpus.path("in").join(name).display().to_string();
        let (lines, rows) = (place("lines.jsonl"), place("rows.parquet"));
        for (file, at, class) in [
            (&lines, "line 2", "bad_locator"),
            (&lines, "line 4", "bad_locator"),
            (&lines, "line 5", "bad_row"),
            (&lines, "line 7", "bad_row"),
            (&lines, "line 8", "bad_locator"),
            (&lines, "line 9", "bad_locator"),
            (&rows, "row 2", "bad_locator"),
            (&rows, "row 4", "bad_locator"),
            (&rows, "row 5", "bad_locator"),
            (&rows, "row 6", "bad_locator"),
        ] {
            let start = format!("{file}: {at}: {class}: ");
            let told = problems.iter().filter(|problem| problem.starts_with(&start)).count();
            assert_eq!(told, 1, "{start} in {problems:#?}");
        }
    }
}

#[test]
fn errors_make_exit_code_3_unless_they_are_accepted() {
    let corpus = flawed();
    command(&corpus).assert().code(3).stderr(contains("10 errors over 6 references"));
    for (accepted, code) in [("9", 3), ("10", 0), ("100%", 3)] {
        command(&corpus).args(["--max-errors", accepted]).assert().code(code);
    }
    let mut rows: Vec<_> = (0..99).map(|n| Row::image("s", n, whole("/a"))).collect();
    rows.push(Row::image("s", 99, "{"));
    let corpus = Corpus::new();
    corpus.jsonl("a.jsonl", &rows);
    command(&corpus).args(["--max-errors", "1%"]).assert().code(3);
    command(&corpus).args(["--max-errors", "1.1%"]).assert().code(0);
}
