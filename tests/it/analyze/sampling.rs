//! A sample holds objects with all of their references, the same ones however they are read.
//!
//! Each object of the corpus has a host of its own, so the list of sources tells which objects
//! are in a sample, and with how many references.

use std::collections::BTreeMap;

use onepull::commands::analyze::{Options, Report, Share};

use super::forms::Form;
use super::{analyze, assert_same, lasting, options};
use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;

const OBJECTS: u64 = 600;

/// References to the n-th object.
fn multiplicity(n: u64) -> u64 {
    if n.is_multiple_of(2) { 1 } else { 2 + n % 5 }
}

fn references() -> u64 {
    (0..OBJECTS).map(multiplicity).sum()
}

/// All references in random order, in two manifests of one form. Those to one object are written
/// in different ways. Objects of another name are another sample.
fn corpus(form: Form, name: &str) -> Corpus {
    let row = |n: u64, way: u64| {
        let size = 100 + n * n % 1_009;
        let space = " ".repeat(way as usize);
        let locator = format!(r#"{{"path":{space}"https://{n}/{name}","byte_offset":0,"byte_size":{size}}}"#);
        Row::image("s", 0, locator)
    };
    let all = (0..OBJECTS).flat_map(|n| (0..multiplicity(n)).map(move |way| row(n, way)));
    let mut rows: Vec<Row> = all.collect();
    Random::new(8).shuffle(&mut rows);
    let corpus = Corpus::new();
    for (number, part) in rows.chunks(rows.len().div_ceil(2)).enumerate() {
        corpus.manifest(&form.name(number), &form.bytes(part));
    }
    corpus
}

fn sampled(corpus: &Corpus, share: f64) -> Report {
    let sample = Some(Share { share });
    analyze(&Options { sample, sources: OBJECTS as usize, ..options(corpus) })
}

/// The objects in a sample, with the references to them that were counted.
fn kept(report: &Report, share: f64) -> BTreeMap<u64, u64> {
    let number = |prefix: &str| prefix.strip_prefix("https://").unwrap().parse().unwrap();
    report
        .sources
        .iter()
        .map(|of| (number(&of.prefix), (of.references as f64 * share).round() as u64))
        .collect()
}

#[test]
fn a_sample_holds_all_references_of_its_objects_and_its_share_of_the_objects() {
    let mut samples = Vec::new();
    for name in ["w", "x", "y", "z"] {
        let corpus = corpus(Form::Jsonl, name);
        let report = sampled(&corpus, 0.25);
        let kept = kept(&report, 0.25);
        assert!(kept.iter().all(|(n, references)| *references == multiplicity(*n)), "{kept:?}");
        let sample = report.sample.unwrap();
        assert_eq!(sample.objects_counted, kept.len() as u64);
        assert_eq!(sample.references_counted, kept.values().sum::<u64>());
        assert_eq!(sample.share, 0.25);
        // Five standard deviations of a binomial.
        assert!((kept.len() as f64 - 150.0).abs() < 5.0 * 10.6, "{}", kept.len());
        let fewer = self::kept(&sampled(&corpus, 0.125), 0.125);
        assert!(fewer.len() < kept.len() && fewer.keys().all(|n| kept.contains_key(n)));
        samples.push(kept);
    }
    samples.dedup();
    assert_eq!(samples.len(), 4, "other objects, another sample");
}

#[test]
fn the_sample_is_the_same_from_every_form_at_any_jobs_and_memory() {
    let mut first = None;
    for form in [Form::Jsonl, Form::Plain, Form::Dictionary] {
        let corpus = corpus(form, "x");
        for (jobs, memory) in [(1, 1 << 30), (8, 16_000_000)] {
            let sample = Some(Share { share: 1.0 / 3.0 });
            let options = Options { sample, sources: OBJECTS as usize, jobs, memory, ..options(&corpus) };
            let lasting = lasting(&analyze(&options));
            let what = format!("{form:?}, {jobs} jobs");
            assert_same(first.get_or_insert_with(|| lasting.clone()), &lasting, &what);
        }
    }
}

#[test]
fn a_sample_of_all_is_the_exact_report() {
    let corpus = corpus(Form::Encoded, "x");
    let exact = lasting(&analyze(&Options { sources: OBJECTS as usize, ..options(&corpus) }));
    let report = sampled(&corpus, 1.0);
    let sample = report.sample.unwrap();
    assert_eq!(sample.objects, [OBJECTS as f64; 2]);
    assert_eq!(sample.oracle_hit_rate, [report.oracle_hit_rate; 2]);
    let mut estimated = lasting(&report);
    // What is said of spellings is said of what was counted exactly only.
    for name in ["sample", "advice"] {
        estimated[name] = exact[name].clone();
    }
    assert_same(&exact, &estimated, "share 1");
}

#[test]
fn rows_and_references_are_exact_and_intervals_hold_the_estimates_and_mostly_the_truth() {
    let mut covered = [0; 4];
    for round in 0..20 {
        let corpus = corpus(Form::Encoded, &format!("x{round}"));
        let exact = analyze(&options(&corpus));
        assert_eq!((exact.references, exact.objects), (references(), OBJECTS));
        let r = sampled(&corpus, 0.25);
        assert_eq!(
            (r.rows, r.references, &r.rows_by_modality),
            (exact.rows, exact.references, &exact.rows_by_modality)
        );
        let sample = r.sample.unwrap();
        let intervals = [
            (sample.objects, r.objects as f64, exact.objects as f64),
            (sample.oracle_hit_rate, r.oracle_hit_rate, exact.oracle_hit_rate),
            (sample.singleton_share, r.singleton_share, exact.singleton_share),
            (sample.unique_bytes, r.unique_bytes as f64, exact.unique_bytes as f64),
        ];
        for (covered, ([low, high], estimate, truth)) in covered.iter_mut().zip(intervals) {
            assert!(low <= estimate && estimate <= high && low < high, "{low} {estimate} {high}");
            *covered += u32::from(low <= truth && truth <= high);
        }
    }
    assert!(covered.iter().all(|covered| *covered >= 17), "{covered:?} of 20");
}

#[test]
fn a_sample_without_any_object_is_still_a_report() {
    let corpus = corpus(Form::Jsonl, "x");
    let report = sampled(&corpus, 1e-12);
    assert_eq!(report.sample.unwrap().objects_counted, 0);
    assert_eq!(report.references, references());
    let text = serde_json::to_string(&report).unwrap();
    assert!(!text.contains("null,null") && !text.contains("NaN"), "{text}");
}
