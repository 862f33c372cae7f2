//! Tars with all the ways to name, size and link a member.

use super::*;
use crate::archive::samples::{Tar, base_256};

#[test]
fn members_are_found_where_their_headers_say() {
    let tar = Tar::new()
        .file("a.jpg", b"first")
        .entry(b'5', "folder/", b"")
        .file("folder/b c%+é.jpg", b"second")
        .end();
    let fetched = fetch(&tar, &[member("a.jpg"), member("folder/b c%+é.jpg"), range(512, 5), range(2048, 6)]);
    assert_eq!(fetched.results[0].as_ref().unwrap(), "first");
    assert_eq!(fetched.results[1].as_ref().unwrap(), "second");
    assert_eq!(fetched.results[2].as_ref().unwrap(), "first");
    assert_eq!(fetched.results[3].as_ref().unwrap(), "second");
    assert_eq!(fetched.spent.requests, 1);
    assert_eq!(class(&tar, member("folder/")), FaultClass::MemberMissing);
    assert_eq!(class(&tar, member("folder")), FaultClass::MemberMissing);
    assert_eq!(class(&tar, member("b.jpg")), FaultClass::MemberMissing);
    assert_eq!(class(&tar, range(2048, 1 << 40)), FaultClass::ShortBody);
}

#[test]
fn the_last_of_equal_names_counts() {
    let tar = Tar::new().file("a", b"old").file("b", b"other").file("a", b"new").end();
    assert_eq!(one(&tar, member("a")).unwrap(), "new");
    assert_eq!(one(&tar, range(512, 3)).unwrap(), "old");
}

#[test]
fn names_are_found_exactly_first_and_then_normalized() {
    let tar = Tar::new().file("./a.jpg", b"dotted").file("b//c.jpg", b"doubled").file("/d", b"rooted").end();
    assert_eq!(one(&tar, member("a.jpg")).unwrap(), "dotted");
    assert_eq!(one(&tar, member("b/c.jpg")).unwrap(), "doubled");
    assert_eq!(one(&tar, member("d")).unwrap(), "rooted");
    let both = Tar::new().file("a.jpg", b"exact").file("./a.jpg", b"dotted").end();
    assert_eq!(one(&both, member("a.jpg")).unwrap(), "exact");
    assert_eq!(one(&both, member("./a.jpg")).unwrap(), "dotted");
    assert_eq!(one(&both, member(".//a.jpg")).unwrap(), "dotted");
}

#[test]
fn long_names_and_sizes_come_from_gnu_and_extended_records() {
    let long = format!("{}/{}.jpg", "d".repeat(120), "é".repeat(60));
    let gnu =
        Tar::new().entry(b'L', "././@LongLink", format!("{long}\0").as_bytes()).file("cut", b"gnu").end();
    assert_eq!(one(&gnu, member(&long)).unwrap(), "gnu");
    let pax = Tar::new()
        .records(&[("path", &long), ("size", "4")])
        .header(b'0', "cut", 0, b"pax!", |_| {})
        .file("b", b"next")
        .end();
    assert_eq!(one(&pax, member(&long)).unwrap(), "pax!");
    assert_eq!(one(&pax, member("b")).unwrap(), "next");
    // The header says 0 bytes, so only the records prove the range.
    assert_eq!(one(&pax, range(1536, 4)).unwrap(), "pax!");
    let both =
        Tar::new().records(&[("size", "4")]).entry(b'L', "././@LongLink", format!("{long}\0").as_bytes());
    let both = both.header(b'0', "cut", 0, b"both", |_| {}).end();
    assert_eq!(one(&both, member(&long)).unwrap(), "both");
}

#[test]
fn a_member_behind_one_of_more_than_8_gib_is_found() {
    use std::os::unix::fs::FileExt;
    let size: u64 = 9 << 30;
    let base256 = |header: &mut [u8]| base_256(header, 124, size);
    let heads = [
        Tar::new().header(b'0', "big", 0, b"", base256).open(),
        Tar::new().records(&[("size", &size.to_string())]).header(b'0', "big", 0, b"", |_| {}).open(),
    ];
    for head in heads {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("big.tar");
        let file = std::fs::File::create(&path).unwrap();
        file.write_all_at(&head, 0).unwrap();
        let next = head.len() as u64 + size;
        file.write_all_at(&Tar::new().file("small", b"found").end(), next).unwrap();
        let targets = [member("small"), range(next + 512, 5), range(head.len() as u64 + 7, 9)];
        let results = fetch_path(&path, &targets).results;
        assert_eq!(results[0].as_ref().unwrap(), "found");
        assert_eq!(results[1].as_ref().unwrap(), "found");
        assert_eq!(results[2].as_ref().unwrap(), &[0; 9][..]);
    }
}

