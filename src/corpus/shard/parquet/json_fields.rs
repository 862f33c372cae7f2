//! The fields of JSONL rows that have no meaning here, as typed columns.
//!
//! Their types are those that fit all rows of all manifests, so that the shards of one run share
//! a schema. Columns come in order of their names.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, bail};
use arrow_array::{Array, LargeStringArray, RecordBatch};
use arrow_json::ReaderBuilder;
use arrow_json::reader::infer_json_schema_from_iterator;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use serde_json::Value;

use crate::corpus::rows;

/// The columns that hold these fields.
#[derive(Debug)]
pub struct JsonFields {
    schema: SchemaRef,
}

impl JsonFields {
    /// Finds the types of the fields in `objects`, the JSON objects of all rows.
    ///
    /// Fails when a field is an object or list in one row and something else in another.
    pub fn infer(objects: impl Iterator<Item = anyhow::Result<String>>) -> anyhow::Result<JsonFields> {
        let mut failed = None;
        let mut shapes = Shapes::default();
        let values = objects.map_while(|object| {
            let value = object.and_then(|text| Ok(serde_json::from_str::<Value>(&text)?));
            value
                .inspect(|value| shapes.add(value))
                .map_err(|error| failed = Some(error))
                .ok()
                .map(Ok::<Value, ArrowError>)
        });
        let inferred = infer_json_schema_from_iterator(values);
        if let Some(error) = failed {
            return Err(error);
        }
        let inferred = inferred.with_context(|| {
            let field = shapes.mixed.map_or("a field".into(), |name| format!("field `{name}`"));
            format!("{field} has no common type over all rows; write --format webdataset, which needs none")
        })?;
        let mut fields: Vec<Arc<Field>> = inferred.fields().iter().map(typed).collect();
        fields.sort_by(|a, b| a.name().cmp(b.name()));
        if let Some(field) = fields.iter().find(|f| rows::RESERVED.contains(&f.name().as_str())) {
            bail!("field `{}` has a meaning of its own", field.name());
        }
        Ok(JsonFields { schema: Arc::new(Schema::new(fields)) })
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns for the rows of `table`, null where a row lacks a field.
    pub fn decode(&self, table: &RecordBatch) -> anyhow::Result<RecordBatch> {
        let objects: LargeStringArray = rows::optional_text_column(table, rows::JSON_FIELDS)?;
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

/// What the values of each field look like, to name the one that has no type.
#[derive(Default)]
struct Shapes {
    seen: HashMap<String, Shape>,
    mixed: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Scalar,
    List,
    Object,
}

impl Shapes {
    fn add(&mut self, object: &Value) {
        for (name, value) in object.as_object().into_iter().flatten() {
            let shape = match value {
                Value::Null => continue,
                Value::Array(_) => Shape::List,
                Value::Object(_) => Shape::Object,
                Value::Bool(_) | Value::Number(_) | Value::String(_) => Shape::Scalar,
            };
            match self.seen.get(name) {
                None => drop(self.seen.insert(name.clone(), shape)),
                Some(seen) if *seen != shape => self.mixed = Some(name.clone()),
                Some(_) => {}
            }
        }
    }
}

/// A field of only nulls is text.
fn typed(field: &Arc<Field>) -> Arc<Field> {
    if field.data_type() == &DataType::Null {
        return Arc::new(Field::new(field.name(), DataType::Utf8, true));
    }
    field.clone()
}
