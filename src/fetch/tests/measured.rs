//! Sizes that are told before anything is read.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use super::*;
use crate::archive::samples::{Tar, gzip};

/// More than any test could read.
const VAST: u64 = 1 << 40;

#[test]
fn a_file_and_a_member_that_nobody_could_read_tell_their_sizes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("vast");
    File::create(&path).unwrap().set_len(VAST).unwrap();
    assert_eq!(sizes(&path, &[whole()]), [Ok(VAST)]);

    let path = folder.path().join("vast.tar");
    let mut file = File::create(&path).unwrap();
    let before = Tar::new().file("small", b"123").records(&[("size", &VAST.to_string())]);
    file.write_all(&before.file("vast", b"").open()).unwrap();
    file.seek(SeekFrom::Current(VAST as i64)).unwrap();
    file.write_all(&Tar::new().file("after", b"12345").end()).unwrap();
    let members = [member("after"), member("none"), member("small"), member("vast")];
    assert_eq!(sizes(&path, &members), [Ok(5), Err(FaultClass::MemberMissing), Ok(3), Ok(VAST)]);
}

#[test]
fn what_could_not_be_read_tells_no_size_where_that_is_known_before() {
    let folder = TempDir::new().unwrap();
    let told = |bytes: &[u8], targets: &[Target]| {
        let path = folder.path().join("source");
        std::fs::write(&path, bytes).unwrap();
        sizes(&path, targets)
    };
    assert_eq!(sizes(&folder.path().join("none"), &[whole()]), [Err(FaultClass::NotFound)]);
    assert_eq!(sizes(folder.path(), &[whole()]), [Err(FaultClass::Unsupported)]);
    assert_eq!(told(b"no tar", &[whole(), member("a")]), [Ok(6), Err(FaultClass::ArchiveCorrupt)]);

    let noise: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let tar = Tar::new().file("early", b"1").file("noise", &noise).file("late", b"12").end();
    let targets = [member("late"), member("noise"), member("none")];
    let missing = Err(FaultClass::MemberMissing);
    assert_eq!(told(&gzip(&tar), &targets), [Ok(2), Ok(200_000), missing]);
    let mut damaged = gzip(&tar);
    let last = damaged.len() - 5;
    damaged[last] ^= 1;
    let corrupt = Err(FaultClass::ArchiveCorrupt);
    assert_eq!(told(&damaged, &[member("late"), member("noise")]), [corrupt, corrupt]);
    let sparse = Tar::new().records(&[("GNU.sparse.size", "6000"), ("GNU.sparse.map", "0,9")]);
    let sparse = sparse.file("sparse", b"123456789").end();
    for bytes in [gzip(&sparse), sparse] {
        assert_eq!(told(&bytes, &[member("sparse")]), [Err(FaultClass::Unsupported)]);
    }
}
