//! From a plan to payloads: what to ask a store for, and how much of it at once.
//!
//! Files flow: one is looked at, its targets become reads that neighbours share, and its reads run
//! before the next file is looked at, or on another thread that has nothing else to do, so that a
//! single large archive keeps every thread busy. One result for each object, in no order; whoever
//! asks decides what becomes of it. Everything here blocks, and so does everything above.

mod file;
mod in_flight;
mod read;

use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use pollster::block_on;
use rayon::Scope;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::fault::Fault;
use crate::locator::Location;
use crate::locator::allow::Allow;
use crate::object::Key;
use crate::plan::FileFetch;
use crate::plan::coalesce::LOCAL;
use crate::store::{Opened, Store};
use file::{FilePlan, Looked, Read};
use in_flight::InFlight;

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

    fn look(&self, location: &Location) -> Result<Opened, Fault> {
        let location = self.allow.admit(location)?;
        let stat = block_on(self.store.stat(&location))?;
        Ok(Opened::new(location, stat))
    }
}

/// What sources were asked and how long they took, over all threads.
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

/// Whether to go on: `false` leaves a file or read out that has not begun, an error ends everything.
pub type GoOn<'a> = &'a (dyn Fn() -> anyhow::Result<bool> + Sync);

/// Reads the objects of `files` on the threads of `pool`. `go_on` is asked before each file and each
/// read, and every few MiB inside of one. Where it says no, some objects are not handed over.
pub fn obtain(
    source: Source,
    files: &[FileFetch],
    pool: &rayon::ThreadPool,
    go_on: GoOn,
    deliver: Deliver,
) -> anyhow::Result<Spent> {
    let run = Run::new(source, go_on, pool);
    pool.install(|| {
        rayon::scope(|scope| {
            files.par_iter().with_max_len(1).for_each(|file| run.read_file(scope, file, deliver));
        });
    });
    run.end()
}

/// Hands over the size in bytes of each object of `files`, as [`obtain`] does the payloads, and reads
/// none of them. An archive without offsets of its own is unpacked once for it.
pub fn sizes(
    source: Source,
    files: &[FileFetch],
    pool: &rayon::ThreadPool,
    go_on: GoOn,
    deliver: Deliver<u64>,
) -> anyhow::Result<()> {
    let run = Run::new(source, go_on, pool);
    pool.install(|| {
        files.par_iter().with_max_len(1).for_each(|file| run.measure_file(file, deliver));
    });
    run.end().map(drop)
}

/// What the threads of one call share.
struct Run<'a> {
    source: Source<'a>,
    go_on: GoOn<'a>,
    in_flight: InFlight,
    spent: Mutex<Spent>,
    stopped: AtomicBool,
    /// Why everything stopped.
    error: Mutex<Option<anyhow::Error>>,
}

impl<'a> Run<'a> {
    fn new(source: Source<'a>, go_on: GoOn<'a>, pool: &rayon::ThreadPool) -> Run<'a> {
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

    fn end(self) -> anyhow::Result<Spent> {
        self.error.into_inner().map_or_else(|| Ok(self.spent.into_inner()), Err)
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether to begin something.
    fn goes_on(&self) -> bool {
        !self.is_stopped()
            && (self.go_on)().unwrap_or_else(|error| {
                self.stopped.store(true, Ordering::Relaxed);
                self.error.lock().get_or_insert(error);
                false
            })
    }

    /// Whether to go on with what has begun: only an error ends that.
    fn continues(&self) -> bool {
        self.goes_on() || !self.is_stopped()
    }

    fn read_file<'s>(&'s self, scope: &Scope<'s>, file: &'s FileFetch, deliver: Deliver<'s>) {
        if !self.goes_on() {
            return;
        }
        let mut work = Work::new(self, file, deliver);
        let Some((looked, plan)) = self.look(&mut work) else { return };
        plan.empty.iter().for_each(|&target| work.deliver(target, Ok(Bytes::new())));
        drop(work);
        let looked = Arc::new(looked);
        // A thread takes its own reads from the last one on, and those of others from the first one.
        for read in plan.reads.into_iter().rev() {
            let looked = Arc::clone(&looked);
            scope.spawn(move |_| {
                if self.goes_on() {
                    self.read(&looked, &read, Work::new(self, file, deliver));
                }
            });
        }
    }

    fn measure_file(&self, file: &FileFetch, deliver: Deliver<u64>) {
        if !self.goes_on() {
            return;
        }
        let mut work = Work::new(self, file, deliver);
        let Some((looked, plan)) = self.look(&mut work) else { return };
        plan.empty.iter().for_each(|&target| work.deliver(target, Ok(0)));
        for read in plan.reads {
            match read {
                Read::Span { parts, .. } => {
                    parts.iter().for_each(|part| work.deliver(part.target, Ok(part.size)));
                }
                Read::Members(targets) => self.measure_members(&looked, &targets, &mut work),
            }
        }
    }

    /// Looks at a file and plans its reads; faults are handed over.
    fn look<T>(&self, work: &mut Work<T>) -> Option<(Looked, FilePlan)> {
        let file = work.file;
        let planned = self.source.look(&file.path).and_then(|opened| self.plan(opened, &file.targets));
        match planned {
            Ok((looked, mut plan)) => {
                plan.faults.drain(..).for_each(|(target, fault)| work.deliver(target, Err(fault)));
                Some((looked, plan))
            }
            Err(fault) => {
                (0..file.targets.len()).for_each(|target| work.deliver(target, Err(fault.clone())));
                None
            }
        }
    }
}

/// A piece of work on one file: hands its results over and counts what it costs.
struct Work<'a, T> {
    run: &'a Run<'a>,
    file: &'a FileFetch,
    deliver: Deliver<'a, T>,
    spent: Spent,
    began: Instant,
    /// What the receiver took.
    away: Duration,
}

impl<'a, T> Work<'a, T> {
    fn new(run: &'a Run<'a>, file: &'a FileFetch, deliver: Deliver<'a, T>) -> Work<'a, T> {
        Work { run, file, deliver, spent: Spent::default(), began: Instant::now(), away: Duration::ZERO }
    }

    /// Hands over the result of a target, unless what was read for it may be of a read that was
    /// stopped. A fault names the file as its locators do.
    fn deliver(&mut self, target: usize, result: Result<T, Fault>) {
        if self.run.is_stopped() {
            return;
        }
        let begin = Instant::now();
        (self.deliver)(self.file.keys[target], result.map_err(|fault| fault.at(&self.file.path)));
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

#[cfg(test)]
mod tests;
