//! Columns for the fields of JSONL rows that onepull does not interpret.
//!
//! A field that is a text, a boolean or a number in all rows becomes a column of that type. Any other
//! field becomes a column of JSON texts, as written: a list, an object, a field of several types, or
//! numbers with more digits than a column of numbers keeps. The types fit the rows of all manifests,
//! so that the shards of one run share a schema. Columns are sorted by name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde_json::value::RawValue;

use crate::locator::json::{JsonObject, text};
use crate::manifest::rows;

/// Floats represent integers up to this one exactly.
const EXACT_IN_FLOAT: u64 = 1 << 53;

/// The types of the values of each field.
#[derive(Debug, Default)]
pub struct FieldTypes(BTreeMap<String, SeenTypes>);

/// A set of the types below.
type SeenTypes = u8;
const TEXT: SeenTypes = 1;
const BOOLEAN: SeenTypes = 2;
const INTEGER: SeenTypes = 4;
/// An integer that a float would round.
const LONG_INTEGER: SeenTypes = 8;
const FLOAT: SeenTypes = 16;
/// A value that only a column of JSON texts can hold.
const OTHER: SeenTypes = 32;

impl FieldTypes {
    /// Adds the fields of some rows.
    pub fn add(&mut self, table: &RecordBatch) -> anyhow::Result<()> {
        for object in rows::optional_text_column(table, rows::JSON_FIELDS)?.iter().flatten() {
            let JsonObject(members) = serde_json::from_str(object)?;
            for (name, value) in members {
                let value = type_of(value);
                match self.0.get_mut(&*name) {
                    Some(seen) => *seen |= value,
                    None => drop(self.0.insert(name.into_owned(), value)),
                }
            }
        }
        Ok(())
    }

    pub fn merge(&mut self, other: FieldTypes) {
        for (name, types) in other.0 {
            *self.0.entry(name).or_default() |= types;
        }
    }

    /// Columns that can hold all of these values.
    pub fn into_columns(self) -> JsonFields {
        let columns: Vec<ColumnType> = self.0.values().map(|seen| ColumnType::new(*seen)).collect();
        let field = |(name, column): (&String, &ColumnType)| Field::new(name, column.data_type(), true);
        let schema = Schema::new(self.0.keys().zip(&columns).map(field).collect::<Vec<_>>());
        JsonFields {
            schema: Arc::new(schema),
            columns,
            numbers: self.0.into_keys().enumerate().map(|(number, name)| (name, number)).collect(),
        }
    }
}

