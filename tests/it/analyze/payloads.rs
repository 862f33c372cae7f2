//! Payloads that are compared or timed: which are read, what is said of those that are not there,
//! and that nothing stays behind.

use std::fs;

use onepull::commands::analyze::{Options, Report};
use predicates::prelude::*;
use predicates::str::contains;

use super::{analyze, analyze_told, options};
use crate::support::corpus::{Corpus, whole};
use crate::support::files;
use crate::support::manifests::Row;
use crate::support::run::{materialize, onepull};

/// 20 objects that are there, of which 3 have the same bytes, and 2 that are not.
fn corpus(parquet: bool) -> Corpus {
    let corpus = Corpus::new();
    let mut locators: Vec<String> = (0..16)
        .map(|n| {
            let payload = if n % 8 == 3 { b"the same".to_vec() } else { format!("payload {n}").into_bytes() };
            corpus.file(&format!("{n:02}.jpg"), &payload)
        })
        .collect();
    let members: Vec<_> = (0..4)
        .map(|n| (format!("{n}.jpg"), if n == 2 { "the same".into() } else { format!("member {n}") }))
        .collect();
    locators.extend(corpus.tar("a.tar", &members).iter().map(|member| member.by_range()));
    locators.extend(["../gone-1.jpg", "../gone-2.jpg"].map(whole));
    // Each twice, the second time written with a space.
    let spaced = locators.iter().map(|locator| format!(" {locator}"));
    let rows: Vec<Row> =
        spaced.chain(locators.clone()).enumerate().map(|(n, text)| Row::image("s", n as i32, text)).collect();
    if parquet {
        corpus.parquet("a.parquet", &rows);
    } else {
        corpus.jsonl("a.jsonl", &rows[..30]);
        corpus.jsonl("b.jsonl", &rows[30..]);
    }
    corpus
}

fn compared(corpus: &Corpus, content_sample: usize, jobs: usize) -> (Report, Vec<String>) {
    analyze_told(&Options { content_sample, jobs, ..options(corpus) })
}

#[test]
fn equal_bytes_under_other_locators_are_found_and_missing_files_are_named() {
    let corpus = corpus(false);
    for jobs in [1, 4] {
        let (report, problems) = compared(&corpus, 1_000, jobs);
        let content = report.content.unwrap();
        assert_eq!((content.objects, content.failed), (22, 2));
        assert_eq!((content.payloads, content.equal), (18, 3));
        let payload = |n: usize| if n % 8 == 3 { 8 } else { format!("payload {n}").len() as u64 };
        let bytes: u64 = (0..16).map(payload).sum::<u64>() + 4 * 8;
        assert_eq!(content.bytes, bytes);
        let name = |name: &str| corpus.path(name).canonicalize().unwrap().display().to_string();
        assert_eq!(content.examples, [[name("03.jpg"), name("11.jpg")]]);
        assert_eq!(problems.len(), 2, "{problems:?}");
        for (problem, file) in problems.iter().zip(["gone-1.jpg", "gone-2.jpg"]) {
            assert!(problem.starts_with("not_found: ") && problem.contains(file), "{problems:?}");
        }
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        assert!(
            report.advice.iter().any(|advice| advice.contains("3 of 20 compared objects")),
            "{:?}",
            report.advice
        );
    }
}

#[test]
fn a_few_objects_are_the_same_ones_at_any_jobs() {
    let corpora = [corpus(false), corpus(true)];
    for sample in [1, 5, 21] {
        for corpus in &corpora {
            let (first, first_problems) = compared(corpus, sample, 1);
            let content = first.content.unwrap();
            assert_eq!(content.objects, sample as u64);
            for jobs in [2, 8] {
                let (other, problems) = compared(corpus, sample, jobs);
                assert_eq!((other.content.unwrap(), problems), (content.clone(), first_problems.clone()));
            }
        }
    }
}

#[test]
fn payloads_outside_the_allowed_prefixes_are_not_read() {
    let corpus = corpus(false);
    let allow = vec![corpus.path("a.tar")];
    let (report, problems) = analyze_told(&Options { allow, content_sample: 100, ..options(&corpus) });
    let content = report.content.unwrap();
    assert_eq!((content.objects, content.failed, content.payloads), (22, 18, 4));
    assert!(problems.iter().all(|problem| problem.starts_with("not_allowed: ")), "{problems:?}");
}

#[test]
fn nothing_is_read_unless_it_is_asked_for() {
    let corpus = corpus(false);
    let sources = fs::read_dir(corpus.path("")).unwrap().map(|entry| entry.unwrap().path());
    sources.filter(|path| path.is_file()).for_each(|path| fs::remove_file(path).unwrap());
    let report = analyze(&options(&corpus));
    assert_eq!((report.references, report.objects, report.spellings), (44, 22, 44));
    assert_eq!((report.content, report.timing), (None, None));
}

#[test]
fn a_probe_times_source_and_cache_and_leaves_nothing_behind() {
    let corpus = corpus(true);
    let options = Options { probe: true, ..options(&corpus) };
    let probed = || {
        let (report, problems) = analyze_told(&options);
        let timing = report.timing.unwrap();
        assert_eq!((timing.objects, timing.failed, problems.len()), (20, 2, 2), "{problems:?}");
        assert!(timing.source > 0.0 && timing.put > 0.0 && timing.hit > 0.0, "{timing:?}");
        assert!(report.seconds.fetch > 0.0);
    };
    probed();
    assert!(!corpus.path("cache").exists(), "a folder that was not there is not there");
    // Entries of a real run are neither used nor touched.
    materialize(&onepull::commands::materialize::Options {
        max_errors: onepull::commands::materialize::MaxErrors::Count(4),
        ..corpus.options()
    });
    let before = files::tree(&corpus.path("cache"));
    assert_eq!(files::entries(&corpus.path("cache")).len(), 20);
    probed();
    assert_eq!(files::tree(&corpus.path("cache")), before);
    let names: Vec<_> =
        fs::read_dir(corpus.path("cache")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with("probe")), "{names:?}");
}

#[test]
fn what_could_not_be_read_is_in_the_report_and_fails_no_run() {
    let corpus = corpus(false);
    let mut command = onepull();
    command.arg("analyze").arg(corpus.path("in")).args(["--content-sample", "100", "--probe", "--cache"]);
    let assert = command.arg(corpus.path("cache")).assert().code(0);
    assert
        .stdout(contains("content").and(contains("2 could not be read")).and(contains("timing")))
        .stderr(contains("gone-1.jpg"));
    assert!(!corpus.path("cache").exists());
}
