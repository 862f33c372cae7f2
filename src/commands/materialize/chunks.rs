//! Rows of one manifest become chunks: payloads filled in, faults noted, rows dropped as told.
//!
//! A chunk ends after the row with which its distinct payloads reach the size asked for, or with
//! the sample of that row where samples must stay together. Nothing else decides, so that the
//! same rows give the same chunks at any number of threads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use bytes::Bytes;

use super::asked::{Asked, Waiting};
use super::options::OnError;
use super::shard_tier::Use;
use super::supply::{Supplied, Supply};
use crate::fault::{Class, Fault};
use crate::manifest::rows;
use crate::object::Key;
use crate::object::Object;
use crate::shard::{Chunk, Cut, Filled};

/// Payload bytes that are loaded together, by estimate.
const LOT_BYTES: u64 = 16 << 20;

/// What an object of unknown size is taken for while a lot is put together.
const GUESS_BYTES: u64 = 1 << 20;

/// A row group of more rows than this helps nobody, however small its payloads are.
const MAX_ROWS: usize = 100_000;

/// Text and other columns of one chunk, bytes.
const MAX_TABLE_BYTES: u64 = 64 << 20;

/// How to make chunks.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub bytes: u64,
    pub cut: Cut,
    pub on_error: OnError,
    /// The largest payload that a shard can hold, bytes.
    pub largest: u64,
}

/// What became of the rows of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub rows_out: u64,
    pub rows_dropped: u64,
    pub materialized: u64,
    pub materialized_bytes: u64,
    /// Failed references, by class.
    pub failed: BTreeMap<Class, u64>,
    /// References whose object was had: through the cache; and, of objects that the cache is not
    /// to hold, those beyond the first in this shard.
    pub through_cache: u64,
    pub in_shard_duplicates: u64,
}

/// What loading the objects of a lot gave.
type Payloads = HashMap<Key, Result<Bytes, Fault>>;

/// Takes rows, gives chunks.
pub struct Chunker<'a> {
    supply: Supply<'a>,
    rule: Rule,
    chunk: Chunk,
    /// Bytes of the distinct payloads, and of the tables, of the chunk.
    bytes: u64,
    table_bytes: u64,
    /// Payloads of the chunk by object and frame.
    known: HashMap<(Key, Option<u32>), Result<u32, Fault>>,
    /// Sample of the last row of the chunk.
    sample: Option<String>,
    pub outcome: Outcome,
}