/// The type of a value; 0 for null.
fn type_of(value: &RawValue) -> SeenTypes {
    let json = value.get();
    match json.as_bytes() {
        b"null" => 0,
        // Half of a surrogate pair is valid JSON, but not text.
        [b'"', ..] if text(value).is_ok() => TEXT,
        [b't' | b'f', ..] => BOOLEAN,
        [b'-' | b'0'..=b'9', ..] => match (json.parse::<i64>(), json.parse::<f64>()) {
            (Ok(integer), _) if integer.unsigned_abs() <= EXACT_IN_FLOAT => INTEGER,
            (Ok(_), _) => LONG_INTEGER,
            (_, Ok(float)) if float.is_finite() && json.contains(['.', 'e', 'E']) => FLOAT,
            _ => OTHER,
        },
        _ => OTHER,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnType {
    Text,
    Boolean,
    Integer,
    Float,
    Json,
}

impl ColumnType {
    /// The narrowest type for values of all these types.
    fn new(seen: SeenTypes) -> ColumnType {
        const INTEGERS: SeenTypes = INTEGER + LONG_INTEGER;
        const NUMBERS: SeenTypes = INTEGER + FLOAT;
        match seen {
            // Nulls alone fit any type, and every reader supports text.
            0 | TEXT => ColumnType::Text,
            BOOLEAN => ColumnType::Boolean,
            INTEGER | LONG_INTEGER | INTEGERS => ColumnType::Integer,
            FLOAT | NUMBERS => ColumnType::Float,
            _ => ColumnType::Json,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            ColumnType::Text | ColumnType::Json => DataType::Utf8,
            ColumnType::Boolean => DataType::Boolean,
            ColumnType::Integer => DataType::Int64,
            ColumnType::Float => DataType::Float64,
        }
    }

    /// The values of all rows.
    fn array(self, values: Vec<Option<&RawValue>>) -> ArrayRef {
        if self == ColumnType::Text {
            let texts = values.into_iter().map(|value| text(value?).ok().flatten());
            return Arc::new(texts.collect::<StringArray>());
        }
        let values = values.into_iter().map(|value| value.map(RawValue::get));
        match self {
            ColumnType::Boolean => Arc::new(values.map(|v| v.map(|v| v == "true")).collect::<BooleanArray>()),
            ColumnType::Integer => {
                Arc::new(values.map(|v| v.and_then(|v| v.parse().ok())).collect::<Int64Array>())
            }
            ColumnType::Float => {
                Arc::new(values.map(|v| v.and_then(|v| v.parse().ok())).collect::<Float64Array>())
            }
            ColumnType::Text | ColumnType::Json => Arc::new(values.collect::<StringArray>()),
        }
    }
}

/// The columns for the fields that onepull does not interpret.
#[derive(Debug)]
pub struct JsonFields {
    schema: SchemaRef,
    columns: Vec<ColumnType>,
    /// The index of the column of each field.
    numbers: HashMap<String, usize>,
}

impl JsonFields {
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns of the rows of `table`, null where a row lacks a field.
    pub fn decode(&self, table: &RecordBatch) -> anyhow::Result<RecordBatch> {
        let objects = rows::optional_text_column(table, rows::JSON_FIELDS)?;
        // The value of each row, by column.
        let mut values: Vec<Vec<Option<&RawValue>>> = vec![vec![None; objects.len()]; self.columns.len()];
        for (row, object) in objects.iter().enumerate() {
            let Some(object) = object else { continue };
            let JsonObject(members) = serde_json::from_str(object)?;
            for (name, value) in members {
                // Another field means that the manifest has changed, which is reported later.
                if let Some(&number) = self.numbers.get(&*name) {
                    values[number][row] = Some(value).filter(|value| value.get() != "null");
                }
            }
        }
        let columns = self.columns.iter().zip(values).map(|(column, values)| column.array(values)).collect();
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(table.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_array::{Array, LargeStringArray};

    use super::*;

    /// One row for each of these objects; a blank one has no fields.
    fn decoded(objects: &[&str]) -> RecordBatch {
        let column: LargeStringArray =
            objects.iter().map(|text| Some(*text).filter(|text| !text.is_empty())).collect();
        let table = RecordBatch::try_from_iter([(rows::JSON_FIELDS, Arc::new(column) as ArrayRef)]).unwrap();
        let (mut types, mut rest) = (FieldTypes::default(), FieldTypes::default());
        types.add(&table.slice(0, 1)).unwrap();
        rest.add(&table.slice(1, table.num_rows() - 1)).unwrap();
        types.merge(rest);
        types.into_columns().decode(&table).unwrap()
    }

    /// One row for each of these values of the field `x`.
    fn column(values: &[&str]) -> ArrayRef {
        let objects: Vec<String> = values.iter().map(|value| format!("{{\"x\":{value}}}")).collect();
        decoded(&objects.iter().map(String::as_str).collect::<Vec<_>>())["x"].clone()
    }

    fn texts(values: &[&str]) -> Vec<Option<String>> {
        column(values).as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn values_of_one_type_make_a_column_of_that_type() {
        let integers = column(&["1", "-9223372036854775808", "9223372036854775807", "null"]);
        assert_eq!(integers.as_primitive::<Int64Type>().values()[..3], [1, i64::MIN, i64::MAX]);
        assert!(integers.is_null(3));
        let floats = column(&["9007199254740992", "0.5", "-3", "1e300"]);
        let expected = [9007199254740992.0, 0.5, -3.0, 1e300];
        assert_eq!(floats.as_primitive::<Float64Type>().values()[..], expected);
        let booleans = column(&["true", "false", "null"]);
        assert_eq!(booleans.as_boolean().iter().collect::<Vec<_>>(), [Some(true), Some(false), None]);
        assert_eq!(texts(&["\"a\"", "\"\\u00e9\\n\"", "null"]), [Some("a".into()), Some("é\n".into()), None]);
        assert_eq!(texts(&["null", "null"]), [None, None]);
    }

    #[test]
    fn all_other_values_are_json_texts_as_they_are_spelt() {
        let (long, deep) = ("9".repeat(400), "[".repeat(100_000) + &"]".repeat(100_000));
        for values in [
            &["{\"a\": 1}", "null", "{}"][..],
            &["[1,  2.50]", "[]"],
            &["1", "\"one\""],
            &["true", "0"],
            &["\"a\"", "[\"a\"]"],
            &["9007199254740993", "0.5"],
            &["0.5", "-9007199254740993", "1.50E+3"],
            &["18446744073709551615", "7"],
            &["1e400"],
            &["\"\\ud800\"", "\"a\""],
            &[&long],
            &[&deep],
        ] {
            let expected: Vec<_> = values.iter().map(|v| (*v != "null").then(|| v.to_string())).collect();
            assert_eq!(texts(values), expected);
        }
    }

    #[test]
    fn columns_are_sorted_and_null_where_a_row_lacks_a_field() {
        let table = decoded(&["", r#"{"x":null,"n":null}"#, r#"{"x":[],"e":2}"#, r#"{"x":[null, 1]}"#]);
        let names: Vec<_> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["e", "n", "x"]);
        assert_eq!((table["e"].null_count(), table["n"].null_count()), (3, 4));
        let x: Vec<_> = table["x"].as_string::<i32>().iter().collect();
        assert_eq!(x, [None, None, Some("[]"), Some("[null, 1]")]);
        assert_eq!(decoded(&["", ""]).num_rows(), 2);
    }

    #[test]
    fn the_last_of_a_repeated_field_counts() {
        let a = &decoded(&[r#"{"a":1,"a":2}"#, r#"{"a":3,"a":null}"#])["a"];
        assert_eq!(a.as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [Some(2), None]);
    }
}
