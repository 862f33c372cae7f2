//! The payload column of one row group, written without copying payloads together first.

use anyhow::Context;
use bytes::Bytes;
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;
use std::sync::Arc;

use super::{Codec, Layout};
use crate::corpus::shard::{Chunk, Filled};

/// Values are handed over in lots of this many bytes, which is what a page then holds.
const PAGE_BYTES: usize = 1 << 20;

/// Payloads from the start of a row group that are compressed to see whether it pays.
const SAMPLE_BYTES: usize = 1 << 20;

/// Bytes out of a hundred that a dictionary or a codec must save to be used.
const WORTH_PERCENT: u64 = 10;

/// The payloads of a chunk and how they are best stored.
pub struct PayloadColumn<'a> {
    chunk: &'a Chunk,
    /// Each distinct payload once, and for each row an index: pays when payloads recur.
    dictionary: bool,
}

impl<'a> PayloadColumn<'a> {
    pub fn of(chunk: &'a Chunk) -> PayloadColumn<'a> {
        let (unique, all) = chunk.payload_bytes();
        PayloadColumn { chunk, dictionary: saves(unique, all) }
    }

    /// Writes the column, which has this descriptor, as the next one of `row_group`.
    pub fn write<W: Write + Send>(
        &self,
        row_group: &mut SerializedRowGroupWriter<'_, W>,
        descriptor: &ColumnDescPtr,
        layout: &Layout,
    ) -> anyhow::Result<()> {
        let compress = layout.codec != Codec::None && compresses(&self.chunk.payloads);
        if !self.dictionary && !compress {
            let mut column = row_group.next_column()?.context("the payload column is missing")?;
            self.fill(column.untyped())?;
            return Ok(column.close()?);
        }
        // Other properties than those of the file: written aside, then appended.
        let properties = Arc::new(layout.payload_properties(self.dictionary, compress));
        let mut aside = TrackedWrite::new(Vec::new());
        let closed = {
            let pages = Box::new(SerializedPageWriter::new(&mut aside));
            let mut column = get_column_writer(descriptor.clone(), properties, pages);
            self.fill(&mut column)?;
            column.close()?
        };
        Ok(row_group.append_column(&Bytes::from(aside.into_inner()?), closed)?)
    }

    fn fill(&self, column: &mut ColumnWriter<'_>) -> anyhow::Result<()> {
        let ColumnWriter::ByteArrayColumnWriter(column) = column else {
            anyhow::bail!("payloads are not binary")
        };
        let mut values: Vec<ByteArray> = Vec::new();
        let mut levels: Vec<i16> = Vec::new();
        let mut bytes = 0;
        for payload in self.chunk.rows.iter().map(Filled::payload) {
            levels.push(i16::from(payload.is_some()));
            if let Some(index) = payload {
                let payload = &self.chunk.payloads[index as usize];
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

/// Whether storing `small` instead of `large` bytes is worth the trouble.
fn saves(small: u64, large: u64) -> bool {
    small + large / 100 * WORTH_PERCENT < large
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
    zstd::bulk::compress(&sample, 1).is_ok_and(|small| saves(small.len() as u64, sample.len() as u64))
}
