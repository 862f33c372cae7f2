//! Consecutive rows of a manifest, and what each of them asks for.
//!
//! Rows are Arrow record batches in the interleaved schema, whatever file they came from. The
//! payload column travels beside the others, since most of it is null until it is filled in.

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
use crate::locator::Locator;

pub const SAMPLE_ID: &str = "sample_id";
pub const POSITION: &str = "position";
pub const MODALITY: &str = "modality";
pub const CONTENT_TYPE: &str = "content_type";
pub const TEXT_CONTENT: &str = "text_content";
pub const BINARY_CONTENT: &str = "binary_content";
pub const SOURCE_REF: &str = "source_ref";
pub const MATERIALIZE_ERROR: &str = "materialize_error";

/// The columns that have a meaning; all others pass through.
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

/// The column of rows read from JSONL that holds all fields without a meaning, as one JSON object
/// a row. Only inside the library.
pub const JSON_FIELDS: &str = "\0json";

/// Which columns a reader is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// What it takes to find references.
    References,
    All,
}

/// Some consecutive rows.
pub struct Rows {
    /// The columns without [`BINARY_CONTENT`].
    pub table: RecordBatch,
    pub payloads: RowPayloads,
    /// Where the rows stand in the manifest.
    pub places: Places,
    /// Lines that are no rows, met among these rows.
    pub bad: Vec<BadRow>,
    pub modality: StringViewArray,
    source_ref: StringViewArray,
}

/// Where rows stand in their manifest, for messages and for their order.
#[derive(Clone, Debug)]
pub enum Places {
    /// 1-based number of the first row; the others follow.
    From(u64),
    /// 1-based line of each row.
    Lines(Vec<u64>),
}

impl Places {
    /// The 1-based number of the first row; 0 where there is none.
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

/// Which rows have their payload already.
pub enum RowPayloads {
    None,
    /// Every row has one; not decoded, since nobody asked for the bytes.
    Every,
    /// One value a row, null where there is none.
    Some(LargeBinaryArray),
}

/// A line or row that cannot be understood.
#[derive(Clone, Debug)]
pub struct BadRow {
    /// 1-based line in the manifest.
    pub line: u64,
    pub fault: Fault,
}

/// A locator as its row has it, not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLocator<'a>(&'a str);

impl<'a> RawLocator<'a> {
    /// Equal bytes mean equal locators, but not the other way round.
    pub fn bytes(self) -> &'a [u8] {
        self.0.as_bytes()
    }

    /// `None`: the row has no locator. Fails with [`FaultClass::BadLocator`].
    pub fn parse(self) -> Result<Option<Locator<'a>>, Fault> {
        Locator::parse(self.0)
    }
}

/// What a row asks for, its locator not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask<'a> {
    /// Not an image.
    Nothing,
    /// An image that has its payload.
    Present,
    /// An image without payload that does not say where its payload is.
    NoLocator,
    Payload(RawLocator<'a>),
}

/// What a row asks for, its locator read.
#[derive(Debug)]
pub enum Need<'a> {
    /// Not an image.
    Nothing,
    /// An image that has its payload.
    Present,
    /// An image that does not say where its payload is.
    NoLocator,
    BadLocator(Fault),
    Payload(Locator<'a>),
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
    /// Fails when a column that says what rows ask for has a type that is no text.
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

    /// The locator of a row that has one.
    pub fn locator(&self, row: usize) -> RawLocator<'_> {
        RawLocator(self.source_ref.value(row))
    }

    /// Calls `each` with every row and what it asks for, locators read. An error of `each` ends it.
    pub fn needs<E>(&self, mut each: impl FnMut(usize, Need) -> Result<(), E>) -> Result<(), E> {
        self.asks(|row, ask| {
            let need = match ask {
                Ask::Nothing => Need::Nothing,
                Ask::Present => Need::Present,
                Ask::NoLocator => Need::NoLocator,
                Ask::Payload(raw) => match raw.parse() {
                    Ok(Some(locator)) => Need::Payload(locator),
                    Ok(None) => Need::NoLocator,
                    Err(fault) => Need::BadLocator(fault),
                },
            };
            each(row, need)
        })
    }

    /// The same with locators that are not read yet.
    pub fn asks<'a, E>(&'a self, mut each: impl FnMut(usize, Ask<'a>) -> Result<(), E>) -> Result<(), E> {
        let image = short_view("image");
        for (row, modality) in self.modality.views().iter().enumerate() {
            let ask = if *modality != image || self.modality.is_null(row) {
                Ask::Nothing
            } else if self.payloads.has(row) {
                Ask::Present
            } else if self.source_ref.is_null(row) {
                Ask::NoLocator
            } else {
                Ask::Payload(self.locator(row))
            };
            each(row, ask)?;
        }
        Ok(())
    }
}

/// The view of a text of 12 bytes at most, which holds the whole text.
fn short_view(text: &str) -> u128 {
    make_view(text.as_bytes(), 0, 0)
}

/// A column as text: any text or binary variant, dictionary-encoded or not. A column of another
/// type is accepted when all of it is null.
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

/// [`text_column`] for a column that may be missing: all null then.
pub fn optional_text_column(table: &RecordBatch, name: &str) -> anyhow::Result<StringViewArray> {
    match table.column_by_name(name) {
        Some(_) => text_column(table, name),
        None => Ok(StringViewArray::new_null(table.num_rows())),
    }
}

/// Values as text, which is copied only where it is short. Bytes that are no text are null.
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

/// A column of integers or floats as integers; what does not fit is null. `None`: it has another
/// type, and is not all null.
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

/// Whether [`whole_numbers`] takes a column of this type.
pub fn is_number(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Whether values of this type can be taken as text.
pub fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        _ => false,
    }
}

impl BadRow {
    pub fn new(line: u64, what: impl Into<String>) -> BadRow {
        BadRow { line, fault: Fault::new(FaultClass::BadRow, what) }
    }
}
