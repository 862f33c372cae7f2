//! JSONL manifests, plain, gzip or zstd: one row per line.
//!
//! An invalid line is an error of that line alone. Blank lines are skipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, LargeBinaryBuilder, LargeStringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch};

use super::line::{JsonlRow, TEXTS};
use crate::archive::unpack::Codec;
use crate::manifest::rows::*;

/// A longer line is invalid, so that a file without line ends cannot fill the memory.
const MAX_LINE: usize = 64 << 20;

/// A batch ends after this many lines or bytes.
const BATCH_LINES: usize = 1024;
const BATCH_BYTES: usize = 8 << 20;

/// Opens the file. The iterator fails where the file cannot be decompressed any further.
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
    Ok(JsonlReader { input, columns, line: 0 })
}

/// Batches of rows of one file.
pub struct JsonlReader {
    input: Box<dyn BufRead>,
    columns: Columns,
    line: u64,
}

impl Iterator for JsonlReader {
    type Item = anyhow::Result<Rows>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

impl JsonlReader {
    fn batch(&mut self) -> anyhow::Result<Option<Rows>> {
        let mut columns = RowBuilder::new(self.columns);
        let mut bad = Vec::new();
        let mut buffer = Vec::new();
        let mut bytes = 0;
        let mut lines = Vec::new();
        while lines.len() < BATCH_LINES && bytes < BATCH_BYTES {
            buffer.clear();
            let length = read_line(&mut self.input, &mut buffer)?;
            if length == 0 {
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
                Err(format!("the line has {length} bytes; the limit is {MAX_LINE}"))
            } else {
                JsonlRow::parse(line).map(|row| columns.add(&row))
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
            // Too long: skip to the end of the line.
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
struct RowBuilder {
    columns: Columns,
    texts: [LargeStringBuilder; TEXTS.len()],
    position: Int32Builder,
    other: LargeStringBuilder,
    payload: LargeBinaryBuilder,
}

impl RowBuilder {
    fn new(columns: Columns) -> RowBuilder {
        RowBuilder {
            columns,
            texts: Default::default(),
            position: Int32Builder::new(),
            other: LargeStringBuilder::new(),
            payload: LargeBinaryBuilder::new(),
        }
    }

    fn add(&mut self, row: &JsonlRow) {
        for at in wanted(self.columns) {
            self.texts[at].append_option(row.texts[at].as_deref());
        }
        if self.columns == Columns::References {
            return self.payload.append_option(row.payload.as_ref().map(|_| b""));
        }
        self.payload.append_option(row.payload.as_ref());
        self.position.append_value(row.position);
        self.other.append_option(row.other());
    }

    fn finish(mut self) -> anyhow::Result<(RecordBatch, RowPayloads)> {
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        for at in wanted(self.columns) {
            columns.push((TEXTS[at], Arc::new(self.texts[at].finish())));
        }
        if self.columns == Columns::All {
            columns.push((POSITION, Arc::new(self.position.finish())));
            columns.push((JSON_FIELDS, Arc::new(self.other.finish())));
        }
        let payload = self.payload.finish();
        let is_none = payload.null_count() == payload.len();
        let payloads = if is_none { RowPayloads::None } else { RowPayloads::Some(payload) };
        Ok((RecordBatch::try_from_iter(columns)?, payloads))
    }
}

/// Which of [`TEXTS`] are wanted.
fn wanted(columns: Columns) -> impl Iterator<Item = usize> {
    let is_wanted = move |at: &usize| columns == Columns::All || [MODALITY, SOURCE_REF].contains(&TEXTS[*at]);
    (0..TEXTS.len()).filter(is_wanted)
}
