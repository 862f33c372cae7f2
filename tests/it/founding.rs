//! The promise: every object is read from its source once, however many rows name it, at any
//! number of jobs, and never again once the cache holds it.

use std::collections::HashMap;
use std::fs;

use onepull::commands::materialize::{CacheMode, Options, Report};
use onepull::locator::Location;

use crate::support::corpus::{Corpus, Member};
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::{materialize, materialize_from};
use crate::support::stores::{Failing, Recording, Slow};
use crate::support::{files, shards};

/// Eight images in two tars, and four manifests of both kinds that name each image three times.
/// Returns the payloads that the image rows of each shard are to have.
fn four_manifests(corpus: &Corpus) -> HashMap<&'static str, Vec<Option<Vec<u8>>>> {
    let mut random = Random::new(8);
    let payloads: Vec<Vec<u8>> = (0..8).map(|n| random.bytes(700 + 97 * n)).collect();
    let mut members = Vec::new();
    for (archive, payloads) in [("a.tar", &payloads[..4]), ("b.tar", &payloads[4..])] {
        let named: Vec<_> =
            payloads.iter().enumerate().map(|(n, payload)| (format!("img/{n}.jpg"), payload)).collect();
        members.extend(corpus.tar(archive, &named));
    }
    let mut deck: Vec<usize> = (0..24).map(|n| n % 8).collect();
    random.shuffle(&mut deck);
    let shards = ["p0.tar", "p1.tar", "p2.parquet", "p3.parquet"];
    let mut truth = HashMap::new();
    for (shard, hand) in shards.into_iter().zip(deck.chunks(6)) {
        let mut rows = Vec::new();
        for (place, &image) in (0..).zip(hand) {
            let sample = format!("{shard}-{}", place / 3);
            rows.push(Row::text(&sample, 2 * place, format!("this is {image}")));
            rows.push(Row::image(&sample, 2 * place + 1, members[image].by_range()));
        }
        match shard.strip_suffix(".parquet") {
            Some(stem) => corpus.parquet(&format!("{stem}.parquet"), &rows),
            None => corpus.jsonl(&shard.replace(".tar", ".jsonl"), &rows),
        };
        truth.insert(shard, hand.iter().map(|&image| Some(payloads[image].clone())).collect());
    }
    truth
}

fn assert_true(options: &Options, truth: &HashMap<&'static str, Vec<Option<Vec<u8>>>>) {
    for (shard, images) in truth {
        let found = shards::images(&options.output.as_ref().unwrap().join(shard));
        assert!(&found == images, "{shard} has other payloads");
    }
}

#[test]
fn the_cold_run_fills_the_cache_with_each_object_once() {
    let corpus = Corpus::new();
    let truth = four_manifests(&corpus);
    let source = Recording::default();
    let report = materialize_from(&source, &corpus.options());
    assert_eq!((report.references, report.objects, report.materialized), (24, 8, 24));
    assert_eq!((report.source.reads, report.cache.puts, report.cache.hits), (8, 8, 0));
    assert_eq!((report.rows_in, report.rows_out, report.failed), (48, 48, 0));
    assert_eq!(files::entries(&corpus.path("cache")).len(), 8);
    assert_eq!(source.count(), 2, "neighbours come in one read");
    assert_true(&corpus.options(), &truth);
}

#[test]
fn second_run_makes_no_source_read_also_when_the_sources_are_gone() {
    let corpus = Corpus::new();
    let truth = four_manifests(&corpus);
    materialize(&corpus.options());
    fs::remove_file(corpus.path("a.tar")).unwrap();
    fs::remove_file(corpus.path("b.tar")).unwrap();

    let elsewhere = corpus.options_into("elsewhere");
    let (source, report) = recorded(&elsewhere);
    assert_eq!((report.materialized, report.source.reads, report.source.requests), (24, 0, 0));
    assert_eq!((report.cache.hits, report.reused_objects, report.hit_rate), (8, 0, 1.0));
    assert_eq!(source.count(), 0);
    assert_true(&elsewhere, &truth);
    assert_eq!(files::shards(&corpus.path("elsewhere")), files::shards(&corpus.path("out")));

    let (source, report) = recorded(&corpus.options());
    assert_eq!((report.materialized, report.source.reads, report.reused_objects), (24, 0, 8));
    assert!(report.shards.iter().all(|shard| shard.reused), "{report:#?}");
    assert_eq!(source.count(), 0);
    assert_true(&corpus.options(), &truth);
}

