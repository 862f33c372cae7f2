//! Parquet manifests: only the columns asked for, one row group at a time.
//!
//! The payload column is left alone while its statistics say that all of it is null, and while
//! only its presence is asked for and they say that none is. Where it must be read, batches are
//! small, since one page of it may hold hundreds of megabytes. They are small too where other
//! columns are large: a batch of text is bounded by what its offsets can count, 2 GiB.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;

use super::{Outline, Piece};
use crate::manifest::discover::Kind;
use crate::manifest::rows::*;

const BATCH_ROWS: usize = 1024;
/// While only references are read, whose columns are narrow.
const REFERENCE_BATCH_ROWS: usize = 8192;
/// Of a batch, as far as the footer tells.
const BATCH_BYTES: i64 = 64 << 20;
/// What the decoder says of a batch that its offsets cannot count.
const OVERFLOW: &str = "index overflow";
/// How much smaller the next batches are when one could not be decoded.
const SMALLER: usize = 16;
/// While payloads are decoded.
const PAYLOAD_BATCH_ROWS: usize = 32;

/// All of an outline that the footer tells; bytes and time are the caller's.
pub fn outline(path: &Path) -> anyhow::Result<Outline> {
    let metadata = ArrowReaderMetadata::load(&File::open(path)?, ArrowReaderOptions::new())?;
    let schema = metadata.schema();
    for name in [MODALITY, SOURCE_REF] {
        if schema.column_with_name(name).is_none() {
            let found: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            bail!("column `{name}` is missing; there are: {}", found.join(", "));
        }
    }
    let mut names = HashSet::new();
    if let Some(twice) = schema.fields().iter().find(|field| !names.insert(field.name())) {
        bail!("there are two columns `{}`; rename one", twice.name());
    }
    let row_groups = metadata.metadata().row_groups();
    Ok(Outline {
        kind: Kind::Parquet,
        bytes: 0,
        changed: SystemTime::UNIX_EPOCH,
        pieces: (0..row_groups.len()).map(Piece::RowGroup).collect(),
        schema: Some(schema.clone()),
        filled: filled(&metadata),
    })
}

/// The columns of which some statistics show that a value is there.
fn filled(metadata: &ArrowReaderMetadata) -> Vec<String> {
    let leaves = metadata.parquet_schema();
    let has_value = |leaf: &usize| {
        metadata.metadata().row_groups().iter().map(|group| group.column(*leaf)).any(|column| {
            let nulls = column.statistics().and_then(|statistics| statistics.null_count_opt());
            nulls.is_some_and(|nulls| (nulls as i64) < column.num_values())
        })
    };
    let filled = (0..leaves.num_columns()).filter(has_value);
    filled.map(|leaf| leaves.get_column_root(leaf).name().to_owned()).collect()
}

/// What a file says of itself, decoded. It grows with row groups times columns, so it is read once
/// for all pieces of a file, not once for each.
pub struct Footer(ArrowReaderMetadata);

/// Reads the footer of the file.
pub fn footer(path: &Path, columns: Columns) -> anyhow::Result<Footer> {
    Ok(Footer(load(&File::open(path)?, columns)?))
}

/// Opens `piece` of the file, whose footer was read for the same `columns`. The file is opened
/// again, since a descriptor has one position for all threads.
pub fn open(path: &Path, footer: &Footer, piece: Piece, columns: Columns) -> anyhow::Result<ParquetRows> {
    let file = File::open(path)?;
    let metadata = footer.0.clone();
    let row_groups = metadata.metadata().row_groups();
    let (pending, before) = match piece {
        Piece::All => ((0..row_groups.len()).collect(), &row_groups[..0]),
        Piece::RowGroup(index) => (vec![index], &row_groups[..index.min(row_groups.len())]),
    };
    let rows = before.iter().map(|group| group.num_rows() as u64).sum();
    Ok(ParquetRows { file, metadata, columns, pending: pending.into_iter(), current: None, rows })
}

/// The schema of the file, with 32-bit offsets of payloads widened: a row group may hold more
/// than 2 GiB of them. Texts that say what rows refer to are read as views of decoded pages and
/// dictionaries, not copied.
fn load(file: &File, columns: Columns) -> anyhow::Result<ArrowReaderMetadata> {
    let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
    let schema = metadata.schema();
    let better = |field: &Field| match (field.name().as_str(), field.data_type()) {
        (BINARY_CONTENT, DataType::Binary) => Some(DataType::LargeBinary),
        (MODALITY | SOURCE_REF, kind) if columns == Columns::References && is_string(kind) => {
            Some(DataType::Utf8View)
        }
        _ => None,
    };
    if schema.fields().iter().all(|field| better(field).is_none()) {
        return Ok(metadata);
    }
    let fields = schema.fields().iter().map(|field| match better(field) {
        Some(kind) => Arc::new(field.as_ref().clone().with_data_type(kind)),
        None => field.clone(),
    });
    let better = Schema::new_with_metadata(fields.collect::<Fields>(), schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(better));
    Ok(ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)?)
}

fn is_string(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_string(values),
        DataType::Utf8 | DataType::LargeUtf8 => true,
        _ => false,
    }
}

/// Batches of rows of one file.
pub struct ParquetRows {
    file: File,
    metadata: ArrowReaderMetadata,
    columns: Columns,
    pending: std::vec::IntoIter<usize>,
    current: Option<Current>,
    /// Rows before the next batch.
    rows: u64,
}

