//! Shards out: chunks of finished rows become Parquet row groups or WebDataset samples.

mod parquet;
mod spec;
mod webdataset;

use arrow_array::RecordBatch;
use bytes::Bytes;

pub use parquet::ParquetCodec;
pub use spec::{Cut, ShardFormat, ShardOptions, ShardSpec, ShardWriter};
pub use webdataset::ImageTokens;

/// Consecutive rows of one shard, complete but for being written.
#[derive(Default)]
pub struct Chunk {
    /// The columns without the payload, in pieces; together as many rows as `rows`.
    pub tables: Vec<RecordBatch>,
    /// What became of each row.
    pub rows: Vec<Filled>,
    /// The distinct payloads that `rows` point to.
    pub payloads: Vec<Bytes>,
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filled {
    /// It needed nothing and goes out as it came, without payload.
    Untouched,
    /// It brought this payload (index into [`Chunk::payloads`]) along and goes out as it came.
    Carried(u32),
    /// It got this payload; an error of an earlier attempt is gone.
    Materialized(u32),
    /// It has no payload, for this reason (`class: what happened`).
    Failed(String),
}

impl Filled {
    pub fn payload(&self) -> Option<u32> {
        match self {
            Filled::Carried(index) | Filled::Materialized(index) => Some(*index),
            Filled::Untouched | Filled::Failed(_) => None,
        }
    }
}

impl Chunk {
    /// Payload bytes with each distinct payload counted once, and with each row counted.
    pub fn payload_bytes(&self) -> (u64, u64) {
        let unique = self.payloads.iter().map(|p| p.len() as u64).sum();
        let rows = self.rows.iter().filter_map(Filled::payload);
        (unique, rows.map(|index| self.payloads[index as usize].len() as u64).sum())
    }
}
