//! The fields that onepull does not interpret, as JSON: columns of Parquet rows, fields of JSONL rows.
//!
//! Values of columns are encoded ([`super::json`]); JSONL values are copied as written.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;

use super::json;
use super::sample::SampleRow;
use crate::locator::json::JsonObject;
use crate::manifest::rows::{JSON_FIELDS, RESERVED};

/// The names that other fields cannot have.
pub const OURS: [&str; 9] = [
    "sample_id",
    "texts",
    "images",
    // Rows that are neither text nor image, but have a position.
    "modalities",
    // Types that do not follow from the extension of the member or are not `text/plain`.
    "content_type",
    // The text of image rows.
    "image_texts",
    // Why an image has no payload, and where it should have come from.
    "materialize_error",
    "source_ref",
    // The text of the metadata row.
    "metadata_text",
];

/// The columns of a chunk that pass through.
pub struct Passthrough<'a> {
    names: Vec<Cow<'a, str>>,
    /// By table, then by name.
    columns: Vec<Vec<PassthroughColumn<'a>>>,
}

struct PassthroughColumn<'a> {
    nulls: Option<NullBuffer>,
    values: &'a ArrayRef,
}

/// The fields of one sample.
pub struct SampleFields<'a> {
    pub fields: Vec<SampleField<'a>>,
    /// The values, one after the other.
    json: Vec<u8>,
}

pub struct SampleField<'a> {
    pub name: Cow<'a, str>,
    /// The rows (indices into the sample) that have a value, ascending, and where it is.
    values: Vec<(usize, Range<usize>)>,
}

pub fn is_passthrough(name: &str) -> bool {
    name != JSON_FIELDS && !RESERVED.contains(&name)
}

impl<'a> Passthrough<'a> {
    /// The columns of `tables`, which have one schema. A column that has the name of one of [`OURS`],
    /// or of an earlier column, gets another name.
    pub fn new(tables: &'a [RecordBatch]) -> Passthrough<'a> {
        let passthrough = |table: &'a RecordBatch| {
            let columns = table.schema_ref().fields().iter().zip(table.columns());
            columns.filter(|(field, _)| is_passthrough(field.name()))
        };
        let names = tables.first().into_iter().flat_map(passthrough);
        let names = names.map(|(field, _)| Cow::Borrowed(field.name().as_str())).collect();
        let column =
            |(_, values): (_, &'a ArrayRef)| PassthroughColumn { nulls: values.logical_nulls(), values };
        let columns = tables.iter().map(|table| passthrough(table).map(column).collect()).collect();
        Passthrough { names: settled(names), columns }
    }

    /// The fields of consecutive rows: columns in their order, then JSONL fields as first seen.
    pub fn sample(&self, sample: &[SampleRow<'a>]) -> anyhow::Result<SampleFields<'a>> {
        let mut fields: Vec<_> = self.names.iter().cloned().map(SampleField::new).collect();
        let mut json = Vec::new();
        for (at, row) in sample.iter().enumerate() {
            for (field, column) in fields.iter_mut().zip(&self.columns[row.table]) {
                if column.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row.index)) {
                    let start = json.len();
                    json::write(column.values, row.index, &mut json)?;
                    field.values.push((at, start..json.len()));
                }
            }
        }
        let columns = fields.len();
        let mut index: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for (at, row) in sample.iter().enumerate() {
            let Some(object) = row.json else { continue };
            let JsonObject(members) = serde_json::from_str(object)?;
            for (name, value) in members.into_iter().filter(|(_, value)| value.get() != "null") {
                let field = *index.entry(name).or_insert_with_key(|name| {
                    fields.push(SampleField::new(name.clone()));
                    fields.len() - 1
                });
                let start = json.len();
                json.extend_from_slice(value.get().as_bytes());
                fields[field].values.push((at, start..json.len()));
            }
        }
        if fields[columns..].iter().any(|field| OURS.contains(&&*field.name)) {
            let names = settled(fields.iter().map(|field| field.name.clone()).collect());
            fields.iter_mut().zip(names).for_each(|(field, name)| field.name = name);
        }
        Ok(SampleFields { fields, json })
    }
}

impl SampleFields<'_> {
    /// The JSON text of the field's value in a row (an index into the sample), if it has one.
    pub fn value(&self, field: &SampleField, row: usize) -> Option<&[u8]> {
        let found = field.values.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(&self.json[field.values[found].1.clone()])
    }
}

impl<'a> SampleField<'a> {
    fn new(name: Cow<'a, str>) -> SampleField<'a> {
        SampleField { name, values: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Adds underscores to names that [`OURS`] or an earlier name has.
fn settled<'a>(names: Vec<Cow<'a, str>>) -> Vec<Cow<'a, str>> {
    let mut used: HashSet<Cow<str>> = OURS.iter().map(|&name| Cow::Borrowed(name)).collect();
    let mut taken: HashSet<Cow<str>> = names.iter().cloned().chain(used.iter().cloned()).collect();
    let settle = |mut name: Cow<'a, str>| {
        if !used.insert(name.clone()) {
            while taken.contains(&name) {
                name.to_mut().push('_');
            }
            taken.insert(name.clone());
        }
        name
    };
    names.into_iter().map(settle).collect()
}
