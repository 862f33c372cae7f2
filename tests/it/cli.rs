//! The command line as text: what is accepted, what is said, which exit code says it.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;

/// `onepull` with a home of its own, and nothing of the caller's environment that it reads.
fn onepull() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("onepull"));
    command.env_remove("ONEPULL_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", "/nonexistent");
    command
}

fn materialize(arguments: &[&str]) -> Command {
    let mut command = onepull();
    command.arg("materialize").args(arguments);
    command
}

fn analyze(arguments: &[&str]) -> Command {
    let mut command = onepull();
    command.arg("analyze").args(arguments);
    command
}

#[test]
fn help_teaches_by_headings_examples_and_exit_codes() {
    let headings = ["Output:", "Sources:", "Cache:", "Errors:", "Machine and report:"];
    let mut assert = materialize(&["--help"]).assert().code(0).stderr("");
    for part in headings.iter().chain(&["Examples:", "Exit codes:", "130", "[default: cores]"]) {
        assert = assert.stdout(contains(*part));
    }
}

#[test]
fn short_help_is_short() {
    let help = |flag: &str| {
        let output = materialize(&[flag]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().count()
    };
    assert!(help("-h") * 2 < help("--help"));
}

#[test]
fn help_of_analyze_teaches_by_headings_and_examples() {
    let mut assert = analyze(&["--help"]).assert().code(0).stderr("");
    let headings = ["Counting:", "Concurrency:", "Images:", "Plot:", "Errors:", "Machine and report:"];
    let parts =
        ["Examples:", "Exit codes:", "[default: 1,4,16,64,256]", "--save counts.parquet", "cache of --probe"];
    for part in headings.iter().chain(&parts) {
        assert = assert.stdout(contains(*part));
    }
}

#[test]
fn help_of_size_teaches_by_headings_and_examples() {
    let mut assert = onepull().args(["size", "--help"]).assert().code(0).stderr("");
    let headings = ["Sizes:", "Objective:", "Plot:", "Errors:", "Machine and report:"];
    let parts = ["Examples:", "Exit codes:", "[default: 50ms]", "--from counts.parquet", "Possible values:"];
    for part in headings.iter().chain(&parts) {
        assert = assert.stdout(contains(*part));
    }
}

#[test]
fn help_names_every_command_and_no_other() {
    let help = String::from_utf8(onepull().arg("--help").output().unwrap().stdout).unwrap();
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands: Vec<_> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(commands, ["materialize", "analyze", "size", "help"], "{help}");
}

#[test]
fn completions_and_man_pages_are_on_stdout_and_not_in_the_list_of_commands() {
    for (arguments, part) in [
        (&["completions", "bash"][..], "--max-errors"),
        (&["completions", "zsh"], "#compdef onepull"),
        (&["man"], ".TH onepull 1"),
        (&["man", "size"], "assume"),
    ] {
        onepull().args(arguments).assert().code(0).stderr("").stdout(contains(part));
    }
    onepull().args(["man", "nope"]).assert().code(2).stdout("").stderr(contains("no command nope"));
    onepull().arg("--help").assert().stdout(contains("onepull completions SHELL"));
    onepull().arg("-h").assert().stdout(contains("completions").not());
}

#[test]
fn help_fits_80_columns_and_ends_with_three_examples() {
    for command in ["materialize", "analyze", "size"] {
        let output = onepull().args([command, "--help"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let examples = text.split("Examples:\n").nth(1).unwrap();
        assert_eq!(examples.trim_end().split("\n\n").count(), 3, "{examples}");
    }
}

#[test]
fn version_is_that_of_the_package() {
    onepull().arg("--version").assert().code(0).stdout(format!("onepull {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line_is_2_and_leaves_stdout_empty() {
    for arguments in [
        &["in", "-o", "out", "--unknown"][..],
        &["-o", "out"],
        &["in", "-o", "out", "-j", "0"],
        &["in", "-o", "out", "--format", "zip"],
        &["in", "-o", "out", "--max-errors", "101%"],
        &["in", "-o", "out", "--max-errors", "-1"],
        &["in", "-o", "out", "--row-group-size", "0B"],
        &["in", "-o", "out", "-q", "-v"],
        &["in", "-o", "out", "--allow", ""],
    ] {
        materialize(arguments).assert().code(2).stdout("").stderr(contains("error: "));
    }
    onepull().assert().code(2);
}

#[test]
fn a_wrong_analysis_is_2_and_leaves_stdout_empty() {
    for arguments in [
        &[][..],
        &["in", "--sample", "0"],
        &["in", "--sample", "2"],
        &["in", "--sample", "half"],
        &["in", "--workers", "0"],
        &["in", "--tasks", "0"],
        &["in", "--plot", "plot.png"],
        &["in", "--max-errors", "101%"],
    ] {
        analyze(arguments).assert().code(2).stdout("").stderr(contains("error: "));
    }
}

#[test]
fn only_a_probe_needs_a_cache_folder() {
    analyze(&["in", "--probe"])
        .env_remove("HOME")
        .assert()
        .code(2)
        .stderr(contains("--cache DIR").and(contains("ONEPULL_CACHE")));
}

#[test]
fn a_plot_replaces_no_input_and_needs_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("manifest.svg"), "{}").unwrap();
    for (plot, message) in [
        ("manifest.svg", "--plot manifest.svg: it is an input of this run; choose another name"),
        ("missing/plot.svg", "--plot missing/plot.svg: the folder missing does not exist"),
    ] {
        let run = analyze(&["manifest.svg", "--plot", plot]).current_dir(&folder).assert();
        run.code(1).stdout("").stderr(contains(message));
    }
    assert_eq!(std::fs::read(folder.path().join("manifest.svg")).unwrap(), b"{}");
}

#[test]
fn output_is_required_unless_the_run_is_dry() {
    materialize(&["in"])
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("-o/--output DIR is required unless --dry-run is given"));
}

#[test]
fn what_is_no_size_is_refused_with_the_legal_forms() {
    for size in ["10Gb", "1e9", "1_000", "-1MB", "10X", "16EiB"] {
        materialize(&["in", "-o", "out", &format!("--memory={size}")])
            .assert()
            .code(2)
            .stderr(contains(size).and(contains("64GiB").or(contains("largest"))));
    }
    materialize(&["in", "-o", "out", "--memory=64"]).assert().code(2).stderr(contains("at least 16.0 MB"));
}

#[test]
fn without_a_home_the_cache_folder_must_be_named() {
    materialize(&["in", "-o", "out"])
        .env_remove("HOME")
        .assert()
        .code(2)
        .stderr(contains("--cache DIR").and(contains("ONEPULL_CACHE")));
}

#[test]
fn a_report_without_a_folder_fails_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    materialize(&["in", "-o", "out", "--report", "missing/report.json"])
        .current_dir(&folder)
        .assert()
        .code(1)
        .stdout("")
        .stderr("error: --report missing/report.json: the folder missing does not exist\n");
    materialize(&["in", "-o", "out", "--report", "."])
        .current_dir(&folder)
        .assert()
        .code(1)
        .stderr("error: --report .: it is a folder; name a file\n");
}

#[test]
fn help_to_a_closed_pipe_ends_quietly() {
    let binary = assert_cmd::cargo::cargo_bin!("onepull");
    let pipe = format!("{} materialize --help | head -c 1", binary.display());
    Command::new("sh").arg("-c").arg(pipe).assert().code(0).stdout(predicate::eq("F")).stderr("");
}
