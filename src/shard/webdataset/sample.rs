//! Rows of a chunk, typed, and which place each of them has in its sample.

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

/// The rows of a sample, by place.
pub struct SampleLayout {
    /// Rows with a place among texts and images, by position.
    pub content: Vec<SampleEntry>,
    /// Rows (indices into the sample) that tell of the sample as a whole.
    pub metadata: Vec<usize>,
}

/// The place of a row.
pub struct SampleEntry {
    /// Index into the sample.
    pub row: usize,
    pub position: usize,
    /// What stands for its payload among the images.
    pub token: Option<String>,
    /// The extension of the member that holds the payload.
    pub extension: &'static str,
}

impl SampleLayout {
    /// Places rows at their positions. Where these are no places of a list (missing, negative,
    /// shared by rows, or so large that the list would be mostly gaps), the rows are numbered in
    /// their order instead, so that none is lost.
    pub fn of(sample: &[SampleRow]) -> SampleLayout {
        let (metadata, content): (Vec<usize>, Vec<usize>) =
            (0..sample.len()).partition(|&row| sample[row].is_metadata());
        let largest = 10 * sample.len() + 1000;
        let given: Option<Vec<usize>> = content
            .iter()
            .map(|&row| {
                sample[row].position.and_then(|at| usize::try_from(at).ok()).filter(|&at| at <= largest)
            })
            .collect();
        let numbers = || (0..content.len()).collect();
        let positions: Vec<usize> = given.filter(|given| are_distinct(given)).unwrap_or_else(numbers);
        let mut content: Vec<SampleEntry> = content
            .into_iter()
            .zip(positions)
            .map(|(row, position)| SampleEntry { row, position, token: None, extension: "" })
            .collect();
        content.sort_by_key(|place| place.position);
        SampleLayout { content, metadata }
    }

    /// How long the lists are that have one entry a position.
    pub fn positions(&self) -> usize {
        self.content.last().map_or(0, |last| last.position + 1)
    }

    /// One entry a position, `None` in the gaps.
    pub fn aligned<'a, T>(&'a self, mut entry: impl FnMut(&'a SampleEntry) -> Option<T>) -> Vec<Option<T>> {
        let mut list: Vec<Option<T>> = std::iter::repeat_with(|| None).take(self.positions()).collect();
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
