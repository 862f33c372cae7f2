//! Parquet shards: each chunk becomes a row group with the columns of the manifest.
//!
//! A chunk has a limited number of payload bytes, so a reader needs limited memory for a row group. A
//! payload that repeats inside a row group is stored once if that saves space, and payloads are
//! compressed if that saves space: most images are compressed already.

mod json_fields;
mod layout;
mod payload;

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use arrow_array::{ArrayRef, LargeStringArray, RecordBatch, StringViewArray};
use arrow_schema::Field;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;

use super::Chunk;
use crate::manifest::rows;
pub use json_fields::{FieldTypes, JsonFields};
use layout::to_days;
pub use layout::{ParquetCodec, ParquetLayout};
use payload::Storage;

/// Writes one Parquet file.
pub struct ParquetShard<W: Write + Send> {
    layout: ParquetLayout,
    /// The output until the first row group, which decides how payloads are stored by default.
    out: Option<W>,
    open: Option<OpenFile<W>>,
}

struct OpenFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: ArrowRowGroupWriterFactory,
    payload: ColumnDescPtr,
    /// How the payload column is stored by default.
    usual: Storage,
    row_groups: usize,
}

impl<W: Write + Send> ParquetShard<W> {
    pub fn new(out: W, layout: ParquetLayout) -> ParquetShard<W> {
        ParquetShard { layout, out: Some(out), open: None }
    }

    /// Writes `chunk` as one row group.
    pub fn write(&mut self, chunk: &Chunk) -> anyhow::Result<()> {
        if chunk.rows.is_empty() {
            return Ok(());
        }
        let decoded: Vec<RecordBatch> = match &self.layout.json_fields {
            Some(fields) => {
                chunk.tables.iter().map(|table| fields.decode(table)).collect::<Result<_, _>>()?
            }
            None => Vec::new(),
        };
        let storage = Storage::new(chunk, self.layout.codec);
        let layout = self.layout.clone();
        let open = self.open(storage)?;
        let mut writers = open.columns.create_column_writers(open.row_groups)?.into_iter();
        let mut finished = Vec::new();
        for field in layout.schema.fields() {
            if field.name() == rows::BINARY_CONTENT {
                writers.next().context("the payload column has no writer")?;
                finished.push(None);
            } else {
                finished.extend(encode(field, chunk, &decoded, &mut writers)?.into_iter().map(Some));
            }
        }
        let mut row_group = open.file.next_row_group()?;
        for column in finished {
            match column {
                Some(column) => column.append_to_row_group(&mut row_group)?,
                None if storage == open.usual => payload::write(chunk, &mut row_group)?,
                None => {
                    let properties = ParquetLayout::payload_properties(storage);
                    payload::write_aside(chunk, &mut row_group, &open.payload, properties)?;
                }
            }
        }
        row_group.close()?;
        open.row_groups += 1;
        Ok(())
    }

    /// Writes the footer and returns the output, flushed.
    pub fn finish(mut self) -> anyhow::Result<W> {
        let metadata = self.layout.metadata();
        self.open(Storage::PLAIN)?;
        let mut file = self.open.expect("it was opened above").file;
        metadata.into_iter().for_each(|pair| file.append_key_value_metadata(pair));
        let mut out = file.into_inner()?;
        out.flush()?;
        Ok(out)
    }

    /// The file, which is started with this default if this is the first call.
    fn open(&mut self, usual: Storage) -> anyhow::Result<&mut OpenFile<W>> {
        if let Some(out) = self.out.take() {
            self.open = Some(OpenFile::start(out, &self.layout, usual)?);
        }
        self.open.as_mut().context("cannot start the file")
    }
}

impl<W: Write + Send> OpenFile<W> {
    fn start(out: W, layout: &ParquetLayout, usual: Storage) -> anyhow::Result<OpenFile<W>> {
        let options = ArrowWriterOptions::new().with_properties(layout.properties(usual));
        let writer = ArrowWriter::try_new_with_options(out, layout.schema.clone(), options)?;
        let (file, columns) = writer.into_serialized_writer()?;
        let leaves = file.schema_descr().columns();
        let payload = leaves.iter().find(|leaf| leaf.path().parts() == [rows::BINARY_CONTENT]);
        let payload = payload.context("the layout has no payload column")?.clone();
        Ok(OpenFile { file, columns, payload, usual, row_groups: 0 })
    }
}

/// Encodes one column of a chunk: one result for each of its leaves.
fn encode(
    field: &Arc<Field>,
    chunk: &Chunk,
    decoded: &[RecordBatch],
    writers: &mut impl Iterator<Item = ArrowColumnWriter>,
) -> anyhow::Result<Vec<ArrowColumnChunk>> {
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

/// The values of a column, one array for each table. `decoded` holds the JSON fields of each table.
fn column(field: &Field, chunk: &Chunk, decoded: &[RecordBatch]) -> anyhow::Result<Vec<ArrayRef>> {
    if field.name() == rows::MATERIALIZE_ERROR {
        return Ok(vec![errors(chunk)?]);
    }
    let mut arrays = Vec::new();
    for (nth, table) in chunk.tables.iter().enumerate() {
        let found = table.column_by_name(field.name());
        arrays.push(match found.or_else(|| decoded.get(nth)?.column_by_name(field.name())) {
            Some(array) => to_days(array)?,
            None => arrow_array::new_null_array(field.data_type(), table.num_rows()),
        });
    }
    Ok(arrays)
}

/// The error column.
fn errors(chunk: &Chunk) -> anyhow::Result<ArrayRef> {
    let before = chunk.tables.iter().map(|table| rows::optional_text_column(table, rows::MATERIALIZE_ERROR));
    let before: Vec<StringViewArray> = before.collect::<anyhow::Result<_>>()?;
    let before = before.iter().flat_map(|piece| piece.iter());
    let after = chunk.rows.iter().zip(before).map(|(filled, before)| filled.error(before));
    Ok(Arc::new(after.collect::<LargeStringArray>()))
}
