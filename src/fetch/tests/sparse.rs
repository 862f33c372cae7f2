//! Sparse members in the four forms that GNU tar writes, by hand.

use super::*;
use crate::archive::samples::{Tar, gzip, octal};

/// A GNU sparse member of 6,000 bytes: 1,000 bytes of `d` at 2,048, then holes to the end.
fn gnu() -> Tar {
    let map = |header: &mut [u8]| {
        octal(header, 386, 2048);
        octal(header, 398, 1000);
        octal(header, 410, 6000);
        octal(header, 422, 0);
        octal(header, 483, 6000);
    };
    Tar::new()
        .file("before", b"plain")
        .header(b'S', "sparse", 1000, [b'd'; 1000], map)
        .file("after", b"bytes")
}

fn expanded() -> Vec<u8> {
    let mut bytes = vec![0; 6000];
    bytes[2048..3048].fill(b'd');
    bytes
}

/// The member in one of the three forms of extended headers, as GNU tar writes them.
fn pax(version: &str) -> Tar {
    let tar = Tar::new().file("before", b"plain");
    let data = [b'd'; 1000];
    let tar = match version {
        "0.0" => tar
            .records(&[
                ("GNU.sparse.size", "6000"),
                ("GNU.sparse.numblocks", "2"),
                ("GNU.sparse.offset", "2048"),
                ("GNU.sparse.numbytes", "1000"),
                ("GNU.sparse.offset", "6000"),
                ("GNU.sparse.numbytes", "0"),
            ])
            .file("sparse", data),
        "0.1" => tar
            .records(&[
                ("GNU.sparse.size", "6000"),
                ("GNU.sparse.numblocks", "2"),
                ("GNU.sparse.map", "2048,1000,6000,0"),
                ("GNU.sparse.name", "sparse"),
            ])
            .file("./GNUSparseFile.12/sparse", data),
        _ => {
            let mut stored = b"2\n2048\n1000\n6000\n0\n".to_vec();
            stored.resize(512, 0);
            stored.extend(data);
            tar.records(&[
                ("GNU.sparse.major", "1"),
                ("GNU.sparse.minor", "0"),
                ("GNU.sparse.name", "sparse"),
                ("GNU.sparse.realsize", "6000"),
            ])
            .file("./GNUSparseFile.12/sparse", &stored)
        }
    };
    tar.file("after", b"bytes")
}

#[test]
fn gnu_sparse_members_are_expanded_by_name() {
    let tar = gnu().end();
    assert_eq!(one(&tar, member("sparse")).unwrap(), expanded());
    assert_eq!(one(&tar, member("./sparse")).unwrap(), expanded());
    assert_eq!(one(&tar, member("after")).unwrap(), "bytes");
}

#[test]
fn extended_sparse_members_are_refused_by_name() {
    for version in ["0.0", "0.1", "1.0"] {
        let tar = pax(version).end();
        let fault = one(&tar, member("sparse")).unwrap_err();
        assert_eq!(fault.class, FaultClass::Unsupported, "{version}: {fault}");
        assert_eq!(one(&tar, member("after")).unwrap(), "bytes");
    }
}

#[test]
fn byte_ranges_of_sparse_members_are_refused_and_those_of_others_are_not() {
    let tars = [("gnu", gnu()), ("0.0", pax("0.0")), ("0.1", pax("0.1")), ("1.0", pax("1.0"))];
    for (form, tar) in tars {
        // Past the last member, so that the logical size still fits the file.
        let after = tar.position() - 512;
        let mut bytes = tar.end();
        bytes.resize(20_000, 0);
        let data = bytes.iter().position(|&byte| byte == b'd').unwrap();
        let data = bytes[data..].windows(9).position(|run| run == [b'd'; 9]).unwrap() + data;
        for offset in [data as u64, data as u64 - 512, data as u64 + 100] {
            let fault = one(&bytes, range(offset, 6000)).unwrap_err();
            assert_eq!(fault.class, FaultClass::Unsupported, "{form} at {offset}: {fault}");
            assert_eq!(
                class(&gzip(&bytes), range(offset, 6000)),
                FaultClass::Unsupported,
                "{form} at {offset}"
            );
        }
        for bytes in [&bytes, &gzip(&bytes)] {
            assert_eq!(one(bytes, range(after, 5)).unwrap(), "bytes", "{form}");
        }
        assert_eq!(one(&bytes, range(after + 1, 3)).unwrap(), "yte", "{form}");
        assert_eq!(one(&bytes, range(512, 5)).unwrap(), "plain", "{form}");
        assert_eq!(one(&bytes, range(514, 2)).unwrap(), "ai", "{form}");
    }
}

#[test]
fn a_sparse_map_of_several_headers_is_part_of_the_member() {
    let map = |header: &mut [u8]| {
        for block in 0..4 {
            octal(header, 386 + 24 * block, 1024 * block as u64);
            octal(header, 398 + 24 * block, 512);
        }
        header[482] = 1;
        octal(header, 483, 5000);
    };
    let mut tar = Tar::new().header(b'S', "sparse", 2560, "", map).open();
    let mut more = [0; 512];
    octal(&mut more, 0, 4096);
    octal(&mut more, 12, 512);
    octal(&mut more, 24, 5000);
    octal(&mut more, 36, 0);
    tar.extend(more);
    tar.extend([b'd'; 2560]);
    tar.extend(Tar::new().file("after", b"bytes").end());
    let content = one(&tar, member("sparse")).unwrap();
    assert_eq!(content.len(), 5000);
    assert!(content.chunks(512).enumerate().all(|(block, bytes)| (bytes[0] == b'd') == (block % 2 == 0)));
    assert_eq!(one(&tar, member("after")).unwrap(), "bytes");
    assert_eq!(class(&tar, range(1024 + 2000, 10)), FaultClass::Unsupported);
    assert_eq!(one(&tar, range(1024 + 2560 + 512 + 1, 3)).unwrap(), "yte");
}
