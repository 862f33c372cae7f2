//! Parquet shards: each chunk becomes a row group with the columns of the manifest.
//!
//! Row groups end where chunks do, which are cut by payload bytes; so a reader never meets a row
//! group that does not fit its memory. A payload that recurs inside a row group is stored once
//! where that saves space, and payloads are compressed where that saves space: most images are
//! compressed already.

mod json_fields;
mod layout;
mod payload;

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, bail};
use arrow_array::{ArrayRef, LargeStringArray, RecordBatch, StringViewArray};
use arrow_schema::Field;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;

use super::{Chunk, Filled};
use crate::manifest::rows;
pub use json_fields::{FieldTypes, JsonFields};
use layout::to_days;
pub use layout::{ParquetCodec, ParquetLayout};
use payload::Storage;

/// Writes one Parquet file.
pub struct ParquetShard<W: Write + Send> {
    layout: ParquetLayout,
    state: FileState<W>,
}

/// The file is begun with the first row group, which decides how payloads are stored by default.
enum FileState<W: Write + Send> {
    New(W),
    Open(Box<OpenFile<W>>),
    /// Only while a state becomes the next, and after a failure to do so.
    Gone,
}

struct OpenFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: ArrowRowGroupWriterFactory,
    payload: ColumnDescPtr,
    /// How the payload column is stored where nothing else is said.
    usual: Storage,
    row_groups: usize,
}

impl<W: Write + Send> ParquetShard<W> {
    pub fn new(out: W, layout: ParquetLayout) -> ParquetShard<W> {
        ParquetShard { layout, state: FileState::New(out) }
    }

    /// Writes `chunk` as one row group.
    pub fn write(&mut self, chunk: &Chunk) -> anyhow::Result<()> {
        if chunk.rows.is_empty() {
            return Ok(());
        }
        let decoded = self.decode_json_fields(chunk)?;
        let storage = Storage::of(chunk, &self.layout);
        let layout = self.layout.clone();
        let open = self.open(storage)?;
        let mut writers = open.columns.create_column_writers(open.row_groups)?.into_iter();
        let mut finished = Vec::new();
        for field in layout.schema.fields() {
            if field.name() == rows::BINARY_CONTENT {
                writers.next().context("the payload column has no writer")?;
                finished.push(None);
                continue;
            }
            for chunk in encode(field, chunk, &decoded, &mut writers)? {
                finished.push(Some(chunk));
            }
        }
        let mut row_group = open.file.next_row_group()?;
        for column in finished {
            match column {
                Some(column) => column.append_to_row_group(&mut row_group)?,
                None if storage == open.usual => payload::write(chunk, &mut row_group)?,
                None => {
                    let properties = layout.payload_properties(storage);
                    payload::write_aside(chunk, &mut row_group, &open.payload, properties)?;
                }
            }
        }
        row_group.close()?;
        open.row_groups += 1;
        Ok(())
    }

    /// Writes the footer and gives the output back.
    pub fn finish(mut self) -> anyhow::Result<W> {
        let pairs: Vec<_> = self.layout.key_values().collect();
        self.open(Storage::default())?;
        let FileState::Open(mut open) = self.state else { bail!("the file has no header yet") };
        for pair in pairs {
            open.file.append_key_value_metadata(pair);
        }
        let mut out = open.file.into_inner()?;
        out.flush()?;
        Ok(out)
    }

    /// The file, begun with this storage of payloads if it is not yet.
    fn open(&mut self, usual: Storage) -> anyhow::Result<&mut OpenFile<W>> {
        self.state = match std::mem::replace(&mut self.state, FileState::Gone) {
            FileState::New(out) => FileState::Open(Box::new(OpenFile::begin(out, &self.layout, usual)?)),
            state => state,
        };
        match &mut self.state {
            FileState::Open(open) => Ok(open),
            FileState::New(_) | FileState::Gone => bail!("cannot start the file"),
        }
    }

    fn decode_json_fields(&self, chunk: &Chunk) -> anyhow::Result<Vec<Option<RecordBatch>>> {
        let Some(fields) = &self.layout.json_fields else { return Ok(vec![None; chunk.tables.len()]) };
        chunk.tables.iter().map(|table| fields.decode(table).map(Some)).collect()
    }
}

impl<W: Write + Send> OpenFile<W> {
    fn begin(out: W, layout: &ParquetLayout, usual: Storage) -> anyhow::Result<OpenFile<W>> {
        let options = ArrowWriterOptions::new().with_properties(layout.properties(usual));
        let writer = ArrowWriter::try_new_with_options(out, layout.schema.clone(), options)?;
        let (file, columns) = writer.into_serialized_writer()?;
        let leaves = file.schema_descr().columns();
        let payload = leaves.iter().find(|leaf| leaf.path().parts() == [rows::BINARY_CONTENT]);
        let payload = payload.context("the layout has no payload column")?.clone();
        Ok(OpenFile { file, columns, payload, usual, row_groups: 0 })
    }
}

/// Encodes one column of all pieces of a chunk: one result for each of its leaves.
fn encode(
    field: &Arc<Field>,
    chunk: &Chunk,
    decoded: &[Option<RecordBatch>],
    writers: &mut impl Iterator<Item = ArrowColumnWriter>,
) -> anyhow::Result<Vec<parquet::arrow::arrow_writer::ArrowColumnChunk>> {
    let mut open: Vec<ArrowColumnWriter> = Vec::new();
    for array in column(field, chunk, decoded)? {
        let leaves = compute_leaves(field, &array)?;
        while open.len() < leaves.len() {
            open.push(writers.next().with_context(|| format!("column `{}` has no writer", field.name()))?);
        }
        for (writer, leaf) in open.iter_mut().zip(&leaves) {
            writer.write(leaf)?;
        }
    }
    open.into_iter().map(|writer| Ok(writer.close()?)).collect()
}

/// The values of a column in pieces, in a type that can be written as that of `field`.
fn column(field: &Field, chunk: &Chunk, decoded: &[Option<RecordBatch>]) -> anyhow::Result<Vec<ArrayRef>> {
    if field.name() == rows::MATERIALIZE_ERROR {
        return Ok(vec![errors(chunk)?]);
    }
    let mut arrays = Vec::new();
    for (table, decoded) in chunk.tables.iter().zip(decoded) {
        let found = table.column_by_name(field.name());
        let found = found.or_else(|| decoded.as_ref().and_then(|table| table.column_by_name(field.name())));
        arrays.push(match found {
            Some(array) => to_days(array)?,
            None => arrow_array::new_null_array(field.data_type(), table.num_rows()),
        });
    }
    Ok(arrays)
}

/// The error column: rows that were tried carry the outcome, the others what they had.
fn errors(chunk: &Chunk) -> anyhow::Result<ArrayRef> {
    let before = chunk.tables.iter().map(|table| rows::optional_text_column(table, rows::MATERIALIZE_ERROR));
    let before: Vec<StringViewArray> = before.collect::<anyhow::Result<_>>()?;
    let before = before.iter().flat_map(|piece| piece.iter());
    let after = chunk.rows.iter().zip(before).map(|(filled, before)| match filled {
        Filled::Failed(error) => Some(error.as_str()),
        Filled::Materialized(_) => None,
        Filled::Untouched | Filled::Carried(_) => before,
    });
    Ok(Arc::new(after.collect::<LargeStringArray>()))
}
