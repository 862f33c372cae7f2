//! Manifests written row by row, as JSONL and as Parquet.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, LargeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

/// A row of the interleaved schema, without payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub sample_id: String,
    pub position: i32,
    pub modality: &'static str,
    pub content_type: Option<&'static str>,
    pub text_content: Option<String>,
    pub source_ref: Option<String>,
}

impl Row {
    /// `locator` is the text of the `source_ref`.
    pub fn image(sample_id: impl Into<String>, position: i32, locator: impl Into<String>) -> Row {
        Row {
            sample_id: sample_id.into(),
            position,
            modality: "image",
            content_type: Some("image/jpeg"),
            text_content: None,
            source_ref: Some(locator.into()),
        }
    }

    pub fn text(sample_id: impl Into<String>, position: i32, text: impl Into<String>) -> Row {
        Row {
            sample_id: sample_id.into(),
            position,
            modality: "text",
            content_type: Some("text/plain"),
            text_content: Some(text.into()),
            source_ref: None,
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "sample_id": self.sample_id,
            "position": self.position,
            "modality": self.modality,
            "content_type": self.content_type,
            "text_content": self.text_content,
            "binary_content": null,
            "source_ref": self.source_ref,
        })
    }
}

pub fn jsonl(rows: &[Row]) -> String {
    rows.iter().map(|row| format!("{}\n", row.json())).collect()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// With a checksum, as the `zstd` program writes.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Snappy Parquet with `group` rows a row group.
pub fn parquet(rows: &[Row], group: usize) -> Vec<u8> {
    let table = table(rows);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(group))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties)).unwrap();
    writer.write(&table).unwrap();
    writer.into_inner().unwrap()
}

/// The rows as a record batch in the interleaved schema.
pub fn table(rows: &[Row]) -> RecordBatch {
    let text = |field: fn(&Row) -> Option<&str>| -> ArrayRef {
        let mut column = StringBuilder::new();
        rows.iter().for_each(|row| column.append_option(field(row)));
        Arc::new(column.finish())
    };
    let mut position = Int32Builder::new();
    let mut payload = LargeBinaryBuilder::new();
    for row in rows {
        position.append_value(row.position);
        payload.append_null();
    }
    let columns: Vec<(&str, bool, ArrayRef)> = vec![
        ("sample_id", false, text(|row| Some(&row.sample_id))),
        ("position", false, Arc::new(position.finish())),
        ("modality", false, text(|row| Some(row.modality))),
        ("content_type", true, text(|row| row.content_type)),
        ("text_content", true, text(|row| row.text_content.as_deref())),
        ("binary_content", true, Arc::new(payload.finish())),
        ("source_ref", true, text(|row| row.source_ref.as_deref())),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, nullable, column)| Field::new(*name, DataType::clone(column.data_type()), *nullable))
        .collect();
    let columns = columns.into_iter().map(|(_, _, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}
