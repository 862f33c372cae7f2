//! Parquet manifests: only the columns asked for, one row group at a time.
//!
//! The payload column is not read if its statistics show that it is all null, or if only references
//! are read and the statistics show that it has no nulls. Batches with payloads are small, since one
//! page may hold hundreds of megabytes. So are batches with other large columns: the offsets of a
//! text column count up to 2 GiB.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Weak};

use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use parking_lot::Mutex;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;

use super::ManifestPiece;
use crate::manifest::rows::*;

const BATCH_ROWS: usize = 1024;
/// For references alone, whose columns are narrow.
const REFERENCE_BATCH_ROWS: usize = 8192;
/// The size of a batch, estimated from the footer.
const BATCH_BYTES: i64 = 64 << 20;
/// The decoder's error for a batch that is too large for its offsets.
const OVERFLOW: &str = "index overflow";
/// How much smaller the batches become after that error.
const SMALLER: usize = 16;
/// For batches with payloads.
const PAYLOAD_BATCH_ROWS: usize = 32;

/// An opened Parquet file.
pub struct Parquet {
    pub schema: SchemaRef,
    pub row_groups: usize,
    /// Columns that have a value in some row, according to the footer.
    pub filled: Vec<String>,
    /// The footer, while any iterator uses it.
    footer: Mutex<Weak<Footer>>,
}

/// The footer, decoded for some columns. Its size grows with row groups times columns, so it is
/// read once for all row groups, not once for each.
struct Footer {
    columns: Columns,
    metadata: ArrowReaderMetadata,
}

impl Parquet {
    pub fn open(path: &Path) -> anyhow::Result<Parquet> {
        let metadata = ArrowReaderMetadata::load(&File::open(path)?, ArrowReaderOptions::new())?;
        let schema = metadata.schema();
        for name in [MODALITY, SOURCE_REF] {
            if schema.column_with_name(name).is_none() {
                let found: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
                bail!("column `{name}` is missing; the file has: {}", found.join(", "));
            }
        }
        let mut names = HashSet::new();
        if let Some(twice) = schema.fields().iter().find(|field| !names.insert(field.name())) {
            bail!("there are two columns `{}`; rename one", twice.name());
        }
        Ok(Parquet {
            schema: schema.clone(),
            row_groups: metadata.metadata().num_row_groups(),
            filled: filled(&metadata),
            footer: Mutex::default(),
        })
    }

    /// The rows of `piece` of the file, which is at `path`. Each call opens the file anew, since all
    /// users of a descriptor share its position.
    pub fn rows(&self, path: &Path, piece: ManifestPiece, columns: Columns) -> anyhow::Result<RowGroups> {
        let file = File::open(path)?;
        let footer = self.footer(&file, columns)?;
        let row_groups = footer.metadata.metadata().row_groups();
        let (pending, before) = match piece {
            ManifestPiece::Whole => ((0..row_groups.len()).collect(), &row_groups[..0]),
            ManifestPiece::RowGroup(index) => (vec![index], &row_groups[..index.min(row_groups.len())]),
        };
        let rows = before.iter().map(|group| group.num_rows() as u64).sum();
        Ok(RowGroups { file, footer, pending: pending.into_iter(), current: None, rows })
    }

    /// Decodes outside the lock, so now and then two threads decode the same footer.
    fn footer(&self, file: &File, columns: Columns) -> anyhow::Result<Arc<Footer>> {
        let known = self.footer.lock().upgrade();
        if let Some(footer) = known.filter(|footer| footer.columns == columns) {
            return Ok(footer);
        }
        let footer = Arc::new(Footer { columns, metadata: load(file, columns)? });
        *self.footer.lock() = Arc::downgrade(&footer);
        Ok(footer)
    }
}

/// The columns whose statistics show a value in some row group.
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

/// The footer with a better schema: payloads without a fixed size are read as `large_binary`, since a
/// row group may hold more than 2 GiB of them. `modality` and `source_ref` are read as views of decoded
/// pages and dictionaries, not copied.
fn load(file: &File, columns: Columns) -> anyhow::Result<ArrowReaderMetadata> {
    let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
    let schema = metadata.schema();
    let better = |field: &Field| match (field.name().as_str(), plain(field.data_type())) {
        (BINARY_CONTENT, DataType::Binary | DataType::BinaryView) => Some(DataType::LargeBinary),
        (BINARY_CONTENT, kind @ DataType::FixedSizeBinary(_)) => Some(kind.clone()),
        (MODALITY | SOURCE_REF, DataType::Utf8 | DataType::LargeUtf8) if columns == Columns::References => {
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

/// The type of the values, dictionary-encoded or not.
fn plain(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, values) => plain(values),
        other => other,
    }
}

/// Batches of the rows of one file.
pub struct RowGroups {
    file: File,
    footer: Arc<Footer>,
    pending: std::vec::IntoIter<usize>,
    current: Option<Current>,
    /// Rows before the next batch.
    rows: u64,
}

/// The row group being read.
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
    /// Unknown, or needed: read the column.
    Values,
}

