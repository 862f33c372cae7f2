//! Inputs that get the bytes of something else out of a careless reader, without an error.

use std::fs;

use serde_json::json;

use super::tar::{Tar, octal};
use super::*;
use crate::support::files;
use crate::support::manifests::{gzip, zstd};

/// A tar of two members, and where their contents lie.
fn two_members() -> (Vec<u8>, [u64; 2]) {
    let first = Tar::default().file("a.jpg", b"the first payload");
    let second = first.clone().file("b.jpg", vec![b'b'; 1500]);
    (second.clone().end(), [first.content, second.content])
}

fn at(path: &str, member: &str, offset: u64, size: u64) -> Value {
    json!({"path": path, "member": member, "byte_offset": offset, "byte_size": size})
}

#[test]
fn an_archive_is_what_its_content_says_whatever_its_name_says() {
    let (tar, [a, b]) = two_members();
    let bench = Bench::new();
    bench.write("data/gzip.tar", gzip(&tar)).write("data/zstd.tar", zstd(&tar));
    bench.write("data/plain.tar.gz", &tar);
    let mut cases = Vec::new();
    for packed in ["gzip.tar", "zstd.tar"] {
        cases.extend([
            gives(at(packed, "a.jpg", a, 17), "the first payload"),
            gives(at(packed, "b.jpg", b, 1500), [b'b'; 1500]),
            gives(member(packed, "b.jpg"), [b'b'; 1500]),
            // Offsets into the uncompressed archive, of which these are the wrong ones.
            fails(at(packed, "b.jpg", a, 1500), "archive_corrupt", packed),
            fails(at(packed, "a.jpg", a, 16), "archive_corrupt", "not the content of a member"),
            fails(range(packed, a + 1, 4), "archive_corrupt", "4 bytes at 513"),
        ]);
    }
    cases.push(gives(at("plain.tar.gz", "a.jpg", a, 17), "the first payload"));
    cases.push(gives(range("plain.tar.gz", b, 1500), [b'b'; 1500]));
    check(&bench, cases);
}

#[test]
fn the_name_of_the_member_changes_nothing_about_a_range() {
    let (tar, [a, _]) = two_members();
    let bench = Bench::new();
    bench.write("data/t.tar", &tar).write("data/t.tar.gz", gzip(&tar));
    for path in ["t.tar", "t.tar.gz"] {
        let spellings = [range(path, a, 17), at(path, "a.jpg", a, 17), at(path, "no.jpg", a, 17)];
        check(&bench, spellings.map(|spelling| gives(spelling, "the first payload")).into());
    }
}

#[test]
fn a_tar_cut_inside_a_member_fails_that_member_alone() {
    let (mut tar, [a, b]) = two_members();
    tar.truncate(b as usize + 700);
    let bench = Bench::new();
    bench.write("data/cut.tar", &tar).write("data/cut.tar.gz", gzip(&tar));
    check(
        &bench,
        vec![
            gives(at("cut.tar", "a.jpg", a, 17), "the first payload"),
            gives(range("cut.tar", b, 700), [b'b'; 700]),
            gives(member("cut.tar", "a.jpg"), "the first payload"),
            fails(at("cut.tar", "b.jpg", b, 1500), "short_body", "cut.tar"),
            fails(range("cut.tar", b, 701), "short_body", "701 bytes"),
            fails(member("cut.tar", "b.jpg"), "short_body", "b.jpg"),
            gives(member("cut.tar.gz", "a.jpg"), "the first payload"),
            gives(range("cut.tar.gz", a, 17), "the first payload"),
            fails(member("cut.tar.gz", "b.jpg"), "short_body", "after 700 of 1500 bytes"),
            fails(range("cut.tar.gz", b, 1500), "short_body", "after 700 of 1500 bytes"),
        ],
    );
}

/// A sparse member of 6,000 bytes, 1,000 of which are stored, in one of its forms; with where
/// the stored bytes lie.
fn sparse(form: &str) -> (Tar, u64) {
    let tar = Tar::default().file("before", "plain");
    let stored = [b'd'; 1000];
    let named = ("GNU.sparse.name", "sparse");
    let tar = match form {
        "gnu" => tar.header(b'S', b"sparse", 1000, stored, |header| {
            for (at, number) in [(386, 2048), (398, 1000), (410, 6000), (422, 0), (483, 6000)] {
                octal(header, at, number);
            }
        }),
        "0.1" => {
            let map = ("GNU.sparse.map", "2048,1000,6000,0");
            tar.records(&[("GNU.sparse.size", "6000"), ("GNU.sparse.numblocks", "2"), map, named])
                .file("./GNUSparseFile.1/sparse", stored)
        }
        _ => {
            let mut mapped = b"2\n2048\n1000\n6000\n0\n".to_vec();
            mapped.resize(512, 0);
            mapped.extend(stored);
            let version = [("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0")];
            tar.records(&[version[0], version[1], named, ("GNU.sparse.realsize", "6000")])
                .file("./GNUSparseFile.1/sparse", mapped)
        }
    };
    let content = tar.content;
    (tar.file("after", vec![b'a'; 9000]), content)
}

