//! Runs that die: whatever the moment, the same command goes on, ends with the same files as an
//! undisturbed run, and fetches nothing again that the cache has.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use onepull::commands::materialize::Options;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::corpus::{Corpus, Member};
use crate::support::files::{self, Tree};
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::{command, materialize};

const OBJECTS: usize = 4000;
const MANIFESTS: usize = 40;

/// Objects enough to hit a run in the middle of everything it does.
fn corpus() -> Corpus {
    let corpus = Corpus::new();
    let mut random = Random::new(9);
    let mut members: Vec<Member> = Vec::new();
    for archive in ["a.tar", "b.tar"] {
        let named: Vec<_> =
            (0..OBJECTS / 2).map(|n| (format!("{archive}-{n}.png"), random.bytes(100 + n % 400))).collect();
        members.extend(corpus.tar(archive, &named));
    }
    let mut deck: Vec<usize> = (0..2 * OBJECTS).map(|n| n % OBJECTS).collect();
    random.shuffle(&mut deck);
    for (number, hand) in deck.chunks(2 * OBJECTS / MANIFESTS).enumerate() {
        let row = |(place, &object): (usize, &usize)| {
            Row::image(format!("s{number}-{}", place / 10), place as i32, members[object].by_range())
        };
        let rows: Vec<Row> = hand.iter().enumerate().map(row).collect();
        match number % 2 {
            0 => corpus.jsonl(&format!("{number:02}.jsonl"), &rows),
            _ => corpus.parquet(&format!("{number:02}.parquet"), &rows),
        };
    }
    corpus
}

/// A run of the binary, and where it writes.
struct Running {
    options: Options,
    child: Child,
}

impl Running {
    fn start(corpus: &Corpus, name: &str, jobs: usize) -> Running {
        let cache_dir = corpus.path(format!("{name}/cache"));
        let options = Options { jobs, cache_dir, ..corpus.options_into(&format!("{name}/out")) };
        let mut command = command(&options);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Running { options, child }
    }

    fn shards(&self) -> Tree {
        files::shards(output(&self.options))
    }

    fn entries(&self) -> usize {
        files::entries(&self.options.cache_dir).len()
    }

    /// From 0 to 1 while the cache fills, to 2 while shards appear.
    fn progress(&self) -> f64 {
        self.entries() as f64 / OBJECTS as f64 + self.shards().len() as f64 / MANIFESTS as f64
    }

    /// Waits until `reached`, or until the run ends.
    fn wait_until(&mut self, reached: impl Fn(&Running) -> bool) {
        while self.child.try_wait().unwrap().is_none() && !reached(self) {
            sleep(Duration::from_millis(1));
        }
    }

    /// Sends SIGINT; returns the exit code and how long the run took to end.
    fn interrupt(&mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), start.elapsed())
    }

    /// Runs the same again, to its end, after the cache had `entries`.
    fn go_on(&self, entries: usize) {
        let report = materialize(&self.options);
        assert_eq!(report.materialized, 2 * OBJECTS as u64);
        assert_eq!(report.source.reads, (OBJECTS - entries) as u64, "{entries} entries were there");
        assert_eq!(report.source.rereads, 0);
    }

    /// All files in output and cache, with what the run keeps for itself.
    fn trees(&self) -> [Tree; 2] {
        [files::tree(output(&self.options)), files::tree(&self.options.cache_dir)]
    }
}

fn output(options: &Options) -> &Path {
    options.output.as_deref().unwrap()
}

/// The output and cache of a run that nobody disturbs.
fn undisturbed(corpus: &Corpus) -> [Tree; 2] {
    let mut running = Running::start(corpus, "undisturbed", 2);
    assert!(running.child.wait().unwrap().success());
    let trees = running.trees();
    assert_eq!(running.shards().len(), MANIFESTS);
    assert_eq!(running.entries(), OBJECTS);
    let strays: Vec<&PathBuf> =
        trees.iter().flat_map(Tree::keys).filter(|path| path.iter().any(|part| part == "tmp")).collect();
    assert!(strays.is_empty(), "{strays:?}");
    trees
}

fn assert_same(found: &[Tree; 2], expected: &[Tree; 2], when: &str) {
    for (found, expected) in found.iter().zip(expected) {
        let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(found), names(expected), "{when}");
        assert!(found == expected, "{when}: the same files hold other bytes");
    }
}

#[test]
fn a_killed_run_goes_on_where_it_stopped_whatever_the_moment() {
    let corpus = corpus();
    let expected = undisturbed(&corpus);
    let mut random = Random::new(2026);
    let (mut in_fetch, mut in_write) = (0, 0);
    for tenth in 0..10 {
        let mut running = Running::start(&corpus, &format!("killed-{tenth}"), 1 + tenth % 3);
        let moment = (100 * tenth + random.below(100)) as f64 / 500.0;
        running.wait_until(|running| running.progress() >= moment);
        running.child.kill().unwrap();
        let status = running.child.wait().unwrap();
        let (entries, shards) = (running.entries(), running.shards());
        let killed = status.signal() == Some(9);
        in_fetch += usize::from(killed && (1..OBJECTS).contains(&entries));
        in_write += usize::from(killed && entries == OBJECTS && shards.len() < MANIFESTS);
        for (name, shard) in shards {
            assert_eq!(shard, expected[0][&name], "{} was not finished", name.display());
        }
        running.go_on(entries);
        assert_same(&running.trees(), &expected, &format!("killed with {entries} entries"));
    }
    assert!(in_fetch > 0 && in_write > 0, "killed {in_fetch} times in fetch, {in_write} times in write");
}

#[test]
fn an_interrupted_run_stops_soon_says_130_and_keeps_what_is_finished() {
    let corpus = corpus();
    let expected = undisturbed(&corpus);
    for (name, moment, shards) in [("in-fetch", 0.1, 0), ("in-write", 1.1, 4)] {
        let mut running = Running::start(&corpus, name, 1);
        running.wait_until(|running| running.progress() >= moment);
        let (code, took) = running.interrupt();
        assert_eq!(code, Some(130), "{name}");
        assert!(took < Duration::from_secs(2), "{name}: {took:?}");
        assert!(
            (shards..MANIFESTS).contains(&running.shards().len()),
            "{name}: {:?}",
            running.shards().keys()
        );
        assert!(running.shards().iter().all(|(path, shard)| expected[0][path] == *shard), "{name}");
        let strays = running.trees().into_iter().flat_map(Tree::into_keys);
        let strays: Vec<PathBuf> = strays.filter(|path| path.iter().any(|part| part == "tmp")).collect();
        assert!(strays.is_empty(), "{name} left {strays:?}");
        running.go_on(running.entries());
        assert_same(&running.trees(), &expected, name);
    }
}
