//! Folders that several runs use, and folders that may not be used.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use onepull::commands::materialize::{Options, run};
use onepull::monitor::{Monitor, Phase, Silent};
use walkdir::WalkDir;

use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::{command, materialize};
use crate::support::{files, shards};

/// `objects` images in a tar, each named by two rows of each of two manifests. Returns the
/// payloads in the order of the rows.
fn twice_in_two_manifests(corpus: &Corpus, objects: usize) -> Vec<Option<Vec<u8>>> {
    let mut random = Random::new(2);
    let named: Vec<_> = (0..objects).map(|n| (format!("{n}.png"), random.bytes(50 + n))).collect();
    let members = corpus.tar("a.tar", &named);
    let order: Vec<usize> = (0..2 * objects).map(|n| n % objects).collect();
    let row = |(place, &n): (usize, &usize)| Row::image(format!("s{place}"), 0, members[n].by_range());
    let rows: Vec<Row> = order.iter().enumerate().map(row).collect();
    corpus.jsonl("one.jsonl", &rows);
    corpus.parquet("two.parquet", &rows);
    order.into_iter().map(|n| Some(named[n].1.clone())).collect()
}

#[test]
fn two_runs_at_once_share_a_cache_and_both_get_the_right_bytes() {
    let corpus = Corpus::new();
    let truth = twice_in_two_manifests(&corpus, 1000);
    let start = |output: &str| -> Child {
        let mut command = command(&corpus.options_into(output));
        command.arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let runs: Vec<Child> = ["out-1", "out-2"].into_iter().map(start).collect();
    for run in runs {
        let ended = run.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(0), "{stderr}");
        let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(report["materialized"], 4000);
        assert_eq!(report["cache"]["put_failures"], 0);
        assert_eq!(report["source"]["rereads"], 0);
    }
    for output in ["out-1", "out-2"] {
        for shard in ["one.tar", "two.parquet"] {
            assert!(shards::images(&corpus.path(output).join(shard)) == truth, "{output}/{shard}");
        }
    }
    assert_eq!(files::entries(&corpus.path("cache")).len(), 1000);
    assert_eq!(std::fs::read_dir(corpus.path("cache/v1/tmp")).unwrap().count(), 0);
}

/// Runs `second` while the run that it observes fetches.
struct Meanwhile {
    second: Options,
    error: Mutex<Option<String>>,
}

impl Monitor for Meanwhile {
    fn start(&self, phase: Phase, _: u64) {
        if phase == Phase::Fetch {
            let error = run(&self.second, &Silent).unwrap_err();
            *self.error.lock().unwrap() = Some(format!("{error:#}"));
        }
    }
    fn advance(&self, _: Phase, _: u64, _: u64) {}
    fn finish(&self, _: Phase) {}
    fn problem(&self, message: &str) {
        panic!("a problem: {message}");
    }
    fn interrupted(&self) -> bool {
        false
    }
}

#[test]
fn a_second_run_into_the_same_folder_is_refused_and_disturbs_nothing() {
    let corpus = Corpus::new();
    let truth = twice_in_two_manifests(&corpus, 10);
    let options = corpus.options();
    let second = Options { cache_dir: corpus.path("other-cache"), ..options.clone() };
    let monitor = Meanwhile { second, error: Mutex::default() };
    run(&options, &monitor).unwrap();
    let error = monitor.error.into_inner().unwrap().expect("there was a second run");
    let folder = corpus.path("out").display().to_string();
    assert!(error.contains("another run is writing to") && error.contains(&folder), "{error}");
    assert!(shards::images(&corpus.path("out/one.tar")) == truth);
    assert!(!corpus.path("other-cache").exists());
    materialize(&options);
}

#[test]
fn a_cache_among_inputs_or_shards_is_refused_and_nothing_is_written() {
    let corpus = Corpus::new();
    twice_in_two_manifests(&corpus, 1);
    std::os::unix::fs::symlink(corpus.path("in"), corpus.path("link")).unwrap();
    let before = files::tree(&corpus.path(""));
    for (cache, output, said) in [
        ("in/cache", "out", "inside the input folder"),
        ("in", "out", "inside the input folder"),
        ("link/deep/cache", "out", "inside the input folder"),
        ("out/cache", "out", "inside the output folder"),
        ("out", "out", "inside the output folder"),
        ("cache", "cache/out", "is inside the cache"),
        ("in/../out/x/../cache", "out", "inside the output folder"),
        ("missing/../in/cache", "out", "inside the input folder"),
    ] {
        let options = Options { cache_dir: corpus.path(cache), ..corpus.options_into(output) };
        let error = run(&options, &Silent).map(drop).expect_err(cache);
        assert!(format!("{error:#}").contains(said), "{cache}, {output}: {error:#}");
    }
    assert_eq!(files::tree(&corpus.path("")), before);
}

#[test]
fn with_umask_002_a_group_shares_the_cache() {
    let corpus = Corpus::new();
    twice_in_two_manifests(&corpus, 5);
    let binary = assert_cmd::cargo::cargo_bin!("onepull");
    let status = Command::new("sh")
        .args(["-c", "umask 002; exec \"$0\" materialize \"$1/in\" -o \"$1/out\" --cache \"$1/cache\" -q"])
        .arg(binary)
        .arg(corpus.path(""))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    for folder in ["cache", "out"] {
        for path in all(&corpus.path(folder)) {
            let mode = path.metadata().unwrap().permissions().mode() & 0o777;
            let expected = if path.is_dir() { 0o775 } else { 0o664 };
            assert_eq!(mode, expected, "{} has mode {mode:o}", path.display());
        }
    }
}

fn all(folder: &Path) -> Vec<PathBuf> {
    WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path()).collect()
}