impl<'a> Chunker<'a> {
    pub fn new(supply: Supply<'a>, rule: Rule) -> Chunker<'a> {
        Chunker {
            supply,
            rule,
            chunk: Chunk::default(),
            bytes: 0,
            table_bytes: 0,
            known: HashMap::new(),
            sample: None,
            outcome: Outcome::default(),
        }
    }

    /// Adds rows; `emit` gets every chunk that is complete.
    pub fn push(
        &mut self,
        asked: &Asked,
        emit: &mut dyn FnMut(&Chunk) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.outcome.rows_dropped += asked.rows.bad.len() as u64;
        let mut start = 0;
        while start < asked.rows.len() {
            let lot = start..start + self.lot(asked, start);
            start = lot.end;
            let payloads = self.load(asked, lot.clone())?;
            self.append(asked, lot, &payloads, emit)?;
        }
        Ok(())
    }

    /// Emits what is left.
    pub fn finish(&mut self, emit: &mut dyn FnMut(&Chunk) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.end_chunk(emit)
    }

    /// How many of the rows from `start` are loaded together: at least one.
    fn lot(&self, asked: &Asked, start: usize) -> usize {
        let mut bytes = 0;
        let mut seen = HashSet::new();
        for (count, row) in asked.waiting[start..].iter().enumerate() {
            if let Waiting::Object(key, frame) = row
                && !self.known.contains_key(&(*key, *frame))
                && seen.insert(*key)
            {
                bytes += self.supply.loader.expected_bytes(key, &asked.objects[key]).unwrap_or(GUESS_BYTES);
            }
            if bytes > LOT_BYTES {
                return count.max(1);
            }
        }
        asked.waiting.len() - start
    }

    /// Loads the objects of a lot that the chunk does not have yet.
    fn load(&mut self, asked: &Asked, lot: Range<usize>) -> anyhow::Result<Payloads> {
        let mut wanted: Vec<(Key, Object)> = Vec::new();
        let mut seen = HashSet::new();
        for row in &asked.waiting[lot] {
            if let Waiting::Object(key, frame) = row
                && !self.known.contains_key(&(*key, *frame))
                && seen.insert(*key)
            {
                wanted.push((*key, asked.objects[key].clone()));
            }
        }
        let loaded = self.supply.load(&wanted)?;
        Ok(wanted.into_iter().map(|(key, _)| key).zip(loaded).collect())
    }

    fn append(
        &mut self,
        asked: &Asked,
        lot: Range<usize>,
        payloads: &Payloads,
        emit: &mut dyn FnMut(&Chunk) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let table = &asked.rows.table;
        let row_bytes = table_bytes(table) / asked.rows.len() as u64;
        let mut piece = lot.start;
        for at in lot.clone() {
            let sample = asked.samples.as_ref().map(|samples| samples.value(at));
            let new_sample = sample.is_some() && self.sample.as_deref() != sample;
            let full = self.bytes >= self.rule.bytes
                || self.chunk.rows.len() >= MAX_ROWS
                || self.table_bytes >= MAX_TABLE_BYTES;
            if full && (new_sample || self.rule.cut == Cut::AfterAnyRow) {
                self.add_table(table, piece..at);
                piece = at;
                self.end_chunk(emit)?;
            }
            if new_sample {
                self.sample = sample.map(str::to_owned);
            }
            let filled = match &asked.waiting[at] {
                Waiting::Done(Filled::Untouched) => self.carry(&asked.rows.payloads, at),
                Waiting::Done(filled) => filled.clone(),
                Waiting::Object(key, frame) => self.fill(*key, *frame, &asked.objects[key], payloads)?,
            };
            self.chunk.rows.push(filled);
            self.table_bytes += row_bytes;
        }
        self.add_table(table, piece..lot.end);
        Ok(())
    }

    /// A row that needs nothing keeps the payload it has.
    fn carry(&mut self, payloads: &rows::Payloads, row: usize) -> Filled {
        match payloads {
            rows::Payloads::Some(values) if values.is_valid(row) => {
                let payload = Bytes::copy_from_slice(values.value(row));
                Filled::Carried(self.add_payload(payload))
            }
            _ => Filled::Untouched,
        }
    }

    fn fill(
        &mut self,
        key: Key,
        frame: Option<u32>,
        object: &Object,
        payloads: &Payloads,
    ) -> anyhow::Result<Filled> {
        if !self.known.contains_key(&(key, frame)) {
            let payload = match payloads.get(&key) {
                Some(payload) => payload.clone(),
                // It was part of the chunk when the lot was loaded, and that chunk has ended since.
                None => self.supply.load_one(key, object)?,
            };
            let payload = match frame {
                Some(index) => match payload {
                    Ok(whole) => self.supply.loader.page(key, object, &whole, index)?,
                    Err(fault) => Err(fault),
                },
                None => payload,
            };
            let payload = payload.and_then(|payload| self.check_size(payload));
            let known = payload.map(|payload| self.add_payload(payload));
            self.known.insert((key, frame), known);
        }
        let supplied = self.supply.used(&key, object);
        let known = &self.known[&(key, frame)];
        // A payload without the page was had all the same.
        if known.is_ok() || !self.supply.loader.has_failed(&key) {
            match supplied {
                Supplied::Cached => self.outcome.through_cache += 1,
                Supplied::Apart(Use::First) => {}
                Supplied::Apart(Use::Again) => self.outcome.in_shard_duplicates += 1,
            }
        }
        Ok(match known {
            Ok(index) => {
                self.outcome.materialized += 1;
                self.outcome.materialized_bytes += self.chunk.payloads[*index as usize].len() as u64;
                Filled::Materialized(*index)
            }
            Err(fault) => {
                *self.outcome.failed.entry(fault.class).or_default() += 1;
                Filled::Failed(fault.to_string())
            }
        })
    }

    fn check_size(&self, payload: Bytes) -> Result<Bytes, Fault> {
        let (length, largest) = (payload.len() as u64, self.rule.largest);
        if length <= largest {
            return Ok(payload);
        }
        let what = format!("a payload of {length} bytes; this form of shard holds {largest} at most");
        Err(Fault::new(Class::Unsupported, what))
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
        drop_rows(&mut chunk, self.rule.on_error)?;
        self.outcome.rows_dropped += (before - chunk.rows.len()) as u64;
        self.outcome.rows_out += chunk.rows.len() as u64;
        if chunk.rows.is_empty() { Ok(()) } else { emit(&chunk) }
    }
}

fn table_bytes(table: &RecordBatch) -> u64 {
    let columns = table.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    columns.sum::<usize>() as u64
}

/// Takes out the rows that are not to be written.
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

/// A sample of which one row goes, goes.
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
