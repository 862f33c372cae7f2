//! Files that are complete and as they were written, or refused.
//!
//! ```text
//! 16  magic, the last byte is the version
//!  n  content; numbers have seven bits a byte, the lowest first
//! 32  BLAKE3 of all that
//! ```

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use anyhow::{Context, bail, ensure};

/// What a sealed file holds, and how a user gets one.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub magic: [u8; 16],
    /// As in "it is no table of multiplicities".
    pub name: &'static str,
    /// The command that makes one.
    pub made_by: &'static str,
}

/// Bytes at the beginning of a file that tell its kind; the version follows.
pub const TELLING_BYTES: u64 = 15;

impl Kind {
    /// Whether the bytes are the beginning of a file of this kind, of any version.
    pub fn begins(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&self.magic[..TELLING_BYTES as usize])
    }

    /// All bytes of `file`; of one of another kind, which may be a corpus, no more than tell that.
    /// Fails naming it; where it is not there, the message says how to make one.
    pub fn bytes(&self, file: &Path) -> anyhow::Result<Vec<u8>> {
        let read = || {
            let (mut file, mut bytes) = (File::open(file)?, Vec::new());
            file.by_ref().take(TELLING_BYTES).read_to_end(&mut bytes)?;
            if self.begins(&bytes) {
                file.read_to_end(&mut bytes)?;
            }
            Ok(bytes)
        };
        let bytes = read().map_err(|error: io::Error| match error.kind() {
            ErrorKind::NotFound => anyhow::anyhow!("{error}; `{}` makes one", self.made_by),
            _ => error.into(),
        });
        bytes.with_context(|| file.display().to_string())
    }

    /// What stands between magic and hash of the file with these bytes.
    ///
    /// Fails when it is of another kind or version, or is not whole; the message says how to make
    /// one.
    pub fn open<'b>(&self, bytes: &'b [u8]) -> anyhow::Result<&'b [u8]> {
        let Kind { magic, name, made_by } = self;
        let (magic, version) = magic.split_at(magic.len() - 1);
        ensure!(bytes.starts_with(magic), "it is no {name}; `{made_by}` makes one");
        ensure!(
            bytes.get(magic.len()) == version.first(),
            "it was written by another version of onepull; make it again with `{made_by}`"
        );
        let sealed = bytes.split_last_chunk::<{ blake3::OUT_LEN }>();
        match sealed.filter(|(content, checksum)| blake3::hash(content) == **checksum) {
            Some((content, _)) => content.get(self.magic.len()..).ok_or_else(|| self.damaged()),
            None => bail!(self.damaged()),
        }
    }

    /// The error of a file that is not whole.
    pub fn damaged(&self) -> anyhow::Error {
        let Kind { name, made_by, .. } = self;
        anyhow::anyhow!("the {name} is damaged or cut off; make it again with `{made_by}`")
    }
}

/// The folder that `file` is in.
pub fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Appends a number.
pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the front; `None` where there is none.
pub fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_put() {
        let numbers = [0, 1, 127, 128, 1 << 40, u64::MAX - 1, u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&number| put(&mut bytes, number));
        let mut rest = &bytes[..];
        assert_eq!(numbers.map(|_| get(&mut rest).unwrap()), numbers);
        assert_eq!(get(&mut rest), None);
        assert_eq!(get(&mut &bytes[..bytes.len() - 1][bytes.len() - 3..]), None);
    }
}
