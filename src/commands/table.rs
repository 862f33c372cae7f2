//! The multiplicity table as a file: what `analyze --save` writes and `size --from` reads.
//!
//! ```text
//!     lots, by ascending digest; a lot is the bytes of what follows in it, so that threads can share
//!     the reading; the number of its objects; and the objects; 0 ends them
//!     an object: digest minus the digest before it in the lot; references; bytes + 1, or 0 where
//!     they are unknown
//! ```
//!
//! That is the content of a `sealed` file. An object takes about 11 bytes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use parking_lot::Mutex;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::sealed::{self, Kind, get, put};
use crate::publish::Draft;

const KIND: Kind = Kind {
    magic: *b"onepull counts\0\x02",
    name: "table of multiplicities",
    made_by: "onepull analyze --save FILE",
};

/// Whether the bytes are the beginning of a table, of any version.
pub fn is_table(bytes: &[u8]) -> bool {
    KIND.begins(bytes)
}

/// One object of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The first 64 bits of [`crate::object::digest`].
    pub digest: u64,
    /// References, at least 1.
    pub count: u64,
    /// Bytes, where they are known.
    pub size: Option<u64>,
}

/// A table that is being written, by several threads.
pub struct Writer {
    file: PathBuf,
    state: Mutex<State>,
}

struct State {
    draft: Draft,
    hasher: blake3::Hasher,
    /// The lot that is written next, and those that came too early.
    next: usize,
    early: BTreeMap<usize, Vec<u8>>,
    /// Why no more is written.
    failed: Option<io::Error>,
}

impl Writer {
    /// Starts a table that will be `file`. Fails when nothing can be written beside it.
    pub fn create(file: &Path) -> anyhow::Result<Writer> {
        let context = || format!("writing {}", file.display());
        let draft = Draft::create(sealed::folder(file), ".onepull-table-").with_context(context)?;
        let state =
            State { draft, hasher: blake3::Hasher::new(), next: 0, early: BTreeMap::new(), failed: None };
        let writer = Writer { file: file.to_owned(), state: Mutex::new(state) };
        writer.state.lock().put(&KIND.magic).with_context(context)?;
        Ok(writer)
    }

    /// Adds lot number `lot`. Lots come in any order, from 0 on, each once; the digests of one are
    /// above those of the lot before it, and ascend. What cannot be written is told at the end.
    pub fn add(&self, lot: usize, rows: &[Row]) {
        let bytes = encode(rows);
        let mut state = self.state.lock();
        if state.failed.is_none() {
            state.failed = state.add(lot, bytes).err();
        }
    }

    /// Gives the table its name, in place of whatever had it. Fails when it cannot be written, or
    /// could not.
    pub fn finish(self) -> anyhow::Result<()> {
        let Writer { file, state } = self;
        state.into_inner().finish(&file).with_context(|| format!("writing {}", file.display()))
    }
}

impl State {
    fn add(&mut self, lot: usize, bytes: Vec<u8>) -> io::Result<()> {
        self.early.insert(lot, bytes);
        while let Some(bytes) = self.early.remove(&self.next) {
            self.put(&bytes)?;
            self.next += 1;
        }
        Ok(())
    }

    fn finish(mut self, file: &Path) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.put(&[0])?;
        let checksum = self.hasher.finalize();
        self.draft.file().write_all(checksum.as_bytes())?;
        self.draft.commit(file)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.draft.file().write_all(bytes)
    }
}

/// Sums the rows of `file` up on the threads of the current pool: `empty` starts a sum, `add` takes a
/// row in, and `join` adds two sums up. Rows that are taken in one after the other ascend.
///
/// Fails when the file cannot be read, is no table, is one of another version, or is damaged.
pub fn fold<S: Send>(
    file: &Path,
    empty: impl Fn() -> S + Sync + Send,
    add: impl Fn(&mut S, Row) + Sync + Send,
    join: impl Fn(S, S) -> S + Sync + Send,
) -> anyhow::Result<S> {
    let bytes = KIND.bytes(file)?;
    let sum = |content| {
        let take = |mut sum, lot| decode(lot, |row| add(&mut sum, row)).map(|()| sum);
        let sums = lots(content)?.into_par_iter().try_fold(&empty, take);
        sums.try_reduce(&empty, |one, other| Some(join(one, other)))
    };
    let content = KIND.open(&bytes);
    content
        .and_then(|content| sum(content).ok_or_else(|| KIND.damaged()))
        .with_context(|| file.display().to_string())
}

