//! Sizes that sources were asked for: of which objects, what is made of the answers, and what is
//! said where there are none.

use std::fs::{self, File};

use onepull::commands::size::{Options, ProbedSizes, Report};
use onepull::locator::Target;
use onepull::object::{ObjectId, ObjectName};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::json;

use super::{assert_near, command, lasting, options, size, stdout};
use crate::support::corpus::{Corpus, whole};
use crate::support::manifests::Row;
use crate::support::random::Random;

/// Files and members by name, all of unknown size, and some ranges.
struct Bed {
    corpus: Corpus,
    /// The objects of unknown size, a fifth of them referenced once.
    unknown: Vec<Unknown>,
    /// Bytes of all ranges, and their number.
    known: (u64, u64),
}

#[derive(Clone)]
struct Unknown {
    id: ObjectId,
    size: u64,
}

impl Bed {
    fn new() -> Bed {
        let corpus = Corpus::new();
        let mut random = Random::new(5);
        let (mut unknown, mut locators) = (Vec::new(), Vec::new());
        let mut digest = |path: &str, target: &Target, size: usize| {
            let path = corpus.path("").canonicalize().unwrap().join(path);
            let name = ObjectName::new(path.to_str().unwrap().as_bytes(), target);
            unknown.push(Unknown { id: name.id(), size: size as u64 });
        };
        for nth in 0..30 {
            let (name, payload) = (format!("{nth}.jpg"), vec![b'f'; 1 + random.below(3_000)]);
            locators.push(corpus.file(&name, &payload));
            digest(&name, &Target::Whole, payload.len());
        }
        let member = |nth: usize| (format!("m/{nth}.jpg"), vec![b'm'; 4_000 + 100 * nth]);
        let members: Vec<_> = (0..20).map(member).collect();
        for (of, (name, payload)) in corpus.tar("a.tar", &members).iter().zip(&members) {
            locators.push(of.by_name());
            digest("a.tar", &Target::Member(name.as_str().into()), payload.len());
        }
        let ranges: Vec<_> = (0..10).map(|nth| (format!("{nth}"), vec![b'r'; 700])).collect();
        locators.extend(corpus.tar("r.tar", &ranges).iter().map(|member| member.by_range()));
        let mut rows = Vec::new();
        for (nth, locator) in locators.iter().enumerate() {
            rows.extend((0..references(nth)).map(|_| Row::image("s", 0, locator.clone())));
        }
        random.shuffle(&mut rows);
        for (nth, part) in rows.chunks(rows.len().div_ceil(3)).enumerate() {
            corpus.jsonl(&format!("{nth}.jsonl"), part);
        }
        Bed { corpus, unknown, known: (7_000, 10) }
    }

    fn asking(&self, probe_sizes: usize) -> Options {
        Options { probe_sizes, ..options(&self.corpus) }
    }

    /// What `asked` objects come to: those of the lowest hashes.
    fn assert_mean(&self, asked: usize, found: ProbedSizes) {
        let mut unknown = self.unknown.clone();
        unknown.sort_by_key(|of| of.id.random());
        unknown.truncate(asked);
        let (n, all) = (unknown.len() as f64, self.unknown.len() as f64);
        let mean = unknown.iter().map(|of| of.size).sum::<u64>() as f64 / n;
        let squares: f64 = unknown.iter().map(|of| (of.size as f64 - mean).powi(2)).sum();
        let error = (squares / (n - 1.0) / n * (1.0 - n / all)).sqrt();
        assert_eq!(found.mean, Some(mean.round() as u64));
        assert_eq!(found.standard_error.is_some(), n > 1.0);
        if let Some(found) = found.standard_error {
            assert_near(found, error, "standard error");
        }
    }
}

fn references(nth: usize) -> u64 {
    1 + nth as u64 % 5
}

fn probed(report: &Report) -> ProbedSizes {
    report.probed_sizes.unwrap()
}

#[test]
fn where_all_are_asked_the_mean_is_exact() {
    let bed = Bed::new();
    let bytes: u64 = bed.unknown.iter().map(|of| of.size).sum();
    for wanted in [50, 51, 1_000_000] {
        let report = size(&bed.asking(wanted));
        let found = probed(&report);
        assert_eq!((found.unknown, found.asked, found.answered, found.failed), (50, 50, 50, 0));
        bed.assert_mean(50, found);
        assert_eq!(found.standard_error, Some(0.0));
        assert_eq!(report.unique_bytes, bed.known.0 + 50 * found.mean.unwrap());
        assert!(report.unique_bytes.abs_diff(bed.known.0 + bytes) <= 25, "rounding");
        assert_near(report.sized_share, bed.known.1 as f64 / 60.0, "known");
        assert_near(report.assumed_share, 50.0 / 60.0, "assumed");
        assert_eq!(report.advice, [""; 0]);
    }
}

