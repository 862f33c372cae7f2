//! Small archives for tests, built by hand so that every byte of a header can be chosen.

use std::fs::File;
use std::io::Write;

/// A tar under construction.
#[derive(Default)]
pub struct Tar(Vec<u8>);

impl Tar {
    pub fn new() -> Tar {
        Tar::default()
    }

    /// Appends a GNU header of type `kind` and `content`, padded.
    pub fn entry(self, kind: u8, name: &str, content: &[u8]) -> Tar {
        self.with(kind, name, content.len() as u64, content, |_| {})
    }

    pub fn file(self, name: &str, content: &[u8]) -> Tar {
        self.entry(b'0', name, content)
    }

    /// A link of type `kind`: `b'1'` hard, `b'2'` symbolic.
    pub fn link(self, kind: u8, name: &str, to: &str) -> Tar {
        self.with(kind, name, 0, b"", |header| header[157..157 + to.len()].copy_from_slice(to.as_bytes()))
    }

    /// Appends a header that says `size`, changed by `edit`, and `content`, padded.
    pub fn with(mut self, kind: u8, name: &str, size: u64, content: &[u8], edit: impl Fn(&mut [u8])) -> Tar {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        header[136..148].copy_from_slice(b"00000000000\0");
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar  \0");
        edit(&mut header);
        fix_checksum(&mut header);
        self.0.extend(header);
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// Appends extended records for the next entry.
    pub fn records(self, records: &[(&str, &str)]) -> Tar {
        let text: String = records.iter().map(|(key, value)| record(key, value)).collect();
        self.entry(b'x', "records", text.as_bytes())
    }

    /// Where the next header will lie.
    pub fn position(&self) -> u64 {
        self.0.len() as u64
    }

    /// The archive without an end mark.
    pub fn open(self) -> Vec<u8> {
        self.0
    }

    pub fn end(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

/// `length key=value\n`, where the length counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len() + 1;
    while length != rest.len() + length.to_string().len() {
        length += 1;
    }
    format!("{length}{rest}")
}

pub fn fix_checksum(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
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

/// A file without a name that holds `bytes`.
pub fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}
