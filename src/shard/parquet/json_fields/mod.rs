//! The fields of JSONL rows that have no meaning here, as typed columns.
//!
//! Their types are those that fit all rows of all manifests, so that the shards of one run share
//! a schema. Columns come in order of their names.

mod shape;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use arrow_array::{Array, LargeStringArray, RecordBatch};
use arrow_json::ReaderBuilder;
use arrow_schema::{Field, Schema, SchemaRef};

use crate::manifest::rows::{self, Places, Rows};
use shape::{Members, Spot};

/// The columns that hold these fields.
#[derive(Debug)]
pub struct JsonFields {
    schema: SchemaRef,
}

impl JsonFields {
    /// Finds the types of the fields in all rows, which come with the manifest they are from.
    ///
    /// Fails, naming manifest, line and field, where a value is none that a column can hold, or
    /// where no column type holds all values of a field as they are.
    pub fn infer<'a>(
        batches: impl Iterator<Item = anyhow::Result<(&'a Path, Rows)>>,
    ) -> anyhow::Result<JsonFields> {
        let mut members = Members::default();
        for batch in batches {
            let (manifest, batch) = batch?;
            let objects = rows::optional_text_column(&batch.table, rows::JSON_FIELDS)?;
            for (index, object) in objects.iter().enumerate() {
                let Some(object) = object else { continue };
                members.add(object, Spot::Row(&Place { manifest, places: &batch.places, index }))?;
            }
        }
        let mut fields = Vec::new();
        for (name, shape) in members.iter() {
            if rows::RESERVED.contains(&name) {
                bail!("field `{name}` has a meaning of its own");
            }
            fields.push(Field::new(name, shape.column_type(name)?, true));
        }
        Ok(JsonFields { schema: Arc::new(Schema::new(fields)) })
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns for the rows of `table`, null where a row lacks a field.
    pub fn decode(&self, table: &RecordBatch) -> anyhow::Result<RecordBatch> {
        let objects: LargeStringArray = rows::optional_text_column(table, rows::JSON_FIELDS)?;
        // A number in a column of text becomes the text it is written as.
        let mut decoder = ReaderBuilder::new(self.schema.clone())
            .with_batch_size(table.num_rows().max(1))
            .with_coerce_primitive(true)
            .build_decoder()?;
        for row in 0..objects.len() {
            let object = if objects.is_null(row) { "{}" } else { objects.value(row) };
            let taken = decoder.decode(object.as_bytes())?;
            // Objects are told apart by the decoder itself; a blank keeps numbers apart too.
            decoder.decode(b"\n")?;
            anyhow::ensure!(taken == object.len(), "the fields of a row are not one JSON object");
        }
        match decoder.flush()? {
            Some(decoded) => Ok(decoded),
            None => Ok(RecordBatch::new_empty(self.schema.clone())),
        }
    }
}

/// Where a row stands, as messages begin with it.
struct Place<'a> {
    manifest: &'a Path,
    places: &'a Places,
    index: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.manifest.display(), self.places.name(self.index))
    }
}