#[test]
fn links_are_followed_inside_the_archive() {
    let tar = Tar::new()
        .file("d/a", b"target")
        .link(b'1', "hard", "d/a")
        .link(b'2', "d/soft", "a")
        .link(b'2', "e/up", "../d/./a")
        .link(b'2', "chain", "d/soft")
        .end();
    for name in ["hard", "d/soft", "e/up", "chain"] {
        assert_eq!(one(&tar, member(name)).unwrap(), "target", "{name}");
    }
}

#[test]
fn links_that_leave_the_archive_or_loop_are_missing_members() {
    let tar = Tar::new()
        .link(b'2', "out", "../etc/passwd")
        .link(b'2', "root", "/etc/passwd")
        .link(b'1', "gone", "/etc/passwd")
        .link(b'2', "self", "self")
        .link(b'2', "ping", "pong")
        .link(b'2', "pong", "ping")
        .file("etc/passwd", b"of the archive")
        .end();
    for name in ["out", "root", "self", "ping"] {
        assert_eq!(class(&tar, member(name)), FaultClass::MemberMissing, "{name}");
    }
    // From the root of the archive this one is inside.
    assert_eq!(one(&tar, member("gone")).unwrap(), "of the archive");
}

#[test]
fn a_hard_link_means_what_its_name_stood_for() {
    let tar =
        Tar::new().file("a", b"old").link(b'1', "kept", "a").file("a", b"new").link(b'1', "a", "a").end();
    assert_eq!(one(&tar, member("kept")).unwrap(), "old");
    assert_eq!(one(&tar, member("a")).unwrap(), "new");
}

#[test]
fn a_chain_of_ten_links_holds_and_a_longer_one_does_not() {
    let mut tar = Tar::new().file("0", b"end");
    for link in 1..=11 {
        tar = tar.link(b'2', &link.to_string(), &(link - 1).to_string());
    }
    let tar = tar.end();
    assert_eq!(one(&tar, member("10")).unwrap(), "end");
    assert_eq!(class(&tar, member("11")), FaultClass::MemberMissing);
}

#[test]
fn labels_global_records_and_other_things_are_no_members() {
    let tar = Tar::new()
        .entry(b'g', "global", b"16 comment=word\n")
        .entry(b'V', "label", b"")
        .entry(b'3', "device", b"")
        .entry(b'7', "contiguous", b"file")
        .header(0, "old", 3, b"old", |header| header[257..265].fill(0))
        .end();
    for name in ["global", "label", "device"] {
        assert_eq!(class(&tar, member(name)), FaultClass::MemberMissing, "{name}");
    }
    assert_eq!(one(&tar, member("contiguous")).unwrap(), "file");
    assert_eq!(one(&tar, member("old")).unwrap(), "old");
}

#[test]
fn concatenated_and_empty_archives_are_read_to_their_end() {
    let mut tar = Tar::new().file("a", b"one").end();
    tar.extend(vec![0; 8192]);
    tar.extend(Tar::new().file("b", b"two").end());
    assert_eq!(one(&tar, member("b")).unwrap(), "two");
    assert_eq!(class(&tar, member("c")), FaultClass::MemberMissing);
    assert_eq!(class(&[0; 10240], member("a")), FaultClass::MemberMissing);
    assert_eq!(one(&[0; 10240], range(100, 2)).unwrap(), &[0, 0][..]);
    // Zeros first, then something that is no archive: plain bytes.
    let mut odd = vec![0; 600];
    odd.extend(b"payload");
    assert_eq!(one(&odd, range(600, 7)).unwrap(), "payload");
    assert_eq!(class(&odd, member("a")), FaultClass::MemberMissing);
}

#[test]
fn a_fully_referenced_archive_is_read_in_few_requests() {
    let (mut tar, mut targets) = (Tar::new(), Vec::new());
    for number in 0..200 {
        targets.push(range(tar.position() + 512, 3000));
        tar = tar.file(format!("{number}.jpg"), [number as u8; 3000]);
    }
    let fetched = fetch(&tar.end(), &targets);
    assert!(fetched.results.iter().all(Result::is_ok));
    assert_eq!(fetched.spent.requests, 1);
}
