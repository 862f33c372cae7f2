//! JSONL manifests, plain, gzip or zstd: one row a line.
//!
//! A line that is no row is an error of that line; the others count. Blank lines are no rows.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Int32Builder, LargeBinaryBuilder, LargeStringBuilder, StringViewBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::line::JsonlLine;
use crate::archive::sniff::Codec;
use crate::manifest::rows::*;

/// A longer line is an error of that line, so that a file without line ends cannot fill the
/// memory.
const MAX_LINE: usize = 64 << 20;

/// Rows are handed over when this many lines or bytes have come together.
const BATCH_LINES: usize = 1024;
const BATCH_BYTES: usize = 8 << 20;

/// Opens the file; the iterator fails once, at the end of what can be decompressed.
pub fn open(path: &Path, codec: Option<Codec>, columns: Columns) -> io::Result<JsonlReader> {
    let file = BufReader::with_capacity(256 << 10, File::open(path)?);
    let input: Box<dyn BufRead> = match codec {
        None => Box::new(file),
        Some(Codec::Gzip) => Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(file))),
        Some(Codec::Zstd) => {
            let mut decoder = zstd::Decoder::with_buffer(file)?;
            decoder.window_log_max(31)?;
            Box::new(BufReader::with_capacity(256 << 10, decoder))
        }
    };
    Ok(JsonlReader { input, columns, line: 0, done: false })
}

/// Batches of rows of one file.
pub struct JsonlReader {
    input: Box<dyn BufRead>,
    columns: Columns,
    line: u64,
    done: bool,
}

impl Iterator for JsonlReader {
    type Item = anyhow::Result<Rows>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let batch = match self.columns {
            Columns::References => self.batch(ReferenceBuilder::default()),
            Columns::All => self.batch(AllBuilder::default()),
        };
        self.done |= batch.is_err();
        batch.transpose()
    }
}

impl JsonlReader {
    fn batch(&mut self, mut columns: impl RowBuilder) -> anyhow::Result<Option<Rows>> {
        let mut bad = Vec::new();
        let mut buffer = Vec::new();
        let mut bytes = 0;
        let mut lines = Vec::new();
        while lines.len() < BATCH_LINES && bytes < BATCH_BYTES {
            buffer.clear();
            let length = read_line(&mut self.input, &mut buffer)?;
            if length == 0 {
                self.done = true;
                break;
            }
            self.line += 1;
            let mut line = buffer.as_slice();
            if self.line == 1 {
                line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            }
            if line.iter().all(u8::is_ascii_whitespace) && length <= MAX_LINE {
                continue;
            }
            bytes += line.len();
            let added = if length > MAX_LINE {
                Err(format!("line of {length} bytes; {MAX_LINE} are allowed"))
            } else {
                JsonlLine::parse(line).and_then(|line| columns.add(&line))
            };
            match added {
                Ok(()) => lines.push(self.line),
                Err(what) => bad.push(BadRow::new(self.line, what)),
            }
        }
        if lines.is_empty() && bad.is_empty() {
            return Ok(None);
        }
        let (table, payloads) = columns.finish()?;
        Ok(Some(Rows::new(table, payloads, Places::Lines(lines), bad)?))
    }
}

/// Reads up to and with the next line end. At most [`MAX_LINE`] bytes are kept; the true length
/// is returned, 0 at the end of the file.
fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let room = (MAX_LINE + 1).saturating_sub(line.len()) as u64;
        if room == 0 {
            // Too long: look for the end without keeping what comes before it.
            let skipped = input.skip_until(b'\n')?;
            return Ok(length + skipped);
        }
        let read = input.take(room).read_until(b'\n', line)?;
        length += read;
        if read == 0 || line.ends_with(b"\n") {
            return Ok(length);
        }
    }
}

/// Collects rows into columns.
trait RowBuilder {
    /// Adds all of a row or, on an error, nothing.
    fn add(&mut self, line: &JsonlLine) -> Result<(), String>;
    fn finish(self) -> anyhow::Result<(RecordBatch, RowPayloads)>;
}

#[derive(Default)]
struct ReferenceBuilder {
    modality: StringViewBuilder,
    source_ref: StringViewBuilder,
    payload: LargeBinaryBuilder,
    present: bool,
}

