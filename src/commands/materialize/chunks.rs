//! Turns the rows of one manifest into chunks: fills in payloads, notes faults, drops failed rows.
//!
//! A chunk ends after the row with which its distinct payloads reach the size asked for, or with
//! the sample of that row where samples must stay together. Nothing else decides, so that the
//! same rows give the same chunks at any number of threads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::options::OnError;
use super::wants::{RowWant, RowWants};
use crate::fault::{Fault, FaultClass};
use crate::manifest::rows;
use crate::object::Key;
use crate::payloads::{ShardPayloads, Supplied, Want, Window};
use crate::shard::{Chunk, Cut, Filled, ShardSpec};

/// Payload bytes that are loaded together, by estimate.
pub const WINDOW_BYTES: u64 = 16 << 20;

/// The size to assume for an object of unknown size while a window is put together.
const GUESS_BYTES: u64 = 1 << 20;

/// The most rows of a chunk, however small their payloads are.
const MAX_ROWS: usize = 100_000;

/// The most text and other columns of a chunk, bytes.
const MAX_TABLE_BYTES: u64 = 64 << 20;

/// What became of the rows of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardCounts {
    pub rows_out: u64,
    pub rows_dropped: u64,
    pub materialized: u64,
    pub materialized_bytes: u64,
    /// Failed references, by class. A shard that has any is not finished.
    #[serde(skip)]
    pub failed: BTreeMap<FaultClass, u64>,
    /// References whose object could be read: those to objects that the cache may hold; and, of other
    /// objects, those beyond the first in this shard.
    #[serde(skip)]
    pub through_cache: u64,
    #[serde(skip)]
    pub in_shard_duplicates: u64,
}

/// Takes rows, gives chunks.
pub struct Chunker<'s, 'e> {
    payloads: ShardPayloads<'s, 'e>,
    spec: &'s ShardSpec,
    on_error: OnError,
    chunk: Chunk,
    /// Bytes of the distinct payloads, and of the tables, of the chunk.
    bytes: u64,
    table_bytes: u64,
    /// What became of the wants of the chunk, by [`Want::id`].
    known: HashMap<Key, Result<u32, Fault>>,
    /// Payloads that the next rows want.
    window: Window,
    /// Sample of the last row of the chunk.
    sample: Option<String>,
    pub counts: ShardCounts,
}

impl<'s, 'e> Chunker<'s, 'e> {
    pub fn new(payloads: ShardPayloads<'s, 'e>, spec: &'s ShardSpec, on_error: OnError) -> Chunker<'s, 'e> {
        Chunker {
            payloads,
            spec,
            on_error,
            chunk: Chunk::default(),
            bytes: 0,
            table_bytes: 0,
            known: HashMap::new(),
            window: Window::new(),
            sample: None,
            counts: ShardCounts::default(),
        }
    }

    /// Adds rows; `emit` gets every chunk that is complete.
    pub fn push(
        &mut self,
        rows: &RowWants,
        emit: &mut dyn FnMut(&Chunk) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.counts.rows_dropped += rows.rows.bad.len() as u64;
        let table = &rows.rows.table;
        let row_bytes = table_bytes(table) / rows.wants.len().max(1) as u64;
        let mut start = 0;
        for (at, want) in rows.wants.iter().enumerate() {
            let sample = rows.samples.as_ref().map(|samples| samples.value(at));
            let new_sample = sample.is_some() && self.sample.as_deref() != sample;
            let full = self.bytes >= self.spec.chunk_bytes
                || self.chunk.rows.len() >= MAX_ROWS
                || self.table_bytes >= MAX_TABLE_BYTES;
            if full && (new_sample || self.spec.cut == Cut::AfterAnyRow) {
                self.add_table(table, start..at);
                start = at;
                self.end_chunk(emit)?;
            }
            if new_sample {
                self.sample = sample.map(str::to_owned);
            }
            let filled = match want {
                RowWant::Done(Filled::Untouched) => self.carry(&rows.rows.payloads, at),
                RowWant::Done(filled) => filled.clone(),
                RowWant::Payload(want) => self.fill(want, &rows.wants[at..])?,
            };
            self.chunk.rows.push(filled);
            self.table_bytes += row_bytes;
        }
        self.add_table(table, start..rows.wants.len());
        self.window.clear();
        Ok(())
    }

    /// Emits what is left.
    pub fn finish(
        mut self,
        emit: &mut dyn FnMut(&Chunk) -> anyhow::Result<()>,
    ) -> anyhow::Result<ShardCounts> {
        self.end_chunk(emit)?;
        Ok(self.counts)
    }

    /// A row that needs nothing keeps the payload it has.
    fn carry(&mut self, payloads: &rows::RowPayloads, row: usize) -> Filled {
        match payloads {
            rows::RowPayloads::Some(values) if values.is_valid(row) => {
                let payload = Bytes::copy_from_slice(values.value(row));
                Filled::Carried(self.add_payload(payload))
            }
            _ => Filled::Untouched,
        }
    }

