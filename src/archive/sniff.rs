//! The kind of a file, detected from its first bytes and never from its name.

use std::io::{self, Read};

use tar::Header;

use super::forward::{BLOCK, FileCursor, ReadAt, inner};
use super::unpack::{Codec, Unpacked};

/// What a file holds, as far as locators care.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not a known archive: only bytes.
    Plain,
    /// A block of zeros: an empty tar, or a file of something else that starts with zeros.
    Blank,
    Tar,
    Packed(Codec, Content),
    Zip,
    /// The name of a compression format that is recognised but not supported.
    Foreign(&'static str),
}

/// What a compressed file holds when it is decompressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Tar,
    Other,
    /// It cannot be decompressed from its start, for this reason.
    Unreadable(String),
}

/// Looks at the first block of `file`, and of its content where it is compressed. Fails where it
/// cannot be read.
pub fn sniff(file: &dyn ReadAt) -> io::Result<Kind> {
    let mut head = Vec::with_capacity(BLOCK as usize);
    FileCursor::new(file).take(BLOCK).read_to_end(&mut head)?;
    Ok(match kind(&head) {
        Kind::Packed(codec, _) => Kind::Packed(codec, content(file, codec)?),
        known => known,
    })
}

fn content(file: &dyn ReadAt, codec: Codec) -> io::Result<Content> {
    let mut head = Vec::with_capacity(BLOCK as usize);
    let read = Unpacked::open(codec, FileCursor::new(file))
        .and_then(|unpacked| unpacked.take(BLOCK).read_to_end(&mut head));
    Ok(match read {
        Err(error) if inner(&error).is_some() => return Err(error),
        _ if matches!(kind(&head), Kind::Tar | Kind::Blank) => Content::Tar,
        // A tar whose first header is damaged: offsets are those of its content all the same.
        _ if head.windows(5).any(|run| run == b"ustar") => Content::Tar,
        Ok(_) => Content::Other,
        Err(error) => Content::Unreadable(error.to_string()),
    })
}

fn kind(head: &[u8]) -> Kind {
    if header(head).is_some() {
        Kind::Tar
    } else if head.len() as u64 == BLOCK && head.iter().all(|&byte| byte == 0) {
        Kind::Blank
    } else if let Some(codec) = Codec::detect(head) {
        Kind::Packed(codec, Content::Other)
    } else if [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"].iter().any(|magic| head.starts_with(*magic)) {
        Kind::Zip
    } else if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
        Kind::Foreign("bzip2")
    } else {
        FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)).map_or(Kind::Plain, |f| Kind::Foreign(f.1))
    }
}

const FOREIGN: [(&[u8], &str); 4] = [
    (b"\xfd7zXZ\0", "xz"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x1f\x9d\x90", "compress"),
];

/// `block` as a tar header, when its checksum says that it is one. Old headers have no magic, so
/// none is asked for.
pub fn header(block: &[u8]) -> Option<&Header> {
    if block.len() as u64 != BLOCK {
        return None;
    }
    let header = Header::from_byte_slice(block);
    let rest = block[..148].iter().chain(&block[156..]);
    let sum = rest.fold(8 * u32::from(b' '), |sum, &byte| sum + u32::from(byte));
    (header.cksum().ok()? == sum).then_some(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::samples::{self, Tar};

    fn of(bytes: &[u8]) -> Kind {
        sniff(&bytes).unwrap()
    }

    #[test]
    fn content_decides_and_not_the_name() {
        let tar = Tar::new().file("a.jpg", b"bytes").end();
        assert_eq!(of(&tar), Kind::Tar);
        assert_eq!(of(&samples::gzip(&tar)), Kind::Packed(Codec::Gzip, Content::Tar));
        assert_eq!(of(&samples::zstd(&tar)), Kind::Packed(Codec::Zstd, Content::Tar));
        assert_eq!(of(&samples::gzip(b"WARC/1.0")), Kind::Packed(Codec::Gzip, Content::Other));
        assert_eq!(of(b"\xff\xd8\xff\xe0"), Kind::Plain);
        assert_eq!(of(b""), Kind::Plain);
        assert_eq!(of(b"PK\x03\x04rest"), Kind::Zip);
        assert_eq!(of(b"\xfd7zXZ\0rest"), Kind::Foreign("xz"));
        assert_eq!(of(&[0; 1024]), Kind::Blank);
        assert!(matches!(of(b"\x1f\x8b\x08"), Kind::Packed(Codec::Gzip, Content::Unreadable(_))));
    }

    #[test]
    fn a_skippable_zstd_frame_may_come_first() {
        let mut bytes = vec![0x5d, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        bytes.extend(samples::zstd(&Tar::new().file("a", b"x").end()));
        assert_eq!(of(&bytes), Kind::Packed(Codec::Zstd, Content::Tar));
    }

    #[test]
    fn a_header_without_magic_is_a_tar() {
        let mut tar = Tar::new().file("a.jpg", b"bytes").end();
        tar[257..265].fill(0);
        samples::fix_checksum(&mut tar[..512]);
        assert_eq!(of(&tar), Kind::Tar);
        tar[0] ^= 1;
        assert_eq!(of(&tar), Kind::Plain);
    }
}
