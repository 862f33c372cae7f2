//! Which locators are one object, which are one spelling, and what is no reference at all.

use std::fs;

use onepull::commands::analyze::{Options, Report};

use super::model::{Object, WAYS};
use super::{analyze, analyze_told, assert_same, lasting, options};
use crate::support::corpus::{Corpus, whole};
use crate::support::manifests::{self, Row};

fn images<T: AsRef<str>>(locators: &[T]) -> Vec<Row> {
    locators.iter().map(|locator| Row::image("s", 0, locator.as_ref())).collect()
}

fn urls(urls: &[&str]) -> Report {
    let corpus = Corpus::new();
    corpus.jsonl("a.jsonl", &images(&urls.iter().map(|url| whole(url)).collect::<Vec<_>>()));
    analyze(&options(&corpus))
}

/// References, objects, spellings.
fn sums(report: &Report) -> (u64, u64, u64) {
    (report.references, report.objects, report.spellings)
}

/// The same with and without a replay, which reads every text.
fn sums_of(options: &Options) -> (u64, u64, u64) {
    let assumed = sums(&analyze(options));
    let replayed = sums(&analyze(&Options { simulate: true, ..options.clone() }));
    assert_eq!(assumed, replayed, "assumed and replayed");
    assumed
}

#[test]
fn text_and_metadata_rows_with_a_locator_change_nothing_but_the_rows() {
    let (with, without) = (Corpus::new(), Corpus::new());
    let rows = images(&[whole("/a"), whole("/a"), whole("/b")]);
    let mut more = rows.clone();
    for modality in ["text", "metadata", "audio", "Image", "image ", ""] {
        let row = Row { modality, ..Row::image("s", 1, whole("/c")) };
        more.extend([row.clone(), Row { source_ref: Some("{".into()), ..row }]);
    }
    for (corpus, rows) in [(&with, &more), (&without, &rows)] {
        corpus.jsonl("a.jsonl", rows);
        corpus.parquet("b.parquet", rows);
    }
    let (with, without) = (analyze(&options(&with)), analyze(&options(&without)));
    assert_eq!((with.rows, without.rows), (30, 6));
    assert_eq!(with.rows_by_modality["metadata"], 4);
    let (mut with, without) = (lasting(&with), lasting(&without));
    for name in ["rows", "rows_by_modality"] {
        with[name] = without[name].clone();
    }
    assert_same(&with, &without, "without other rows");
}

#[test]
fn five_ways_to_write_a_locator_are_one_object_and_five_spellings() {
    for object in [Object::nth(0), Object::nth(2), Object::nth(3), Object::nth(4)] {
        let corpus = Corpus::new();
        let locators: Vec<_> = (0..WAYS).chain(0..WAYS).map(|way| object.locator(way)).collect();
        corpus.jsonl("a.jsonl", &images(&locators[..7]));
        corpus.parquet("b.parquet", &images(&locators[7..]));
        assert_eq!(sums_of(&options(&corpus)), (10, 1, 5), "{object:?}");
        let advice = analyze(&options(&corpus)).advice.join("\n");
        assert!(advice.contains("5.00 times as many"), "{advice}");
    }
}

/// The same rows in a manifest of each of three folders.
fn in_three_folders(rows: &[Row]) -> Corpus {
    let corpus = Corpus::new();
    for folder in ["a", "b", "c"] {
        fs::create_dir(corpus.path("in").join(folder)).unwrap();
        corpus.manifest(&format!("{folder}/m.jsonl"), manifests::jsonl(rows).as_bytes());
    }
    corpus
}

#[test]
fn an_absolute_path_or_url_in_manifests_of_several_folders_is_one_spelling() {
    let corpus = in_three_folders(&images(&[whole("/data/x.jpg"), whole("https://h/x"), whole("s3://b/x")]));
    assert_eq!(sums_of(&options(&corpus)), (9, 3, 3));
}