#[test]
fn the_logical_size_of_a_sparse_member_is_no_byte_range() {
    let mut expanded = vec![0; 6000];
    expanded[2048..3048].fill(b'd');
    for form in ["gnu", "0.1", "1.0"] {
        let (tar, content) = sparse(form);
        let bench = Bench::new();
        let after = tar.content;
        bench.write("data/s.tar", tar.end());
        let by_name = match form {
            "gnu" => gives(member("s.tar", "sparse"), &expanded),
            _ => fails(member("s.tar", "sparse"), "unsupported", "store it whole"),
        };
        check(
            &bench,
            vec![
                by_name,
                fails(at("s.tar", "sparse", content, 6000), "unsupported", "sparse member"),
                fails(range("s.tar", content, 6000), "unsupported", "sparse member"),
                gives(at("s.tar", "after", after, 9000), [b'a'; 9000]),
                gives(member("s.tar", "before"), "plain"),
            ],
        );
    }
}

#[test]
fn ranges_that_no_file_has_are_refused_and_an_empty_one_is_a_payload() {
    let bench = Bench::new();
    bench.write("data/f", "0123456789");
    let text = |offset: &str, size: &str| {
        format!("{{\"path\":\"f\",\"byte_offset\":{offset},\"byte_size\":{size}}}")
    };
    check(
        &bench,
        vec![
            gives(text("0", "10"), "0123456789"),
            gives(text("3", "2"), "34"),
            gives(text("3", "0"), ""),
            gives(text("10", "0"), ""),
            fails(text("-3", "2"), "bad_locator", "-3"),
            fails(text("3", "-2"), "bad_locator", "-2"),
            fails(text("9223372036854775807", "1"), "bad_locator", "is too large"),
            fails(text("18446744073709551615", "18446744073709551615"), "bad_locator", "is too large"),
            fails(text("18446744073709551616", "1"), "bad_locator", "1844674407370955"),
            fails(text("3", "null"), "bad_locator", "byte_size"),
            fails(text("9", "2"), "short_body", "a file of 10 bytes"),
            fails(text("9223372036854775806", "1"), "short_body", "a file of 10 bytes"),
            // No reader may try to allocate this.
            fails(text("0", "9223372036854775807"), "short_body", "a file of 10 bytes"),
        ],
    );
}

#[test]
fn different_files_with_equal_names_are_different_payloads() {
    let bench = Bench::new();
    let names =
        ["x/p.jpg", "y/p.jpg", "x/P.jpg", "x/p.jpg?v=1", "x/p.jpg?v=2", "x/p.jpg#1", "x/p%2ejpg", "x/p .jpg"];
    for name in names {
        bench.write(&format!("data/{name}"), format!("I am {name}"));
    }
    check(&bench, names.iter().map(|name| gives(whole(name), format!("I am {name}"))).collect());
}

#[test]
fn one_relative_locator_in_two_folders_is_two_payloads() {
    let bench = Bench::new();
    for folder in ["in/x", "in/y"] {
        bench.write(&format!("{folder}/p.jpg"), folder);
        bench.jsonl(&format!("{folder}/m.jsonl"), &[image("s", whole("p.jpg"))]);
    }
    let run = Run::of(bench.command(&["in", "--json"]).arg("--format=parquet"));
    assert_eq!(run.complete().count("objects"), 2);
    for folder in ["x", "y"] {
        let images = shards::images(&bench.path(&format!("out/{folder}/m.parquet")));
        assert_eq!(images, [Some(format!("in/{folder}").into_bytes())]);
    }
}

