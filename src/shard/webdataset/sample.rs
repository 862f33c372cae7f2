//! The rows of a chunk, typed, and the position of each row in its sample.

use anyhow::{Context, bail};
use arrow_array::{Array, Int64Array, RecordBatch, StringViewArray};

use crate::manifest::rows::*;
use crate::shard::Chunk;

/// The columns of a table that onepull interprets, and [`JSON_FIELDS`].
pub struct SampleColumns {
    sample_id: StringViewArray,
    position: Int64Array,
    modality: StringViewArray,
    content_type: StringViewArray,
    text: StringViewArray,
    source_ref: StringViewArray,
    error: StringViewArray,
    json: StringViewArray,
}

/// One row, borrowed from its chunk.
pub struct SampleRow<'a> {
    /// The index of its table in the chunk.
    pub table: usize,
    /// The index of the row in its table.
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
    /// The other fields of a JSONL row, as a JSON object.
    pub json: Option<&'a str>,
}

impl SampleColumns {
    pub fn new(table: &RecordBatch) -> anyhow::Result<SampleColumns> {
        Ok(SampleColumns {
            sample_id: text_column(table, SAMPLE_ID)?,
            position: position_column(table)?,
            modality: text_column(table, MODALITY)?,
            content_type: optional_text_column(table, CONTENT_TYPE)?,
            text: optional_text_column(table, TEXT_CONTENT)?,
            source_ref: optional_text_column(table, SOURCE_REF)?,
            error: optional_text_column(table, MATERIALIZE_ERROR)?,
            json: optional_text_column(table, JSON_FIELDS)?,
        })
    }
}

/// The rows of `chunk`; `columns` are those of its tables.
pub fn rows<'a>(chunk: &'a Chunk, columns: &'a [SampleColumns]) -> Vec<SampleRow<'a>> {
    let places =
        columns.iter().enumerate().flat_map(|(table, c)| (0..c.position.len()).map(move |at| (table, at)));
    let outcomes = chunk.rows.iter().zip(chunk.row_payloads());
    let rows = places.zip(outcomes).map(|((table, index), (filled, payload))| {
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
            payload: payload.map(|payload| &payload[..]),
            error: filled.error(value(&columns.error, index)),
            json: value(&columns.json, index),
        }
    });
    rows.collect()
}

impl SampleRow<'_> {
    /// Whether it describes its sample as a whole and has no position in it. A row with a payload
    /// always has a position, else the payload would be lost; so has a text or an image, even if its
    /// position is negative.
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

/// The rows of a sample, by position.
pub struct SampleLayout {
    /// The rows with a position, sorted by it.
    pub content: Vec<SampleEntry>,
    /// The rows (indices into the sample) that describe the sample as a whole.
    pub metadata: Vec<usize>,
}

/// A row with a position.
pub struct SampleEntry {
    /// Index into the sample.
    pub row: usize,
    pub position: usize,
    /// Its value in `images`, if it has a payload.
    pub token: Option<String>,
    /// The extension of the member that holds the payload.
    pub extension: &'static str,
}

impl SampleLayout {
    /// Puts rows at their positions. If a position is missing, negative, shared by two rows, or so
    /// large that the list would be mostly gaps, all rows are numbered in their order instead, so that
    /// none is lost.
    pub fn new(sample: &[SampleRow]) -> SampleLayout {
        let (metadata, content): (Vec<usize>, Vec<usize>) =
            (0..sample.len()).partition(|&row| sample[row].is_metadata());
        let largest = 10 * sample.len() + 1000;
        let given: Option<Vec<usize>> = content
            .iter()
            .map(|&row| usize::try_from(sample[row].position?).ok().filter(|&at| at <= largest))
            .collect();
        let in_order = || (0..content.len()).collect();
        let positions: Vec<usize> = given.filter(|given| are_distinct(given)).unwrap_or_else(in_order);
        let mut content: Vec<SampleEntry> = content
            .into_iter()
            .zip(positions)
            .map(|(row, position)| SampleEntry { row, position, token: None, extension: "" })
            .collect();
        content.sort_by_key(|place| place.position);
        SampleLayout { content, metadata }
    }

    /// One entry per position, `None` in the gaps.
    pub fn aligned<'a, T>(&'a self, mut entry: impl FnMut(&'a SampleEntry) -> Option<T>) -> Vec<Option<T>> {
        let length = self.content.last().map_or(0, |last| last.position + 1);
        let mut list: Vec<Option<T>> = std::iter::repeat_with(|| None).take(length).collect();
        for place in &self.content {
            list[place.position] = entry(place);
        }
        list
    }
}

fn are_distinct(positions: &[usize]) -> bool {
    let mut sorted = positions.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
