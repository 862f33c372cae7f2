//! Reads all manifests and counts what their references name.
//!
//! Most locators recur, so a text is looked up before it is read. A replay needs to know of every
//! reference in which manifest it stands, so there each text is read.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use anyhow::Context;
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_128;

use super::found::Found;
use super::naming::Namer;
use super::options::{Options, Placement};
use super::placement::{Placements, Placer};
use super::sequence::Sequence;
use super::sources::Sources;
use crate::commands::scan::{self, Collector, Scanned};
use crate::commands::tally::Tally;
use crate::counting::multiplicity::{Counter, Inserter};
use crate::counting::spellings::{Batch, Meaning, Passed, Spellings};
use crate::fault::Fault;
use crate::locator::Base;
use crate::manifest::Manifest;
use crate::manifest::rows::{Ask, Rows};
use crate::memory::MemoryBudget;
use crate::monitor::Monitor;

/// What all threads count together in one reading of all manifests.
pub struct Counting<'a> {
    pub inputs: &'a [Manifest],
    options: &'a Options,
    monitor: &'a dyn Monitor,
    /// Faults are told in the first one.
    reading: usize,
    /// By input: the same for inputs whose relative paths start at the same folder.
    bases: Vec<u128>,
    pub spellings: Spellings,
    pub counter: Counter,
    /// Where references stand, if that is to be replayed.
    pub placements: Option<Placements>,
    /// In which order, if that matters.
    pub sequence: Option<Sequence>,
    pub sources: Sources,
    pub found: Mutex<Found>,
}

/// What one thread keeps to itself.
pub struct Worker<'a> {
    namer: Namer<'a>,
    inserter: Inserter<'a>,
    placer: Option<Placer<'a>>,
    batch: Batch,
    passed: Vec<Passed>,
    /// Row and digest of references whose order matters.
    ordered: Vec<(u32, u64)>,
    found: Found,
}

/// Scans all inputs. One that cannot be read to its end counts for nothing.
///
/// Fails when a temporary file cannot be written, and when interrupted.
pub fn scan<'a>(
    inputs: &'a [Manifest],
    options: &'a Options,
    monitor: &'a dyn Monitor,
) -> anyhow::Result<Scanned<Counting<'a>>> {
    let manifests: Vec<_> = inputs.iter().collect();
    let counting = |reading| Counting::new(inputs, options, monitor, reading);
    scan::scan(&manifests, threads(options.memory, options.jobs), monitor, counting)
}

/// What a thread needs to decode pages, bytes; at most half of the memory in all.
const DECODING: u64 = 48 << 20;

/// With less memory for each, threads hold more than they all may: decoded pages of some tens of
/// megabytes are nothing unusual, and cannot be spilled.
const LEAST_FOR_A_THREAD: u64 = 48 << 20;

/// Threads that read manifests: fewer than asked for where memory is short.
fn threads(memory: u64, jobs: usize) -> usize {
    let most = usize::try_from(memory / LEAST_FOR_A_THREAD).unwrap_or(usize::MAX);
    jobs.min(most).max(1)
}

/// Counted references could not be moved out of memory.
const CANNOT_COUNT: &str = "cannot count the references";

