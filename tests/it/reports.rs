//! What a run says and where: stdout for the report, stderr for the rest, the exit code for how
//! it ended.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/corpus/jsonl");

/// A run in a folder of its own, into `out`, with the cache beside it.
fn materialize(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("onepull"));
    command.current_dir(folder).env_remove("ONEPULL_CACHE").env("NO_COLOR", "1");
    command.args(["materialize", "-o", "out", "--cache", "cache"]).args(arguments);
    command
}

/// A manifest of `good` rows that name a file that exists, and `bad` that do not.
fn manifest(folder: &Path, good: usize, bad: usize) {
    fs::write(folder.join("there.jpg"), b"payload").unwrap();
    let row = |n: usize, path: &str| {
        let locator = format!("{{\\\"path\\\": \\\"{path}\\\"}}");
        format!(
            "{{\"sample_id\": \"s{n}\", \"position\": 0, \"modality\": \"image\", \
             \"content_type\": \"image/jpeg\", \"source_ref\": \"{locator}\"}}\n"
        )
    };
    let rows = (0..good).map(|n| row(n, "there.jpg"));
    let rows = rows.chain((good..good + bad).map(|n| row(n, &format!("missing-{n}.jpg"))));
    fs::write(folder.join("in.jsonl"), rows.collect::<String>()).unwrap();
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("one JSON value and nothing else")
}

#[test]
fn the_report_is_on_stdout_and_progress_on_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let assert = materialize(&folder, &[CORPUS]).assert().code(0);
    assert
        .stdout(contains("= 14 objects + 41 duplicates"))
        .stderr(contains("fetch  14 objects").and(contains("write  128 rows")));
}

#[test]
fn a_report_replaces_anything_but_a_manifest() {
    let folder = tempfile::tempdir().unwrap();
    manifest(folder.path(), 1, 0);
    let before = fs::read(folder.path().join("in.jsonl")).unwrap();
    let refused = materialize(&folder, &["in.jsonl", "--report", "in.jsonl"]).assert().code(1);
    refused.stderr(contains("--report in.jsonl: it is an input of this run"));
    assert_eq!(fs::read(folder.path().join("in.jsonl")).unwrap(), before);
    fs::write(folder.path().join("r.json"), "notes").unwrap();
    materialize(&folder, &["in.jsonl", "--report", "r.json"]).assert().code(0);
    assert_eq!(json(&fs::read(folder.path().join("r.json")).unwrap())["rows_in"], 1);
    materialize(&folder, &["in.jsonl", "--report", "/dev/stderr"])
        .assert()
        .stderr(contains("\"rows_in\": 1"));
}

#[test]
fn quiet_leaves_stderr_empty() {
    let folder = tempfile::tempdir().unwrap();
    materialize(&folder, &[CORPUS, "-q"]).assert().code(0).stderr("").stdout(contains("hit rate"));
}

#[test]
fn json_is_alone_on_stdout_and_the_same_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = materialize(&folder, &[CORPUS, "--json", "--report", "report.json"]).output().unwrap();
    let report = json(&output.stdout);
    assert_eq!(json(&fs::read(folder.path().join("report.json")).unwrap()), report);
    assert_eq!((&report["references"], &report["objects"]), (&55.into(), &14.into()));
    assert_eq!(report["source"]["reads"], 14);
}

#[test]
fn a_plan_is_a_report_too() {
    let folder = tempfile::tempdir().unwrap();
    let output = materialize(&folder, &[CORPUS, "--json", "--dry-run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output.stdout)["fetch"], 14);
    assert!(!folder.path().join("out").exists());
    materialize(&folder, &[CORPUS, "--dry-run"]).assert().code(0).stdout(contains("14 to fetch"));
}

#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let binary = assert_cmd::cargo::cargo_bin!("onepull");
    let command = format!(
        "{{ {} materialize {CORPUS} -o out --cache cache -q; echo $? > code; }} | true",
        binary.display()
    );
    Command::new("sh").args(["-c", &command]).current_dir(&folder).assert().code(0).stderr("");
    assert_eq!(fs::read_to_string(folder.path().join("code")).unwrap(), "0\n");
    assert!(folder.path().join("out").exists());
}

#[test]
fn failed_references_are_3_and_say_how_many_were_allowed() {
    let folder = tempfile::tempdir().unwrap();
    manifest(folder.path(), 7, 1);
    materialize(&folder, &["in.jsonl", "-q"])
        .assert()
        .code(3)
        .stdout(contains("1 not_found"))
        .stderr(contains("incomplete: 1 error over 8 references, --max-errors allows 0"));
}

#[test]
fn failed_references_up_to_the_limit_are_0() {
    for allowed in ["1", "12.5%"] {
        let folder = tempfile::tempdir().unwrap();
        manifest(folder.path(), 7, 1);
        materialize(&folder, &["in.jsonl", "--max-errors", allowed]).assert().code(0);
    }
}

#[test]
fn failing_on_errors_is_1_without_a_report() {
    let folder = tempfile::tempdir().unwrap();
    manifest(folder.path(), 7, 1);
    materialize(&folder, &["in.jsonl", "-q", "--on-error", "fail"])
        .assert()
        .code(1)
        .stdout("")
        .stderr(contains("error: "));
}

#[test]
fn a_flood_of_problems_is_cut_off_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    manifest(folder.path(), 1, 60);
    let warnings = |flags: &[&str]| {
        let arguments = [&["in.jsonl", "--overwrite"], flags].concat();
        let output = materialize(&folder, &arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap().matches("warning: ").count()
    };
    assert!(warnings(&[]) <= 21);
    assert!(warnings(&["-v"]) >= warnings(&[]));
}

#[test]
fn a_source_that_a_manifest_names_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    manifest(folder.path(), 1, 0);
    let before = fs::read(folder.path().join("there.jpg")).unwrap();
    std::os::unix::fs::symlink("there.jpg", folder.path().join("link.jpg")).unwrap();
    for report in ["there.jpg", "./there.jpg", "link.jpg"] {
        for command in ["materialize", "analyze", "size"] {
            let mut run = Command::new(assert_cmd::cargo::cargo_bin!("onepull"));
            run.current_dir(&folder).args([command, "in.jsonl", "--report", report, "-q"]);
            if command == "materialize" {
                run.args(["-o", "out", "--cache", "cache"]);
            }
            run.assert().code(1).stdout("").stderr(contains("names this file as a source"));
        }
    }
    assert_eq!(fs::read(folder.path().join("there.jpg")).unwrap(), before);
}
