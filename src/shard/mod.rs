//! Writes shards: chunks of filled rows become Parquet row groups or WebDataset samples.

mod parquet;
mod spec;
mod webdataset;

use arrow_array::RecordBatch;
use bytes::Bytes;

pub use parquet::ParquetCodec;
pub use spec::{Cut, ShardFormat, ShardOptions, ShardSpec, ShardWriter};
pub use webdataset::ImageTokens;

/// Consecutive rows of one shard, ready to be written.
#[derive(Default)]
pub struct Chunk {
    /// The columns without the payload, in pieces that have as many rows as `rows` together.
    pub tables: Vec<RecordBatch>,
    /// The outcome of each row.
    pub rows: Vec<Filled>,
    /// The distinct payloads that `rows` refer to.
    pub payloads: Vec<Bytes>,
}

impl Chunk {
    /// The payload of each row.
    pub fn row_payloads(&self) -> impl Iterator<Item = Option<&Bytes>> {
        self.rows.iter().map(|row| match row {
            Filled::Carried(index) | Filled::Materialized(index) => Some(&self.payloads[*index as usize]),
            Filled::Untouched | Filled::Failed(_) => None,
        })
    }
}

/// The outcome of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filled {
    /// It needs no payload and is written as it was read.
    Untouched,
    /// It came with this payload (index into [`Chunk::payloads`]) and is written as it was read.
    Carried(u32),
    /// It got this payload, which clears the error of an earlier run.
    Materialized(u32),
    /// It has no payload, for this reason (`class: what happened`).
    Failed(String),
}

impl Filled {
    /// The value of the error column for a row that was read with the value `before`.
    pub fn error<'a>(&'a self, before: Option<&'a str>) -> Option<&'a str> {
        match self {
            Filled::Failed(error) => Some(error),
            Filled::Materialized(_) => None,
            Filled::Untouched | Filled::Carried(_) => before,
        }
    }
}
