//! Cut, flipped and hostile archives: right bytes or a fault, never a panic, never much memory.

use super::*;
use crate::archive::samples::{Tar, gzip};
use crate::archive::sniff::{Content, Kind, sniff};

#[test]
fn a_cut_archive_fails_the_cut_member_alone() {
    let mut tar = Tar::new().file("a", b"whole").file("b", [7; 2000]).file("c", b"gone").end();
    tar.truncate(1024 + 512 + 1000);
    let targets = [member("a"), member("b"), member("c"), range(512, 5), range(1536, 2000)];
    let classes: Vec<_> =
        fetch(&tar, &targets).results.into_iter().map(|result| result.map_err(|fault| fault.class)).collect();
    assert_eq!(classes[0].as_ref().unwrap(), "whole");
    assert_eq!(classes[1], Err(FaultClass::ShortBody));
    assert_eq!(classes[2], Err(FaultClass::ArchiveCorrupt));
    assert_eq!(classes[3].as_ref().unwrap(), "whole");
    assert_eq!(classes[4], Err(FaultClass::ShortBody));
}

#[test]
fn an_archive_cut_between_members_says_that_it_may_be_cut() {
    let tar = Tar::new().file("a", b"whole").open();
    let fault = one(&tar, member("b")).unwrap_err();
    assert_eq!(fault.class, FaultClass::ArchiveCorrupt);
    assert!(fault.what.contains("end marker"), "{fault}");
    assert_eq!(one(&tar, member("a")).unwrap(), "whole");
}

#[test]
fn members_before_a_damaged_header_are_good_and_others_are_corrupt() {
    let mut tar = Tar::new().file("a", b"good").file("b", b"lost").file("c", b"lost").end();
    tar[1024 + 3] ^= 1;
    assert_eq!(one(&tar, member("a")).unwrap(), "good");
    let fault = one(&tar, member("c")).unwrap_err();
    assert_eq!(fault.class, FaultClass::ArchiveCorrupt);
    assert!(fault.what.contains("checksum"), "{fault}");
    // A header of its own vouches for the range; without one, nothing does.
    assert_eq!(one(&tar, range(2560, 4)).unwrap(), "lost");
    assert_eq!(class(&tar, range(1537, 3)), FaultClass::ArchiveCorrupt);
}

#[test]
fn extended_records_that_cannot_be_trusted_end_the_archive() {
    let newline: &[(&str, &str)] = &[("comment", "two\nlines"), ("size", "4")];
    let twice: &[(&str, &str)] = &[("size", "4"), ("size", "5")];
    let word: &[(&str, &str)] = &[("size", "four")];
    for records in [newline, twice, word] {
        let tar = Tar::new().file("a", b"good").records(records).file("b", b"lost").end();
        assert_eq!(one(&tar, member("a")).unwrap(), "good");
        assert_eq!(class(&tar, member("b")), FaultClass::ArchiveCorrupt, "{records:?}");
    }
}

#[test]
fn a_long_name_of_gigabytes_is_refused_and_not_loaded() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bomb.tar");
    let head = Tar::new().file("a", b"good").header(b'L', "././@LongLink", 7 << 30, b"", |_| {}).open();
    std::fs::write(&path, head).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(9 << 30).unwrap();
    let results = fetch_path(&path, &[member("a"), member("b")]).results;
    assert_eq!(results[0].as_ref().unwrap(), "good");
    assert!(results[1].as_ref().is_err_and(|fault| fault.what.contains("4 MiB")));
}

#[test]
fn a_member_that_claims_to_be_huge_is_refused() {
    let tar = Tar::new().header(b'0', "a", 7 << 30, b"little", |_| {}).end();
    assert_eq!(class(&tar, member("a")), FaultClass::ShortBody);
    assert_eq!(class(&gzip(&tar), member("a")), FaultClass::Unsupported);
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// A member of the sample.
struct Expected {
    name: Target,
    exact: Target,
    header: usize,
    content: Vec<u8>,
}

/// A tar of every kind of entry; members `m0` to `m9` are 300 to 3,000 bytes of their own.
fn sample() -> (Vec<u8>, Vec<Expected>) {
    let (mut tar, mut members) = (Tar::new().entry(b'g', "global", b"16 comment=word\n"), Vec::new());
    for number in 0..10_u8 {
        let content: Vec<u8> =
            (0..300 * (usize::from(number) + 1)).map(|at| (at * 7) as u8 ^ number).collect();
        let name = format!("m{number}");
        tar = match number % 4 {
            0 => tar.records(&[("path", &name), ("mtime", "1.5")]),
            1 => tar.entry(b'L', "././@LongLink", format!("{name}\0").as_bytes()),
            2 => tar.link(b'2', &format!("link{number}"), &name),
            _ => tar.entry(b'5', "folder/", b""),
        };
        let header = tar.position() as usize;
        tar = tar.file(&name, &content);
        let exact = range(header as u64 + 512, content.len() as u64);
        members.push(Expected { name: member(&name), exact, header, content });
    }
    (tar.end(), members)
}

#[test]
fn damage_never_panics_and_never_changes_bytes_that_were_not_hit() {
    let (tar, members) = sample();
    let mut random = Random(20_261_129);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source");
    let targets: Vec<Target> =
        members.iter().flat_map(|member| [member.name.clone(), member.exact.clone()]).collect();
    for round in 0..2000 {
        let mut bytes = tar.clone();
        if round % 3 == 0 {
            bytes.truncate(random.below(tar.len()));
        }
        for _ in 0..random.below(4) {
            if !bytes.is_empty() {
                // Half of the flips hit headers, where they do most.
                let at = random.below(bytes.len());
                let at = if random.below(2) == 0 { at } else { members[at % 10].header + random.below(512) };
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        let results = fetch_path(&path, &targets).results;
        for (Expected { header, content, .. }, result) in members.iter().zip(results.chunks(2)) {
            let whole = *header..header + 512 + content.len();
            let untouched = bytes.get(whole.clone()) == Some(&tar[whole]);
            if untouched && bytes.get(..512) == Some(&tar[..512]) {
                assert_eq!(result[1].as_ref().unwrap(), content, "round {round}");
            }
            if let (true, Ok(found)) = (untouched, &result[0]) {
                assert_eq!(found, content, "round {round}");
            }
        }
    }
}

#[test]
fn damage_to_a_compressed_archive_never_panics_and_never_yields_other_bytes() {
    let (tar, members) = sample();
    let packed = gzip(&tar);
    let mut random = Random(7);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source");
    let targets: Vec<Target> =
        members.iter().flat_map(|member| [member.name.clone(), member.exact.clone()]).collect();
    for round in 0..2000 {
        let mut bytes = packed.clone();
        if round % 2 == 0 {
            bytes.truncate(random.below(packed.len()));
        } else {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        std::fs::write(&path, &bytes).unwrap();
        // Where its first header is hit it is no tar any more, and a range is one of its own bytes.
        let kind = sniff(&&bytes[..]).unwrap();
        let known = if matches!(kind, Kind::Packed(_, Content::Tar)) { 2 } else { 1 };
        let results = fetch_path(&path, &targets).results;
        for (Expected { content, .. }, results) in members.iter().zip(results.chunks(2)) {
            let wrong = |result: &Result<Bytes, Fault>| result.as_ref().is_ok_and(|found| found != content);
            assert!(!results[..known].iter().any(wrong), "round {round}");
        }
    }
}
