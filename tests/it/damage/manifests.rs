//! Broken manifests.

use std::fs;

use super::bed::Bed;
use super::mutation::mutate;
use crate::support::manifests::{Row, gzip, jsonl, parquet, zstd};
use crate::support::random::Random;
use crate::support::shards::Written;

/// Breaks the manifest `name` in `cases` ways that depend on `seed`; `check` gets what is left of
/// it, whether it could be read, and the rows of its shard.
fn break_manifest(
    (name, intact): (&str, &[u8]),
    bed: &Bed,
    (seed, cases): (u64, usize),
    check: impl Fn(&[u8], bool, &[Written], &str),
) {
    let mut random = Random::new(seed);
    for case in 0..cases {
        let mut bytes = intact.to_vec();
        let what = format!("{name}, case {case}, {}", mutate(&mut bytes, &mut random));
        bed.corpus.manifest(name, &bytes);
        let options = bed.options(case);
        let (report, rows) = bed.run(&options, &what);
        assert_eq!(report.shards.len() + report.unreadable.len(), 1, "{what}: {report:?}");
        bed.check(&rows, &what);
        check(&bytes, report.unreadable.is_empty(), &rows, &what);
        bed.clean(&options);
    }
    fs::remove_file(bed.corpus.path("in").join(name)).unwrap();
}

fn holds(bed: &Bed, written: &[Written], row: &Row) -> bool {
    written.iter().any(|found| {
        (&found.sample_id, found.position) == (&row.sample_id, i64::from(row.position))
            && (&found.text, &found.source_ref) == (&row.text_content, &row.source_ref)
            && found.payload == bed.truth(row)
    })
}

#[test]
fn lines_that_are_whole_are_rows_whatever_the_lines_around_them_are() {
    let bed = Bed::new();
    let intact = jsonl(&bed.rows);
    break_manifest(("m.jsonl", intact.as_bytes()), &bed, (1, 200), |bytes, readable, written, what| {
        assert!(readable, "{what}");
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        for row in &bed.rows {
            let whole = lines.contains(&row.json().to_string().as_bytes());
            assert!(!whole || holds(&bed, written, row), "{what}: {row:?} is lost");
        }
    });
}

#[test]
fn a_broken_compressed_manifest_is_unreadable_or_gives_true_rows() {
    let bed = Bed::new();
    let intact = jsonl(&bed.rows);
    let is_true = |_: &[u8], _: bool, written: &[Written], what: &str| {
        let is_row = |found: &&Written| bed.rows.iter().any(|row| holds(&bed, &[(*found).clone()], row));
        let strange: Vec<_> = written.iter().filter(|found| !is_row(found)).collect();
        assert!(strange.is_empty(), "{what}: {strange:?}");
        // Checksums are for the whole file: there is no telling a part of it from all of it.
        assert!([0, bed.rows.len()].contains(&written.len()), "{what}: {} rows", written.len());
    };
    break_manifest(("m.jsonl.gz", &gzip(intact.as_bytes())), &bed, (2, 100), is_true);
    break_manifest(("m.jsonl.zst", &zstd(intact.as_bytes())), &bed, (3, 100), is_true);
}

#[test]
fn a_broken_parquet_manifest_is_unreadable_or_gives_what_its_rows_name() {
    let bed = Bed::new();
    // Some of these make the parquet crate panic.
    break_manifest(("m.parquet", &parquet(&bed.rows, 6)), &bed, (786, 1000), |_, _, _, _| ());
}
