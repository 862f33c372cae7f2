//! What the command prints and writes: text, JSON, plots.

use std::fs;

use predicates::str::contains;
use serde_json::Value;

use super::model::{corpus, random_objects};
use super::{command, stdout};
use crate::support::corpus::Corpus;
use crate::support::random::Random;

fn generated() -> Corpus {
    corpus(&random_objects(&mut Random::new(31), 300))
}

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn sorted(names: &str) -> Vec<&str> {
    let mut names: Vec<_> = names.split_whitespace().collect();
    names.sort_unstable();
    names
}

#[track_caller]
fn assert_fields(value: &Value, names: &str) {
    let mut found = fields(value);
    found.sort_unstable();
    assert_eq!(found, sorted(names));
}

#[test]
fn json_has_the_fields_of_the_report_and_is_the_same_in_a_report_file() {
    let corpus = generated();
    let flags = ["in", "--json", "--report", "report.json", "--target", "20%", "--budget", "40kB"];
    let printed = stdout(command(&corpus, &flags).args(["--objective", "seconds"]));
    assert_eq!(printed, fs::read_to_string(corpus.path("report.json")).unwrap());
    let value: Value = serde_json::from_str(&printed).unwrap();
    assert_fields(
        &value,
        "objective cost_without_cache references objects no_locator singletons unique_bytes reference_bytes
         sized_share assumed_share probed_sizes ceiling byte_ceiling ceiling_bytes ceiling_objects
         order budgets curve
         equivalents targets knee_bytes worthwhile_bytes break_even errors unreadable
         advice seconds",
    );
    let budget = &value["budgets"][0];
    assert_fields(budget, "budget policies lru any_policy_bound");
    assert_fields(&value["order"], "of share references error");
    assert_eq!(value["order"]["of"], "manifests");
    assert_fields(&budget["policies"], "count density objective");
    for of in ["count", "density", "objective"] {
        let names = "hit_rate byte_hit_rate objects bytes bound gap saved";
        assert_fields(&budget["policies"][of], names);
    }
    assert_fields(&value["curve"][0], "bytes count density lru any_policy_bound");
    assert_fields(&value["equivalents"][0], "density_bytes hit_rate count_bytes times");
    assert_fields(&value["targets"][0], "hit_rate count_bytes density_bytes objective_bytes");
    assert_fields(&value["break_even"], "storing_all storing_repeated");
    assert_fields(&value["seconds"], "scan group fetch read size total");

    command(&corpus, &["in", "--report", "report.json"]).assert().code(0);
}

#[test]
fn every_field_is_there_when_nothing_is() {
    let corpus = Corpus::new();
    corpus.manifest("empty.jsonl", b"");
    let value: Value = serde_json::from_str(&stdout(&mut command(&corpus, &["in", "--json"]))).unwrap();
    let full = serde_json::to_value(onepull::commands::size::Report::default()).unwrap();
    assert_eq!(fields(&value), fields(&full));
}

#[test]
fn a_plot_is_written_whole_and_replaces_what_is_there() {
    let corpus = generated();
    fs::write(corpus.path("plot.svg"), "<html>old</html>").unwrap();
    for flags in [&[][..], &["--budget", "20kB,80kB", "--target", "20%"], &["--objective", "dollars"]] {
        command(&corpus, &["in", "--plot", "plot.svg"]).args(flags).assert().code(0);
        let text = fs::read_to_string(corpus.path("plot.svg")).unwrap();
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf,"), "{text}");
    }
    command(&corpus, &["in", "--plot", "plot.html"]).assert().code(2).stderr(contains("ends in .svg"));
}

#[test]
fn a_plot_of_nothing_is_a_plot() {
    let corpus = Corpus::new();
    corpus.manifest("empty.jsonl", b"");
    command(&corpus, &["in", "--plot", "plot.svg"]).assert().code(0);
    assert!(fs::read_to_string(corpus.path("plot.svg")).unwrap().ends_with("</svg>\n"));
}

#[test]
fn a_plot_says_in_which_order_references_come() {
    let corpus = generated();
    super::save(&corpus, 2, 1 << 30);
    for (origin, plot) in [(&["in"][..], "one.svg"), (&["--from", "counts"], "two.svg")] {
        command(&corpus, origin).args(["--plot", plot, "-q"]).assert().code(0);
    }
    let [one, two] = ["one.svg", "two.svg"].map(|name| fs::read_to_string(corpus.path(name)).unwrap());
    assert!(one.contains("LRU, manifest order") && !one.contains("random order"), "{one}");
    assert!(two.contains("LRU, random order") && !two.contains("manifest order"), "{two}");
}
