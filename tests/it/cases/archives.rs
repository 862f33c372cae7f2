//! Archives as writers of all ages left them, from the locator to the bytes in a shard.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use serde_json::json;

use super::tar::{Tar, base_256};
use super::*;
use crate::support::manifests::gzip;

/// Checks that members have these contents, by name, in the archive as it is and compressed.
fn check_members(tar: Vec<u8>, members: &[(&str, &[u8])]) {
    let bench = Bench::new();
    bench.write("data/t.tar", &tar).write("data/t.tar.gz", gzip(&tar));
    let given =
        |path: &str| members.iter().map(|(name, content)| gives(member(path, name), content)).collect();
    for path in ["t.tar", "t.tar.gz"] {
        check(&bench, given(path));
    }
}

#[test]
fn long_names_and_sizes_come_from_the_records_before_a_header() {
    let gnu = format!("gnu/{}.jpg", "x".repeat(200));
    let pax = format!("pax/{}é.jpg", "y".repeat(200));
    let both = format!("both/{}.jpg", "z".repeat(200));
    let wrong_size = |tar: Tar, name: &str, content: &str| {
        tar.header(b'0', name.as_bytes(), 0, content.as_bytes(), |_| {})
    };
    let tar = Tar::default()
        .records(&[("path", &pax)])
        .file("short", "a first block that is an extended header")
        .entry(b'L', "././@LongLink", format!("{gnu}\0"))
        .file("gnu/x", "named by a GNU record");
    let tar = wrong_size(tar.records(&[("size", "26")]), "sized.jpg", "its header says size zero.");
    // The size belongs to the member and not to the long name before it.
    let tar = tar.records(&[("size", "24")]).entry(b'L', "././@LongLink", format!("{both}\0"));
    let tar = wrong_size(tar, "both/z", "records before a record.").file("last.jpg", "still found");
    check_members(
        tar.end(),
        &[
            (&pax, b"a first block that is an extended header"),
            (&gnu, b"named by a GNU record"),
            ("sized.jpg", b"its header says size zero."),
            (&both, b"records before a record."),
            ("last.jpg", b"still found"),
        ],
    );
}

#[test]
fn what_lies_behind_a_member_of_8_gib_is_found() {
    let size = (8u64 << 30) + 1000;
    for form in ["base 256", "pax"] {
        let tar = Tar::default().file("before", "before it");
        let tar = match form {
            "pax" => tar.records(&[("size", &size.to_string())]).file("huge", ""),
            _ => tar.header(b'0', b"huge", 0, b"", |header| base_256(header, 124, size)),
        };
        let huge = tar.content;
        let behind = Tar::default().file("behind", "behind it").end();
        let bench = Bench::new();
        bench.write("data/t.tar", tar.open());
        let file = File::options().write(true).open(bench.path("data/t.tar")).unwrap();
        let end = huge + size.next_multiple_of(512);
        file.write_all_at(b"nearly last", huge + size - 11).unwrap();
        file.write_all_at(&behind, end).unwrap();
        check(
            &bench,
            vec![
                gives(member("t.tar", "before"), "before it"),
                gives(member("t.tar", "behind"), "behind it"),
                gives(range("t.tar", end + 512, 9), "behind it"),
                gives(range("t.tar", huge + size - 11, 11), "nearly last"),
                fails(member("t.tar", "beyond"), "member_missing", "beyond"),
            ],
        );
    }
}

#[test]
fn links_are_followed_inside_the_archive_and_never_out_of_it() {
    let bench = Bench::new();
    bench.write("data/secret", "a file of the host").write("data/in.jpg", "another file of the host");
    let secret = bench.path("data/secret");
    let tar = Tar::default()
        .file("d/a.jpg", "the member")
        .link(b'1', "hard.jpg", "d/a.jpg")
        .link(b'2', "d/beside.jpg", "a.jpg")
        .link(b'2', "up.jpg", "d/../d/a.jpg")
        .link(b'2', "chain.jpg", "hard.jpg")
        .link(b'2', "d/leaves.jpg", "../../secret")
        .link(b'2', "absolute.jpg", secret.to_str().unwrap())
        .link(b'1', "hard-out.jpg", "secret")
        .link(b'2', "in.jpg", "in.jpg")
        .link(b'2', "ping", "pong")
        .link(b'2', "pong", "ping")
        .end();
    bench.write("data/t.tar", &tar).write("data/t.tar.gz", gzip(&tar));
    let mut cases = Vec::new();
    for path in ["t.tar", "t.tar.gz"] {
        for name in ["d/a.jpg", "hard.jpg", "d/beside.jpg", "up.jpg", "chain.jpg"] {
            cases.push(gives(member(path, name), "the member"));
        }
        for name in ["d/leaves.jpg", "absolute.jpg", "hard-out.jpg", "in.jpg", "ping", "../secret", "secret"]
        {
            cases.push(fails(member(path, name), "member_missing", name));
        }
    }
    check(&bench, cases);
}

#[test]
fn of_members_with_one_name_the_last_counts_and_every_place_is_its_own() {
    let first = Tar::default().file("a.jpg", "first");
    let second = first.clone().file("./a.jpg", "second").file("a.jpg", "third!");
    let last = second.content;
    let bench = Bench::new();
    bench.write("data/t.tar", second.clone().end()).write("data/t.tar.gz", gzip(&second.end()));
    let at = |path: &str, offset: u64, size: u64| json!({"path": path, "member": "a.jpg", "byte_offset": offset, "byte_size": size});
    let mut cases = Vec::new();
    for path in ["t.tar", "t.tar.gz"] {
        cases.extend([
            gives(member(path, "a.jpg"), "third!"),
            gives(member(path, "./a.jpg"), "second"),
            gives(at(path, first.content, 5), "first"),
            gives(at(path, last, 6), "third!"),
        ]);
    }
    check(&bench, cases);
}

