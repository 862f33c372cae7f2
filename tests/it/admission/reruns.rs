//! Caches that hold something already, and runs that go on.

use std::fs;

use onepull::commands::materialize::{Existing, Options, Outcome, run};
use onepull::monitor::Phase;

use super::bed::{Bed, Object};
use crate::support::files;
use crate::support::meddler::Meddler;
use crate::support::run::{assert_laws, dry_run};

#[test]
fn from_a_warm_cache_only_what_was_left_out_is_read() {
    let bed = Bed::new();
    bed.run(&bed.options_into("out"));
    let (source, report) = bed.run(&bed.options_into("again"));
    let left_out: u64 = bed.left_out().map(Object::shards).sum();
    assert_eq!((source.count(), report.source.reads + report.source.rereads), (left_out, left_out));
    assert_eq!(report.cache.hits, bed.taken().count() as u64);
    let admission = report.admission.unwrap();
    // The first reference to each admitted object is a hit, too.
    assert_eq!(admission.admitted_hits, bed.predicted_hits() + report.cache.hits);
    assert!((admission.hit_rate - report.hit_rate).abs() < 1e-12);
    assert_eq!(files::shards(&bed.corpus.path("again")), files::shards(&bed.corpus.path("out")));
}

#[test]
fn what_is_left_out_and_in_the_cache_all_the_same_is_taken_from_there() {
    let bed = Bed::new();
    bed.run(&Options { cache_limit: None, ..bed.options_into("out") });
    for object in &bed.objects {
        let _ = fs::remove_file(&object.path);
    }
    let (source, report) = bed.run(&bed.options_into("again"));
    assert_eq!((source.count(), report.cache.hits), (0, bed.objects.len() as u64));
    let admission = report.admission.unwrap();
    assert_eq!(admission.held_hits, bed.left_out().map(Object::shards).sum::<u64>());
    assert_eq!(admission.in_shard_duplicates, bed.in_shard_duplicates());
    assert_eq!((admission.hit_rate, report.hit_rate), (1.0, 1.0));
    assert_eq!(files::shards(&bed.corpus.path("again")), files::shards(&bed.corpus.path("out")));
}

#[test]
fn a_run_that_goes_on_reads_for_the_missing_shard_alone() {
    let bed = Bed::new();
    bed.run(&bed.options_into("out"));
    let whole = files::shards(&bed.corpus.path("out"));
    fs::remove_file(bed.corpus.path("out/p2.parquet")).unwrap();
    let (source, report) = bed.run(&bed.options_into("out"));
    let of_the_shard = |object: &&Object| object.uses.contains_key("p2");
    assert_eq!(source.count(), bed.left_out().filter(of_the_shard).count() as u64);
    assert_eq!(report.cache.hits, bed.taken().filter(of_the_shard).count() as u64);
    assert_eq!(
        report.reused_objects,
        bed.objects.iter().filter(|object| !of_the_shard(object)).count() as u64
    );
    assert_eq!(files::shards(&bed.corpus.path("out")), whole);
}

#[test]
fn a_dry_run_says_what_would_be_stored_and_what_left_out() {
    let bed = Bed::new();
    let options = bed.options_into("out");
    let plan = dry_run(&options);
    let admission = plan.admission.unwrap();
    assert_eq!((plan.fetch, plan.held), (bed.objects.len() as u64, 0));
    assert_eq!(admission.choice.admitted_objects, bed.taken().count() as u64);
    assert_eq!(admission.left_out_objects, bed.left_out().count() as u64);
    assert_eq!(admission.left_out_references, bed.left_out().map(Object::references).sum::<u64>());
    assert!(plan.requests >= admission.left_out_references);

    bed.run(&options);
    let plan = dry_run(&Options { existing: Existing::Overwrite, ..options });
    assert_eq!((plan.held, plan.fetch), (bed.taken().count() as u64, bed.left_out().count() as u64));
}

#[test]
fn objects_that_only_a_broken_manifest_names_are_no_hits() {
    let bed = Bed::new();
    let manifest = bed.corpus.path("in/p1.jsonl");
    let meddler = Meddler { phase: Phase::Write, act: || fs::write(&manifest, "").unwrap() };
    let Outcome::Done(report) = run(&bed.options_into("out"), &meddler).unwrap() else {
        panic!("it is no dry run")
    };
    assert_laws(&report);
    let only_there = |object: &&Object| object.uses.keys().eq(["p1"]);
    let only_there = bed.left_out().filter(only_there).count() as u64;
    assert!(only_there > 0, "the corpus has such objects");
    assert_eq!((report.unreadable.len(), report.failed_objects, report.cache.hits), (1, only_there, 0));
}
