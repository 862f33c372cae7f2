//! A run that is asked to stop ends as soon as it notices, says so, and leaves no file behind.

use std::fs;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use onepull::commands::analyze::{Options, run};
use onepull::monitor::{Interrupted, Monitor, Phase};
use predicates::prelude::*;
use rustix::process::{Pid, Signal, kill_process};

use super::forms::Form;
use super::model::{Manifest, write, write_as};
use super::options;
use crate::support::corpus::Corpus;
use crate::support::files;
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::onepull;

/// Asks to stop from a number of questions on.
struct Stopping {
    after: u64,
    asked: AtomicU64,
    /// With the number of questions before it.
    started: Mutex<Vec<(Phase, u64)>>,
}

impl Stopping {
    fn after(after: u64) -> Stopping {
        Stopping { after, asked: AtomicU64::new(0), started: Mutex::default() }
    }
}

impl Monitor for Stopping {
    fn start(&self, phase: Phase, _: u64) {
        self.started.lock().unwrap().push((phase, self.asked.load(Ordering::Relaxed)));
    }

    fn advance(&self, _: Phase, _: u64, _: u64) {}
    fn finish(&self, _: Phase) {}
    fn problem(&self, _: &str) {}
    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.after
    }
}

#[test]
fn a_run_stops_wherever_it_is_and_leaves_the_folder_as_it_was() {
    let corpus = Corpus::new();
    let mut random = Random::new(3);
    let mut manifests: Vec<_> = (0..3).map(|_| Manifest::random(&mut random, 500, 300)).collect();
    let payloads = (0..40).map(|n| Row::image("s", n, corpus.file(&format!("{n}.jpg"), b"x")));
    manifests[0].rows.extend(payloads);
    write(&corpus, &manifests);
    let before = files::tree(&corpus.path(""));
    for (jobs, simulate) in [(1, true), (3, false)] {
        let options = Options {
            simulate,
            jobs,
            memory: 16_000_000,
            content_sample: 30,
            probe: true,
            ..options(&corpus)
        };
        let undisturbed = Stopping::after(u64::MAX);
        run(&options, &undisturbed).unwrap();
        let (started, questions) =
            (undisturbed.started.into_inner().unwrap(), undisturbed.asked.into_inner());
        let phases: Vec<Phase> = started.iter().map(|(phase, _)| *phase).collect();
        // Comparing and timing are two phases.
        assert_eq!(phases, [Phase::Scan, Phase::Group, Phase::Fetch, Phase::Fetch]);
        let ends = started.iter().skip(1).map(|(_, asked)| *asked).chain([questions]);
        let moments = started.iter().zip(ends).zip(1..).flat_map(|(((_, start), end), reached)| {
            [*start, start + (end - start) / 2, end - 1].map(|after| (after, reached))
        });
        for (after, reached) in moments {
            let monitor = Stopping::after(after);
            let error = run(&options, &monitor).expect_err("it was asked to stop");
            assert!(error.is::<Interrupted>(), "{error:#}");
            assert_eq!(monitor.started.into_inner().unwrap().len(), reached, "phases, after {after}");
            let more = monitor.asked.into_inner() - after;
            assert!(more <= 8 * jobs as u64, "after {after}: asked {more} times more");
            assert!(files::tree(&corpus.path("")) == before, "after {after}");
            assert!(!corpus.path("cache").exists(), "after {after}");
        }
    }
}

#[test]
fn temporary_files_have_no_names() {
    let corpus = Corpus::new();
    let mut random = Random::new(4);
    write(&corpus, &[Manifest::random(&mut random, 2_000, 2_000)]);
    let scratch = corpus.path("tmp");
    fs::create_dir(&scratch).unwrap();
    let mut command = onepull();
    command.env("TMPDIR", &scratch).arg("analyze").arg(corpus.path("in"));
    command
        .args(["--simulate", "--memory", "16MB"])
        .assert()
        .code(0)
        .stdout(predicate::str::contains("spilled"));
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
}

#[test]
fn without_a_place_for_temporary_files_the_run_fails_and_says_where_it_looked() {
    let corpus = Corpus::new();
    let mut random = Random::new(4);
    write(&corpus, &[Manifest::random(&mut random, 2_000, 2_000)]);
    let mut command = onepull();
    command.env("TMPDIR", corpus.path("missing")).arg("analyze").arg(corpus.path("in"));
    let assert = command.args(["--simulate", "--memory", "16MB"]).assert().code(1).stdout("");
    let folder = corpus.path("missing").display().to_string();
    assert.stderr(predicate::str::contains(folder).and(predicate::str::contains("--memory")));
}

#[test]
fn ctrl_c_ends_a_run_with_130_and_no_report() {
    let corpus = Corpus::new();
    let manifest = Manifest::random(&mut Random::new(5), 40_000, 9_000);
    write_as(&corpus, 0, Form::Gzip, &manifest);
    let scratch = corpus.path("tmp");
    fs::create_dir(&scratch).unwrap();
    let mut command = std::process::Command::new(onepull().get_program());
    command.env("TMPDIR", &scratch).arg("analyze").arg(corpus.path("in"));
    command.args(["--memory", "16MB", "--progress", "none", "--report"]).arg(corpus.path("report.json"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();

    // Once it reads the manifest it listens to signals.
    let opened = format!("/proc/{}/fd", child.id());
    let reads = || {
        let links = fs::read_dir(&opened).into_iter().flatten().flatten();
        links
            .filter_map(|link| fs::read_link(link.path()).ok())
            .any(|file| file.starts_with(corpus.path("in")))
    };
    let start = Instant::now();
    while !reads() && start.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_micros(200));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("interrupted"), "{said}");
    assert!(!corpus.path("report.json").exists());
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
}
