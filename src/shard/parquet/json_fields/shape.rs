//! What the values of a field look like over all rows, and the column type that holds them all.
//!
//! Values are looked at as they are written: once parsed, an integer of many digits cannot be
//! told from a float. Whatever the decoder could not take, or would round, is refused here, while
//! nothing has been fetched yet.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;

use anyhow::bail;
use arrow_schema::{DataType, Field};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::locator::json;

/// Objects and lists inside one another; more would overflow the stack of some reader.
const MAX_DEPTH: usize = 100;

/// Integers up to this one are floats without being rounded.
const EXACT_IN_FLOAT: u64 = 1 << 53;

/// The fields of objects, by name.
#[derive(Default)]
pub struct Members(BTreeMap<String, Shape>);

/// What the values of a field, or of the elements of a list, have in common.
#[derive(Default)]
pub enum Shape {
    /// All null.
    #[default]
    Unknown,
    Scalar(Scalars),
    List(Box<Shape>),
    Object {
        members: Members,
        /// The first row that has it.
        row: String,
    },
}

/// The kinds of single values that were met.
#[derive(Default)]
pub struct Scalars {
    text: bool,
    boolean: bool,
    float: bool,
    integer: bool,
    /// Integers of more than 64 bits with sign.
    wide_integer: bool,
    /// The first row with an integer that may not fit a float.
    inexact_in_float: Option<String>,
}