#[test]
fn one_payload_in_many_spellings_is_read_once() {
    let bench = Bench::new();
    bench.write("data/é.bin", [b'.'; 3000]);
    let url = format!("file://{}", bench.path("data/é.bin").canonicalize().unwrap().display());
    let spellings = [
        r#"{"path":"é.bin","byte_offset":1024,"byte_size":7}"#,
        r#"{ "byte_size" : 7 , "byte_offset":1024,"path":"é.bin"}"#,
        r#"{"path":"\u00e9.bin","byte_offset":1024,"byte_size":7}"#,
        r#"{"p\u0061th":"é.bin","byte_offset":1024,"byte_size":7}"#,
        r#"{"path":"é.bin","member":null,"byte_offset":1024,"byte_size":7,"frame_index":null}"#,
        r#"{"path":"é.bin","member":"","byte_offset":1024,"byte_size":7}"#,
        r#"{"path":"é.bin","byte_offset":1024.0,"byte_size":7e0}"#,
        r#"{"path":"é.bin","byte_offset":"1024","byte_size":"7"}"#,
        r#"{"path":"no","byte_offset":1,"path":"é.bin","byte_offset":1024,"byte_size":7}"#,
        r#"{"path":"é.bin","byte_offset":1024,"byte_size":7,"unknown":{"path":"no"}}"#,
        r#"{"path":"./é.bin","byte_offset":1024,"byte_size":7}"#,
        r#"{"path":".//.//é.bin","byte_offset":1024,"byte_size":7}"#,
        r#"{"path":"../data/é.bin","byte_offset":1024,"byte_size":7}"#,
        &format!(r#"{{"path":"{url}","byte_offset":1024,"byte_size":7}}"#),
    ];
    let rows: Vec<Row> = (0..).zip(spellings).map(|(at, text)| image(format!("s{at}"), text)).collect();
    bench.jsonl("in/m.jsonl", &rows).write("in/n.parquet", manifests::parquet(&rows, 3));
    let run = bench.run(&[]);
    run.complete();
    assert_eq!(run.count("references"), 2 * spellings.len() as u64);
    assert_eq!((run.count("objects"), run.count("source.reads"), run.count("source.requests")), (1, 1, 1));
    assert_eq!(shards::images(&bench.path("out/m.tar")), vec![Some(vec![b'.'; 7]); spellings.len()]);
}

type Damage = fn(&mut Vec<u8>);

#[test]
fn a_damaged_cache_entry_is_read_again_and_heals() {
    let damages: [(&str, Damage); 6] = [
        ("a flipped bit of the payload", |entry| entry[3] ^= 1),
        ("a flipped bit of the trailer", |entry| *entry.last_mut().unwrap() ^= 1),
        ("an entry cut short", |entry| entry.truncate(entry.len() - 1)),
        ("an entry of nothing", Vec::clear),
        ("an entry of zeros", |entry| entry.fill(0)),
        ("an entry that grew", |entry| entry.push(0)),
    ];
    let bench = Bench::new();
    bench.write("data/a", [b'a'; 100]).write("data/b", [b'b'; 100]);
    bench.jsonl("in/m.jsonl", &[image("s0", whole("a")), image("s1", whole("b"))]);
    bench.run(&[]).complete();
    let right = files::shards(&bench.path("out"));
    let entries = files::entries(&bench.path("cache"));
    for (what, damage) in damages {
        let mut entry = fs::read(&entries[0]).unwrap();
        damage(&mut entry);
        fs::write(&entries[0], entry).unwrap();
        heals(&bench, &right, what);
    }
    fs::copy(&entries[1], &entries[0]).unwrap();
    heals(&bench, &right, "the entry of another object");
}

/// The next run reads one object again and gives the right bytes, the one after it reads none.
fn heals(bench: &Bench, right: &files::Tree, what: &str) {
    for reads in [1, 0] {
        let run = bench.run(&["--overwrite"]);
        assert_eq!(run.complete().count("source.reads"), reads, "{what}");
        assert_eq!(&files::shards(&bench.path("out")), right, "{what}");
    }
}

#[test]
fn a_folder_in_place_of_an_entry_heals() {
    let bench = Bench::new();
    bench.write("data/a", [b'a'; 100]);
    bench.jsonl("in/m.jsonl", &[image("s0", whole("a"))]);
    bench.run(&[]).complete();
    let right = files::shards(&bench.path("out"));
    let entry = files::entries(&bench.path("cache")).pop().unwrap();
    fs::remove_file(&entry).unwrap();
    // A folder with something in it, which no rename replaces.
    fs::create_dir_all(entry.join("x")).unwrap();
    heals(&bench, &right, "a folder");
}

#[test]
fn a_file_whose_size_tells_nothing_fails_its_reference() {
    let bench = Bench::new();
    bench.jsonl("in/m.jsonl", &[image("s0", whole("/proc/version"))]);
    let run = bench.run(&[]);
    assert_eq!((run.code, run.count("failed")), (3, 1));
    assert!(run.stderr.contains("/proc/version: it holds more than the 0 bytes"), "{}", run.stderr);
}

#[test]
fn a_failure_is_not_remembered() {
    let bench = Bench::new();
    bench.write("data/cut", "0123").jsonl(
        "in/m.jsonl",
        &[
            image("s0", whole("late")),
            image("s1", range("cut", 2, 4)),
            image("s2", member("late.tar", "a.jpg")),
        ],
    );
    let run = bench.run(&[]);
    assert_eq!((run.code, run.count("failed")), (3, 3));
    bench
        .write("data/late", "here now")
        .write("data/cut", "01234567")
        .write("data/late.tar", two_members().0);
    bench.run(&[]).complete();
    let images: Vec<_> = bench.shard("webdataset").into_iter().map(|row| row.payload.unwrap()).collect();
    assert_eq!(images, [&b"here now"[..], b"2345", b"the first payload"]);
}
