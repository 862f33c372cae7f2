//! Saved tables that are damaged, foreign or not there, and files that are not replaced.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

use super::model::{corpus, objects};
use super::{command, save};
use crate::support::corpus::Corpus;
use crate::support::random::Random;
use crate::support::run::onepull;

fn small() -> Corpus {
    let corpus = corpus(&objects(&[(5, 700), (2, 300), (1, 10)]));
    save(&corpus, 2, 1 << 30);
    corpus
}

/// `onepull analyze in --save FILE` in the folder of the corpus.
fn saving(corpus: &Corpus, file: &str) -> Command {
    let mut command = onepull();
    command.current_dir(corpus.path("")).args(["analyze", "in", "--progress", "none", "--save", file]);
    command
}

#[test]
fn counts_that_cannot_be_saved_are_told_all_the_same() {
    let corpus = small();
    let run = saving(&corpus, "/proc/counts").arg("--json").assert().code(1);
    let output = run.stderr(contains("error: cannot write /proc/counts")).get_output().stdout.clone();
    let value: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(value["references"], 8);
    assert!(value["unwritten"].as_str().unwrap().contains("/proc/counts"), "{value}");
    let run = saving(&corpus, "one").args(["--report", "one"]).assert().code(1).stdout("");
    run.stderr(contains("--report and --save both name one"));
}

#[test]
fn a_table_that_is_damaged_foreign_or_missing_is_named_and_the_way_to_one_told() {
    let corpus = small();
    let whole = fs::read(corpus.path("counts")).unwrap();
    let refused = |what: &str| {
        let run = command(&corpus, &["--from", "counts", "--json"]).assert().code(1).stdout("");
        let told = contains("counts: ").and(contains(what)).and(contains("`onepull analyze --save FILE`"));
        run.stderr(told.and(predicate::function(|text: &str| text.lines().count() == 1)));
    };
    for length in [20, whole.len() / 2, whole.len() - 1] {
        fs::write(corpus.path("counts"), &whole[..length]).unwrap();
        refused("not a complete Parquet file");
    }
    fs::write(corpus.path("counts"), b"onepull counts\0\x02 and more").unwrap();
    refused("an older onepull wrote this file; save the counts again");
    for foreign in [&b""[..], b"{\"references\": 3}", &whole[..10]] {
        fs::write(corpus.path("counts"), foreign).unwrap();
        refused("not a complete Parquet file");
    }
    corpus.parquet("rows.parquet", &super::model::rows(&mut Random::new(1), &objects(&[(9, 9)])));
    fs::copy(corpus.path("in/rows.parquet"), corpus.path("counts")).unwrap();
    refused("column `references` is missing");
    fs::remove_file(corpus.path("counts")).unwrap();
    refused("No such file");
    fs::write(corpus.path("counts"), whole).unwrap();
    command(&corpus, &["--from", "counts"]).assert().code(0);
}

#[test]
fn save_replaces_what_is_there_but_no_folder() {
    let corpus = small();
    let earlier = fs::read(corpus.path("counts")).unwrap();
    corpus.jsonl("more.jsonl", &super::model::rows(&mut Random::new(1), &objects(&[(9, 9)])));
    saving(&corpus, "counts").assert().code(0);
    assert_ne!(fs::read(corpus.path("counts")).unwrap(), earlier);

    let refused = |file: &str, what: &str| {
        let run = saving(&corpus, file).assert().code(1).stdout("");
        run.stderr(contains(format!("--save {file}")).and(contains(what)));
    };
    refused("in", "is a folder");
    refused("nowhere/counts", "the folder nowhere does not exist");
    let names = fs::read_dir(corpus.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["counts", "in"]);
}
