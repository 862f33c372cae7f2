//! Manifests in: rows from Parquet and JSONL files, streamed.

mod catch_panic;
pub mod discover;
mod jsonl;
mod line;
mod parquet;
pub mod rows;

use std::time::SystemTime;

use anyhow::Context;
use arrow_schema::SchemaRef;

use catch_panic::contained;
pub use catch_panic::panic_is_contained;
use discover::{Kind, Manifest, Packing};
use rows::{Columns, Rows};

/// A part of a manifest that can be read on its own; a manifest is its parts in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    All,
    /// One row group of a Parquet file.
    RowGroup(usize),
}

/// What is known of a manifest before its rows are read.
#[derive(Clone, Debug)]
pub struct Outline {
    pub kind: Kind,
    /// Bytes of the file.
    pub bytes: u64,
    pub pieces: Vec<Piece>,
    /// The columns as they stand in the file; `None` for JSONL, which says it row by row.
    pub schema: Option<SchemaRef>,
    /// When the file was last changed.
    changed: SystemTime,
    /// Columns that are not all null, as far as the file says it.
    pub filled: Vec<String>,
}

/// Opens `manifest` and checks that it has the columns that every command needs.
///
/// Fails, naming the file, when it cannot be opened, is damaged, or lacks a column.
pub fn outline(manifest: &Manifest) -> anyhow::Result<Outline> {
    let context = || manifest.path.display().to_string();
    let metadata = manifest.path.metadata().with_context(context)?;
    let (bytes, changed) = (metadata.len(), metadata.modified().with_context(context)?);
    let kind = manifest.kind().with_context(context)?;
    match kind {
        Kind::Parquet => {
            let outline = contained(|| parquet::outline(&manifest.path)).with_context(context)?;
            Ok(Outline { bytes, changed, ..outline })
        }
        Kind::Jsonl(_) => {
            Ok(Outline { kind, bytes, changed, pieces: vec![Piece::All], schema: None, filled: Vec::new() })
        }
    }
}

/// Fails when the file is not what it was when its outline was made.
pub fn check_unchanged(manifest: &Manifest, outline: &Outline) -> anyhow::Result<()> {
    let context = || manifest.path.display().to_string();
    let metadata = manifest.path.metadata().with_context(context)?;
    let now = (metadata.len(), metadata.modified().with_context(context)?);
    if now != (outline.bytes, outline.changed) {
        return Err(anyhow::anyhow!("it changed during the run; run again")).with_context(context);
    }
    Ok(())
}

/// A manifest whose pieces can be read, from any thread.
pub struct Readable<'a> {
    manifest: &'a Manifest,
    columns: Columns,
    form: Form,
}

/// What is known of the whole file when a piece of it is read.
enum Form {
    Parquet(parquet::Footer),
    Jsonl(Packing),
}

impl<'a> Readable<'a> {
    /// Makes `manifest` ready to be read. Fails, naming the file, when it is damaged.
    pub fn new(manifest: &'a Manifest, kind: Kind, columns: Columns) -> anyhow::Result<Readable<'a>> {
        let footer = || contained(|| parquet::footer(&manifest.path, columns));
        let form = match kind {
            Kind::Parquet => Form::Parquet(footer().with_context(|| manifest.path.display().to_string())?),
            Kind::Jsonl(packing) => Form::Jsonl(packing),
        };
        Ok(Readable { manifest, columns, form })
    }

    /// Reads `piece` and hands over its rows in order. An error of `each` ends the reading and is
    /// returned as it is; errors of the manifest name the file.
    pub fn read(&self, piece: Piece, each: &mut dyn FnMut(Rows) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let path = &self.manifest.path;
        let context = || path.display().to_string();
        match &self.form {
            Form::Parquet(footer) => {
                let open = || parquet::open(path, footer, piece, self.columns);
                let mut batches = contained(open).with_context(context)?;
                while let Some(rows) = contained(|| batches.next().transpose()).with_context(context)? {
                    each(rows)?;
                }
            }
            Form::Jsonl(packing) => {
                for rows in jsonl::open(path, *packing, self.columns).with_context(context)? {
                    each(rows.with_context(context)?)?;
                }
            }
        }
        Ok(())
    }
}

/// Reads all of `manifest`; see [`Readable::read`].
pub fn read(
    manifest: &Manifest,
    kind: Kind,
    columns: Columns,
    each: &mut dyn FnMut(Rows) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    Readable::new(manifest, kind, columns)?.read(Piece::All, each)
}
