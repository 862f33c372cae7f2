//! The same rows in every form that manifests have.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::support::manifests::{Row, gzip, jsonl, table, zstd};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Jsonl,
    Gzip,
    Zstd,
    /// Parquet without a dictionary.
    Plain,
    /// Parquet with a dictionary, of strings.
    Encoded,
    /// Columns that are dictionaries for every reader.
    Dictionary,
    LargeString,
}

pub const FORMS: [Form; 7] =
    [Form::Jsonl, Form::Gzip, Form::Zstd, Form::Plain, Form::Encoded, Form::Dictionary, Form::LargeString];

impl Form {
    /// The name of the `number`-th manifest.
    pub fn name(self, number: usize) -> String {
        let ending = match self {
            Form::Jsonl => "jsonl",
            Form::Gzip => "jsonl.gz",
            Form::Zstd => "jsonl.zst",
            _ => "parquet",
        };
        format!("{number:02}.{ending}")
    }

    pub fn bytes(self, rows: &[Row]) -> Vec<u8> {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        match self {
            Form::Jsonl => jsonl(rows).into_bytes(),
            Form::Gzip => gzip(jsonl(rows).as_bytes()),
            Form::Zstd => zstd(jsonl(rows).as_bytes()),
            Form::Plain => parquet(&as_type(rows, &DataType::Utf8), false),
            Form::Encoded => parquet(&as_type(rows, &DataType::Utf8), true),
            Form::Dictionary => parquet(&as_type(rows, &dictionary), true),
            Form::LargeString => parquet(&as_type(rows, &DataType::LargeUtf8), true),
        }
    }
}

/// The rows with their texts as `kind`.
fn as_type(rows: &[Row], kind: &DataType) -> RecordBatch {
    let table = table(rows);
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in table.schema().fields().iter().zip(table.columns()) {
        let kind = if *field.data_type() == DataType::Utf8 { kind } else { field.data_type() };
        columns.push(cast(column, kind).unwrap());
        fields.push(Field::new(field.name(), kind.clone(), field.is_nullable()));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Several row groups.
fn parquet(table: &RecordBatch, dictionary: bool) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(dictionary)
        .set_max_row_group_row_count(Some(600))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties)).unwrap();
    writer.write(table).unwrap();
    writer.into_inner().unwrap()
}
