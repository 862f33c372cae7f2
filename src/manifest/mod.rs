//! Manifests: rows in, pulled from Parquet and JSONL files.
//!
//! [`Manifest::open`] looks at a file once; [`Manifest::rows`] is an iterator of the rows of one
//! piece of it, from any thread. How a manifest is written stays in here.

pub mod discover;
mod jsonl;
mod line;
mod parquet;
pub mod rows;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};
use arrow_schema::SchemaRef;

use crate::archive::forward::BLOCK;
use crate::archive::sniff::header;
use crate::archive::unpack::Codec;
use crate::catch_panic::catch_panic;
use crate::locator::Base;
use discover::{ManifestFile, is_named_packed, is_named_parquet};
use rows::{Columns, Rows};

/// A file of rows that can be read.
pub struct Manifest {
    pub path: PathBuf,
    /// Path below the input folder without extensions: `sub/part-00000`.
    pub name: PathBuf,
    /// Where its relative paths start.
    pub base: Base,
    /// Bytes of the file.
    pub bytes: u64,
    /// When the file was last changed.
    changed: SystemTime,
    format: Format,
}

/// How a manifest is written.
enum Format {
    Parquet(parquet::Parquet),
    Jsonl(Option<Codec>),
}

/// A part of a manifest that can be read on its own; a manifest is its parts in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestPiece {
    Whole,
    /// One row group of a Parquet file.
    RowGroup(usize),
}

impl Manifest {
    /// Opens a file and checks that it has the columns that every command needs. Relative paths
    /// start at `root`, or else at the folder of the file.
    ///
    /// Fails, naming the file, when it cannot be opened, is damaged, or lacks a column, and when
    /// `root` or the folder does not exist.
    pub fn open(found: ManifestFile, root: Option<&Path>) -> anyhow::Result<Manifest> {
        let context = || found.path.display().to_string();
        let (bytes, changed) = length_and_time(&found.path).with_context(context)?;
        let format = Format::open(&found.path).with_context(context)?;
        let folder = root.unwrap_or(found.path.parent().unwrap_or(Path::new("")));
        let base =
            Base::new(folder).with_context(|| format!("cannot resolve the folder {}", folder.display()))?;
        let ManifestFile { path, name } = found;
        Ok(Manifest { path, name, base, bytes, changed, format })
    }

    /// The columns as they are in the file; `None` for JSONL, whose rows each have their own.
    pub fn schema(&self) -> Option<&SchemaRef> {
        match &self.format {
            Format::Parquet(parquet) => Some(&parquet.schema),
            Format::Jsonl(_) => None,
        }
    }

    /// Whether the file says that the column has a value in some row.
    pub fn has_values(&self, column: &str) -> bool {
        match &self.format {
            Format::Parquet(parquet) => parquet.filled.iter().any(|name| name == column),
            Format::Jsonl(_) => false,
        }
    }

    pub fn pieces(&self) -> Vec<ManifestPiece> {
        match &self.format {
            Format::Parquet(parquet) => (0..parquet.row_groups).map(ManifestPiece::RowGroup).collect(),
            Format::Jsonl(_) => vec![ManifestPiece::Whole],
        }
    }

    /// The rows of `piece`, in order.
    ///
    /// What the file says of all its pieces is decoded once for all iterators that exist at the
    /// same time, and dropped with the last of them.
    pub fn rows(&self, piece: ManifestPiece, columns: Columns) -> RowReader<'_> {
        let opened = catch_panic(|| {
            Ok(match &self.format {
                Format::Parquet(parquet) => Batches::Parquet(parquet.rows(&self.path, piece, columns)?),
                Format::Jsonl(codec) => Batches::Jsonl(jsonl::open(&self.path, *codec, columns)?),
            })
        });
        let batches = opened.unwrap_or_else(|error| Batches::Unopened(Some(error)));
        RowReader { manifest: self, batches, ended: false }
    }

    fn check_unchanged(&self) -> anyhow::Result<()> {
        if length_and_time(&self.path)? != (self.bytes, self.changed) {
            bail!("it changed during the run; run again");
        }
        Ok(())
    }
}

impl Format {
    /// Fails when the file is a tar archive, and when it is not what its name says: what a download
    /// or a writer left unfinished is not an empty list of rows.
    fn open(path: &Path) -> anyhow::Result<Format> {
        let mut start = Vec::new();
        File::open(path)?.take(BLOCK).read_to_end(&mut start)?;
        if header(&start).is_some() {
            bail!("it is a tar archive; manifests are Parquet or JSONL");
        }
        if start.starts_with(b"PAR1") {
            return Ok(Format::Parquet(catch_panic(|| parquet::Parquet::open(path))?));
        }
        if is_named_parquet(path) {
            bail!("it is named as Parquet, but is not");
        }
        if start.is_empty() && is_named_packed(path) {
            bail!("it is named as compressed, but is empty");
        }
        Ok(Format::Jsonl(Codec::detect(&start)))
    }
}

fn length_and_time(path: &Path) -> std::io::Result<(u64, SystemTime)> {
    let metadata = path.metadata()?;
    Ok((metadata.len(), metadata.modified()?))
}

/// Rows of one piece of a manifest. Errors name the file; the first one is the last item.
///
/// The last item is an error too where the file has changed since it was opened: some rows may
/// be of one state of the file, some of another.
pub struct RowReader<'a> {
    manifest: &'a Manifest,
    batches: Batches,
    ended: bool,
}

enum Batches {
    Unopened(Option<anyhow::Error>),
    Parquet(parquet::RowGroups),
    Jsonl(jsonl::JsonlReader),
}

impl Iterator for RowReader<'_> {
    type Item = anyhow::Result<Rows>;

    fn next(&mut self) -> Option<anyhow::Result<Rows>> {
        if self.ended {
            return None;
        }
        let next = match &mut self.batches {
            Batches::Unopened(error) => error.take().map_or(Ok(None), Err),
            Batches::Parquet(row_groups) => catch_panic(|| row_groups.next().transpose()),
            Batches::Jsonl(lines) => lines.next().transpose(),
        };
        let rows = match next {
            Ok(Some(rows)) => return Some(Ok(rows)),
            end => self.manifest.check_unchanged().and(end),
        };
        self.ended = true;
        rows.with_context(|| self.manifest.path.display().to_string()).transpose()
    }
}
