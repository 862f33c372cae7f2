//! The shards depend on the manifests, the payloads and the options that say so, and on nothing
//! else: not on the number of jobs, the state of the cache, or whether there is one.

use std::fs;
use std::path::{Path, PathBuf};

use onepull::commands::materialize::{CacheMode, Format, Options};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::support::files::{self, Tree};
use crate::support::run::{self, materialize, materialize_from};
use crate::support::shards;
use crate::support::stores::Recording;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/corpus");
const OBJECTS: u64 = 14;
const FORMATS: [Format; 2] = [Format::Parquet, Format::WebDataset];

/// A copy of the fixture corpus, and everything that runs over it need.
struct Fixture {
    folder: TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = files::scratch();
        files::copy(Path::new(CORPUS), &folder.path().join("corpus"));
        Fixture { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// From the manifests in `form` (`jsonl` or `parquet`) to shards in `format`.
    fn options(&self, form: &str, format: Format, output: &str, cache: &str) -> Options {
        let manifests = self.path("corpus").join(form);
        Options { format: Some(format), ..run::options(&manifests, &self.path(output), &self.path(cache)) }
    }

    /// Runs once, and returns the shards.
    fn shards(&self, options: &Options) -> Tree {
        let output = options.output.as_ref().unwrap();
        let report = materialize(options);
        assert_eq!((report.rows_out, report.materialized, report.failed), (128, 55, 0));
        let tree = files::shards(output);
        assert_eq!(tree.len(), 3);
        fs::remove_dir_all(output).unwrap();
        tree
    }
}

#[test]
fn shards_are_the_same_bytes_at_any_jobs_cold_or_warm_with_a_cache_or_without() {
    for form in ["jsonl", "parquet"] {
        for format in FORMATS {
            let fixture = Fixture::new();
            let mut first = None;
            for (run, jobs) in [1, 4, 16].into_iter().enumerate() {
                for mode in [CacheMode::Always, CacheMode::Never, CacheMode::Auto] {
                    let cache = format!("cache-{run}-{mode:?}");
                    let options = fixture.options(form, format, "out", &cache);
                    let options = Options { jobs, cache_mode: mode, ..options };
                    for state in ["cold", "warm"] {
                        let shards = fixture.shards(&options);
                        let first = first.get_or_insert_with(|| shards.clone());
                        assert!(*first == shards, "{form} to {format:?}, {jobs} jobs, {mode:?}, {state}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_images_of_each_shard_are_the_true_ones_in_row_order() {
    let fixture = Fixture::new();
    let truth: Value = serde_json::from_slice(&fs::read(fixture.path("corpus/truth.json")).unwrap()).unwrap();
    for form in ["jsonl", "parquet"] {
        for format in FORMATS {
            let output = format!("{form}-{format:?}");
            let report = materialize(&fixture.options(form, format, &output, "cache"));
            let images: usize =
                report.shards.iter().map(|shard| check(&fixture.path(&output), &shard.path, &truth)).sum();
            assert_eq!(images, 55, "{form} to {format:?}");
        }
    }
}

/// Compares one shard with the hashes of its payloads; frames of a document have none.
fn check(output: &Path, shard: &str, truth: &Value) -> usize {
    let stem = shard.split('.').next().unwrap();
    let hashes = truth["images"][stem].as_array().unwrap();
    let images = shards::images(&output.join(shard));
    assert_eq!(images.len(), hashes.len(), "{shard}");
    for (row, (image, hash)) in images.iter().zip(hashes).enumerate() {
        let image = image.as_ref().unwrap_or_else(|| panic!("{shard}: image {row} is missing"));
        match hash.as_str() {
            Some(hash) => assert_eq!(hex(&Sha256::digest(image)), hash, "{shard}: image {row}"),
            None => assert!(image.starts_with(b"II*\0"), "{shard}: image {row} is no TIFF"),
        }
    }
    images.len()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn with_the_sources_moved_away_a_warm_cache_gives_the_same_shards() {
    for format in FORMATS {
        let fixture = Fixture::new();
        let first = fixture.shards(&fixture.options("jsonl", format, "out", "cache"));
        for source in ["images-00000.tar", "images-00001.tar", "loose"] {
            fs::rename(fixture.path("corpus").join(source), fixture.path(source)).unwrap();
        }
        let source = Recording::default();
        let report = materialize_from(&source, &fixture.options("jsonl", format, "out", "cache"));
        assert_eq!((report.source.reads, report.source.requests, source.count()), (0, 0, 0));
        assert_eq!((report.cache.hits, report.materialized), (OBJECTS, 55));
        assert!(files::shards(&fixture.path("out")) == first, "{format:?}");
    }
}

#[test]
fn manifests_of_both_kinds_name_the_same_objects() {
    let fixture = Fixture::new();
    let of_jsonl = materialize(&fixture.options("jsonl", Format::Parquet, "one", "cache"));
    let of_parquet = materialize(&fixture.options("parquet", Format::Parquet, "two", "cache"));
    assert_eq!((of_jsonl.source.reads, of_parquet.source.reads), (OBJECTS, 0));
    assert_eq!(files::entries(&fixture.path("cache")).len() as u64, OBJECTS);
}