impl Iterator for RowGroups {
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
                    // A dictionary can make values larger than the footer shows.
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

impl RowGroups {
    /// Reads row group `index` from its row `rows` on, at most `batch_rows` at a time.
    fn start(&self, index: usize, rows: usize, batch_rows: usize) -> anyhow::Result<Current> {
        let row_group =
            self.footer.metadata.metadata().row_groups().get(index).context("a row group is missing")?;
        let presence = self.presence(row_group);
        let schema = self.footer.metadata.schema();
        let wanted = |field: &Field| match field.name().as_str() {
            BINARY_CONTENT => presence == Presence::Values,
            name => self.footer.columns == Columns::All || [MODALITY, SOURCE_REF].contains(&name),
        };
        let roots: Vec<usize> =
            schema.fields().iter().enumerate().filter(|(_, field)| wanted(field)).map(|(at, _)| at).collect();
        let batch_rows = batch_rows.min(self.batch_rows(row_group, &roots, presence));
        let mask = ProjectionMask::roots(self.footer.metadata.parquet_schema(), roots);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.file.try_clone()?,
            self.footer.metadata.clone(),
        )
        .with_projection(mask)
        .with_row_groups(vec![index])
        .with_offset(rows)
        .with_batch_size(batch_rows)
        .build()?;
        Ok(Current { index, reader, presence, batch_rows, rows })
    }

    /// How many rows of these columns make [`BATCH_BYTES`], on average.
    fn batch_rows(&self, row_group: &RowGroupMetaData, roots: &[usize], presence: Presence) -> usize {
        let leaves = self.footer.metadata.parquet_schema();
        let columns = row_group.columns().iter().enumerate();
        let wanted = columns.filter(|(leaf, _)| roots.contains(&leaves.get_column_root_idx(*leaf)));
        let bytes = wanted.map(|(_, column)| {
            column.unencoded_byte_array_data_bytes().unwrap_or(0).max(column.uncompressed_size())
        });
        let row_bytes = bytes.sum::<i64>() / row_group.num_rows().max(1);
        let most = match (presence, self.footer.columns) {
            (Presence::Values, _) => PAYLOAD_BATCH_ROWS,
            (_, Columns::References) => REFERENCE_BATCH_ROWS,
            (_, Columns::All) => BATCH_ROWS,
        };
        usize::try_from(BATCH_BYTES / row_bytes.max(1)).unwrap_or(1).clamp(1, most)
    }

    fn presence(&self, row_group: &RowGroupMetaData) -> Presence {
        let schema = self.footer.metadata.schema();
        let Some((root, field)) = schema.column_with_name(BINARY_CONTENT) else { return Presence::Nothing };
        if field.data_type() == &DataType::Null {
            return Presence::Nothing;
        }
        let parquet_schema = self.footer.metadata.parquet_schema();
        let leaf =
            (0..parquet_schema.num_columns()).find(|&leaf| parquet_schema.get_column_root_idx(leaf) == root);
        let nulls = leaf
            .and_then(|leaf| row_group.column(leaf).statistics())
            .and_then(|statistics| statistics.null_count_opt());
        match nulls {
            Some(nulls) if nulls as i64 == row_group.num_rows() => Presence::Nothing,
            Some(0) if self.footer.columns == Columns::References => Presence::Everything,
            _ => Presence::Values,
        }
    }
}

/// Moves the payload column out of a batch.
fn split(mut table: RecordBatch, presence: Presence, places: Places) -> anyhow::Result<Rows> {
    let payloads = match presence {
        Presence::Nothing => RowPayloads::None,
        Presence::Everything => RowPayloads::Every,
        Presence::Values => {
            let index = table.schema().index_of(BINARY_CONTENT)?;
            let column = table.remove_column(index);
            match column.data_type() {
                _ if column.logical_null_count() == column.len() => RowPayloads::None,
                DataType::LargeBinary => RowPayloads::Some(column.as_binary::<i64>().clone()),
                DataType::FixedSizeBinary(_) => {
                    RowPayloads::Some(column.as_fixed_size_binary().iter().collect())
                }
                other => bail!("column `{BINARY_CONTENT}` has type {other}, not binary"),
            }
        }
    };
    Rows::new(table, payloads, places, Vec::new())
}