impl<'a> Counting<'a> {
    fn new(
        inputs: &'a [Manifest],
        options: &'a Options,
        monitor: &'a dyn Monitor,
        reading: usize,
    ) -> Counting<'a> {
        let decoding = (DECODING * threads(options.memory, options.jobs) as u64).min(options.memory / 2);
        let sequence = (options.ordered * size_of::<u64>()) as u64;
        // Of the rest seven eighths are for tables: those that grow or move out at the same time, a
        // few of many hundreds, take as much again for a moment.
        let room = Arc::new(MemoryBudget::new(options.memory.saturating_sub(decoding + sequence) / 8 * 7));
        Counting {
            inputs,
            options,
            monitor,
            reading,
            bases: number_bases(inputs),
            spellings: Spellings::new(room.clone()),
            counter: Counter::new(room.clone()),
            placements: match options.placement {
                Placement::Assumed => None,
                Placement::Replayed => Some(Placements::new(room)),
            },
            sequence: (options.ordered > 0).then(|| Sequence::new(options.ordered)),
            sources: Sources::default(),
            found: Mutex::new(Found::new(options)),
        }
    }

    fn tell(&self, input: usize, place: &str, fault: &Fault) {
        if self.reading == 0 {
            let manifest = self.inputs[input].path.display();
            self.monitor.problem(&format!("{manifest}: {place}: {fault}"));
        }
    }

    /// Fills the batch with the texts of all references; other rows are only tallied.
    fn collect(&self, worker: &mut Worker, input: usize, rows: &Rows) {
        let base = self.bases[input];
        let Worker { batch, found: Found { tally, .. }, .. } = worker;
        let Ok(()) = rows.asks(|row, ask| {
            match ask {
                Ask::Nothing => {}
                Ask::Present => tally.already_present += 1,
                Ask::NoLocator => tally.no_locator += 1,
                // The same text means another object where relative paths start elsewhere.
                Ask::Payload(raw) => batch.push(xxh3_128(raw.bytes()) ^ base, row as u32),
            }
            Ok::<(), Infallible>(())
        });
    }

    /// Counts the references of the batch, all of them at these rows, and empties it.
    fn count(&self, worker: &mut Worker, input: usize, rows: &Rows) -> anyhow::Result<()> {
        let Worker { namer, inserter, placer, batch, passed, ordered, found } = worker;
        let sample = self.sequence.as_ref().map(Sequence::sample);
        let base = &self.inputs[input].base;
        let read = |row: u32, hash: u128| {
            let row = row as usize;
            let named = match namer.read(rows.locator(row), hash, base) {
                Ok(Some(named)) => named,
                Ok(None) => {
                    found.tally.no_locator += 1;
                    return None;
                }
                Err(fault) => {
                    self.tell(input, &rows.places.name(row), &fault);
                    found.tally.add_bad_locator(fault.class);
                    return None;
                }
            };
            // What a sample leaves out is not remembered either: it would take the memory that the
            // sample saves.
            if self.options.sample.is_some_and(|share| !share.keeps(named.id.random())) {
                found.references_in(input, 1);
                return None;
            }
            found.offer(named.id, namer.name());
            let digest = named.id.short();
            let again = sample.is_some_and(|sample| sample.keeps(digest));
            if again {
                ordered.push((row as u32, digest));
            }
            Some(Meaning { named, again })
        };
        let counted = match placer {
            None => self.spellings.count(batch, read, passed),
            Some(placer) => placer.count(input, batch, read, passed).context(CANNOT_COUNT)?,
        };
        found.references_in(input, counted);
        if let Some(sequence) = &self.sequence {
            sequence.add((input, rows.places.first()), ordered);
        }
        for (named, count) in passed.drain(..) {
            inserter.add(&named, count).context(CANNOT_COUNT)?;
        }
        Ok(())
    }
}

impl Collector for Counting<'_> {
    type Worker<'a>
        = Worker<'a>
    where
        Self: 'a;

    fn worker(&self) -> Worker<'_> {
        Worker {
            namer: Namer::new(&self.sources),
            inserter: self.counter.inserter(),
            placer: self.placements.as_ref().map(Placements::placer),
            batch: Batch::default(),
            passed: Vec::new(),
            ordered: Vec::new(),
            found: Found::new(self.options),
        }
    }

    fn rows(&self, worker: &mut Worker<'_>, input: usize, rows: &Rows) -> anyhow::Result<()> {
        worker.found.tally.add(&Tally::of(rows));
        worker.found.modalities.count(&rows.modality);
        for bad in &rows.bad {
            self.tell(input, &format!("line {}", bad.line), &bad.fault);
        }
        self.collect(worker, input, rows);
        self.count(worker, input, rows)
    }

    fn finish(&self, worker: Worker<'_>) -> anyhow::Result<()> {
        worker.inserter.finish().context(CANNOT_COUNT)?;
        worker.placer.map(Placer::finish).transpose().context(CANNOT_COUNT)?;
        self.found.lock().merge(worker.found);
        Ok(())
    }
}

/// For each input a number that tells apart where relative paths start. It is to be mixed with the
/// hash of a text, whose lowest bits it leaves alone: they tell spellings of one object apart, and
/// an absolute path is the same spelling wherever it stands.
fn number_bases(inputs: &[Manifest]) -> Vec<u128> {
    let mut known: HashMap<&Base, u64> = HashMap::new();
    let mut numbers = Vec::with_capacity(inputs.len());
    for input in inputs {
        let next = known.len() as u64;
        let number = *known.entry(&input.base).or_insert(next);
        // Spread over many bits, as a hash is.
        numbers.push(u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 32);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_memory_is_short_fewer_threads_read() {
        for (memory, jobs, expected) in
            [(16 << 20, 8, 1), (64 << 20, 2, 1), (96 << 20, 8, 2), (1 << 40, 8, 8)]
        {
            assert_eq!(threads(memory, jobs), expected, "{memory} bytes, {jobs} jobs");
        }
    }
}
