//! Reads the objects of a plan from a store, with a limit on the bytes in flight.
//!
//! A thread opens a file, plans its reads, which neighbouring targets share, and makes them before it
//! opens the next file. Idle threads take reads from others, so a single large archive keeps every
//! thread busy. Each object has one result, in no order. Everything here blocks. A file that changes
//! while it is read fails as `changed`.

mod file;
mod in_flight;
mod read;
mod run;

use std::sync::Arc;

use bytes::Bytes;
use rayon::Scope;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

pub use run::{Deliver, GoOn, Source, Spent};

use crate::plan::FileFetch;
use file::{FilePlan, Looked, Read};
use run::{Run, Work};

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

impl Run<'_> {
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
        let planned = self.source.look(&file.location).and_then(|opened| self.plan(opened, &file.targets));
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

#[cfg(test)]
mod tests;
