//! No space left. A limit on the size of files stands for a full disk: what is larger cannot be
//! written. Payloads that compress well are too large for the cache and fit into a shard.

use std::process::{Command, Output};

use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::{files, shards};

/// Bytes; in the blocks of 512 that `ulimit -f` counts in.
const LIMIT: usize = 64 << 10;

/// Runs the binary, which can write no file larger than [`LIMIT`].
fn limited(corpus: &Corpus, arguments: &[&str]) -> Output {
    let script = format!(
        "trap '' XFSZ; ulimit -f {}; exec \"$0\" materialize in -o out --cache cache --json \"$@\"",
        LIMIT / 512
    );
    Command::new("sh")
        .args(["-c", &script])
        .arg(assert_cmd::cargo::cargo_bin!("onepull"))
        .args(arguments)
        .current_dir(corpus.path(""))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// Two manifests that name `payloads` in turn, `times` each.
fn manifests(corpus: &Corpus, payloads: &[Vec<u8>], times: usize) -> Vec<Option<Vec<u8>>> {
    let named: Vec<_> =
        (0..).zip(payloads).map(|(n, payload): (u32, _)| (format!("{n}.png"), payload)).collect();
    let members = corpus.tar("a.tar", &named);
    let order: Vec<usize> = (0..times * payloads.len()).map(|n| n % payloads.len()).collect();
    let row = |(place, &n): (usize, &usize)| Row::image(format!("s{place}"), 0, members[n].by_range());
    let rows: Vec<Row> = order.iter().enumerate().map(row).collect();
    corpus.parquet("one.parquet", &rows);
    corpus.parquet("two.parquet", &rows);
    order.into_iter().map(|n| Some(payloads[n].clone())).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_cache_without_space_costs_source_reads_and_nothing_else() {
    let corpus = Corpus::new();
    let small = (0..3).map(|n| vec![n; 100]);
    let large = (3..6).map(|n| vec![n; 4_200_000]);
    let payloads: Vec<Vec<u8>> = small.chain(large).collect();
    let truth = manifests(&corpus, &payloads, 2);
    // So little memory that no large payload stays there either.
    let ended = limited(&corpus, &["--jobs", "1", "--row-group-size", "13MB", "--memory", "94MB"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((&report["materialized"], &report["failed"]), (&24.into(), &0.into()));
    assert_eq!((&report["source"]["reads"], &report["cache"]["puts"]), (&6.into(), &3.into()));
    // Once to fill the cache, then once for each shard, where rows share what was read.
    assert_eq!((&report["source"]["rereads"], &report["cache"]["put_failures"]), (&6.into(), &9.into()));
    assert_eq!(report["hit_rate"], 1.0 - 12.0 / 24.0);
    for shard in ["one.parquet", "two.parquet"] {
        assert!(shards::images(&corpus.path("out").join(shard)) == truth, "{shard}");
    }
    assert_eq!(files::entries(&corpus.path("cache")).len(), 3);
    assert_eq!(std::fs::read_dir(corpus.path("cache/v1/tmp")).unwrap().count(), 0);
    assert!(text(&ended.stderr).contains("cannot store an object"), "{}", text(&ended.stderr));
}

#[test]
fn an_output_without_space_fails_clearly_leaves_no_partial_shard_and_can_be_gone_on_with() {
    let corpus = Corpus::new();
    let mut random = Random::new(5);
    let payloads: Vec<Vec<u8>> = (0..8).map(|_| random.bytes(LIMIT / 4)).collect();
    let truth = manifests(&corpus, &payloads, 2);
    for format in ["parquet", "webdataset"] {
        let ended = limited(&corpus, &["--jobs", "2", "--format", format]);
        let stderr = text(&ended.stderr);
        assert_eq!((ended.status.code(), text(&ended.stdout).as_str()), (Some(1), ""), "{stderr}");
        assert!(stderr.contains("error: cannot write the shard"), "{stderr}");
        assert!(stderr.contains("File too large"), "{stderr}");
        assert!(files::shards(&corpus.path("out")).is_empty(), "{stderr}");
        assert_eq!(files::entries(&corpus.path("cache")).len(), 8);
        assert!(!corpus.path("out/.onepull/tmp").exists());
    }
    let report = crate::support::run::materialize(&corpus.options());
    assert_eq!((report.source.reads, report.materialized), (0, 32));
    for shard in ["one.parquet", "two.parquet"] {
        assert!(shards::images(&corpus.path("out").join(shard)) == truth, "{shard}");
    }
}
