//! Reads all manifests and counts what their references name.
//!
//! Most locators recur, so a text is looked up before it is read. A replay needs to know of every
//! reference in which manifest it stands, so there each text is read.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use anyhow::Context;
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_128;

use super::candidates::Candidates;
use super::naming::Namer;
use super::options::{Options, Placement, Share, Timing};
use super::placement::Placements;
use super::sources::Sources;
use super::tally::Tally;
use crate::commands::manifests::Opened;
use crate::commands::scan::{Collector, Stop};
use crate::corpus::rows::{Ask, Rows, Texts};
use crate::corpus::{Base, key};
use crate::fault::Fault;
use crate::grouping::multiplicity::{self, Counter, Named};
use crate::grouping::room::Room;
use crate::grouping::spellings::{Batch, Passed, Spellings};
use crate::monitor::Monitor;

/// One reading of all manifests.
pub struct Counting<'a> {
    inputs: &'a [Opened],
    /// By input: the same for inputs whose relative paths start at the same folder.
    bases: Vec<u128>,
    share: Option<Share>,
    monitor: &'a dyn Monitor,
    /// Faults are told in the first one.
    reading: usize,
    pub room: Arc<Room>,
    pub spellings: Spellings,
    pub counter: Counter,
    /// Where references stand, if that is to be replayed.
    pub placements: Option<Placements>,
    pub sources: Sources,
    pub found: Mutex<Found>,
}

/// What is known beside the counts.
#[derive(Clone)]
pub struct Found {
    pub tally: Tally,
    /// References that want one page of their object.
    pub framed: u64,
    /// Objects to compare the payloads of, and objects to time: neighbours, as a run reads them.
    pub scattered: Candidates,
    pub neighbours: Candidates,
}

/// What one thread keeps to itself.
pub struct Worker<'a> {
    namer: Namer<'a>,
    inserter: multiplicity::Inserter<'a>,
    placed: Option<multiplicity::Inserter<'a>>,
    batch: Batch,
    passed: Vec<Passed>,
    found: Found,
}

/// Objects that are timed.
const TIMED: usize = 64;
/// Ranges that start in the same stretch of this many bytes are neighbours.
const STRETCH: u64 = 1 << 20;
/// Of the memory, what a thread needs to decode pages, at most a quarter in all. Of the rest five
/// eighths are for tables: as much again is taken for a moment while they grow and move out.
const DECODING: u64 = 48 << 20;

/// Counted references could not be moved out of memory.
const CANNOT_COUNT: &str = "cannot count the references";

