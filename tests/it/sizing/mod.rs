//! What a sizing says of a corpus, against what tests know of it.
//!
//! [`model`] makes corpora of objects with a multiplicity and a size, and chooses among them the
//! naive way.

mod admitting;
mod costs;
mod curves;
mod edges;
mod model;
mod order;
mod origins;
mod output;
mod probing;
mod tables;

use assert_cmd::Command;
use onepull::commands::analyze;
use onepull::commands::size::{Objective, Options, Origin, Report, run};
use onepull::monitor::Silent;
use serde_json::Value;

use super::support::corpus::Corpus;
use super::support::run::onepull;

/// The defaults of the command line, with two jobs, over all manifests of the corpus.
fn options(corpus: &Corpus) -> Options {
    Options {
        origin: Origin::Manifests(vec![corpus.path("in")]),
        budgets: Vec::new(),
        objective: Objective::Requests,
        targets: Vec::new(),
        assumed_size: None,
        probe_sizes: 0,
        allow: Vec::new(),
        root: None,
        outputs: Vec::new(),
        jobs: 2,
        memory: 1 << 30,
    }
}

/// Runs to the end; what holds in every report holds.
fn size(options: &Options) -> Report {
    let report = run(options, &Silent).unwrap();
    assert_bounds(&report);
    report
}

/// Saves the counts of all manifests as `counts`, in `memory` bytes; returns what was spilled.
fn save(corpus: &Corpus, jobs: usize, memory: u64) -> u64 {
    let counting = analyze::Options::counting(&[corpus.path("in")], None, jobs, memory);
    let saving = analyze::Options { save: Some(corpus.path("counts")), ..counting };
    analyze::run(&saving, &Silent).unwrap().spilled_bytes
}

/// `onepull size` in the folder of the corpus.
fn command(corpus: &Corpus, arguments: &[&str]) -> Command {
    let mut command = onepull();
    command.current_dir(corpus.path("")).args(["size", "--progress", "none"]).args(arguments);
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().code(0).stderr("").get_output().stdout.clone()).unwrap()
}

/// All of a report that does not depend on the machine.
fn lasting(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).unwrap();
    value.as_object_mut().unwrap().remove("seconds").unwrap();
    value
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{what}: {found}, not {expected}");
}

/// No order passes its bound or the ceiling, or takes more than the cache.
fn assert_bounds(r: &Report) {
    for line in &r.budgets {
        let policies = &line.policies;
        for of in [Some(policies.count), Some(policies.density), policies.objective].into_iter().flatten() {
            assert!(of.bytes <= line.budget && of.objects <= r.ceiling_objects, "{line:?}");
            assert!(of.hit_rate <= r.ceiling + 1e-12 && of.gap >= 0.0, "{line:?}");
        }
        assert!(policies.count.hit_rate <= policies.density.bound + 1e-12, "{line:?}");
        assert!(policies.density.byte_hit_rate <= policies.count.bound + 1e-12, "{line:?}");
        assert!(line.lru <= r.ceiling + 1e-9 && line.any_policy_bound <= r.ceiling + 1e-9, "{line:?}");
    }
    assert!(r.budgets.is_sorted_by(|a, b| a.budget < b.budget));
    assert!(r.curve.is_sorted_by(|a, b| a.bytes < b.bytes));
}