fn encode(rows: &[Row]) -> Vec<u8> {
    // An empty lot is none.
    if rows.is_empty() {
        return Vec::new();
    }
    let mut bytes = Vec::with_capacity(rows.len() * 12 + 10);
    put(&mut bytes, rows.len() as u64);
    let mut before = 0;
    for row in rows {
        put(&mut bytes, row.digest - before);
        put(&mut bytes, row.count);
        // A size of 2^64 - 1 is no file's.
        put(&mut bytes, row.size.map_or(0, |size| size.saturating_add(1)));
        before = row.digest;
    }
    let mut lot = Vec::with_capacity(bytes.len() + 10);
    put(&mut lot, bytes.len() as u64);
    lot.append(&mut bytes);
    lot
}

/// `None`: it is no sequence of lots.
fn lots(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut lots = Vec::new();
    loop {
        let length = usize::try_from(get(&mut bytes)?).ok()?;
        if length == 0 {
            return bytes.is_empty().then_some(lots);
        }
        let (lot, rest) = bytes.split_at_checked(length)?;
        lots.push(lot);
        bytes = rest;
    }
}

/// `None`: it is no lot.
fn decode(mut lot: &[u8], mut each: impl FnMut(Row)) -> Option<()> {
    let (rows, mut digest) = (get(&mut lot)?, 0u64);
    for _ in 0..rows {
        digest = digest.checked_add(get(&mut lot)?)?;
        let (count, size) = (get(&mut lot)?, get(&mut lot)?);
        each(Row { digest, count, size: size.checked_sub(1) });
    }
    lot.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn rows() -> Vec<Row> {
        let row = |digest, count, size| Row { digest, count, size };
        vec![
            row(0, 1, None),
            row(5, 127, Some(0)),
            row(5, 128, Some(127)),
            row(1 << 40, u64::MAX, Some(1 << 50)),
            row(u64::MAX, 3, Some(u64::MAX - 1)),
        ]
    }

    fn written(folder: &Path) -> PathBuf {
        let file = folder.join("table");
        let writer = Writer::create(&file).unwrap();
        writer.add(2, &rows()[3..]);
        writer.add(1, &[]);
        writer.add(0, &rows()[..3]);
        writer.finish().unwrap();
        file
    }

    fn all(file: &Path) -> anyhow::Result<Vec<Row>> {
        let mut rows = fold(file, Vec::new, |rows, row| rows.push(row), |one, other| [one, other].concat())?;
        rows.sort_by_key(|row: &Row| (row.digest, row.count));
        Ok(rows)
    }

    #[test]
    fn a_table_reads_as_it_was_written_in_whatever_order_its_lots_came() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(all(&written(folder.path())).unwrap(), rows());
        Writer::create(&folder.path().join("empty")).unwrap().finish().unwrap();
        assert_eq!(all(&folder.path().join("empty")).unwrap(), []);
    }

    #[test]
    fn a_table_that_is_not_whole_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = written(folder.path());
        let bytes = fs::read(&file).unwrap();
        for length in 0..bytes.len() {
            fs::write(&file, &bytes[..length]).unwrap();
            assert!(all(&file).is_err(), "{length} bytes of {}", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            fs::write(&file, &damaged).unwrap();
            assert!(all(&file).is_err(), "byte {at}");
        }
    }

    #[test]
    fn what_is_no_table_is_told_how_to_make_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        fs::write(&file, "{\"references\":1}").unwrap();
        let error = format!("{:#}", all(&file).unwrap_err());
        assert!(error.contains("x: it is no table") && error.contains("analyze --save"), "{error}");
        // Nor is it read to its end, for which there would be no memory.
        fs::File::options().write(true).open(&file).unwrap().set_len(1 << 43).unwrap();
        let error = format!("{:#}", all(&file).unwrap_err());
        assert!(error.contains("x: it is no table"), "{error}");
    }
}