impl<'a> Counting<'a> {
    pub fn new(
        inputs: &'a [Opened],
        options: &Options,
        monitor: &'a dyn Monitor,
        reading: usize,
    ) -> Counting<'a> {
        let decoding = (DECODING * options.jobs as u64).min(options.memory / 4);
        let room = Arc::new(Room::new((options.memory - decoding) / 8 * 5));
        let replayed = options.placement == Placement::Replayed;
        Counting {
            inputs,
            bases: number_bases(inputs),
            share: options.sample,
            monitor,
            reading,
            spellings: Spellings::new(&room),
            counter: Counter::new(room.clone()),
            placements: replayed.then(|| Placements::new(room.clone())),
            room,
            sources: Sources::default(),
            found: Mutex::new(Found::new(options)),
        }
    }

    fn told(&self, input: &Opened, place: &str, fault: &Fault) {
        if self.reading == 0 {
            self.monitor.problem(&format!("{}: {place}: {fault}", input.manifest.path.display()));
        }
    }

    /// Counts the references of `worker.batch`, all of them at rows of `texts`.
    fn count(&self, worker: &mut Worker, at: usize, rows: &Rows, texts: &Texts) -> Result<(), Stop> {
        let input = &self.inputs[at];
        let Worker { namer, inserter, placed, batch, passed, found } = worker;
        let read = |row: u32, hash: u128| {
            let row = row as usize;
            match namer.read(texts.source_ref.value(row), hash, &input.base) {
                Ok(Some(named)) if self.share.is_some_and(|share| !share.keeps(named.digest as u64)) => {
                    found.tally.references_in(at, 1);
                    found.pass(&named, 1);
                    None
                }
                Ok(Some(named)) => {
                    found.offer(named.digest, namer.canonical());
                    Some(named)
                }
                Ok(None) => {
                    found.tally.no_locator += 1;
                    None
                }
                Err(fault) => {
                    self.told(input, &rows.places.name(row), &fault);
                    *found.tally.bad_locators.entry(fault.class).or_default() += 1;
                    None
                }
            }
        };
        let counted = match placed {
            None => self.spellings.count(batch, &self.room, read, passed),
            Some(placed) => Placements::count(placed, at, batch, read, passed).map_err(cannot_count)?,
        };
        found.tally.references_in(at, counted);
        for (named, count) in passed.drain(..) {
            found.pass(&named, count);
            inserter.add(&named, count).map_err(cannot_count)?;
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
            placed: self.placements.as_ref().map(Placements::inserter),
            batch: Batch::default(),
            passed: Vec::new(),
            found: self.found.lock().empty(),
        }
    }

    fn rows(&self, worker: &mut Worker<'_>, at: usize, rows: &Rows) -> Result<(), Stop> {
        let texts = rows.texts().map_err(Stop::Manifest)?;
        let tally = &mut worker.found.tally;
        tally.rows += (rows.len() + rows.bad.len()) as u64;
        tally.bad_rows += rows.bad.len() as u64;
        tally.modalities.count(&texts.modality);
        for bad in &rows.bad {
            self.told(&self.inputs[at], &format!("line {}", bad.line), &bad.fault);
        }
        let base = self.bases[at];
        let Ok(()) = texts.asks(|row, ask| {
            match ask {
                Ask::Nothing => {}
                Ask::Present => tally.already_present += 1,
                Ask::Payload(None) => tally.no_locator += 1,
                // The same text means another object where relative paths start elsewhere.
                Ask::Payload(Some(text)) => worker.batch.push(xxh3_128(text.as_bytes()) ^ base, row as u32),
            }
            Ok::<(), Infallible>(())
        });
        self.count(worker, at, rows, &texts)
    }

    fn finish(&self, worker: Worker<'_>) -> anyhow::Result<()> {
        worker.inserter.finish().context(CANNOT_COUNT)?;
        worker.placed.map(multiplicity::Inserter::finish).transpose().context(CANNOT_COUNT)?;
        self.found.lock().add(worker.found);
        Ok(())
    }
}

impl Found {
    fn new(options: &Options) -> Found {
        Found {
            tally: Tally::default(),
            framed: 0,
            scattered: Candidates::new(options.content_sample),
            neighbours: Candidates::new(if options.timing == Timing::Probed { TIMED } else { 0 }),
        }
    }

    fn empty(&self) -> Found {
        Found {
            tally: Tally::default(),
            framed: 0,
            scattered: self.scattered.like(),
            neighbours: self.neighbours.like(),
        }
    }

    pub fn add(&mut self, other: Found) {
        self.tally.add(&other.tally);
        self.framed += other.framed;
        self.scattered.merge(other.scattered);
        self.neighbours.merge(other.neighbours);
    }

    #[inline]
    fn offer(&mut self, digest: u128, canonical: &[u8]) {
        if !self.scattered.is_none() {
            self.scattered.offer(digest as u64, digest, canonical);
        }
        if !self.neighbours.is_none() {
            let key::Neighbourhood { path, stretch } = key::neighbourhood(canonical, STRETCH);
            let rank = xxhash_rust::xxh3::xxh3_64_with_seed(path, stretch);
            self.neighbours.offer(rank, digest, canonical);
        }
    }

    /// Some references are on their way to the counts, or are left out of a sample.
    pub fn pass(&mut self, named: &Named, count: u64) {
        self.framed += if named.framed { count } else { 0 };
    }
}

fn cannot_count(error: io::Error) -> Stop {
    Stop::Run(anyhow::Error::new(error).context(CANNOT_COUNT))
}

/// For each input a number that tells apart where relative paths start. It is to be mixed with the
/// hash of a text, whose lowest bits it leaves alone: they tell spellings of one object apart, and
/// an absolute path is the same spelling wherever it stands.
fn number_bases(inputs: &[Opened]) -> Vec<u128> {
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
