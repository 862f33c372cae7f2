//! A replay of several workers equals one by hand, event by event, from the manifests themselves.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use onepull::commands::analyze::Options;
use serde_json::Value;

use super::forms::{FORMS, Form};
use super::model::Manifest;
use super::{analyze, options};
use crate::support::corpus::Corpus;
use crate::support::random::Random;
use crate::support::shards;

/// A place in the order of paths, for each of the tasks.
const NAMES: [&str; 11] = ["00", "01/a", "01/b", "02", "03/a/b", "03/c", "04", "05", "06/x", "07", "10"];

/// Manifests of very different lengths, some without references; objects recur mostly nearby.
fn corpus(seed: u64) -> (Corpus, Vec<Vec<String>>) {
    let corpus = Corpus::new();
    let mut random = Random::new(seed);
    let mut tasks = Vec::new();
    for (name, form) in NAMES.iter().zip(FORMS.iter().cycle()) {
        let rows = [0, 3, 60, 300][random.below(4)];
        let objects = [4, 50, 400][random.below(3)];
        let manifest = Manifest::random(&mut random, rows, objects);
        let path = corpus.path("in").join(name).with_extension(form.name(0).split_once('.').unwrap().1);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, form.bytes(&manifest.rows)).unwrap();
        tasks.push(objects_of(&path, *form));
    }
    (corpus, tasks)
}

/// The object of each reference of a manifest, read back from the file.
fn objects_of(path: &Path, form: Form) -> Vec<String> {
    let bytes = fs::read(path).unwrap();
    let lines = match form {
        Form::Jsonl => String::from_utf8(bytes).unwrap(),
        Form::Gzip => std::io::read_to_string(flate2::read::GzDecoder::new(bytes.as_slice())).unwrap(),
        Form::Zstd => String::from_utf8(zstd::decode_all(bytes.as_slice()).unwrap()).unwrap(),
        _ => {
            let rows = shards::read_parquet(path).into_iter().filter(|row| row.is_image());
            return rows.filter_map(|row| Some(object(path, &row.source_ref?))).collect();
        }
    };
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["modality"] == "image")
        .filter_map(|row| Some(object(path, row["source_ref"].as_str()?)))
        .collect()
}

/// The same text for all ways to write an object, as far as this corpus goes: paths start with
/// `../`, from the folder of their manifest.
fn object(manifest: &Path, locator: &str) -> String {
    let fields: Value = serde_json::from_str(locator).unwrap();
    let path = fields["path"].as_str().unwrap();
    let path = match path.strip_prefix("../") {
        Some(path) => manifest.ancestors().nth(2).unwrap().join(path).display().to_string(),
        None => path.to_owned(),
    };
    format!("{path} {} {} {}", fields["member"], fields["byte_offset"], fields["byte_size"])
}

/// Source reads, and those when each task reads an object once. A task looks its objects up when
/// it starts and publishes them when it ends.
fn by_hand(tasks: &[Vec<String>], workers: usize) -> (u64, u64) {
    let mut published: HashSet<&str> = HashSet::new();
    let mut running: Vec<(u64, &[String])> = Vec::new();
    let (mut waiting, mut now, mut reads, mut reads_once) = (tasks.iter(), 0, 0, 0);
    loop {
        while running.len() < workers
            && let Some(task) = waiting.next()
        {
            let missing: Vec<&str> =
                task.iter().map(String::as_str).filter(|object| !published.contains(object)).collect();
            reads += missing.len() as u64;
            reads_once += missing.iter().collect::<HashSet<_>>().len() as u64;
            if !task.is_empty() {
                running.push((now + task.len() as u64, task));
            }
        }
        let Some(next) = running.iter().map(|(end, _)| *end).min() else { return (reads, reads_once) };
        now = next;
        for (_, task) in running.extract_if(.., |(end, _)| *end == now) {
            published.extend(task.iter().map(String::as_str));
        }
    }
}

const WORKERS: [u64; 6] = [1, 2, 3, 8, 11, 1_000];

#[test]
fn a_replay_equals_one_by_hand_to_the_last_reference() {
    for seed in 1..=4 {
        let (corpus, tasks) = corpus(seed);
        let references: usize = tasks.iter().map(Vec::len).sum();
        let objects = tasks.iter().flatten().collect::<HashSet<_>>().len();
        for (jobs, memory) in [(1, 1 << 30), (3, 16_000_000)] {
            let options =
                Options { simulate: true, workers: WORKERS.to_vec(), jobs, memory, ..options(&corpus) };
            let report = analyze(&options);
            assert_eq!((report.references, report.objects), (references as u64, objects as u64));
            assert_eq!(report.concurrency.len(), WORKERS.len());
            for (line, workers) in report.concurrency.iter().zip(WORKERS) {
                let what = format!("seed {seed}, {workers} workers");
                assert_eq!((line.workers, line.tasks), (workers, NAMES.len() as u64), "{what}");
                let found = line.replayed.unwrap();
                let (reads, reads_once) = by_hand(&tasks, workers as usize);
                assert_eq!(
                    (found.source_reads, found.deduplicated_source_reads),
                    (reads, reads_once),
                    "{what}"
                );
                for (rate, reads) in [(found.hit_rate, reads), (found.deduplicated_hit_rate, reads_once)] {
                    assert!((rate - (1.0 - reads as f64 / references as f64)).abs() < 1e-12, "{what}");
                }
            }
            let all_at_once = report.concurrency[4].replayed.unwrap();
            assert_eq!((all_at_once.hit_rate, all_at_once.source_reads), (0.0, references as u64));
            assert_eq!(
                report.in_task_duplicates,
                all_at_once.source_reads - all_at_once.deduplicated_source_reads
            );
        }
    }
}

#[test]
fn without_a_replay_there_is_the_formula_alone_for_as_many_tasks_as_were_asked_for() {
    let (corpus, _) = corpus(1);
    let formula = |tasks| {
        let report = analyze(&Options { tasks, workers: vec![4], ..options(&corpus) });
        let line = report.concurrency[0];
        assert_eq!(line.replayed, None);
        (line.tasks, line.hit_rate, report.oracle_hit_rate)
    };
    let (tasks, few, _) = formula(None);
    assert_eq!(tasks, NAMES.len() as u64);
    let (tasks, many, ceiling) = formula(Some(100_000));
    assert_eq!(tasks, 100_000);
    assert!(few < many && many < ceiling && ceiling - many < 0.001, "{few} {many} {ceiling}");
}
