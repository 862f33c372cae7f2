//! Cold runs, at any number of jobs and in any memory.

use std::fs;
use std::path::{Path, PathBuf};

use onepull::commands::materialize::{CacheLimit, CachePolicy, Format, Options};
use onepull::locator::Target;

use super::bed::{Bed, Object};
use crate::support::{files, shards};

/// Least memory in which a chunk of either format fits, bytes, and a little more.
fn small_memory(format: Format) -> u64 {
    let chunk = match format {
        Format::Parquet => 2 * 20_000,
        Format::WebDataset => 16 << 20,
    };
    chunk + (64 << 20) + 60_000
}

#[test]
fn reads_are_exactly_those_of_the_admission_at_any_jobs_and_memory_and_shards_are_the_same() {
    let bed = Bed::with_named_members();
    for format in [Format::Parquet, Format::WebDataset] {
        let everything = bed.corpus.path(format!("all-{format:?}"));
        let through_cache = Options {
            cache_limit: None,
            format: Some(format),
            cache_dir: bed.corpus.path("all-cache"),
            ..bed.options_into(everything.to_str().unwrap())
        };
        bed.run(&through_cache);
        for jobs in [1, 4, 16] {
            for memory in [1 << 30, small_memory(format)] {
                let name = format!("{format:?}-{jobs}-{memory}");
                let cache_dir = bed.corpus.path(format!("cache-{name}"));
                let options = Options {
                    format: Some(format),
                    jobs,
                    memory,
                    cache_dir: cache_dir.clone(),
                    ..bed.options_into(&name)
                };
                let (source, report) = bed.run(&options);
                assert_eq!(bed.reads(&source), bed.expected_reads(), "{name}");
                assert_eq!(source.count(), bed.expected_reads().iter().sum::<u64>(), "{name}");
                assert_eq!(source.count(), report.source.reads + report.source.rereads, "{name}");
                assert_eq!(report.source.reads, bed.objects.len() as u64, "{name}");
                assert_eq!(report.unique_bytes, bed.objects.iter().map(|o| o.size).sum::<u64>(), "{name}");

                let admission = report.admission.unwrap();
                assert_eq!(admission.admitted_hits, bed.predicted_hits(), "{name}");
                assert_eq!(admission.in_shard_duplicates, bed.in_shard_duplicates(), "{name}");
                assert_eq!(admission.held_hits, 0, "{name}");
                let hits = bed.predicted_hits() + bed.in_shard_duplicates();
                assert_eq!(hits, bed.references() - source.count(), "{name}");
                assert_eq!(admission.hit_rate, hits as f64 / bed.references() as f64, "{name}");
                assert!((admission.hit_rate - report.hit_rate).abs() < 1e-12, "{name}");
                let predicted = bed.predicted_hits() as f64 / bed.references() as f64;
                assert_eq!(admission.choice.predicted_hit_rate, predicted, "{name}");
                assert_eq!(admission.choice.admitted_objects, bed.taken().count() as u64, "{name}");

                assert!(files::shards(&bed.corpus.path(&name)) == files::shards(&everything), "{name}");
                assert!(!bed.corpus.path(&name).join(".onepull/tmp").exists(), "{name}");
                assert_eq!(files::entries(&cache_dir), entries(&bed, &cache_dir), "{name}");
            }
        }
    }
}

/// The entries of the admitted objects, each of which is 96 bytes longer than its payload.
fn entries(bed: &Bed, cache: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = bed
        .taken()
        .map(|object| {
            let key = object.name().key().to_string();
            let entry = cache.join("v1").join(&key[..2]).join(&key[2..4]).join(&key);
            assert_eq!(fs::metadata(&entry).unwrap().len(), object.size + 96);
            entry
        })
        .collect();
    entries.sort();
    entries
}

#[test]
fn no_cache_gives_the_duplicates_inside_shards_and_a_large_one_the_oracle() {
    for all in [false, true] {
        let mut bed = Bed::new();
        let bytes = if all { u64::MAX } else { 0 };
        bed.admit(CacheLimit { bytes, ..bed.limit });
        let (source, report) = bed.run(&bed.options_into("out"));
        assert_eq!(bed.reads(&source), bed.expected_reads());
        let admission = report.admission.unwrap();
        let (admitted, inside) = (admission.admitted_hits, admission.in_shard_duplicates);
        if all {
            assert_eq!((admitted, inside), (bed.references() - bed.objects.len() as u64, 0));
            assert!((admission.hit_rate - report.oracle_hit_rate).abs() < 1e-12);
        } else {
            assert_eq!((admitted, inside), (0, bed.in_shard_duplicates()));
            assert_eq!(files::entries(&bed.corpus.path("cache")).len(), 0);
        }
    }
}

#[test]
fn by_count_other_objects_are_taken() {
    let mut bed = Bed::new();
    let by_density = bed.admitted.clone();
    bed.admit(CacheLimit { policy: CachePolicy::Count, ..bed.limit });
    assert_ne!(bed.admitted, by_density);
    let (source, report) = bed.run(&bed.options_into("out"));
    assert_eq!(bed.reads(&source), bed.expected_reads());
    assert_eq!(report.admission.unwrap().choice.policy, "count");
}

#[test]
fn what_cannot_be_read_fails_as_ever_and_is_in_no_sum() {
    let bed = Bed::new();
    let whole = |object: &&Object| object.target == Target::Whole;
    let gone = [bed.taken().find(whole).unwrap(), bed.left_out().find(whole).unwrap()];
    gone.iter().for_each(|object| fs::remove_file(&object.path).unwrap());
    let (source, report) = bed.run(&bed.options_into("out"));
    let failed: u64 = gone.iter().map(|object| object.references()).sum();
    assert_eq!((report.failed, report.failed_objects), (failed, 2));
    assert_eq!((report.errors["not_found"], report.cache.hits), (failed, 0));
    let admission = report.admission.unwrap();
    let hits = admission.admitted_hits + admission.in_shard_duplicates;
    assert_eq!(hits + source.count() + failed, bed.references());
    let rows = shards::images(&bed.corpus.path("out/p0.parquet"));
    assert_eq!(
        rows.iter().filter(|payload| payload.is_none()).count() as u64,
        gone.iter().filter_map(|object| object.uses.get("p0")).sum::<u64>()
    );
}