#[test]
fn a_slow_store_gives_the_same_shards() {
    let corpus = Corpus::new();
    let truth = four_manifests(&corpus);
    materialize(&corpus.options());
    let slow = Options { cache_dir: corpus.path("other"), ..corpus.options_into("slow") };
    let report = materialize_from(&Slow, &slow);
    assert_eq!((report.materialized, report.source.reads, report.failed), (24, 8, 0));
    assert_true(&slow, &truth);
    assert!(files::shards(&corpus.path("slow")) == files::shards(&corpus.path("out")));
}

#[test]
fn where_every_third_read_fails_exactly_its_references_fail() {
    for (jobs, mode) in [(1, CacheMode::Always), (4, CacheMode::Always), (4, CacheMode::Never)] {
        let corpus = Corpus::new();
        let payload = |n: usize| format!("payload {n}").into_bytes();
        let rows: Vec<Row> = (0..90)
            .map(|n| {
                let locator = corpus.file(&format!("{:02}.png", n % 30), &payload(n % 30));
                Row::image(format!("s{n}"), 0, locator)
            })
            .collect();
        corpus.parquet("m.parquet", &rows);
        let store = Failing::default();
        let options = Options { jobs, cache_mode: mode, ..corpus.options() };
        let report = materialize_from(&store, &options);
        let failed = store.1.into_inner().unwrap();
        assert_eq!((failed.len(), report.failed_objects, report.failed), (10, 10, 30), "{report:#?}");
        assert_eq!((report.errors["io"], report.materialized), (30, 60));
        let images = shards::images(&corpus.path("out/m.parquet"));
        for (n, image) in images.into_iter().enumerate() {
            let location = Location::File(corpus.path(format!("{:02}.png", n % 30)));
            let right = (!failed.contains(&location)).then(|| payload(n % 30));
            assert_eq!(image, right, "row {n} at {jobs} jobs");
        }
    }
}

fn recorded(options: &Options) -> (Recording, Report) {
    let source = Recording::default();
    let report = materialize_from(&source, options);
    (source, report)
}

const REFERENCES: usize = 35_138;
const OBJECTS: usize = 18_553;

/// The corpus on which sixteen workers with a cache of their own luck read 32,993 times.
fn scattered_over_64_manifests(corpus: &Corpus) -> Vec<Member> {
    let mut random = Random::new(4720);
    let mut members: Vec<Member> = Vec::new();
    for (archive, range) in [("a.tar", 0..OBJECTS / 2), ("b.tar", OBJECTS / 2..OBJECTS)] {
        let named: Vec<_> = range.map(|n| (format!("{n}.jpg"), n.to_string())).collect();
        members.extend(corpus.tar(archive, &named));
    }
    let mut deck: Vec<usize> = (0..OBJECTS).collect();
    deck.extend((OBJECTS..REFERENCES).map(|_| random.below(OBJECTS)));
    random.shuffle(&mut deck);
    for (number, hand) in deck.chunks(REFERENCES.div_ceil(64)).enumerate() {
        let row = |(place, &object): (usize, &usize)| {
            Row::image(format!("s{number}-{}", place / 8), place as i32, members[object].by_range())
        };
        let rows: Vec<Row> = hand.iter().enumerate().map(row).collect();
        corpus.jsonl(&format!("{number:02}.jsonl"), &rows);
    }
    members
}

#[test]
fn workers_of_one_run_never_read_what_another_has_read() {
    let corpus = Corpus::new();
    let members = scattered_over_64_manifests(&corpus);
    let mut trees = Vec::new();
    for jobs in [1, 16] {
        let output = format!("out-{jobs}");
        let cache_dir = corpus.path(format!("cache-{jobs}"));
        let options = Options { jobs, cache_dir, ..corpus.options_into(&output) };
        let (source, report) = recorded(&options);
        assert_eq!((report.references, report.objects), (REFERENCES as u64, OBJECTS as u64));
        assert_eq!(report.materialized, REFERENCES as u64);
        let reads = |member: &Member| {
            let archive = Location::File(corpus.path(member.archive.trim_start_matches("../")));
            source.reads_of(&archive, &(member.offset..member.offset + member.size))
        };
        assert!(members.iter().all(|member| reads(member) == 1), "at {jobs} jobs");
        assert_eq!((report.source.reads, report.source.rereads), (OBJECTS as u64, 0));
        assert_eq!(format!("{:.4} {:.4}", report.hit_rate, report.oracle_hit_rate), "0.4720 0.4720");
        trees.push(files::shards(&corpus.path(output)));
    }
    assert_eq!(trees[0].len(), 64);
    assert!(trees[0] == trees[1], "the shards differ between 1 and 16 jobs");
}
