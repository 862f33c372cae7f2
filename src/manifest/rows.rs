//! Consecutive rows of a manifest, and what each of them asks for.
//!
//! Rows are Arrow record batches in the interleaved schema, whatever file they came from. The
//! payload column travels beside the others, since most of it is null until it is filled in.

use anyhow::Context;
use arrow_array::builder::make_view;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, LargeBinaryArray, LargeStringArray, RecordBatch, StringViewArray, new_null_array,
};
use arrow_cast::cast;
use arrow_schema::DataType;

use crate::fault::{Class, Fault};
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
    pub payloads: Payloads,
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
pub enum Payloads {
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

    /// `None`: the row has no locator. Fails with [`Class::BadLocator`].
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

impl Payloads {
    pub fn has(&self, row: usize) -> bool {
        match self {
            Payloads::None => false,
            Payloads::Every => true,
            Payloads::Some(values) => values.is_valid(row),
        }
    }
}

impl Rows {
    /// Fails when a column that says what rows ask for has a type that is no text.
    pub fn new(
        table: RecordBatch,
        payloads: Payloads,
        places: Places,
        bad: Vec<BadRow>,
    ) -> anyhow::Result<Rows> {
        let view = |name| as_view(required(&table, name)?, name);
        let (modality, source_ref) = (view(MODALITY)?, view(SOURCE_REF)?);
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
pub fn text_column(table: &RecordBatch, name: &str) -> anyhow::Result<LargeStringArray> {
    as_text(required(table, name)?, name)
}

fn required<'a>(table: &'a RecordBatch, name: &str) -> anyhow::Result<&'a ArrayRef> {
    table.column_by_name(name).with_context(|| format!("column `{name}` is missing"))
}

/// [`text_column`] for a column that may be missing: all null then.
pub fn optional_text_column(table: &RecordBatch, name: &str) -> anyhow::Result<LargeStringArray> {
    match table.column_by_name(name) {
        Some(column) => as_text(column, name),
        None => Ok(LargeStringArray::new_null(table.num_rows())),
    }
}

fn as_text(column: &ArrayRef, name: &str) -> anyhow::Result<LargeStringArray> {
    Ok(as_type(column, name, &DataType::LargeUtf8)?.as_string::<i64>().clone())
}

/// A column as views of text, which copies no text where the column is not encoded.
fn as_view(column: &ArrayRef, name: &str) -> anyhow::Result<StringViewArray> {
    Ok(as_type(column, name, &DataType::Utf8View)?.as_string_view().clone())
}

fn as_type(column: &ArrayRef, name: &str, wanted: &DataType) -> anyhow::Result<ArrayRef> {
    if column.data_type() == wanted {
        return Ok(column.clone());
    }
    if column.logical_null_count() == column.len() {
        return Ok(new_null_array(wanted, column.len()));
    }
    if !is_text(column.data_type()) {
        anyhow::bail!("column `{name}` has type {}, not text", column.data_type());
    }
    Ok(cast(column, wanted)?)
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
        BadRow { line, fault: Fault::new(Class::BadRow, what) }
    }
}
