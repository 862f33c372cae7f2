//! `--admit` as it is typed.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

use super::bed::Bed;
use crate::support::run::onepull;

/// A run with `--admit list`, in the folder of the corpus.
fn admitting(bed: &Bed, arguments: &[&str]) -> Command {
    let mut command = onepull();
    command.current_dir(bed.corpus.path("")).args(["materialize", "in", "--cache", "cache"]);
    command.args(["--admit", "list", "--progress", "none"]).args(arguments);
    command
}

#[test]
fn the_report_shows_the_sum_and_what_was_predicted() {
    let bed = Bed::new();
    bed.list().write(&bed.corpus.path("list")).unwrap();
    let rate = |hits: u64| format!("{:.6}", hits as f64 / bed.references() as f64);
    let sum = format!(
        "admission   {}  = {} on admitted objects + {} on duplicates inside shards\n",
        rate(bed.predicted_hits() + bed.in_shard_duplicates()),
        rate(bed.predicted_hits()),
        rate(bed.in_shard_duplicates()),
    );
    let predicted = format!("{}  predicted: 20 objects by density in ", rate(bed.predicted_hits()));
    let plan = format!("admission   {predicted}");
    admitting(&bed, &["--dry-run"])
        .assert()
        .code(0)
        .stdout(contains(plan).and(contains("40 objects left out")));
    admitting(&bed, &["-o", "out"]).assert().code(0).stdout(contains(sum).and(contains(predicted)));
}

#[test]
fn a_list_that_is_damaged_or_missing_is_refused_before_anything_is_read() {
    let bed = Bed::new();
    let file = bed.corpus.path("list");
    let refused = |what: &str| {
        for target in [&["--dry-run"][..], &["-o", "out"]] {
            let run = admitting(&bed, target).assert().code(1).stdout("");
            run.stderr(contains("cannot read the admission list: list: ").and(contains(what)));
        }
        assert!(!bed.corpus.path("out").exists() && !bed.corpus.path("cache").exists());
    };
    refused("No such file");
    bed.list().write(&file).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    refused("damaged or cut off; make it again with `onepull size MANIFEST... --admit-out FILE`");
    fs::write(&file, "a b c").unwrap();
    refused("it is no admission list; `onepull size MANIFEST... --admit-out FILE` makes one");
}

#[test]
fn a_list_with_another_cache_mode_is_a_wrong_command_line() {
    let bed = Bed::new();
    for mode in ["never", "auto"] {
        let run = admitting(&bed, &["-o", "out", "--cache-mode", mode]).assert().code(2);
        run.stderr(contains("--admit").and(contains("--cache-mode always")));
    }
}