#[test]
fn a_part_is_asked_chosen_by_a_hash_and_the_same_at_any_jobs_and_memory() {
    let bed = Bed::new();
    for asked in [1, 2, 17] {
        let reports = [(1, 1 << 30), (2, 1 << 30), (4, 16_000_000)].map(|(jobs, memory)| {
            let report = size(&Options { jobs, memory, ..bed.asking(asked) });
            let found = probed(&report);
            assert_eq!((found.unknown, found.asked, found.answered), (50, asked as u64, asked as u64));
            bed.assert_mean(asked, found);
            lasting(&report)
        });
        assert!(reports.iter().all(|report| *report == reports[0]));
    }
}

#[test]
fn all_else_is_as_with_that_size_assumed() {
    let bed = Bed::new();
    let asked = size(&bed.asking(9));
    let assumed = size(&Options { assumed_size: probed(&asked).mean, ..options(&bed.corpus) });
    assert_eq!(assumed.probed_sizes, None);
    let alike = Report { probed_sizes: asked.probed_sizes, ..assumed };
    assert_eq!(lasting(&asked), lasting(&alike));
}

#[test]
fn nothing_is_read_to_know_a_size() {
    let corpus = Corpus::new();
    File::create(corpus.path("vast.bin")).unwrap().set_len(1 << 40).unwrap();
    let rows = [0, 1].map(|nth| Row::image("s", nth, whole("../vast.bin")));
    corpus.jsonl("a.jsonl", &rows);
    let report = size(&Options { probe_sizes: 9, ..options(&corpus) });
    assert_eq!((probed(&report).mean, report.unique_bytes), (Some(1 << 40), 1 << 40));
}

#[test]
fn sources_that_fail_are_told_and_counted_and_the_others_give_the_mean() {
    let corpus = Corpus::new();
    fs::create_dir(corpus.path("open")).unwrap();
    let mut locators = vec![corpus.file("open/a.jpg", &[1; 100]), corpus.file("open/b.jpg", &[1; 301])];
    locators.push(corpus.file("closed.jpg", &[1; 9_000]));
    locators.extend(["../open/gone.jpg", "https://example.org/a.jpg"].map(whole));
    let rows: Vec<_> = locators.iter().chain(&locators).map(|of| Row::image("s", 0, of.clone())).collect();
    corpus.jsonl("a.jsonl", &rows);
    let run = |flags: &[&str]| command(&corpus, &[&["in", "--probe-sizes", "100"], flags].concat());
    let told = contains("not_allowed").and(contains("not_found")).and(contains("unsupported"));
    let printed = run(&["--allow", "open", "--json"]).assert().code(0).stderr(told);
    let report: serde_json::Value = serde_json::from_slice(&printed.get_output().stdout).unwrap();
    let found = &report["probed_sizes"];
    let error = (2.0f64 * 100.5 * 100.5 / 2.0 * 0.6).sqrt();
    let standard_error = &found["standard_error"];
    assert_near(standard_error.as_f64().unwrap(), error, "standard error");
    let expected = json!({
        "unknown": 5, "asked": 5, "answered": 2, "failed": 3, "mean": 201, "standard_error": standard_error
    });
    assert_eq!(*found, expected);
    assert_eq!((&report["unique_bytes"], &report["assumed_share"]), (&1_005.into(), &1.0.into()));
    let text = run(&["--allow", "open"]).assert().code(0).get_output().stdout.clone();
    let words = String::from_utf8(text).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "asked 5 of 5 objects of unknown size: the mean is 201 B +/- 78 B, \
                assumed for 100 % of all objects; 3 did not answer";
    assert!(words.contains(line), "{words}");
}

#[test]
fn without_an_answer_objects_are_left_out_and_the_report_says_so() {
    let corpus = super::model::corpus(
        &[(3, None), (2, None), (2, Some(50))].map(|(k, size)| super::model::Object { k, size }),
    );
    let report = size(&Options { probe_sizes: 5, ..options(&corpus) });
    let found = probed(&report);
    assert_eq!((found.asked, found.failed, found.mean), (2, 2, None));
    let without = size(&options(&corpus));
    assert_eq!((report.assumed_share, report.unique_bytes), (0.0, 50));
    assert_eq!(report.budgets, without.budgets);
    let [advice] = &report.advice[..] else { panic!("{:?}", report.advice) };
    assert!(advice.starts_with("none of 2 probed objects has a size, so 66.67 %"), "{advice}");
    assert!(without.advice[0].contains("--probe-sizes N"), "{:?}", without.advice);
}

#[test]
fn nothing_is_asked_where_every_object_says_its_size() {
    let corpus = super::model::corpus(&super::model::objects(&[(3, 100), (2, 50)]));
    let report = size(&Options { probe_sizes: 5, ..options(&corpus) });
    assert_eq!(probed(&report), ProbedSizes::default());
    let text = stdout(&mut command(&corpus, &["in", "--probe-sizes", "5"]));
    assert!(!text.contains("asked"), "{text}");
}

#[test]
fn a_saved_table_has_nothing_to_ask_and_says_so() {
    let bed = Bed::new();
    super::save(&bed.corpus, 1, 1 << 30);
    let run = command(&bed.corpus, &["--from", "counts", "--probe-sizes", "5"]).assert().code(2).stdout("");
    run.stderr(contains("--probe-sizes needs manifests").and(contains("hold no locators")));
}