#[test]
fn names_are_found_exactly_first_and_then_normalized() {
    let names = [
        "a b.jpg",
        "a%20b.jpg",
        "a+b.jpg",
        "100%.jpg",
        "é.jpg",
        "e\u{301}.jpg",
        "__x__.jpg",
        "-",
        "a\\b.jpg",
    ];
    let tar = names.iter().fold(Tar::default(), |tar, name| tar.file(name, format!("I am {name}")));
    let tar = tar.file("./dotted.jpg", "dotted").file("/rooted//x.jpg", "rooted").file("../up.jpg", "up");
    let contents: Vec<String> = names.iter().map(|name| format!("I am {name}")).collect();
    let mut members: Vec<(&str, &[u8])> = Vec::new();
    members.extend(names.iter().copied().zip(contents.iter().map(|content| content.as_bytes())));
    members.extend([
        ("dotted.jpg", &b"dotted"[..]),
        ("./dotted.jpg", b"dotted"),
        (".//./dotted.jpg", b"dotted"),
        ("rooted/x.jpg", b"rooted"),
        ("./a b.jpg", b"I am a b.jpg"),
        ("../up.jpg", b"up"),
    ]);
    check_members(tar.end(), &members);
}

#[test]
fn names_that_are_no_text_hide_nothing_and_harm_nothing() {
    let tar = Tar::default()
        .file(b"\xff\xfe.jpg", "no text")
        .file("nul\0hidden.jpg", "cut at the zero")
        .file("bell\x07.jpg", "rings")
        .file("after.jpg", "after them");
    let members: [(&str, &[u8]); 3] =
        [("after.jpg", b"after them"), ("nul", b"cut at the zero"), ("bell\x07.jpg", b"rings")];
    check_members(tar.end(), &members);
}

#[test]
fn what_is_no_file_in_an_archive_is_no_member() {
    let tar = Tar::default()
        .entry(b'V', "backup 7", "")
        .entry(b'g', "pax_global_header", "20 comment=no member\n")
        .entry(b'5', "folder/", "")
        .entry(b'6', "pipe", "")
        .entry(b'3', "device", "")
        .file("folder/a.jpg", "a file")
        .file("empty.jpg", "");
    let bench = Bench::new();
    bench.write("data/t.tar", tar.end());
    let mut cases =
        vec![gives(member("t.tar", "folder/a.jpg"), "a file"), gives(member("t.tar", "empty.jpg"), "")];
    for name in ["backup 7", "pax_global_header", "folder/", "folder", "pipe", "device"] {
        cases.push(fails(member("t.tar", name), "member_missing", name));
    }
    check(&bench, cases);
}

#[test]
fn empty_and_concatenated_archives_are_read_to_their_end() {
    let one = |name: &str, content: &str| Tar::default().file(name, content);
    let first = one("a.jpg", "first");
    let behind = first.clone().end().len() as u64 + 512;
    let two = [first.end(), one("b.jpg", "second").end()].concat();
    check_members(two.clone(), &[("a.jpg", b"first"), ("b.jpg", b"second")]);
    let bench = Bench::new();
    bench.write("data/empty.tar", [0; 10240]).write("data/nothing.tar", "").write("data/two.tar", two);
    bench.write(
        "data/members.tar.gz",
        [gzip(&one("a.jpg", "first").open()), gzip(&one("b.jpg", "second").end())].concat(),
    );
    bench.write("data/no.tar", "\u{ff}\u{d8} this is no archive");
    check(
        &bench,
        vec![
            fails(member("empty.tar", "a.jpg"), "member_missing", "a.jpg"),
            fails(member("nothing.tar", "a.jpg"), "archive_corrupt", "nothing.tar"),
            fails(member("no.tar", "a.jpg"), "archive_corrupt", "no.tar"),
            gives(range("two.tar", behind, 6), "second"),
            gives(member("members.tar.gz", "a.jpg"), "first"),
            gives(member("members.tar.gz", "b.jpg"), "second"),
        ],
    );
}

#[test]
fn names_in_archives_and_manifests_are_never_paths_on_disk() {
    let names = ["../../escaped.jpg", "/tmp/onepull-escaped.jpg", "a/../../escaped.jpg"];
    let tar = names.iter().fold(Tar::default(), |tar, name| tar.file(name, format!("I am {name}")));
    for format in FORMATS {
        let bench = Bench::new();
        bench.write("data/t.tar", tar.clone().end());
        let rows: Vec<Row> = names.iter().map(|name| image(*name, member("t.tar", name))).collect();
        bench.jsonl("in/m.jsonl", &rows);
        bench.run(&["--format", format]).complete();
        for (row, name) in bench.shard(format).iter().zip(names) {
            assert_eq!(
                (row.sample_id.as_str(), row.payload.as_deref()),
                (name, Some(format!("I am {name}").as_bytes()))
            );
        }
        let mut there: Vec<_> =
            fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        there.sort();
        assert_eq!(there, ["cache", "data", "in", "out"]);
        assert!(!std::path::Path::new("/tmp/onepull-escaped.jpg").exists());
    }
}
