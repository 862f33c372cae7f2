//! Consecutive rows of a manifest, and what each of them asks for.
//!
//! Rows are Arrow record batches in the interleaved schema, whatever file they come from. The
//! payload column is kept apart from the others, since most of it is null until it is filled in.

use anyhow::{Context, bail};
use arrow_array::builder::make_view;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, LargeBinaryArray, PrimitiveArray, RecordBatch,
    StringViewArray, downcast_integer_array,
};
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::fault::{Fault, FaultClass};

pub const SAMPLE_ID: &str = "sample_id";
pub const POSITION: &str = "position";
pub const MODALITY: &str = "modality";
pub const CONTENT_TYPE: &str = "content_type";
pub const TEXT_CONTENT: &str = "text_content";
pub const BINARY_CONTENT: &str = "binary_content";
pub const SOURCE_REF: &str = "source_ref";
pub const MATERIALIZE_ERROR: &str = "materialize_error";

/// The columns that onepull interprets; all others pass through.
pub const RESERVED: [&str; 8] = [
    SAMPLE_ID,
    POSITION,
    MODALITY,
    CONTENT_TYPE,
    TEXT_CONTENT,
    BINARY_CONTENT,
    SOURCE_REF,
    MATERIALIZE_ERROR,
];

/// The column that holds all other fields of a JSONL row, as one JSON object. It exists only inside
/// the library.
pub const JSON_FIELDS: &str = "\0json";

/// Which columns to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// The columns that are needed to find references.
    References,
    All,
}

/// Consecutive rows of a manifest.
pub struct Rows {
    /// The columns without [`BINARY_CONTENT`].
    pub table: RecordBatch,
    pub payloads: RowPayloads,
    /// Where the rows are in the manifest.
    pub places: Places,
    /// Lines among these rows that are not valid rows.
    pub bad: Vec<BadRow>,
    pub modality: StringViewArray,
    source_ref: StringViewArray,
}

/// Where rows are in their manifest, for messages and for their order.
#[derive(Clone, Debug)]
pub enum Places {
    /// The 1-based number of the first row; the others follow it.
    From(u64),
    /// The 1-based line of each row.
    Lines(Vec<u64>),
}

impl Places {
    /// The 1-based number of the first row; 0 if there are no rows.
    pub fn first(&self) -> u64 {
        match self {
            Places::From(first) => *first,
            Places::Lines(lines) => lines.first().copied().unwrap_or(0),
        }
    }

    /// `row 17` or `line 17`.
    pub fn name(&self, row: usize) -> String {
        match self {
            Places::From(first) => format!("row {}", first + row as u64),
            Places::Lines(lines) => format!("line {}", lines[row]),
        }
    }
}

/// Which rows already have their payload.
pub enum RowPayloads {
    None,
    /// Every row has one. The bytes are not decoded, since only references are read.
    Every,
    /// One value per row, null for a row without a payload.
    Some(LargeBinaryArray),
}

/// A line that is not a valid row.
#[derive(Clone, Debug)]
pub struct BadRow {
    /// 1-based line in the manifest.
    pub line: u64,
    pub fault: Fault,
}

/// What a row asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<'a> {
    /// Not an image.
    Nothing,
    /// An image that has its payload.
    Present,
    /// An image with neither a payload nor a locator.
    NoLocator,
    /// An image without its payload, and the text of its locator.
    Payload(&'a str),
}

impl BadRow {
    pub fn new(line: u64, what: impl Into<String>) -> BadRow {
        BadRow { line, fault: Fault::new(FaultClass::BadRow, what) }
    }
}

impl RowPayloads {
    pub fn has(&self, row: usize) -> bool {
        match self {
            RowPayloads::None => false,
            RowPayloads::Every => true,
            RowPayloads::Some(values) => values.is_valid(row),
        }
    }
}

impl Rows {
    /// Fails when `modality` or `source_ref` is not a text column.
    pub fn new(
        table: RecordBatch,
        payloads: RowPayloads,
        places: Places,
        bad: Vec<BadRow>,
    ) -> anyhow::Result<Rows> {
        let (modality, source_ref) = (text_column(&table, MODALITY)?, text_column(&table, SOURCE_REF)?);
        Ok(Rows { table, payloads, places, bad, modality, source_ref })
    }

