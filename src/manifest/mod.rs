//! Manifests: rows in, pulled from Parquet and JSONL files.
//!
//! [`Manifest::open`] reads the head or footer of a file; [`Manifest::rows`] iterates over the rows of
//! one piece of it, from any thread. Other modules do not see which format a manifest has.

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

/// An opened manifest.
pub struct Manifest {
    pub path: PathBuf,
    /// Path below the input folder without extensions: `sub/part-00000`.
    pub name: PathBuf,
    /// The folder that its relative paths start at.
    pub base: Base,
    /// Bytes of the file.
    pub bytes: u64,
    /// When the file was last changed.
    changed: SystemTime,
    format: Format,
}

/// The format of a manifest.
enum Format {
    Parquet(parquet::Parquet),
    Jsonl(Option<Codec>),
}

/// A part of a manifest that can be read on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestPiece {
    Whole,
    /// One row group of a Parquet file.
    RowGroup(usize),
}

impl Manifest {
    /// Opens a file and checks that it has the columns that every command needs. Relative paths
    /// start at `root`, or without it at the folder of the file.
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

    /// The columns of the file; `None` for JSONL, where each row has its own fields.
    pub fn schema(&self) -> Option<&SchemaRef> {
        match &self.format {
            Format::Parquet(parquet) => Some(&parquet.schema),
            Format::Jsonl(_) => None,
        }
    }

    /// Whether the statistics of the file show that the column has a value in some row.
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
    /// The footer of a Parquet file is decoded once for all iterators that exist at the same time,
    /// and dropped with the last of them.
    pub fn rows(&self, piece: ManifestPiece, columns: Columns) -> RowReader<'_> {
        let opened = catch_panic(|| {
            let batches: Batches = match &self.format {
                Format::Parquet(parquet) => Box::new(parquet.rows(&self.path, piece, columns)?),
                Format::Jsonl(codec) => Box::new(jsonl::open(&self.path, *codec, columns)?),
            };
            Ok(batches)
        });
        let batches = opened.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))));
        RowReader { manifest: self, batches, ended: false }
    }

    fn check_unchanged(&self) -> anyhow::Result<()> {
        if length_and_time(&self.path)? != (self.bytes, self.changed) {
            bail!("it changed while it was being read; run again");
        }
        Ok(())
    }
}

impl Format {
    /// Fails when the file is a tar archive, or not what its name says: an unfinished download must
    /// not count as a manifest without rows.
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
            bail!("it is named .parquet, but is not a Parquet file");
        }
        if start.is_empty() && is_named_packed(path) {
            bail!("its name says that it is compressed, but it is empty");
        }
        Ok(Format::Jsonl(Codec::detect(&start)))
    }
}

fn length_and_time(path: &Path) -> std::io::Result<(u64, SystemTime)> {
    let metadata = path.metadata()?;
    Ok((metadata.len(), metadata.modified()?))
}

/// The rows of one piece of a manifest. Errors name the file; an error is the last item.
///
/// The last item is also an error if the file has changed since it was opened: the rows may come
/// from both versions.
pub struct RowReader<'a> {
    manifest: &'a Manifest,
    batches: Batches,
    ended: bool,
}

type Batches = Box<dyn Iterator<Item = anyhow::Result<Rows>>>;

impl Iterator for RowReader<'_> {
    type Item = anyhow::Result<Rows>;

    fn next(&mut self) -> Option<anyhow::Result<Rows>> {
        if self.ended {
            return None;
        }
        let end = match catch_panic(|| self.batches.next().transpose()) {
            Ok(Some(rows)) => return Some(Ok(rows)),
            end => self.manifest.check_unchanged().and(end),
        };
        self.ended = true;
        end.with_context(|| self.manifest.path.display().to_string()).transpose()
    }
}
