//! The payload column of one row group, written without copying all payloads into one array first.

use anyhow::Context;
use bytes::Bytes;
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl, get_column_writer};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;
use std::sync::Arc;

use super::ParquetCodec;
use crate::shard::Chunk;

/// Values are written in batches of this many bytes, which become pages.
const PAGE_BYTES: usize = 256 << 10;

/// Bytes from the start of a row group that are compressed to see whether it saves space.
const SAMPLE_BYTES: usize = 1 << 20;

/// The percentage that a codec must save to be used.
const CODEC_PERCENT: u64 = 10;

/// The same for a dictionary. It must save more: a reader needs all payloads of a row group in memory
/// to read one of them, and writing takes twice as long as plain pages.
const DICTIONARY_PERCENT: u64 = 25;

/// A dictionary is one page, whose length has 31 bits.
const LARGEST_DICTIONARY: u64 = 1 << 30;

/// How payloads are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Store each distinct payload once, and an index for each row.
    pub dictionary: bool,
    pub codec: ParquetCodec,
}

impl Storage {
    pub const PLAIN: Storage = Storage { dictionary: false, codec: ParquetCodec::None };

    /// The best storage for the payloads of `chunk`, with `codec` or without it.
    pub fn new(chunk: &Chunk, codec: ParquetCodec) -> Storage {
        let unique = chunk.payloads.iter().map(|payload| payload.len() as u64).sum();
        let all = chunk.row_payloads().flatten().map(|payload| payload.len() as u64).sum();
        let compressible = codec != ParquetCodec::None && compresses(&chunk.payloads);
        Storage {
            dictionary: unique <= LARGEST_DICTIONARY && saves(unique, all, DICTIONARY_PERCENT),
            codec: if compressible { codec } else { ParquetCodec::None },
        }
    }
}

/// Writes the payloads of `chunk` as the next column of `row_group`, with the properties of the file.
pub fn write<W: Write + Send>(
    chunk: &Chunk,
    row_group: &mut SerializedRowGroupWriter<'_, W>,
) -> anyhow::Result<()> {
    let mut column = row_group.next_column()?.context("the payload column is missing")?;
    fill(chunk, column.untyped())?;
    Ok(column.close()?)
}

/// [`write`] with other properties than those of the file: into memory first, then appended.
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
    for payload in chunk.row_payloads() {
        levels.push(i16::from(payload.is_some()));
        if let Some(payload) = payload {
            bytes += payload.len();
            values.push(ByteArray::from(payload.clone()));
        }
        if bytes >= PAGE_BYTES {
            write_batch(column, &mut values, &mut levels)?;
            bytes = 0;
        }
    }
    write_batch(column, &mut values, &mut levels)
}

fn write_batch(
    column: &mut ColumnWriterImpl<'_, ByteArrayType>,
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

/// Whether the first of these payloads shrink.
fn compresses(payloads: &[Bytes]) -> bool {
    let mut sample = Vec::new();
    for payload in payloads {
        if sample.len() >= SAMPLE_BYTES {
            break;
        }
        let room = SAMPLE_BYTES - sample.len();
        sample.extend_from_slice(&payload[..payload.len().min(room)]);
    }
    // This depends on the data more than on the codec, so one fast codec stands for all.
    zstd::bulk::compress(&sample, 1)
        .is_ok_and(|small| saves(small.len() as u64, sample.len() as u64, CODEC_PERCENT))
}
