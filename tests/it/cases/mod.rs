//! Inputs that break tools like this one: wrong bytes, bad rows, archives, Parquet, machines.
//!
//! Here is what the cases share: a folder to run the program in, a table of locators with what
//! must come of each, and what a shard holds, whatever its format.

mod archives;
mod bad_rows;
mod changed;
mod machine;
mod parquet;
mod policies;
#[path = "../../support/tar.rs"]
mod tar;
mod wrong_bytes;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::support::corpus::Corpus;
use crate::support::manifests::{self, Row};
use crate::support::run;
use crate::support::shards::{self, Written};

pub const FORMATS: [&str; 2] = ["parquet", "webdataset"];

/// A folder with manifests in `in`, sources in `data` and, after a run, shards in `out`.
pub struct Bench(Corpus);

/// What a run left behind.
pub struct Run {
    pub code: i32,
    /// The report; null where the run has none.
    pub report: Value,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Bench {
        let corpus = Corpus::new();
        fs::create_dir(corpus.path("data")).unwrap();
        Bench(corpus)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Bench {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub fn jsonl(&self, name: &str, rows: &[Row]) -> &Bench {
        self.write(name, manifests::jsonl(rows))
    }

    /// A command line that may be added to, in this folder and with nothing of the caller's.
    pub fn command(&self, flags: &[&str]) -> Command {
        let mut command = run::onepull();
        command.current_dir(self.path("")).timeout(Duration::from_secs(60));
        command.args(["materialize", "-o", "out", "--cache", "cache", "-v"]).args(flags);
        command
    }

    /// Materializes `in`, with relative paths in `data`.
    pub fn run(&self, flags: &[&str]) -> Run {
        Run::of(self.command(&["in", "--root", "data", "--json"]).args(flags))
    }

    /// [`Bench::run`] without anything of an earlier run.
    pub fn run_afresh(&self, flags: &[&str]) -> Run {
        for folder in ["out", "cache"] {
            let _ = fs::remove_dir_all(self.path(folder));
        }
        self.run(flags)
    }

    /// The rows of the shard of `in/m.*`.
    pub fn shard(&self, format: &str) -> Vec<Written> {
        let ending = if format == "parquet" { "parquet" } else { "tar" };
        shards::read(&self.path(&format!("out/m.{ending}")))
    }
}

impl Run {
    pub fn of(command: &mut Command) -> Run {
        let output = command.output().unwrap();
        Run {
            code: output.status.code().expect("it ends by itself"),
            report: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn count(&self, field: &str) -> u64 {
        self.report.pointer(&format!("/{}", field.replace('.', "/"))).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Fails unless everything went well.
    pub fn complete(&self) -> &Run {
        assert_eq!((self.code, &self.report["errors"]), (0, &json!({})), "{}", self.stderr);
        self
    }
}

/// An image row that is all of its sample.
pub fn image(sample: impl Into<String>, source_ref: impl ToString) -> Row {
    Row::image(sample, 0, source_ref.to_string())
}

/// A locator of the whole file.
pub fn whole(path: &str) -> Value {
    json!({"path": path})
}

pub fn member(path: &str, member: &str) -> Value {
    json!({"path": path, "member": member})
}

pub fn range(path: &str, offset: u64, size: u64) -> Value {
    json!({"path": path, "byte_offset": offset, "byte_size": size})
}

/// What must come of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Right {
    Bytes(Vec<u8>),
    /// The class of its error, and a part of the sentence.
    Fault(&'static str, String),
    NoLocator,
}

/// A `source_ref` as text, and what must come of its row.
pub struct Case(Option<String>, Right);

pub fn gives(source_ref: impl ToString, payload: impl AsRef<[u8]>) -> Case {
    Case(Some(source_ref.to_string()), Right::Bytes(payload.as_ref().to_vec()))
}

pub fn fails(source_ref: impl ToString, class: &'static str, says: &str) -> Case {
    Case(Some(source_ref.to_string()), Right::Fault(class, says.to_owned()))
}

pub fn has_no_locator(source_ref: Option<&str>) -> Case {
    Case(source_ref.map(str::to_owned), Right::NoLocator)
}

/// Runs the cases as rows between good ones, from a manifest of each kind to a shard of each
/// format, and checks rows, report, stderr and exit code.
pub fn check(bench: &Bench, cases: Vec<Case>) {
    bench.write("data/good", "good");
    let good = || gives(whole("good"), "good");
    let cases: Vec<Case> = [good()].into_iter().chain(cases).chain([good()]).collect();
    for (manifest, unit) in [("in/m.jsonl", "line"), ("in/m.parquet", "row")] {
        let _ = fs::remove_dir_all(bench.path("in"));
        match unit {
            "line" => bench.jsonl(manifest, &rows(&cases)),
            _ => bench.write(manifest, manifests::parquet(&rows(&cases), 5)),
        };
        for format in FORMATS {
            // Both ways to a payload, over all: out of the cache, and straight from the source.
            let mode = if (format == "parquet") == (unit == "row") { "never" } else { "always" };
            let run = bench.run_afresh(&["--format", format, "--cache-mode", mode]);
            let shard = bench.shard(format);
            check_rows(&cases, &shard);
            check_report(&cases, &run);
            for (at, (Case(source_ref, right), got)) in cases.iter().zip(&shard).enumerate() {
                let Right::Fault(class, _) = right else { continue };
                let error = got.error.as_deref().unwrap();
                let told = run.stderr.lines().find(|line| line.contains(error));
                let told = told.unwrap_or_else(|| panic!("{error} is not in {}", run.stderr));
                let place = format!("{manifest}: {unit} {}: ", at + 1);
                assert!(told.contains(&place) || *class != "bad_locator", "{source_ref:?}: {told}");
            }
        }
    }
}

fn check_rows(cases: &[Case], shard: &[Written]) {
    assert_eq!(shard.len(), cases.len(), "every row stays");
    for (at, (Case(source_ref, right), got)) in cases.iter().zip(shard).enumerate() {
        assert_eq!((&got.sample_id, got.position), (&format!("s{at}"), 0));
        let found = (got.payload.as_deref(), got.error.as_deref());
        match right {
            Right::Bytes(bytes) => assert_eq!(found, (Some(&bytes[..]), None), "{source_ref:?}"),
            Right::Fault(class, says) => {
                let error = found.1.unwrap_or_else(|| panic!("{source_ref:?} gives {:?}", found.0));
                let what = error.strip_prefix(&format!("{class}: "));
                assert!(what.is_some_and(|what| what.contains(says)), "{source_ref:?}: {error}");
                assert_eq!(found.0, None, "{source_ref:?}");
            }
            Right::NoLocator => {
                assert!(found.1.is_some_and(|error| error.starts_with("no_locator: ")), "{source_ref:?}");
                assert_eq!(found.0, None, "{source_ref:?}");
            }
        }
    }
}

fn check_report(cases: &[Case], run: &Run) {
    let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut materialized, mut no_locator) = (0, 0);
    for Case(_, right) in cases {
        match right {
            Right::Bytes(_) => materialized += 1,
            Right::Fault(class, _) => *errors.entry(class).or_default() += 1,
            Right::NoLocator => no_locator += 1,
        }
    }
    assert_eq!(run.report["errors"], json!(errors), "{}", run.stderr);
    assert_eq!(run.code, if errors.is_empty() { 0 } else { 3 }, "{}", run.stderr);
    let count = |field| run.count(field);
    assert_eq!((count("materialized"), count("no_locator")), (materialized, no_locator));
    assert_eq!((count("rows_in"), count("rows_out")), (cases.len() as u64, cases.len() as u64));
    assert_eq!(count("references") + no_locator + count("bad_locator"), cases.len() as u64);
    assert_eq!(count("references"), materialized + count("failed"));
    assert_eq!(count("references"), count("objects") + count("duplicates"));
    assert_eq!(
        count("objects"),
        count("cache.hits") + count("source.reads") + count("failed_objects"),
        "{}",
        run.report
    );
}

fn rows(cases: &[Case]) -> Vec<Row> {
    let row = |(at, Case(source_ref, _)): (usize, &Case)| Row {
        source_ref: source_ref.clone(),
        ..image(format!("s{at}"), "")
    };
    cases.iter().enumerate().map(row).collect()
}