static REFERENCES: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new(MODALITY, DataType::Utf8View, false),
        Field::new(SOURCE_REF, DataType::Utf8View, true),
    ]))
});

impl RowBuilder for ReferenceBuilder {
    fn add(&mut self, line: &JsonlLine) -> Result<(), String> {
        // Everything is checked as in `All`, so that both see the same rows.
        let row = JsonlRow::new(line)?;
        self.modality.append_value(&row.modality);
        self.source_ref.append_option(row.source_ref);
        self.present |= row.payload.is_some();
        self.payload.append_option(row.payload.map(|_| b""));
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<(RecordBatch, RowPayloads)> {
        let columns: Vec<ArrayRef> =
            vec![Arc::new(self.modality.finish()), Arc::new(self.source_ref.finish())];
        let payloads =
            if self.present { RowPayloads::Some(self.payload.finish()) } else { RowPayloads::None };
        Ok((RecordBatch::try_new(REFERENCES.clone(), columns)?, payloads))
    }
}

#[derive(Default)]
struct AllBuilder {
    sample_id: LargeStringBuilder,
    position: Int32Builder,
    modality: LargeStringBuilder,
    content_type: LargeStringBuilder,
    text_content: LargeStringBuilder,
    source_ref: LargeStringBuilder,
    materialize_error: LargeStringBuilder,
    other: LargeStringBuilder,
    payload: LargeBinaryBuilder,
    scratch: String,
}

static ALL: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new(SAMPLE_ID, DataType::LargeUtf8, false),
        Field::new(POSITION, DataType::Int32, false),
        Field::new(MODALITY, DataType::LargeUtf8, false),
        Field::new(CONTENT_TYPE, DataType::LargeUtf8, true),
        Field::new(TEXT_CONTENT, DataType::LargeUtf8, true),
        Field::new(SOURCE_REF, DataType::LargeUtf8, true),
        Field::new(MATERIALIZE_ERROR, DataType::LargeUtf8, true),
        Field::new(JSON_FIELDS, DataType::LargeUtf8, true),
    ]))
});

impl RowBuilder for AllBuilder {
    fn add(&mut self, line: &JsonlLine) -> Result<(), String> {
        let row = JsonlRow::new(line)?;
        self.sample_id.append_value(&row.sample_id);
        self.position.append_value(row.position);
        self.modality.append_value(&row.modality);
        self.content_type.append_option(row.content_type);
        self.text_content.append_option(row.text_content);
        self.source_ref.append_option(row.source_ref);
        self.materialize_error.append_option(row.materialize_error);
        self.payload.append_option(row.payload);
        self.scratch.clear();
        let has_other = line.other(&mut self.scratch);
        self.other.append_option(has_other.then_some(&self.scratch));
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<(RecordBatch, RowPayloads)> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.sample_id.finish()),
            Arc::new(self.position.finish()),
            Arc::new(self.modality.finish()),
            Arc::new(self.content_type.finish()),
            Arc::new(self.text_content.finish()),
            Arc::new(self.source_ref.finish()),
            Arc::new(self.materialize_error.finish()),
            Arc::new(self.other.finish()),
        ];
        let payload = self.payload.finish();
        let payloads = if payload.null_count() == payload.len() {
            RowPayloads::None
        } else {
            RowPayloads::Some(payload)
        };
        Ok((RecordBatch::try_new(ALL.clone(), columns)?, payloads))
    }
}

/// All typed values of a row, checked together.
struct JsonlRow<'a> {
    sample_id: std::borrow::Cow<'a, str>,
    position: i32,
    modality: std::borrow::Cow<'a, str>,
    content_type: Option<std::borrow::Cow<'a, str>>,
    text_content: Option<std::borrow::Cow<'a, str>>,
    source_ref: Option<std::borrow::Cow<'a, str>>,
    materialize_error: Option<std::borrow::Cow<'a, str>>,
    payload: Option<Vec<u8>>,
}

impl<'a> JsonlRow<'a> {
    fn new(line: &JsonlLine<'a>) -> Result<JsonlRow<'a>, String> {
        Ok(JsonlRow {
            sample_id: line.sample_id()?,
            position: line.position()?,
            modality: line.modality()?,
            content_type: line.content_type()?,
            text_content: line.text_content()?,
            source_ref: line.source_ref()?,
            materialize_error: line.materialize_error()?,
            payload: line.binary_content()?,
        })
    }
}
