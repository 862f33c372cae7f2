//! Rows, lines and manifests that are wrong: each is an error of its own, and the rest goes on.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow_array::cast::AsArray;
use serde_json::json;

use super::tar::Tar;
use super::*;
use crate::support::manifests::gzip;

#[test]
fn what_means_to_be_a_locator_and_is_none_is_an_error_of_its_row() {
    let texts = [
        ("{", "EOF"),
        ("[1]", "[1]"),
        ("\"x\"", "expected a JSON object"),
        (" ", "EOF"),
        ("NaN", "NaN"),
        ("true", "expected a JSON object"),
        ("good", "good"),
        (r#"{"path":"good"}{"path":"good"}"#, "trailing"),
        (r#"{"path":["good"]}"#, "expected a string"),
        (r#"{"path":"good","member":3}"#, "expected a string"),
        (r#"{"path":"good","byte_offset":"1024.0","byte_size":1}"#, "1024.0"),
        (r#"{"path":"good","byte_offset":1024.7,"byte_size":1}"#, "1024.7"),
        (r#"{"path":"good","byte_offset":true,"byte_size":1}"#, "true"),
        (r#"{"path":"good","byte_offset":1}"#, "byte_size"),
        (r#"{"path":"good","byte_size":1}"#, "byte_offset"),
        (r#"{"path":""}"#, "path is empty"),
        (r#"{"path":"go\u0000od"}"#, "NUL"),
        (r#"{"path":"good","frame_index":-1}"#, "-1"),
        (r#"{"path":"good","frame_index":1.5}"#, "1.5"),
        (r#"{"path":"good","frame_index":4294967296}"#, "4294967296"),
    ];
    check(&Bench::new(), texts.map(|(text, says)| fails(text, "bad_locator", says)).into());
}

#[test]
fn an_image_that_says_nothing_of_its_place_has_no_locator() {
    let nothing = r#"{"path":null,"member":null,"byte_offset":null,"byte_size":null}"#;
    let texts = [None, Some(""), Some("null"), Some("{}"), Some(nothing), Some(r#"{"page":1}"#)];
    check(&Bench::new(), texts.map(has_no_locator).into());
}

#[test]
fn other_rows_may_say_anything_of_their_place() {
    let bench = Bench::new();
    bench.write("data/good", "good");
    let refs = ["{", "[1]", r#"{"page":1}"#, r#"{"path":"missing"}"#, r#"{"path":"foo://bar"}"#, ""];
    let mut rows: Vec<Row> = (0..)
        .zip(refs)
        .map(|(at, text)| Row { source_ref: Some(text.into()), ..Row::text("s", at, "words") })
        .collect();
    rows.push(Row::image("s", 6, whole("good").to_string()));
    for format in FORMATS {
        bench.jsonl("in/m.jsonl", &rows);
        let run = bench.run_afresh(&["--format", format]);
        assert_eq!((run.complete().count("references"), run.count("rows_out")), (1, 7));
        assert!(bench.shard(format).iter().all(|row| row.error.is_none()));
    }
}

#[test]
fn what_cannot_be_read_is_an_error_of_its_rows_and_never_blocks() {
    let bench = Bench::new();
    fs::create_dir(bench.path("data/folder")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(bench.path("data/pipe")).status().unwrap();
    assert!(pipe.success());
    let _socket = UnixListener::bind(bench.path("data/socket")).unwrap();
    symlink("nowhere", bench.path("data/dangling")).unwrap();
    symlink("loop", bench.path("data/loop")).unwrap();
    symlink("pipe", bench.path("data/to-pipe")).unwrap();
    let long = "x".repeat(300);
    let mut cases = vec![
        fails(whole("foo://bar"), "unsupported", "foo://bar"),
        fails(whole("file://host/good"), "bad_locator", "absolute path"),
        fails(whole("missing"), "not_found", "data/missing"),
        fails(member("missing.tar", "a"), "not_found", "data/missing.tar"),
        fails(whole("good/below"), "not_found", "good/below"),
        fails(whole("dangling"), "not_found", "data/dangling"),
        fails(whole("loop"), "io", "data/loop"),
        fails(whole(&long), "io", &long),
        fails(whole("/"), "unsupported", "a folder"),
    ];
    let irregular = [
        ("folder", "a folder"),
        ("folder/", "a folder"),
        (".", "a folder"),
        ("pipe", "a pipe"),
        ("to-pipe", "a pipe"),
        ("socket", "a socket"),
        ("/dev/zero", "a device"),
    ];
    for (path, what) in irregular {
        cases.push(fails(whole(path), "unsupported", what));
        cases.push(fails(member(path, "a"), "unsupported", what));
        cases.push(fails(range(path, 0, 4), "unsupported", what));
    }
    check(&bench, cases);
}

/// A TIFF of black pages of one strip each, by the specification of version 6.
fn tiff(pages: u32) -> Vec<u8> {
    let mut tiff = b"II*\0".to_vec();
    tiff.extend(9u32.to_le_bytes());
    tiff.push(0);
    for page in 1..=pages {
        let next = tiff.len() as u32 + 2 + 6 * 12 + 4;
        tiff.extend(6u16.to_le_bytes());
        // Width, height, bits, photometric interpretation, offset and length of the strip.
        for (tag, value) in [(256, 1), (257, page), (258, 8), (262, 1), (273, 8), (279, 1)] {
            tiff.extend(u16::to_le_bytes(tag));
            tiff.extend(4u16.to_le_bytes());
            tiff.extend(1u32.to_le_bytes());
            tiff.extend(u32::to_le_bytes(value));
        }
        tiff.extend(if page == pages { 0 } else { next }.to_le_bytes());
    }
    tiff
}

fn frame(path: &str, index: u32) -> Value {
    json!({"path": path, "frame_index": index})
}

#[test]
fn a_frame_that_is_not_there_is_an_error_of_its_row_that_names_the_file() {
    let bench = Bench::new();
    let one = tiff(1);
    bench
        .write("data/one.tiff", &one)
        .write("data/three.tiff", tiff(3))
        .write("data/p.jpg", b"\xff\xd8\xff\xe0jpeg");
    bench.write("data/cut.tiff", &tiff(3)[..100]);
    let tar = Tar::default().file("one.tiff", &one);
    let content = tar.content;
    bench.write("data/t.tar", tar.end());
    check(
        &bench,
        vec![
            gives(frame("one.tiff", 0), &one),
            gives(
                json!({"path": "t.tar", "byte_offset": content, "byte_size": one.len(), "frame_index": 0}),
                &one,
            ),
            gives(frame("p.jpg", 0), b"\xff\xd8\xff\xe0jpeg"),
            gives(frame("p.jpg", 99), b"\xff\xd8\xff\xe0jpeg"),
            fails(frame("one.tiff", 99), "frame_missing", "data/one.tiff"),
            fails(frame("three.tiff", 3), "frame_missing", "data/three.tiff"),
            fails(frame("cut.tiff", 1), "frame_missing", "data/cut.tiff"),
            fails(frame("cut.tiff", 2), "frame_missing", "data/cut.tiff"),
            gives(whole("cut.tiff"), &tiff(3)[..100]),
        ],
    );
}

#[test]
fn frames_of_one_file_are_one_read_and_different_payloads() {
    let bench = Bench::new();
    bench.write("data/three.tiff", tiff(3));
    let rows: Vec<Row> = (0..6).map(|at| image(format!("s{at}"), frame("three.tiff", at % 3))).collect();
    bench.jsonl("in/m.jsonl", &rows);
    let run = bench.run(&[]);
    assert_eq!((run.complete().count("objects"), run.count("source.requests")), (1, 1));
    let pages: Vec<_> = bench.shard("webdataset").into_iter().map(|row| row.payload.unwrap()).collect();
    assert!(pages[0] != pages[1] && pages[1] != pages[2] && pages[0] != pages[2]);
    assert_eq!(pages[..3], pages[3..]);
}

/// A line of JSONL with these fields changed; null takes one away.
fn line(changes: Value) -> String {
    let mut row = image("s", whole("good")).json();
    for (name, value) in changes.as_object().unwrap() {
        row[name] = value.clone();
    }
    row.as_object_mut().unwrap().retain(|name, value| !(changes.get(name).is_some() && value.is_null()));
    row.to_string()
}

#[test]
fn a_line_that_is_no_row_is_an_error_with_its_number_and_the_others_count() {
    let good = line(json!({}));
    let bad: Vec<(Vec<u8>, &str)> = vec![
        (b"{\"sample_id\": \"s\", \"pos".to_vec(), "EOF"),
        (b"[1, 2]".to_vec(), "not a JSON object"),
        (b"null".to_vec(), "not a JSON object"),
        (b"\0\0\0\0".to_vec(), "not a JSON object"),
        (good.replace("good", "go\0od").into_bytes(), "not a JSON object"),
        ([good.replace("good", "go").as_bytes(), b"{"].concat(), "trailing characters"),
        (line(json!({"source_ref": "NaN"})).replace("\"NaN\"", "NaN").into_bytes(), "not a JSON object"),
        (line(json!({"modality": null})).into_bytes(), "`modality` is missing"),
        (line(json!({"sample_id": 7})).into_bytes(), "`sample_id`"),
        (line(json!({"position": "first"})).into_bytes(), "`position`"),
        (line(json!({"position": 2147483648u32})).into_bytes(), "`position`"),
        (line(json!({"binary_content": "@@"})).into_bytes(), "Base64"),
    ];
    for (at, (bad, says)) in bad.iter().enumerate() {
        let bench = Bench::new();
        bench.write("data/good", "good");
        bench.write("in/m.jsonl", [good.as_bytes(), b"\n\n", bad, b"\n", good.as_bytes()].concat());
        let run = bench.run(&[]);
        assert_eq!((run.code, &run.report["errors"]), (3, &json!({"bad_row": 1})), "{at}: {}", run.stderr);
        let rows = ["rows_in", "rows_out", "rows_dropped"].map(|field| run.count(field));
        assert_eq!((rows, run.count("materialized")), ([3, 2, 1], 2), "{at}");
        let told = run.stderr.lines().find(|told| told.contains("in/m.jsonl: line 3: bad_row: "));
        assert!(told.is_some_and(|told| told.contains(says)), "{at}: {}", run.stderr);
        assert!(bench.shard("webdataset").iter().all(|row| row.payload.as_deref() == Some(b"good")));
    }
}

#[test]
fn text_that_is_not_utf_8_is_an_error_of_its_line_wherever_it_stands() {
    let good = line(json!({"text_content": "words", "other": "words"}));
    for field in ["s", "words", "good", "other"] {
        let at = good.find(&format!("{field}\\\"")).or(good.find(&format!("{field}\""))).unwrap();
        let mut bad = good.clone().into_bytes();
        bad[at] = 0xff;
        let bench = Bench::new();
        bench.write("data/good", "good");
        bench.write("in/m.jsonl", [good.as_bytes(), b"\n", &bad, b"\n", good.as_bytes(), b"\n"].concat());
        let run = bench.run(&[]);
        assert_eq!((run.code, &run.report["errors"]), (3, &json!({"bad_row": 1})), "{field}: {}", run.stderr);
        assert!(run.stderr.contains("in/m.jsonl: line 2: bad_row: "), "{field}: {}", run.stderr);
        assert_eq!(run.count("materialized"), 2, "{field}");
    }
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_are_no_errors() {
    let good = line(json!({}));
    let bench = Bench::new();
    bench.write("data/good", "good");
    bench.write("in/m.jsonl", format!("\u{feff}{good}\r\n\r\n{good}\r\n{good}"));
    assert_eq!(bench.run(&[]).complete().count("materialized"), 3);
    // Only at the start of the file is it a mark.
    bench.write("in/m.jsonl", format!("{good}\n\u{feff}{good}\n"));
    let run = bench.run(&[]);
    assert_eq!((run.code, run.count("materialized")), (3, 1));
    assert!(run.stderr.contains("in/m.jsonl: line 2: bad_row: "), "{}", run.stderr);
}

#[test]
fn a_line_of_200_mb_is_an_error_of_its_own() {
    let good = line(json!({}));
    let bench = Bench::new();
    bench.write("data/good", "good").write("in/m.jsonl", format!("{good}\n"));
    let mut file = File::options().append(true).open(bench.path("in/m.jsonl")).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length + 200_000_000).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(format!("\n{good}\n").as_bytes()).unwrap();
    let run = bench.run(&["--memory", "128MB"]);
    assert_eq!((run.code, &run.report["errors"]), (3, &json!({"bad_row": 1})), "{}", run.stderr);
    assert!(
        run.stderr.contains("in/m.jsonl: line 2: bad_row: the line has 200000001 bytes"),
        "{}",
        run.stderr
    );
    assert_eq!(run.count("materialized"), 2);
}

#[test]
fn a_locator_may_be_an_object_and_is_judged_like_one_in_a_string() {
    let refs = [json!({"path": "good"}), json!([1]), json!(true), json!(12), json!({"page": 1}), json!({})];
    let rows: String = refs.iter().map(|value| line(json!({"source_ref": value})) + "\n").collect();
    let bench = Bench::new();
    bench.write("data/good", "good").write("in/m.jsonl", rows);
    let run = bench.run(&[]);
    assert_eq!((run.code, &run.report["errors"]), (3, &json!({"bad_locator": 3})), "{}", run.stderr);
    assert_eq!((run.count("materialized"), run.count("no_locator"), run.count("rows_out")), (1, 2, 6));
}

#[test]
fn fields_that_agree_on_no_type_are_json_texts_in_a_column() {
    let bench = Bench::new();
    bench.write("data/good", "good");
    for values in [
        &["1", r#""one""#, r#"{"one": 1}"#, "[1, {}]", "null"][..],
        &[r#"{"id":0.5}"#, r#"{"id":1e400}"#, r#"{"id":"\ud800"}"#, r#"{"id":[]}"#, "[]"],
        &["0.5", "18446744073709551615"],
    ] {
        let row = line(json!({"other": "?"}));
        let rows: String = values.iter().map(|value| row.replace("\"?\"", value) + "\n").collect();
        bench.write("in/m.jsonl", rows);
        let count = values.len() as u64;
        assert_eq!(bench.run_afresh(&[]).complete().count("materialized"), count);
        assert_eq!(bench.run_afresh(&["--format", "parquet"]).complete().count("materialized"), count);
        let shard = File::open(bench.path("out/m.parquet")).unwrap();
        let mut tables = ParquetRecordBatchReaderBuilder::try_new(shard).unwrap().build().unwrap();
        let table = tables.next().unwrap().unwrap();
        let found: Vec<_> = table["other"].as_string::<i32>().iter().collect();
        let expected: Vec<_> = values.iter().map(|value| Some(*value).filter(|v| *v != "null")).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_manifest_that_cannot_be_read_is_named_and_the_others_go_on() {
    let good = line(json!({})) + "\n";
    let bench = Bench::new();
    bench.write("data/good", "good").write("in/good.jsonl", &good);
    let packed = gzip(good.repeat(50).as_bytes());
    let table = manifests::parquet(&[image("s", whole("good"))], 1);
    let mut damaged = table.clone();
    damaged[4..40].fill(0xff);
    bench.write("in/cut.jsonl.gz", &packed[..packed.len() - 20]);
    bench.write("in/cut.parquet", &table[..table.len() - 1]);
    bench.write("in/damaged.parquet", damaged);
    bench.write("in/empty.parquet", "");
    bench.write("in/pointer.parquet", "version https://git-lfs.github.com/spec/v1\n");
    symlink("nowhere", bench.path("in/dangling.jsonl")).unwrap();
    symlink("nowhere", bench.path("in/folder")).unwrap();
    let run = bench.run(&[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let named: Vec<_> = run.report["unreadable"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    let bad = [
        "cut.jsonl.gz",
        "cut.parquet",
        "damaged.parquet",
        "dangling.jsonl",
        "empty.parquet",
        "folder",
        "pointer.parquet",
    ];
    let mut named: Vec<_> = named.iter().map(|path| path.strip_prefix("in/").unwrap()).collect();
    named.sort_unstable();
    assert_eq!(named, bad, "{}", run.stderr);
    for one in run.report["unreadable"].as_array().unwrap() {
        assert!(!one["error"].as_str().unwrap().contains("in/"), "the path is said beside it: {one}");
    }
    for name in bad {
        let told = run.stderr.lines().filter(|line| line.contains(&format!("in/{name}: ")));
        assert_eq!(told.count(), 1, "{name}: {}", run.stderr);
    }
    assert!(run.stderr.contains("7 manifests could not be read"), "{}", run.stderr);
    // The damage was met when rows were already counted.
    let counts = ["rows_in", "rows_out", "rows_dropped", "materialized"].map(|field| run.count(field));
    assert_eq!(counts, [2, 1, 1, 1]);
    let shards: Vec<_> = crate::support::files::shards(&bench.path("out")).into_keys().collect();
    assert_eq!(shards, ["good.tar".parse::<std::path::PathBuf>().unwrap()]);
}

#[test]
fn links_that_mean_no_manifest_are_no_reason_to_stop() {
    let bench = Bench::new();
    bench.write("data/good", "good").write("in/good.jsonl", line(json!({})));
    symlink("nowhere", bench.path("in/notes.txt")).unwrap();
    symlink("nowhere", bench.path("in/.#good.jsonl")).unwrap();
    symlink(".", bench.path("in/again")).unwrap();
    assert_eq!(bench.run(&[]).complete().count("materialized"), 1);
}

#[test]
fn a_root_that_does_not_exist_is_named_once_and_not_blamed_on_the_manifests() {
    let bench = Bench::new();
    for name in ["in/a.jsonl", "in/b.jsonl"] {
        bench.jsonl(name, &[image("s", whole("good"))]);
    }
    let run = Run::of(&mut bench.command(&["in", "--root", "nowhere"]));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.starts_with("error: cannot resolve --root nowhere: "), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}