#[test]
fn a_relative_path_means_another_object_in_each_folder_and_one_with_a_root() {
    let corpus = in_three_folders(&images(&[whole("x.jpg"), whole("x.jpg")]));
    assert_eq!(sums_of(&options(&corpus)), (6, 3, 3));
    let rooted = Options { root: Some(corpus.path("")), ..options(&corpus) };
    assert_eq!(sums_of(&rooted), (6, 1, 1));
    let [source] = analyze(&rooted).sources.try_into().unwrap();
    assert_eq!(source.prefix, corpus.path("").canonicalize().unwrap().display().to_string());
}

#[test]
fn a_path_that_climbs_to_the_same_file_is_one_object_from_every_folder() {
    let corpus = in_three_folders(&images(&[whole("../../x.jpg")]));
    assert_eq!(sums_of(&options(&corpus)), (3, 1, 1));
}

#[test]
fn manifests_that_are_named_twice_are_counted_twice() {
    let corpus = Corpus::new();
    let manifest = corpus.jsonl("a.jsonl", &images(&[whole("/a")]));
    let twice = Options { manifests: vec![manifest.clone(), manifest], ..options(&corpus) };
    let (report, problems) = analyze_told(&twice);
    assert_eq!((sums(&report), problems.len()), ((2, 1, 1), 1), "{problems:?}");
}

#[test]
fn pages_of_one_document_are_one_object() {
    let corpus = Corpus::new();
    let page = |frame: usize| format!(r#"{{"path":"/scan.tif","frame_index":{frame}}}"#);
    let pages: Vec<_> = (0..12).chain(0..3).map(page).chain([whole("/scan.tif"), whole("/b.jpg")]).collect();
    corpus.jsonl("a.jsonl", &images(&pages));
    corpus.parquet("b.parquet", &images(&pages));
    for simulate in [false, true] {
        let report = analyze(&Options { simulate, ..options(&corpus) });
        assert_eq!(sums(&report), (34, 2, 14));
    }
}

#[test]
fn urls_are_counted_by_address_and_listed_by_host_and_bucket() {
    let report = urls(&[
        "https://Example.ORG/a.jpg",
        "HTTPS://example.org:443/a.jpg#top",
        "https://example.org/a.jpg",
        "https://example.org/a.jpg?w=1",
        "https://example.org/A.jpg",
        "http://example.org/a.jpg",
        "https://example.org:8443/a.jpg",
        "s3://Bucket/key",
        "s3://bucket/key",
        "s3://bucket/key#1",
        "S3://bucket/key?1",
        "gs://bucket/key",
    ]);
    assert_eq!((report.references, report.objects, report.spellings), (12, 10, 12));
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    assert_eq!((report.bad_locator, report.no_locator), (0, 0));
    let sources: Vec<_> =
        report.sources.iter().map(|of| (of.prefix.as_str(), of.references, of.objects)).collect();
    let expected = [
        ("https://example.org", 5, 3),
        ("s3://bucket", 3, 3),
        ("gs://bucket", 1, 1),
        ("http://example.org", 1, 1),
        ("https://example.org:8443", 1, 1),
        ("s3://Bucket", 1, 1),
    ];
    assert_eq!(sources, expected);
}

#[test]
fn schemes_that_no_build_reads_are_references_all_the_same() {
    let report = urls(&["foo://bar", "hdfs:///a/b", "foo://bar", "hf://datasets/x/y"]);
    assert_eq!((report.references, report.objects), (4, 3));
    assert!(report.errors.is_empty(), "{:?}", report.errors);
}

#[test]
fn only_so_many_sources_are_listed_as_were_asked_for() {
    let corpus = Corpus::new();
    let url = |n: usize| whole(&format!("https://host-{:02}.org/x", n % 20));
    corpus.jsonl("a.jsonl", &images(&(0..30).map(url).collect::<Vec<_>>()));
    let report = analyze(&Options { sources: 3, ..options(&corpus) });
    let names: Vec<_> = report.sources.iter().map(|of| of.prefix.as_str()).collect();
    assert_eq!(names, ["https://host-00.org", "https://host-01.org", "https://host-02.org"]);
}
