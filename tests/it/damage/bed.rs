//! A tiny corpus to break, and runs over it that must end.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use onepull::commands::materialize::{CacheMode, Format, Options, Outcome, Report, run};
use onepull::monitor::Silent;
use serde_json::Value;

use crate::support::corpus::{Corpus, Member};
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::assert_laws;
use crate::support::shards::{self, Written};

/// No run over this corpus takes longer, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Bed {
    pub corpus: Corpus,
    /// The rows of the manifest, undamaged.
    pub rows: Vec<Row>,
    pub members: Vec<Member>,
    /// Archive and name, and the payload there, undamaged.
    payloads: Vec<(String, String, Vec<u8>)>,
}

impl Bed {
    /// Two tars and a file; twelve rows that name them in every way.
    pub fn new() -> Bed {
        let corpus = Corpus::new();
        let mut random = Random::new(12);
        let (mut members, mut payloads) = (Vec::new(), Vec::new());
        for archive in ["a.tar", "b.tar"] {
            let named: Vec<_> =
                (0..3).map(|n| (format!("img/{n}.png"), random.bytes(60 + 700 * n))).collect();
            members.extend(corpus.tar(archive, &named));
            payloads
                .extend(named.into_iter().map(|(name, payload)| (format!("../{archive}"), name, payload)));
        }
        let file = corpus.file("c.png", &random.bytes(90));
        let locators = [
            members[0].by_range(),
            members[1].by_name(),
            members[2].by_range(),
            members[2].by_range(),
            members[3].by_range(),
            members[4].by_name(),
            members[5].by_range(),
            file,
        ];
        let image = |(place, locator): (usize, String)| {
            Row::image(format!("doc-{}", place / 3), (2 * (place % 3) + 1) as i32, locator)
        };
        let mut rows: Vec<Row> = locators.into_iter().enumerate().map(image).collect();
        for place in [6, 3, 3, 0] {
            rows.insert(place, Row::text(&rows[place].sample_id, 10 - place as i32, "words"));
        }
        Bed { corpus, rows, members, payloads }
    }

    /// Parquet, in which every row says its locator, with a cache of its own that is cold.
    pub fn options(&self, case: usize) -> Options {
        let cache_mode = if case.is_multiple_of(2) { CacheMode::Always } else { CacheMode::Never };
        Options {
            format: Some(Format::Parquet),
            cache_dir: self.corpus.path(format!("cache-{case}")),
            cache_mode,
            jobs: 1 + case % 2,
            ..self.corpus.options_into(&format!("out-{case}"))
        }
    }

    /// Runs to the end, which must come soon, and returns the rows of the shards.
    pub fn run(&self, options: &Options, what: &str) -> (Report, Vec<Written>) {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn({
            let options = options.clone();
            move || drop(sender.send(run(&options, &Silent)))
        });
        let result = match receiver.recv_timeout(PATIENCE) {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: the run does not end"),
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}: {:?}", thread.join().unwrap_err()),
        };
        let outcome = result.unwrap_or_else(|error| panic!("{what}: the run failed: {error:#}"));
        let Outcome::Done(report) = outcome else { panic!("{what}: no shards were to be written") };
        assert_laws(&report);
        let output = options.output.as_ref().unwrap();
        let rows = report.shards.iter().flat_map(|shard| shards::read(&output.join(&shard.path))).collect();
        (report, rows)
    }

    /// Removes what the run of one case wrote.
    pub fn clean(&self, options: &Options) {
        fs::remove_dir_all(options.output.as_ref().unwrap()).unwrap();
        if options.cache_dir.exists() {
            fs::remove_dir_all(&options.cache_dir).unwrap();
        }
    }

    /// Image rows hold what their locators say, or say why not. Returns how many hold it.
    pub fn check(&self, rows: &[Written], what: &str) -> usize {
        let mut materialized = 0;
        for row in rows.iter().filter(|row| row.is_image()) {
            match &row.payload {
                None => assert!(row.error.is_some(), "{what}: no payload and no error: {row:?}"),
                Some(payload) => {
                    assert_eq!(row.error, None, "{what}: a payload and an error");
                    let named = row.source_ref.as_deref().and_then(|locator| self.named(locator));
                    assert!(named.as_ref() == Some(payload), "{what}: wrong bytes in {row:?}");
                    materialized += 1;
                }
            }
        }
        materialized
    }

    /// The bytes that a locator names now. Members without a range are taken from where they were.
    pub fn named(&self, locator: &str) -> Option<Vec<u8>> {
        let locator: Value = serde_json::from_str(locator).ok()?;
        let path = locator["path"].as_str()?;
        let member = locator["member"].as_str().filter(|name| !name.is_empty());
        let file = || fs::read(self.path(path)).ok();
        let range =
            |offset: usize, size: usize| Some(file()?.get(offset..offset.checked_add(size)?)?.to_vec());
        match (natural(&locator["byte_offset"]), natural(&locator["byte_size"]), member) {
            (Some(offset), Some(size), _) => range(offset, size),
            (None, None, None) => file(),
            (None, None, Some(name)) => {
                let of_archive =
                    |member: &&Member| self.path(&member.archive) == self.path(path) && member.name == name;
                let member = self.members.iter().find(of_archive)?;
                range(member.offset as usize, member.size as usize)
            }
            _ => None,
        }
    }

    /// The payload of a row of the undamaged corpus.
    pub fn truth(&self, row: &Row) -> Option<Vec<u8>> {
        let locator: Value = serde_json::from_str(row.source_ref.as_deref()?).unwrap();
        let of_row = |(archive, name, _): &&(String, String, Vec<u8>)| {
            locator["path"] == **archive && locator["member"] == **name
        };
        match self.payloads.iter().find(of_row) {
            Some((_, _, payload)) => Some(payload.clone()),
            None => fs::read(self.corpus.path("c.png")).ok(),
        }
    }

    fn path(&self, locator_path: &str) -> PathBuf {
        let path = self.corpus.path("in").join(locator_path);
        path.canonicalize().unwrap_or(path)
    }
}

fn natural(value: &Value) -> Option<usize> {
    let whole = |number: f64| (number.fract() == 0.0 && number >= 0.0).then_some(number as usize);
    match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64().map(|number| number as usize).or_else(|| whole(other.as_f64()?)),
    }
}
