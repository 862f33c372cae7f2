//! What the command prints and writes: report, JSON, progress, plots.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::model::{Manifest, write};
use super::{analyze, options};
use crate::support::corpus::Corpus;
use crate::support::random::Random;
use crate::support::run::onepull;

fn corpus() -> Corpus {
    let corpus = Corpus::new();
    let mut random = Random::new(21);
    write(&corpus, &(0..3).map(|_| Manifest::random(&mut random, 400, 300)).collect::<Vec<_>>());
    corpus
}

/// In the folder of the corpus.
fn command(corpus: &Corpus, flags: &[&str]) -> Command {
    let mut command = onepull();
    command.current_dir(corpus.path("")).args(["analyze", "in"]).args(flags);
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().code(0).get_output().stdout.clone()).unwrap()
}

#[test]
fn json_is_one_object_alone_on_stdout_and_the_same_as_the_report_file() {
    let corpus = corpus();
    let flags = ["--json", "--report", "report.json", "--simulate", "--by-source", "3"];
    let printed = stdout(&mut command(&corpus, &flags));
    assert_eq!(printed, fs::read_to_string(corpus.path("report.json")).unwrap());
    let value: Value = serde_json::from_str(&printed).unwrap();
    let report = analyze(&options(&corpus));
    assert_eq!(value["references"], report.references);
    assert_eq!(value["objects"], report.objects);
    assert_eq!(value["sources"].as_array().unwrap().len(), 3);
    assert!(value["concurrency"][0]["replayed"]["source_reads"].is_u64());
    let mut fields: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    for name in [
        "rows",
        "references",
        "objects",
        "duplicates",
        "spellings",
        "mean_multiplicity",
        "singleton_share",
        "max_multiplicity",
        "unique_bytes",
        "reference_bytes",
        "sized_share",
        "oracle_hit_rate",
        "oracle_byte_hit_rate",
        "histogram",
        "sources",
        "concurrency",
        "advice",
    ] {
        assert!(fields.binary_search(&name).is_ok(), "{name} is not in {fields:?}");
    }
    command(&corpus, &["--report", "report.json"]).assert().code(0);
}

#[test]
fn the_text_says_the_numbers_of_the_report() {
    let corpus = corpus();
    let text = stdout(&mut command(&corpus, &["--simulate"]));
    let report = analyze(&options(&corpus));
    let thousands = |n: u64| match n {
        0..1_000 => n.to_string(),
        _ => format!("{},{:03}", n / 1_000, n % 1_000),
    };
    for (what, number) in [
        ("references", report.references),
        ("objects", report.objects),
        ("duplicates", report.duplicates),
        ("spellings", report.spellings),
    ] {
        assert!(
            text.contains(what) && text.contains(&thousands(number)),
            "{what} {number} is not in\n{text}"
        );
    }
    assert!(text.contains(&format!("{:.3}", report.mean_multiplicity)), "{text}");
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 80, "{longest} columns\n{text}");
}

#[test]
fn progress_goes_to_stderr_and_quiet_is_quiet() {
    let corpus = corpus();
    let plain = command(&corpus, &["--progress", "plain"]).assert().code(0);
    let plain = plain.stderr(contains("scan").and(contains("group")));
    let quiet = command(&corpus, &["-q", "--progress", "plain"]).assert().code(0).stderr("");
    let text = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        // The times differ.
        let kept = text.lines().take_while(|line| !line.starts_with("time"));
        kept.map(str::to_owned).collect()
    };
    let (plain, quiet) = (text(&plain.get_output().stdout), text(&quiet.get_output().stdout));
    assert!(plain.len() > 20, "{plain:?}");
    assert_eq!(plain, quiet);
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let corpus = corpus();
    for flags in [&[][..], &["--json"]] {
        let mut command = std::process::Command::new(onepull().get_program());
        command.current_dir(corpus.path("")).args(["analyze", "in", "--progress", "none"]).args(flags);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{flags:?}");
    }
}

#[test]
fn a_plot_is_written_whole_and_replaces_an_earlier_one() {
    let corpus = corpus();
    for name in ["plot.svg", "plot.SVG"] {
        for flags in [&["--plot", name][..], &["--plot", name, "--sample", "1/2"]] {
            command(&corpus, flags).assert().code(0);
            let text = fs::read_to_string(corpus.path(name)).unwrap();
            assert_well_formed(&text);
            assert_eq!(text.contains("~"), flags.len() > 2, "estimates are marked as such");
        }
        assert_only(&corpus, &["in", name]);
        fs::remove_file(corpus.path(name)).unwrap();
    }
}

#[test]
fn a_plot_of_nothing_is_a_plot() {
    let corpus = Corpus::new();
    command(&corpus, &["--plot", "plot.svg"]).assert().code(0);
    assert_well_formed(&fs::read_to_string(corpus.path("plot.svg")).unwrap());
}

#[test]
fn other_endings_are_refused_before_the_run() {
    let corpus = corpus();
    for name in ["plot.png", "plot", "plot.svg.gz", "plot.html", "in.jsonl"] {
        command(&corpus, &["--plot", name]).assert().code(2).stdout("").stderr(contains("ends in .svg"));
    }
    assert_only(&corpus, &["in"]);
}

/// Nothing else is in the folder of the corpus.
fn assert_only(corpus: &Corpus, names: &[&str]) {
    let entries = fs::read_dir(corpus.path("")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.collect();
    found.sort();
    let file_name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(found.iter().map(|path| file_name(path)).collect::<Vec<_>>(), names);
}

/// Tags nest, attributes are quoted, and there are no bare ampersands.
fn assert_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        assert_entities(&rest[..start]);
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").expect("a comment ends").1;
            continue;
        }
        let (tag, after) = rest[1..].split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
            continue;
        }
        let closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        while !attributes.trim().is_empty() {
            let (name, value) = attributes.trim_start().split_once("=\"").expect(tag);
            assert!(name.chars().all(|c| c.is_alphanumeric() || "-:_".contains(c)), "{tag}");
            let (value, after) = value.split_once('"').expect(tag);
            assert_entities(value);
            attributes = after;
        }
        assert!(name.chars().all(char::is_alphanumeric), "<{tag}>");
        if !closed {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

fn assert_entities(text: &str) {
    for (at, _) in text.match_indices('&') {
        let entity = text[at + 1..].split(';').next().unwrap();
        let known = ["amp", "lt", "gt", "quot", "apos"].contains(&entity) || entity.starts_with('#');
        assert!(known, "&{entity}");
    }
}
