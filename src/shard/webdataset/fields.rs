//! Passthrough without a meaning, as JSON: columns of a Parquet manifest, or fields of JSONL rows.
//!
//! SampleColumns are encoded ([`super::json`]); JSONL values are taken over as they are spelt.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use anyhow::ensure;
use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::FieldRef;

use super::json;
use super::sample::SampleRow;
use crate::locator::json::JsonObject;
use crate::manifest::rows::{JSON_FIELDS, RESERVED, optional_text_column};

/// The fields of the rows of a chunk.
pub struct Passthrough<'a> {
    names: Vec<Cow<'a, str>>,
    /// By table, then by name.
    columns: Vec<Vec<PassthroughColumn<'a>>>,
    /// By table.
    json: &'a [Option<StringViewArray>],
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
    /// The rows (indices into the sample) that have a value, in order, and where it is.
    values: Vec<(usize, Range<usize>)>,
}

/// Fails when values of this type cannot be written as JSON.
pub fn check(field: &FieldRef) -> anyhow::Result<()> {
    ensure!(json::is_supported(field.data_type()), "column `{}` cannot be written as JSON", field.name());
    Ok(())
}

pub fn is_passthrough(name: &str) -> bool {
    name != JSON_FIELDS && !RESERVED.contains(&name)
}

/// The column of JSON objects, in tables that have one.
pub fn json_column(table: &RecordBatch) -> anyhow::Result<Option<StringViewArray>> {
    table.column_by_name(JSON_FIELDS).map(|_| optional_text_column(table, JSON_FIELDS)).transpose()
}

impl<'a> Passthrough<'a> {
    /// The fields of `tables`, of one schema, whose [`json_column`]s are `json`. SampleColumns called
    /// as one of `ours`, or as an earlier one, get another name.
    pub fn of(
        tables: &'a [RecordBatch],
        json: &'a [Option<StringViewArray>],
        ours: &[&'static str],
    ) -> anyhow::Result<Passthrough<'a>> {
        let passthrough = |table: &'a RecordBatch| {
            let columns = table.schema_ref().fields().iter().zip(table.columns());
            columns.filter(|(field, _)| is_passthrough(field.name()))
        };
        let names = tables.first().into_iter().flat_map(passthrough);
        let names = names.map(|(field, _)| Cow::Borrowed(field.name().as_str())).collect();
        let column =
            |(_, values): (_, &'a ArrayRef)| PassthroughColumn { nulls: values.logical_nulls(), values };
        let columns = tables.iter().map(|table| passthrough(table).map(column).collect()).collect();
        Ok(Passthrough { names: settled(names, ours), columns, json })
    }

    /// The fields of consecutive rows: columns in their order, then JSONL fields as first seen.
    pub fn sample(
        &mut self,
        sample: &[SampleRow],
        ours: &[&'static str],
    ) -> anyhow::Result<SampleFields<'a>> {
        let mut fields: Vec<_> =
            self.names.iter().map(|name| SampleField { name: name.clone(), values: Vec::new() }).collect();
        let mut json = Vec::new();
        let mut first = 0;
        for rows in sample.chunk_by(|a, b| a.table == b.table) {
            for (field, column) in fields.iter_mut().zip(&mut self.columns[rows[0].table]) {
                for (at, row) in rows.iter().enumerate() {
                    if column.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row.index)) {
                        let start = json.len();
                        json::write(column.values, row.index, &mut json)?;
                        field.values.push((first + at, start..json.len()));
                    }
                }
            }
            first += rows.len();
        }
        let columns = fields.len();
        let all: &'a [Option<StringViewArray>] = self.json;
        let mut index: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for (at, row) in sample.iter().enumerate() {
            let Some(objects) = all[row.table].as_ref().filter(|objects| objects.is_valid(row.index)) else {
                continue;
            };
            let JsonObject(members) = serde_json::from_str(objects.value(row.index))?;
            for (name, value) in members.into_iter().filter(|(_, value)| value.get() != "null") {
                let field = *index.entry(name).or_insert_with_key(|name| {
                    fields.push(SampleField { name: name.clone(), values: Vec::new() });
                    fields.len() - 1
                });
                let start = json.len();
                json.extend_from_slice(value.get().as_bytes());
                fields[field].values.push((at, start..json.len()));
            }
        }
        if fields[columns..].iter().any(|field| ours.contains(&&*field.name)) {
            let names = settled(fields.iter().map(|field| field.name.clone()).collect(), ours);
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

impl SampleField<'_> {
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Names with underscores added to those that are taken: by `ours`, or by one before.
fn settled<'a>(names: Vec<Cow<'a, str>>, ours: &[&'static str]) -> Vec<Cow<'a, str>> {
    let mut used: HashSet<Cow<str>> = ours.iter().map(|&name| Cow::Borrowed(name)).collect();
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
