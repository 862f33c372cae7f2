//! What an analysis says of a corpus, against what tests know of it.
//!
//! [`model`] is the naive count that reports are compared with, [`forms`] writes rows in every
//! form that manifests have.

mod bad;
mod counts;
mod forms;
mod interrupted;
mod locators;
mod model;
mod output;
mod payloads;
mod replay;
mod sampling;

use onepull::commands::analyze::{Options, Report, run};
use serde_json::Value;

use super::support::corpus::Corpus;
use super::support::told::Told;

/// The defaults of the command line, with two jobs, over all manifests of the corpus.
fn options(corpus: &Corpus) -> Options {
    Options {
        sources: 10,
        workers: vec![1, 4, 16, 64, 256],
        cache_dir: corpus.path("cache"),
        ..Options::counting(&[corpus.path("in")], None, 2, 1 << 30)
    }
}

/// Runs to the end without a problem; the identities hold.
fn analyze(options: &Options) -> Report {
    let (report, problems) = analyze_told(options);
    assert_eq!(problems, [""; 0]);
    report
}

/// Runs to the end, and returns the problems, too, sorted.
fn analyze_told(options: &Options) -> (Report, Vec<String>) {
    let told = Told::default();
    let report = run(options, &told).unwrap();
    assert_identities(&report);
    let mut problems = told.0.into_inner();
    problems.sort();
    (report, problems)
}

/// What holds in every report.
fn assert_identities(r: &Report) {
    assert_eq!(r.references, r.objects + r.duplicates, "{r:#?}");
    let images = r.rows_by_modality.get("image").copied().unwrap_or(0);
    assert_eq!(images, r.references + r.no_locator + r.bad_locator + r.already_present, "{r:#?}");
    if r.sample.is_none() {
        let sum = |of: fn(&onepull::commands::analyze::Multiplicity) -> u64| -> u64 {
            r.histogram.iter().map(of).sum()
        };
        assert_eq!(sum(|line| line.objects), r.objects, "{r:#?}");
        assert_eq!(sum(|line| line.objects * line.k), r.references, "{r:#?}");
        assert_eq!(sum(|line| line.bytes), r.unique_bytes, "{r:#?}");
        let sources = r.sources.iter().map(|source| (source.references, source.objects));
        let (references, objects) = sources.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        assert!(references <= r.references && objects <= r.objects, "{r:#?}");
    }
}

/// All of a report that does not depend on the machine or on where it was counted.
fn lasting(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).unwrap();
    let fields = value.as_object_mut().unwrap();
    for name in ["seconds", "spilled_bytes"] {
        fields.remove(name).unwrap();
    }
    value
}

/// Fails with the fields that differ.
fn assert_same(one: &Value, other: &Value, what: &str) {
    for (name, value) in one.as_object().unwrap() {
        assert_eq!(value, &other[name], "{what}: {name}");
    }
}
