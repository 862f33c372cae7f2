//! Archives for tests, built by hand so that every byte of a header can be chosen.

// Unit tests and integration tests include this file, and each needs a part of it.
#![allow(dead_code)]

use std::io::Write;

/// A tar under construction.
#[derive(Clone, Default)]
pub struct Tar {
    bytes: Vec<u8>,
    /// Where the content of the last entry lies.
    pub content: u64,
}

impl Tar {
    pub fn new() -> Tar {
        Tar::default()
    }

    /// Appends a GNU header of type `kind` that says `size`, changed by `edit`, and `content`, padded.
    pub fn header(
        mut self,
        kind: u8,
        name: impl AsRef<[u8]>,
        size: u64,
        content: impl AsRef<[u8]>,
        edit: impl Fn(&mut [u8]),
    ) -> Tar {
        let name = name.as_ref();
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name);
        header[100..108].copy_from_slice(b"0000644\0");
        octal(&mut header, 124, size);
        octal(&mut header, 136, 0);
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar  \0");
        edit(&mut header);
        fix_checksum(&mut header);
        self.bytes.extend(header);
        self.content = self.bytes.len() as u64;
        self.bytes.extend(content.as_ref());
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self
    }

    pub fn entry(self, kind: u8, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Tar {
        let size = content.as_ref().len() as u64;
        self.header(kind, name, size, content, |_| {})
    }

    pub fn file(self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Tar {
        self.entry(b'0', name, content)
    }

    /// A link of type `kind`: `b'1'` hard, `b'2'` symbolic.
    pub fn link(self, kind: u8, name: &str, to: &str) -> Tar {
        self.header(kind, name, 0, "", |header| header[157..157 + to.len()].copy_from_slice(to.as_bytes()))
    }

    /// Extended records for the next entry.
    pub fn records(self, records: &[(&str, &str)]) -> Tar {
        let text: String = records.iter().map(|(key, value)| record(key, value)).collect();
        self.entry(b'x', "PaxHeaders/next", text)
    }

    /// Where the next header will lie.
    pub fn position(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The archive without its end mark.
    pub fn open(self) -> Vec<u8> {
        self.bytes
    }

    pub fn end(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 1024, 0);
        self.bytes
    }
}

/// `length key=value\n`, where the length counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let digits = (1..).find(|digits| (rest.len() + digits).to_string().len() == *digits);
    format!("{}{rest}", rest.len() + digits.unwrap())
}

pub fn fix_checksum(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// Writes a number the way headers have it.
pub fn octal(header: &mut [u8], at: usize, number: u64) {
    header[at..at + 12].copy_from_slice(format!("{number:011o}\0").as_bytes());
}

/// Writes a number in base 256, the way sizes from 8 GiB on are written.
pub fn base_256(header: &mut [u8], at: usize, number: u64) {
    header[at..at + 12].fill(0);
    header[at] = 0x80;
    header[at + 4..at + 12].copy_from_slice(&number.to_be_bytes());
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// With a checksum, as the command line tool writes it.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