/// A row group at work.
struct Current {
    index: usize,
    reader: ParquetRecordBatchReader,
    presence: Presence,
    batch_rows: usize,
    /// Rows of this row group before the next batch.
    rows: usize,
}

/// What the payload column of a row group holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Nothing,
    Everything,
    /// Must be read to know, or for its bytes.
    Values,
}

impl Iterator for ParquetRows {
    type Item = anyhow::Result<Rows>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (index, rows, batch_rows) = match &mut self.current {
                None => (self.pending.next()?, 0, usize::MAX),
                Some(current) => match current.reader.next() {
                    Some(Ok(table)) => {
                        let first = self.rows + 1;
                        self.rows += table.num_rows() as u64;
                        current.rows += table.num_rows();
                        return Some(split(table, current.presence, Places::From(first)));
                    }
                    // It may be too large only because of a dictionary, which the footer hides.
                    Some(Err(error)) if current.batch_rows > 1 && error.to_string().contains(OVERFLOW) => {
                        (current.index, current.rows, current.batch_rows.div_ceil(SMALLER))
                    }
                    Some(Err(error)) => return Some(Err(error.into())),
                    None => {
                        self.current = None;
                        continue;
                    }
                },
            };
            match self.start(index, rows, batch_rows) {
                Ok(current) => self.current = Some(current),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl ParquetRows {
    /// Reads row group `index` from its row `rows` on, at most `batch_rows` at a time.
    fn start(&self, index: usize, rows: usize, batch_rows: usize) -> anyhow::Result<Current> {
        let row_group = self.metadata.metadata().row_groups().get(index).context("a row group is missing")?;
        let presence = self.presence(row_group);
        let schema = self.metadata.schema();
        let wanted = |field: &Field| match field.name().as_str() {
            BINARY_CONTENT => presence == Presence::Values,
            name => self.columns == Columns::All || [MODALITY, SOURCE_REF].contains(&name),
        };
        let roots: Vec<usize> =
            schema.fields().iter().enumerate().filter(|(_, field)| wanted(field)).map(|(at, _)| at).collect();
        let batch_rows = batch_rows.min(self.batch_rows(row_group, &roots, presence));
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), roots);
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.try_clone()?, self.metadata.clone())
                .with_projection(mask)
                .with_row_groups(vec![index])
                .with_offset(rows)
                .with_batch_size(batch_rows)
                .build()?;
        Ok(Current { index, reader, presence, batch_rows, rows })
    }

    /// How many rows of these columns are some tens of megabytes, going by their average.
    fn batch_rows(&self, row_group: &RowGroupMetaData, roots: &[usize], presence: Presence) -> usize {
        let leaves = self.metadata.parquet_schema();
        let columns = row_group.columns().iter().enumerate();
        let wanted = columns.filter(|(leaf, _)| roots.contains(&leaves.get_column_root_idx(*leaf)));
        let bytes = wanted.map(|(_, column)| {
            column.unencoded_byte_array_data_bytes().unwrap_or(0).max(column.uncompressed_size())
        });
        let row_bytes = bytes.sum::<i64>() / row_group.num_rows().max(1);
        let most = match (presence, self.columns) {
            (Presence::Values, _) => PAYLOAD_BATCH_ROWS,
            (_, Columns::References) => REFERENCE_BATCH_ROWS,
            (_, Columns::All) => BATCH_ROWS,
        };
        usize::try_from(BATCH_BYTES / row_bytes.max(1)).unwrap_or(1).clamp(1, most)
    }

    fn presence(&self, row_group: &RowGroupMetaData) -> Presence {
        let schema = self.metadata.schema();
        let Some((root, field)) = schema.column_with_name(BINARY_CONTENT) else { return Presence::Nothing };
        if field.data_type() == &DataType::Null {
            return Presence::Nothing;
        }
        let parquet_schema = self.metadata.parquet_schema();
        let leaf =
            (0..parquet_schema.num_columns()).find(|&leaf| parquet_schema.get_column_root_idx(leaf) == root);
        let nulls = leaf
            .and_then(|leaf| row_group.column(leaf).statistics())
            .and_then(|statistics| statistics.null_count_opt());
        match nulls {
            Some(nulls) if nulls as i64 == row_group.num_rows() => Presence::Nothing,
            Some(0) if self.columns == Columns::References => Presence::Everything,
            _ => Presence::Values,
        }
    }
}

/// Takes the payload column out of a batch.
fn split(mut table: RecordBatch, presence: Presence, places: Places) -> anyhow::Result<Rows> {
    let payloads = match presence {
        Presence::Nothing => Payloads::None,
        Presence::Everything => Payloads::Every,
        Presence::Values => {
            let index = table.schema().index_of(BINARY_CONTENT)?;
            as_payloads(&table.remove_column(index))?
        }
    };
    Ok(Rows { table, payloads, places, bad: Vec::new() })
}

fn as_payloads(column: &ArrayRef) -> anyhow::Result<Payloads> {
    if column.logical_null_count() == column.len() {
        return Ok(Payloads::None);
    }
    let is_binary = |data_type: &DataType| {
        matches!(
            data_type,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_)
        )
    };
    match column.data_type() {
        DataType::Dictionary(_, values) if is_binary(values) => {}
        other if is_binary(other) => {}
        other => bail!("column `{BINARY_CONTENT}` has type {other}, not binary"),
    }
    Ok(Payloads::Some(cast(column, &DataType::LargeBinary)?.as_binary::<i64>().clone()))
}