    pub fn len(&self) -> usize {
        self.table.num_rows()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of the locator of a row that has one.
    pub fn locator(&self, row: usize) -> &str {
        self.source_ref.value(row)
    }

    /// What each row asks for.
    pub fn asks(&self) -> impl Iterator<Item = Ask<'_>> {
        // The view of a text of at most 12 bytes holds the whole text.
        let image = make_view(b"image", 0, 0);
        self.modality.views().iter().enumerate().map(move |(row, modality)| {
            if *modality != image || self.modality.is_null(row) {
                Ask::Nothing
            } else if self.payloads.has(row) {
                Ask::Present
            } else if self.source_ref.is_null(row) {
                Ask::NoLocator
            } else {
                Ask::Payload(self.locator(row))
            }
        })
    }
}

/// A column as text: any text or binary type, dictionary-encoded or not. A column of another type
/// is accepted if it is all null.
pub fn text_column(table: &RecordBatch, name: &str) -> anyhow::Result<StringViewArray> {
    let column = table.column_by_name(name).with_context(|| format!("column `{name}` is missing"))?;
    if column.logical_null_count() == column.len() {
        return Ok(StringViewArray::new_null(column.len()));
    }
    if !is_text(column.data_type()) {
        bail!("column `{name}` has type {}, not text", column.data_type());
    }
    as_text(column)
}

/// [`text_column`] for a column that may be missing, which counts as all null.
pub fn optional_text_column(table: &RecordBatch, name: &str) -> anyhow::Result<StringViewArray> {
    match table.column_by_name(name) {
        Some(_) => text_column(table, name),
        None => Ok(StringViewArray::new_null(table.num_rows())),
    }
}

/// Values as text; only short texts are copied. Bytes that are not UTF-8 become null.
pub fn as_text(values: &ArrayRef) -> anyhow::Result<StringViewArray> {
    let bytes: BinaryViewArray = match values.data_type() {
        DataType::Utf8View => return Ok(values.as_string_view().clone()),
        DataType::Utf8 => return Ok(values.as_string::<i32>().into()),
        DataType::LargeUtf8 => return Ok(values.as_string::<i64>().into()),
        DataType::Dictionary(..) => {
            let dictionary = values.as_any_dictionary();
            let texts = as_text(dictionary.values())?;
            return Ok(take(&texts, dictionary.keys(), None)?.as_string_view().clone());
        }
        DataType::Binary => values.as_binary::<i32>().into(),
        DataType::LargeBinary => values.as_binary::<i64>().into(),
        DataType::BinaryView => values.as_binary_view().clone(),
        other => bail!("{other} is not text"),
    };
    let text = |bytes: Option<_>| bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    Ok(bytes.clone().to_string_view().unwrap_or_else(|_| bytes.iter().map(text).collect()))
}

/// A column of integers or floats as integers; a value that does not fit becomes null. `None` if the
/// column has another type and is not all null.
pub fn whole_numbers<T>(column: &ArrayRef) -> Option<PrimitiveArray<T>>
where
    T: ArrowPrimitiveType<Native: TryFrom<i128>>,
{
    if column.logical_null_count() == column.len() {
        return Some(PrimitiveArray::new_null(column.len()));
    }
    let from_float = |number: f64| Some(number as i128).filter(|_| number.fract() == 0.0);
    Some(downcast_integer_array! {
        column => column.unary_opt(|number| i128::from(number).try_into().ok()),
        DataType::Float32 => {
            let floats = column.as_primitive::<Float32Type>();
            floats.unary_opt(|number| from_float(number.into())?.try_into().ok())
        },
        DataType::Float64 => {
            let floats = column.as_primitive::<Float64Type>();
            floats.unary_opt(|number| from_float(number)?.try_into().ok())
        },
        _ => return None,
    })
}

/// Whether [`whole_numbers`] accepts a column of this type.
pub fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Whether [`text_column`] accepts a column of this type.
pub fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        _ => false,
    }
}
