//! What the threads of one call share: the source, the bytes in flight, and whether to go on.

use std::cell::Cell;
use std::io;
use std::ops::{Add, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use pollster::block_on;

use super::in_flight::InFlight;
use crate::archive::forward::ReadAt;
use crate::fault::Fault;
use crate::locator::Location;
use crate::locator::allow::Allow;
use crate::object::Key;
use crate::plan::FileFetch;
use crate::plan::coalesce::LOCAL;
use crate::store::{Opened, Store};

/// Bytes that are read and not handed over yet, at most, but for a single read that is longer, or as
/// many as let every thread make a read that neighbours share.
const IN_FLIGHT: u64 = 256 << 20;

/// Where payloads come from: a store, and what may be read of it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub store: &'a dyn Store,
    pub allow: &'a Allow,
}

impl Source<'_> {
    /// The bytes of the file at `location`, if it can be seen.
    pub fn length(&self, location: &Location) -> Option<u64> {
        self.look(location).ok().map(|file| file.stat.length)
    }

    pub fn look(&self, location: &Location) -> Result<Opened, Fault> {
        let location = self.allow.admit(location)?;
        let stat = block_on(self.store.stat(&location))?;
        Ok(Opened::new(location, stat))
    }
}

/// Requests to sources, and the time they took, over all threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    pub requests: u64,
    pub bytes: u64,
    /// Without what the receiver of the payloads took.
    pub time: Duration,
}

impl Add for Spent {
    type Output = Spent;

    fn add(self, other: Spent) -> Spent {
        Spent {
            requests: self.requests + other.requests,
            bytes: self.bytes + other.bytes,
            time: self.time + other.time,
        }
    }
}

/// Takes the result of one object. Called from several threads.
pub type Deliver<'a, T = Bytes> = &'a (dyn Fn(Key, Result<T, Fault>) + Sync);

/// Whether to go on: `false` skips files and reads that have not begun, an error stops everything.
pub type GoOn<'a> = &'a (dyn Fn() -> anyhow::Result<bool> + Sync);

/// What the threads of one call share.
pub struct Run<'a> {
    pub source: Source<'a>,
    go_on: GoOn<'a>,
    pub in_flight: InFlight,
    spent: Mutex<Spent>,
    stopped: AtomicBool,
    /// Why everything stopped.
    error: Mutex<Option<anyhow::Error>>,
}

impl<'a> Run<'a> {
    pub fn new(source: Source<'a>, go_on: GoOn<'a>, pool: &rayon::ThreadPool) -> Run<'a> {
        let shared = pool.current_num_threads() as u64 * LOCAL.cap;
        Run {
            source,
            go_on,
            in_flight: InFlight::new(IN_FLIGHT.max(shared)),
            spent: Mutex::default(),
            stopped: AtomicBool::new(false),
            error: Mutex::default(),
        }
    }

    pub fn end(self) -> anyhow::Result<Spent> {
        self.error.into_inner().map_or_else(|| Ok(self.spent.into_inner()), Err)
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether to begin something.
    pub fn goes_on(&self) -> bool {
        !self.is_stopped()
            && (self.go_on)().unwrap_or_else(|error| {
                self.stopped.store(true, Ordering::Relaxed);
                self.error.lock().get_or_insert(error);
                false
            })
    }

    /// Whether to go on with what has begun: only an error ends that.
    pub fn continues(&self) -> bool {
        self.goes_on() || !self.is_stopped()
    }

    /// Appends the bytes `range` of `file` to `bytes`, or fewer where it ends before.
    pub fn collect(&self, file: &Opened, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let length = range.end - range.start;
        block_on(async {
            let mut body = self.source.store.read(file, range).await?;
            while body.chunk(bytes).await? > 0 && (bytes.len() as u64) < length && self.continues() {}
            Ok(())
        })
    }
}

/// A piece of work on one file: hands its results over and counts what it costs.
pub struct Work<'a, T> {
    run: &'a Run<'a>,
    pub file: &'a FileFetch,
    deliver: Deliver<'a, T>,
    pub spent: Spent,
    began: Instant,
    /// Time that the receiver took.
    away: Duration,
}

impl<'a, T> Work<'a, T> {
    pub fn new(run: &'a Run<'a>, file: &'a FileFetch, deliver: Deliver<'a, T>) -> Work<'a, T> {
        Work { run, file, deliver, spent: Spent::default(), began: Instant::now(), away: Duration::ZERO }
    }

    /// Hands over the result of a target, unless what was read for it may be of a read that was
    /// stopped. A fault names the file as its locators do.
    pub fn deliver(&mut self, target: usize, result: Result<T, Fault>) {
        if self.run.is_stopped() {
            return;
        }
        let begin = Instant::now();
        (self.deliver)(self.file.keys[target], result.map_err(|fault| fault.at(&self.file.location)));
        self.away += begin.elapsed();
    }
}

impl<T> Drop for Work<'_, T> {
    fn drop(&mut self) {
        let time = self.began.elapsed().saturating_sub(self.away);
        let mut spent = self.run.spent.lock();
        *spent = *spent + Spent { time, ..self.spent };
    }
}

/// A file of a store as archives read it.
pub struct Reader<'a> {
    run: &'a Run<'a>,
    file: &'a Opened,
    pub moved: Cell<u64>,
}

impl<'a> Reader<'a> {
    pub fn new(run: &'a Run<'a>, file: &'a Opened) -> Reader<'a> {
        Reader { run, file, moved: Cell::new(0) }
    }
}

impl ReadAt for Reader<'_> {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        if !self.run.continues() {
            return Err(io::Error::other("the run is to stop"));
        }
        let end = offset.saturating_add(into.len() as u64).min(self.length());
        if offset >= end {
            return Ok(0);
        }
        let mut buffer = Vec::new();
        self.run.collect(self.file, offset..end, &mut buffer).map_err(io::Error::other)?;
        into[..buffer.len()].copy_from_slice(&buffer);
        self.moved.set(self.moved.get() + buffer.len() as u64);
        Ok(buffer.len())
    }

    fn length(&self) -> u64 {
        self.file.stat.length
    }
}
