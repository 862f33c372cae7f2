//! Compressed tars: one pass, links, places, cuts and flipped bits.

use super::*;
use crate::archive::samples::{Tar, gzip, zstd};

fn tar() -> Vec<u8> {
    Tar::new()
        .file("./a.jpg", b"first")
        .file("b", b"old")
        .link(b'1', "kept", "b")
        .file("b", b"second")
        .link(b'2', "soft", "a.jpg")
        .file("empty", b"")
        .end()
}

fn codecs(tar: &[u8]) -> [Vec<u8>; 2] {
    [gzip(tar), zstd(tar)]
}

#[test]
fn members_of_a_compressed_archive_come_in_one_pass() {
    for bytes in codecs(&tar()) {
        let fetched =
            fetch(&bytes, &[member("a.jpg"), member("b"), member("none"), member("empty"), range(3072, 6)]);
        assert_eq!(fetched.results[0].as_ref().unwrap(), "first");
        assert_eq!(fetched.results[1].as_ref().unwrap(), "second");
        assert_eq!(fetched.results[2].as_ref().unwrap_err().class, FaultClass::MemberMissing);
        assert_eq!(fetched.results[3].as_ref().unwrap(), "");
        assert_eq!(fetched.results[4].as_ref().unwrap(), "second");
        assert_eq!(fetched.cost(), (1, bytes.len() as u64));
    }
}

#[test]
fn links_of_a_compressed_archive_are_followed() {
    for bytes in codecs(&tar()) {
        let fetched = fetch(&bytes, &[member("kept"), member("soft"), member("b")]);
        assert_eq!(fetched.results[0].as_ref().unwrap(), "old");
        assert_eq!(fetched.results[1].as_ref().unwrap(), "first");
        assert_eq!(fetched.results[2].as_ref().unwrap(), "second");
        assert_eq!(fetched.spent.requests, 2);
    }
}

#[test]
fn a_range_has_to_be_exactly_the_content_of_a_member() {
    for bytes in codecs(&tar()) {
        let fetched = fetch(&bytes, &[member("b"), range(512, 5), range(1536, 3), range(3072, 6)]);
        // Of two members with one name, the place decides.
        for (result, right) in fetched.results.iter().zip(["second", "first", "old", "second"]) {
            assert_eq!(result.as_ref().unwrap(), right);
        }
        assert_eq!(fetched.spent.requests, 1);
        for (offset, size) in [(100, 5), (512, 4), (512, 6), (513, 4), (0, 512), (2560, 1), (1 << 40, 5)] {
            let fault = one(&bytes, range(offset, size)).unwrap_err();
            assert_eq!(fault.class, FaultClass::ArchiveCorrupt);
            let says = format!("source: {size} bytes at {offset} of the uncompressed archive");
            assert!(fault.to_string().contains(&says), "{fault}");
        }
        assert_eq!(one(&bytes, range(512, 0)).unwrap(), "");
        assert_eq!(one(&bytes, whole()).unwrap(), bytes);
    }
}

#[test]
fn ranges_of_other_compressed_files_are_ranges_of_their_own_bytes() {
    for bytes in [gzip(b"WARC/1.0"), zstd(b"WARC/1.0")] {
        assert_eq!(one(&bytes, range(3, 5)).unwrap(), &bytes[3..8]);
        assert_eq!(class(&bytes, member("a")), FaultClass::ArchiveCorrupt);
    }
}

#[test]
fn archives_of_several_frames_and_sparse_members_are_read() {
    let tar = tar();
    for pack in [gzip, zstd] {
        let bytes: Vec<u8> = tar.chunks(700).flat_map(pack).collect();
        assert_eq!(one(&bytes, member("b")).unwrap(), "second");
    }
    let sparse = Tar::new()
        .records(&[("GNU.sparse.size", "60")])
        .file("sparse", b"data")
        .file("after", b"bytes")
        .end();
    let bytes = gzip(&sparse);
    assert_eq!(class(&bytes, member("sparse")), FaultClass::Unsupported);
    assert_eq!(one(&bytes, member("after")).unwrap(), "bytes");
}

/// Content that does not compress, so that positions in both forms are alike.
fn noise(length: usize, mut seed: u32) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn members_before_a_cut_are_good_and_others_are_faults() {
    let (first, second) = (noise(100_000, 1), noise(100_000, 2));
    let tar = Tar::new().file("first", &first).file("second", &second).file("third", b"x").end();
    for mut bytes in [gzip(&tar), tar.chunks(50_000).flat_map(zstd).collect()] {
        bytes.truncate(180_000);
        let names = ["first", "second", "third"].map(member);
        // Contents are padded to 100,352 bytes, and each has a header of 512.
        let places = [range(512, 100_000), range(101_376, 100_000), range(202_240, 1)];
        for targets in [names, places] {
            let results = fetch(&bytes, &targets).results;
            assert_eq!(results[0].as_ref().unwrap(), &first);
            assert_eq!(results[1].as_ref().unwrap_err().class, FaultClass::ShortBody);
            assert_eq!(results[2].as_ref().unwrap_err().class, FaultClass::ArchiveCorrupt);
        }
    }
}

#[test]
fn what_no_checksum_vouches_for_is_not_handed_out() {
    let (first, second) = (noise(100_000, 1), noise(100_000, 2));
    let tar = Tar::new().file("first", &first).file("second", &second).end();
    for pack in [gzip, zstd] {
        // A flip inside the second member; the first is in a frame of its own.
        let mut bytes: Vec<u8> = pack(&tar[..100_864]);
        bytes.extend(pack(&tar[100_864..]));
        bytes[150_000] ^= 0x10;
        let results = fetch(&bytes, &[member("first"), member("second")]).results;
        assert_eq!(results[0].as_ref().unwrap(), &first);
        assert_eq!(results[1].as_ref().unwrap_err().class, FaultClass::ArchiveCorrupt);
        // In one frame, nobody can tell how far back the damage reaches.
        let mut bytes = pack(&tar);
        bytes[150_000] ^= 0x10;
        for result in fetch(&bytes, &[member("first"), member("second")]).results {
            assert!(result.is_err_and(|fault| fault.class == FaultClass::ArchiveCorrupt));
        }
    }
}

#[test]
fn an_archive_that_cannot_be_decompressed_at_all_is_corrupt() {
    let mut bytes = gzip(&tar());
    bytes.truncate(12);
    assert_eq!(class(&bytes, member("b")), FaultClass::ArchiveCorrupt);
    assert_eq!(class(&bytes, range(0, 5)), FaultClass::ArchiveCorrupt);
}