/// Where a value stands: its row, and inside of it the path of its field.
#[derive(Clone, Copy)]
pub enum Spot<'a> {
    /// Displayed as manifest and line.
    Row(&'a dyn Display),
    Member(&'a Spot<'a>, &'a str),
    Element(&'a Spot<'a>),
}

impl Members {
    /// Takes in the fields of the JSON object `json`, which stands at `spot`.
    pub fn add(&mut self, json: &str, spot: Spot) -> anyhow::Result<()> {
        // The last of a repeated field counts, as for the decoder.
        for (name, value) in spot.parse::<BTreeMap<String, &RawValue>>(json)? {
            let member = Spot::Member(&spot, &name);
            match self.0.get_mut(&name) {
                Some(shape) => shape.add(value.get(), member)?,
                None => {
                    let mut shape = Shape::Unknown;
                    shape.add(value.get(), member)?;
                    self.0.insert(name, shape);
                }
            }
        }
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Shape)> {
        self.0.iter().map(|(name, shape)| (name.as_str(), shape))
    }
}

impl Shape {
    /// The type of a column of these values.
    pub fn column_type(&self, name: &str) -> anyhow::Result<DataType> {
        match self {
            Shape::Scalar(scalars) => Ok(scalars.exact_type().unwrap_or(DataType::Utf8)),
            other => other.data_type(name),
        }
    }

    /// The type of these values inside of others, at `path`.
    fn data_type(&self, path: &str) -> anyhow::Result<DataType> {
        Ok(match self {
            // Nulls may be of any type, and every reader knows text.
            Shape::Unknown => DataType::Utf8,
            Shape::Scalar(scalars) => {
                scalars.exact_type().map_err(|row| no_type(row, path, "an integer here would be rounded"))?
            }
            Shape::List(elements) => {
                let element = elements.data_type(&format!("{path}[]"))?;
                DataType::List(Arc::new(Field::new_list_field(element, true)))
            }
            Shape::Object { members, row } if members.0.is_empty() => {
                return Err(no_type(row, path, "Parquet has none for an object without fields"));
            }
            Shape::Object { members, .. } => {
                let member = |(name, shape): (&str, &Shape)| {
                    Ok(Field::new(name, shape.data_type(&format!("{path}.{name}"))?, true))
                };
                DataType::Struct(members.iter().map(member).collect::<anyhow::Result<_>>()?)
            }
        })
    }

    /// Takes in the JSON value `json`, which stands at `spot`.
    fn add(&mut self, json: &str, spot: Spot) -> anyhow::Result<()> {
        if json == "null" {
            return Ok(());
        }
        if matches!(self, Shape::Unknown) {
            *self = match json.as_bytes() {
                [b'{', ..] => Shape::Object { members: Members::default(), row: spot.row().to_string() },
                [b'[', ..] => Shape::List(Box::default()),
                _ => Shape::Scalar(Scalars::default()),
            };
        }
        match (&mut *self, json.as_bytes()) {
            (Shape::Object { members, .. }, [b'{', ..]) => members.add(json, spot),
            (Shape::List(elements), [b'[', ..]) => {
                let spot = Spot::Element(&spot);
                let values: Vec<&RawValue> = spot.parse(json)?;
                values.into_iter().try_for_each(|value| elements.add(value.get(), spot))
            }
            (Shape::Scalar(scalars), [first, ..]) if !matches!(first, b'{' | b'[') => scalars.add(json, spot),
            (Shape::Object { .. }, _) => Err(spot.mixed(json, "an object")),
            (Shape::List(_), _) => Err(spot.mixed(json, "a list")),
            (_, _) => Err(spot.mixed(json, "a single value")),
        }
    }
}

impl Scalars {
    fn add(&mut self, json: &str, spot: Spot) -> anyhow::Result<()> {
        match json.as_bytes() {
            [b'"', ..] => {
                // Without escapes it is its own content.
                if json.contains('\\') {
                    spot.parse::<String>(json)?;
                }
                self.text = true;
            }
            [b't' | b'f', ..] => self.boolean = true,
            _ if json.contains(['.', 'e', 'E']) => {
                spot.parse::<f64>(json)?;
                self.float = true;
            }
            _ => {
                let narrow: Option<i64> = json.parse().ok();
                self.integer = true;
                self.wide_integer |= narrow.is_none();
                if self.inexact_in_float.is_none()
                    && narrow.is_none_or(|number| number.unsigned_abs() > EXACT_IN_FLOAT)
                {
                    self.inexact_in_float = Some(spot.row().to_string());
                }
            }
        }
        Ok(())
    }

    /// The type that holds all of them; an integer that it would round is an error, its row.
    fn exact_type(&self) -> Result<DataType, &str> {
        let number = self.integer || self.float;
        if self.text || self.boolean && number {
            return Ok(DataType::Utf8);
        }
        if self.boolean {
            return Ok(DataType::Boolean);
        }
        if !self.float && !self.wide_integer {
            return Ok(DataType::Int64);
        }
        self.inexact_in_float.as_deref().map_or(Ok(DataType::Float64), Err)
    }
}

impl<'a> Spot<'a> {
    fn row(&self) -> &'a dyn Display {
        match self {
            Spot::Row(row) => *row,
            Spot::Member(outer, _) | Spot::Element(outer) => outer.row(),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Spot::Row(_) => 0,
            Spot::Member(outer, _) | Spot::Element(outer) => outer.depth() + 1,
        }
    }

    /// Parses one level of the value that stands here.
    fn parse<'de, T: Deserialize<'de>>(&self, json: &'de str) -> anyhow::Result<T> {
        let parsed = serde_json::from_str(json).map_err(|error| json::explain(&error) + " of its value");
        let too_deep = || format!("more than {MAX_DEPTH} levels of lists and objects");
        match parsed {
            Ok(value) if self.depth() <= MAX_DEPTH => Ok(value),
            failed => {
                let (row, why) = (self.row(), failed.err().unwrap_or_else(too_deep));
                bail!(
                    "{row}: field values cannot become columns: `{self}`: {why}; \
                     --format webdataset takes fields as they are"
                )
            }
        }
    }

    /// What to say of the value `json` where `before` was met already.
    fn mixed(&self, json: &str, before: &str) -> anyhow::Error {
        let here = match json.as_bytes() {
            [b'{', ..] => "an object",
            [b'[', ..] => "a list",
            _ => "a single value",
        };
        no_type(self.row(), &self.to_string(), &format!("{here} here, {before} before"))
    }
}

/// The path of the field.
impl Display for Spot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Spot::Row(_) => Ok(()),
            Spot::Member(Spot::Row(_), name) => f.write_str(name),
            Spot::Member(outer, name) => write!(f, "{outer}.{name}"),
            Spot::Element(list) => write!(f, "{list}[]"),
        }
    }
}

fn no_type(row: impl Display, path: &str, why: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "{row}: field `{path}` has no common type over all rows ({why}); \
         write --format webdataset, which needs none"
    )
}