    /// Gives the first row of `rest` the payload that it wants.
    fn fill(&mut self, want: &Want, rest: &[RowWant]) -> anyhow::Result<Filled> {
        let id = want.id();
        if !self.known.contains_key(&id) {
            if !self.window.contains_key(&id) {
                self.move_window(rest)?;
            }
            let payload = self.window[&id].clone().and_then(|payload| self.check_size(payload));
            let known = payload.map(|payload| self.add_payload(payload));
            self.known.insert(id, known);
        }
        let supplied = self.payloads.used(want);
        let known = &self.known[&id];
        // A payload that a step failed on was read all the same.
        if known.is_ok() || self.payloads.payloads.failures.get(&want.key).is_none() {
            match supplied {
                Supplied::Cached => self.counts.through_cache += 1,
                Supplied::First => {}
                Supplied::Again => self.counts.in_shard_duplicates += 1,
            }
        }
        Ok(match known {
            Ok(index) => {
                self.counts.materialized += 1;
                self.counts.materialized_bytes += self.chunk.payloads[*index as usize].len() as u64;
                Filled::Materialized(*index)
            }
            Err(fault) => {
                *self.counts.failed.entry(fault.class).or_default() += 1;
                Filled::Failed(fault.to_string())
            }
        })
    }

    /// Loads together what the first of `rows` want and the chunk does not have, at least what the
    /// first one wants; and begins to load what the next ones want.
    fn move_window(&mut self, rows: &[RowWant]) -> anyhow::Result<()> {
        let mut before = std::mem::take(&mut self.window);
        before.extend(self.payloads.take_ahead()?);
        let (mut now, mut ahead) = (Vec::new(), Vec::new());
        let (mut now_bytes, mut ahead_bytes) = (0, 0);
        let mut seen = HashSet::new();
        for row in rows {
            let RowWant::Payload(want) = row else { continue };
            let id = want.id();
            if self.known.contains_key(&id) || !seen.insert(id) {
                continue;
            }
            if let Some(payload) = before.remove(&id) {
                self.window.insert(id, payload);
                continue;
            }
            let bytes = self.payloads.payloads.expected_bytes(want).unwrap_or(GUESS_BYTES);
            // Where the first row has its payload, all others can wait.
            let first = self.window.is_empty() && now.is_empty();
            if ahead.is_empty() && (first || (!now.is_empty() && now_bytes + bytes <= WINDOW_BYTES)) {
                now_bytes += bytes;
                now.push(want.clone());
            } else if self.payloads.loads_ahead() && ahead_bytes + bytes <= WINDOW_BYTES {
                ahead_bytes += bytes;
                ahead.push(want.clone());
            } else {
                break;
            }
        }
        if !ahead.is_empty() {
            self.payloads.load_ahead(ahead);
        }
        self.window.extend(self.payloads.window(&now)?);
        Ok(())
    }

    fn check_size(&self, payload: Bytes) -> Result<Bytes, Fault> {
        let (length, largest) = (payload.len() as u64, self.spec.largest_payload);
        if length <= largest {
            return Ok(payload);
        }
        let what = format!("a payload of {length} bytes; this shard format holds at most {largest}");
        Err(Fault::new(FaultClass::Unsupported, what))
    }

    fn add_payload(&mut self, payload: Bytes) -> u32 {
        self.bytes += payload.len() as u64;
        self.chunk.payloads.push(payload);
        (self.chunk.payloads.len() - 1) as u32
    }

    fn add_table(&mut self, table: &RecordBatch, rows: Range<usize>) {
        if !rows.is_empty() {
            self.chunk.tables.push(table.slice(rows.start, rows.len()));
        }
    }

    fn end_chunk(&mut self, emit: &mut dyn FnMut(&Chunk) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut chunk = std::mem::take(&mut self.chunk);
        self.known.clear();
        (self.bytes, self.table_bytes) = (0, 0);
        let before = chunk.rows.len();
        drop_rows(&mut chunk, self.on_error)?;
        self.counts.rows_dropped += (before - chunk.rows.len()) as u64;
        self.counts.rows_out += chunk.rows.len() as u64;
        if chunk.rows.is_empty() { Ok(()) } else { emit(&chunk) }
    }
}

fn table_bytes(table: &RecordBatch) -> u64 {
    let columns = table.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    columns.sum::<usize>() as u64
}

/// Removes the rows that `on_error` drops.
fn drop_rows(chunk: &mut Chunk, on_error: OnError) -> anyhow::Result<()> {
    let failed = |row: &Filled| matches!(row, Filled::Failed(_));
    if on_error == OnError::Keep || on_error == OnError::Fail || !chunk.rows.iter().any(failed) {
        return Ok(());
    }
    let mut keep: Vec<bool> = chunk.rows.iter().map(|row| !failed(row)).collect();
    if on_error == OnError::DropSample {
        spread_over_samples(chunk, &mut keep)?;
    }
    let mut start = 0;
    for table in &mut chunk.tables {
        let mask = BooleanArray::from(keep[start..start + table.num_rows()].to_vec());
        start += table.num_rows();
        *table = filter_record_batch(table, &mask)?;
    }
    let mut keep = keep.into_iter();
    chunk.rows.retain(|_| keep.next().expect("one for each row"));
    Ok(())
}

/// Where one row of a sample is dropped, drops the whole sample.
fn spread_over_samples(chunk: &Chunk, keep: &mut [bool]) -> anyhow::Result<()> {
    let mut samples = Vec::with_capacity(keep.len());
    for table in &chunk.tables {
        let ids = rows::text_column(table, rows::SAMPLE_ID)?;
        samples.extend((0..ids.len()).map(|row| ids.value(row).to_owned()));
    }
    let mut start = 0;
    for sample in samples.chunk_by(|a, b| a == b) {
        let rows = &mut keep[start..start + sample.len()];
        if rows.contains(&false) {
            rows.fill(false);
        }
        start += sample.len();
    }
    Ok(())
}
