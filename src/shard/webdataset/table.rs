//! Rows of a chunk, typed: what the writer of samples needs of each.

use anyhow::{Context, bail};
use arrow_array::{Array, Int64Array, RecordBatch, StringViewArray};

use super::super::{Chunk, Filled};
use crate::manifest::rows::*;

/// The columns of one table of a chunk that have a meaning.
pub struct SampleColumns {
    sample_id: StringViewArray,
    position: Int64Array,
    modality: StringViewArray,
    content_type: StringViewArray,
    text: StringViewArray,
    source_ref: StringViewArray,
    error: StringViewArray,
}

/// One row, borrowed from its chunk.
pub struct SampleRow<'a> {
    /// The table it is in, and where there.
    pub table: usize,
    pub index: usize,
    pub sample_id: Option<&'a str>,
    pub position: Option<i64>,
    pub modality: Option<&'a str>,
    pub content_type: Option<&'a str>,
    pub text: Option<&'a str>,
    pub source_ref: Option<&'a str>,
    pub payload: Option<&'a [u8]>,
    /// Why it has no payload.
    pub error: Option<&'a str>,
}

impl SampleColumns {
    pub fn of(table: &RecordBatch) -> anyhow::Result<SampleColumns> {
        Ok(SampleColumns {
            sample_id: text_column(table, SAMPLE_ID)?,
            position: position_column(table)?,
            modality: text_column(table, MODALITY)?,
            content_type: optional_text_column(table, CONTENT_TYPE)?,
            text: optional_text_column(table, TEXT_CONTENT)?,
            source_ref: optional_text_column(table, SOURCE_REF)?,
            error: optional_text_column(table, MATERIALIZE_ERROR)?,
        })
    }
}

/// The rows of `chunk`, whose tables have these columns.
pub fn rows<'a>(chunk: &'a Chunk, columns: &'a [SampleColumns]) -> Vec<SampleRow<'a>> {
    let places =
        columns.iter().enumerate().flat_map(|(table, c)| (0..c.position.len()).map(move |at| (table, at)));
    let rows = places.zip(&chunk.rows).map(|((table, index), filled)| {
        let columns = &columns[table];
        SampleRow {
            table,
            index,
            sample_id: value(&columns.sample_id, index),
            position: columns.position.is_valid(index).then(|| columns.position.value(index)),
            modality: value(&columns.modality, index),
            content_type: value(&columns.content_type, index),
            text: value(&columns.text, index),
            source_ref: value(&columns.source_ref, index),
            payload: filled.payload().map(|payload| &chunk.payloads[payload as usize][..]),
            error: match filled {
                Filled::Failed(what) => Some(what),
                Filled::Materialized(_) => None,
                Filled::Untouched | Filled::Carried(_) => value(&columns.error, index),
            },
        }
    });
    rows.collect()
}

impl SampleRow<'_> {
    /// Whether it tells of its sample as a whole, and has no place among texts and images. A row
    /// with a payload always has one, else the payload would be lost; so does a text or an image
    /// with a negative position.
    pub fn is_metadata(&self) -> bool {
        let elsewhere = match self.modality {
            Some("metadata") => true,
            Some("text" | "image") => false,
            _ => self.position.is_some_and(|position| position < 0),
        };
        elsewhere && self.payload.is_none()
    }

    pub fn is_image(&self) -> bool {
        self.modality == Some("image")
    }
}

fn position_column(table: &RecordBatch) -> anyhow::Result<Int64Array> {
    let column = table.column_by_name(POSITION).with_context(|| format!("column `{POSITION}` is missing"))?;
    match whole_numbers(column) {
        Some(positions) => Ok(positions),
        None => bail!("column `{POSITION}` has type {}, not a number", column.data_type()),
    }
}

fn value(column: &StringViewArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}
