//! The payload column of one row group, written without copying payloads together first.

use anyhow::Context;
use bytes::Bytes;
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;
use std::sync::Arc;

use super::{ParquetCodec, ParquetLayout};
use crate::shard::{Chunk, Filled};

/// Values are handed over in lots of this many bytes, which is what a page then holds.
const PAGE_BYTES: usize = 256 << 10;

/// Payloads from the start of a row group that are compressed to see whether it pays.
const SAMPLE_BYTES: usize = 1 << 20;

/// Bytes out of a hundred that a codec must save to be used.
const CODEC_PERCENT: u64 = 10;

/// The same for a dictionary. It must save more: a reader needs all of a row group's payloads in
/// memory to get at one of them, and writing it costs as much time again as plain pages.
const DICTIONARY_PERCENT: u64 = 25;

/// A dictionary is one page, and the length of a page is a number of 31 bits.
const LARGEST_DICTIONARY: u64 = 1 << 30;

/// How payloads are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// Each distinct payload once, and for each row an index: pays when payloads recur.
    pub dictionary: bool,
    pub compress: bool,
}

impl Storage {
    /// What suits the payloads of `chunk`.
    pub fn of(chunk: &Chunk, layout: &ParquetLayout) -> Storage {
        let (unique, all) = chunk.payload_bytes();
        Storage {
            dictionary: unique <= LARGEST_DICTIONARY && saves(unique, all, DICTIONARY_PERCENT),
            compress: layout.codec != ParquetCodec::None && compresses(&chunk.payloads),
        }
    }
}

/// Writes the payloads of `chunk` as the next column of `row_group`, as the file stores them.
pub fn write<W: Write + Send>(
    chunk: &Chunk,
    row_group: &mut SerializedRowGroupWriter<'_, W>,
) -> anyhow::Result<()> {
    let mut column = row_group.next_column()?.context("the payload column is missing")?;
    fill(chunk, column.untyped())?;
    Ok(column.close()?)
}

/// [`write`] with other properties than those of the file: written aside, then appended.
pub fn write_aside<W: Write + Send>(
    chunk: &Chunk,
    row_group: &mut SerializedRowGroupWriter<'_, W>,
    descriptor: &ColumnDescPtr,
    properties: WriterProperties,
) -> anyhow::Result<()> {
    let mut aside = TrackedWrite::new(Vec::new());
    let closed = {
        let pages = Box::new(SerializedPageWriter::new(&mut aside));
        let mut column = get_column_writer(descriptor.clone(), Arc::new(properties), pages);
        fill(chunk, &mut column)?;
        column.close()?
    };
    Ok(row_group.append_column(&Bytes::from(aside.into_inner()?), closed)?)
}

fn fill(chunk: &Chunk, column: &mut ColumnWriter<'_>) -> anyhow::Result<()> {
    let ColumnWriter::ByteArrayColumnWriter(column) = column else {
        anyhow::bail!("payloads are not binary")
    };
    let mut values: Vec<ByteArray> = Vec::new();
    let mut levels: Vec<i16> = Vec::new();
    let mut bytes = 0;
    for payload in chunk.rows.iter().map(Filled::payload) {
        levels.push(i16::from(payload.is_some()));
        if let Some(index) = payload {
            let payload = &chunk.payloads[index as usize];
            bytes += payload.len();
            values.push(ByteArray::from(payload.clone()));
        }
        if bytes >= PAGE_BYTES {
            write_lot(column, &mut values, &mut levels)?;
            bytes = 0;
        }
    }
    write_lot(column, &mut values, &mut levels)
}

fn write_lot(
    column: &mut parquet::column::writer::ColumnWriterImpl<'_, ByteArrayType>,
    values: &mut Vec<ByteArray>,
    levels: &mut Vec<i16>,
) -> anyhow::Result<()> {
    column.write_batch(values, Some(levels), None)?;
    values.clear();
    levels.clear();
    Ok(())
}

/// Whether storing `small` instead of `large` bytes saves this share.
fn saves(small: u64, large: u64, percent: u64) -> bool {
    small < large && (large - small) as f64 >= large as f64 * percent as f64 / 100.0
}

/// Whether payloads such as the first of these shrink.
fn compresses(payloads: &[Bytes]) -> bool {
    let mut sample = Vec::new();
    for payload in payloads {
        if sample.len() >= SAMPLE_BYTES {
            break;
        }
        let room = SAMPLE_BYTES - sample.len();
        sample.extend_from_slice(&payload[..payload.len().min(room)]);
    }
    // A fast level of one codec stands for all of them: it is about the data, not the codec.
    zstd::bulk::compress(&sample, 1)
        .is_ok_and(|small| saves(small.len() as u64, sample.len() as u64, CODEC_PERCENT))
}
