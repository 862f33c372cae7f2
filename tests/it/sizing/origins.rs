//! Counts from manifests of either kind and from a saved table give one report, and what cannot
//! be read is named.

use std::fs;

use onepull::commands::size::{Options, Origin};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::model::{corpus, objects, random_objects, rows};
use super::{command, lasting, options, save, size};
use crate::support::corpus::Corpus;
use crate::support::manifests::{self, Row};
use crate::support::random::Random;

const SMALL: u64 = 16_000_000;
const LARGE: u64 = 1 << 30;

#[test]
fn manifests_of_either_kind_and_a_saved_table_give_one_report_at_any_jobs_and_memory() {
    let mut random = Random::new(11);
    let objects = random_objects(&mut random, 4_000);
    let rows = rows(&mut random, &objects);
    let [jsonl, parquet] = [Corpus::new(), Corpus::new()];
    for (nth, part) in rows.chunks(rows.len().div_ceil(3)).enumerate() {
        jsonl.jsonl(&format!("{nth}.jsonl"), part);
        parquet.parquet(&format!("{nth}.parquet"), part);
    }
    let mut first = None;
    for corpus in [&jsonl, &parquet] {
        for (jobs, memory) in [(1, LARGE), (4, LARGE), (1, SMALL), (4, SMALL)] {
            let spilled = save(corpus, jobs, memory);
            assert_eq!(spilled > 0, memory == SMALL, "{spilled} bytes, {jobs} jobs, {memory} bytes");
            let counted = Options { targets: vec![0.3], jobs, memory, ..options(corpus) };
            let saved = Options { origin: Origin::Table(corpus.path("counts")), ..counted.clone() };
            let [counted, saved] = [counted, saved].map(|options| lasting(&size(&options)));
            assert_eq!(counted["objects"], 4_000);
            assert_eq!(orderless(&counted), orderless(&saved), "{jobs} jobs, {memory} bytes");
            assert_eq!(*first.get_or_insert_with(|| counted.clone()), counted, "{jobs} jobs, {memory} bytes");
        }
    }
}

/// A report without what a table does not know: the order of the references, and whom to ask.
fn orderless(report: &Value) -> Value {
    let mut report = report.clone();
    let whole = report.as_object_mut().unwrap();
    assert!(whole.remove("order").is_some() && whole.remove("advice").is_some());
    for list in ["budgets", "curve"] {
        for line in whole[list].as_array_mut().unwrap() {
            let line = line.as_object_mut().unwrap();
            assert!(line.remove("lru").is_some() && line.remove("any_policy_bound").is_some());
        }
    }
    report
}

#[test]
fn a_saved_table_is_the_same_bytes_at_any_jobs_and_memory() {
    let corpus = corpus(&random_objects(&mut Random::new(12), 4_000));
    let mut first = None;
    for (jobs, memory) in [(1, LARGE), (4, SMALL), (4, LARGE)] {
        save(&corpus, jobs, memory);
        let bytes = fs::read(corpus.path("counts")).unwrap();
        let same = *first.get_or_insert_with(|| bytes.clone()) == bytes;
        assert!(same, "{jobs} jobs, {memory} bytes");
    }
}

#[test]
fn manifests_that_cannot_be_read_are_named_and_the_rest_is_sized() {
    let corpus = corpus(&objects(&[(5, 700), (2, 300)]));
    corpus.manifest("cut.parquet", b"PAR1 and no more");
    let run = command(&corpus, &["in"]).assert().code(3);
    run.stdout(contains("cut.parquet").and(contains("references")))
        .stderr(contains("cut.parquet").and(contains("the manifest is left out")));
    let report = size(&options(&corpus));
    assert_eq!((report.references, report.unreadable.len()), (7, 1));
    assert!(report.unreadable[0].path.ends_with("in/cut.parquet"), "{:?}", report.unreadable);
}

#[test]
fn rows_that_name_no_payload_are_told() {
    let corpus = corpus(&objects(&[(5, 700), (2, 300)]));
    corpus.jsonl("none.jsonl", &[Row::image("s", 0, "{\"caption\":\"none\"}"), Row::image("s", 1, "{}")]);
    let report = size(&options(&corpus));
    assert_eq!((report.references, report.no_locator), (7, 2));
    command(&corpus, &["in"]).assert().code(0).stdout(contains("2  image rows have no locator\n"));
}

#[test]
fn bad_rows_and_locators_are_counted_by_class_and_judged_by_max_errors() {
    let corpus = corpus(&objects(&[(5, 700), (2, 300)]));
    let rows = manifests::jsonl(&[Row::image("s", 0, "{")]);
    corpus.manifest("bad.jsonl", format!("not a row\n{rows}").as_bytes());
    let report = size(&options(&corpus));
    assert_eq!((report.errors["bad_row"], report.errors["bad_locator"]), (1, 1));
    assert_eq!(report.references, 7);
    command(&corpus, &["in"]).assert().code(3).stdout(contains("bad_locator"));
    command(&corpus, &["in", "--max-errors", "2"]).assert().code(0);
}

#[test]
fn manifests_that_are_not_there_end_the_run() {
    let corpus = Corpus::new();
    command(&corpus, &["nowhere"]).assert().code(1).stdout("").stderr(contains("nowhere"));
}
