//! `--cache-limit` as it is typed.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

use super::bed::Bed;
use crate::support::run::onepull;

/// A run with a limit of the cache, in the folder of the corpus.
fn admitting(bed: &Bed, arguments: &[&str]) -> Command {
    let mut command = onepull();
    command.current_dir(bed.corpus.path("")).args(["materialize", "in", "--cache", "cache"]);
    let limit = format!("{}B", bed.limit.bytes);
    command.args(["--cache-limit", &limit, "--progress", "none"]).args(arguments);
    command
}

#[test]
fn the_report_shows_the_sum_and_what_was_predicted() {
    let bed = Bed::new();
    let rate = |hits: u64| format!("{:.6}", hits as f64 / bed.references() as f64);
    let sum = format!(
        "admission   {}  = {} for admitted objects + {} for\n",
        rate(bed.predicted_hits() + bed.in_shard_duplicates()),
        rate(bed.predicted_hits()),
        rate(bed.in_shard_duplicates()),
    );
    let predicted = format!(
        "{}  predicted with {} objects by density in 30.0 kB",
        rate(bed.predicted_hits()),
        bed.taken().count()
    );
    let plan = format!("admission   {predicted}");
    admitting(&bed, &["--dry-run"])
        .assert()
        .code(0)
        .stdout(contains(plan).and(contains(format!("{} objects left out", bed.left_out().count()))));
    admitting(&bed, &["-o", "out"]).assert().code(0).stdout(contains(sum).and(contains(predicted)));
}

#[test]
fn a_limit_with_another_cache_mode_is_a_wrong_command_line() {
    let bed = Bed::new();
    for mode in ["never", "auto"] {
        let run = admitting(&bed, &["-o", "out", "--cache-mode", mode]).assert().code(2);
        run.stderr(contains("--cache-limit").and(contains("--cache-mode always")));
    }
}
