//! From a plan to payloads: every file is looked at, then its requests run on all threads.
//!
//! One result for each object, in no order; whoever asks decides what becomes of it. Payloads are
//! handed over as they come and nothing keeps them here.

use std::ops::Add;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::fault::Fault;
use crate::object::Key;
use crate::plan::FileFetch;
use crate::store::{Request, Source};

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
pub type Deliver<'a> = &'a (dyn Fn(Key, Result<Bytes, Fault>) + Sync);

/// Reads the objects of `files` on the threads of `pool`. `go_on` is asked before each file and
/// each request: `false` leaves it out, an error ends everything; then some objects are not handed
/// over.
pub fn obtain(
    source: &dyn Source,
    files: &[FileFetch],
    pool: &rayon::ThreadPool,
    go_on: &(dyn Fn() -> anyhow::Result<bool> + Sync),
    deliver: Deliver,
) -> anyhow::Result<Spent> {
    pool.install(|| {
        let look =
            |file| anyhow::Ok(if go_on()? { prepare(source, file, deliver) } else { Prepared::none(file) });
        let prepared: Vec<Prepared> = files.par_iter().map(look).collect::<anyhow::Result<_>>()?;
        let looking = prepared.iter().map(|prepared| prepared.time).sum();
        let requests: Vec<(&FileFetch, &Request)> = prepared
            .iter()
            .flat_map(|prepared| prepared.requests.iter().map(|request| (prepared.file, request)))
            .collect();
        let read = |&(file, request): &(&FileFetch, &Request)| {
            anyhow::Ok(if go_on()? { perform(source, file, request, deliver) } else { Spent::default() })
        };
        let reads = requests.par_iter().with_max_len(1).map(read);
        let read = reads.try_reduce(Spent::default, |a, b| Ok(a + b))?;
        Ok(read + Spent { time: looking, ..Spent::default() })
    })
}

/// A file that was looked at.
struct Prepared<'f> {
    file: &'f FileFetch,
    requests: Vec<Request>,
    time: Duration,
}

impl Prepared<'_> {
    fn none(file: &FileFetch) -> Prepared<'_> {
        Prepared { file, requests: Vec::new(), time: Duration::ZERO }
    }
}

fn prepare<'f>(source: &dyn Source, file: &'f FileFetch, deliver: Deliver) -> Prepared<'f> {
    let start = Instant::now();
    let prepared = source.prepare(&file.path, &file.targets);
    let time = start.elapsed();
    for (target, fault) in prepared.faults {
        deliver(file.keys[target], Err(fault));
    }
    Prepared { file, requests: prepared.requests, time }
}

fn perform(source: &dyn Source, file: &FileFetch, request: &Request, deliver: Deliver) -> Spent {
    let start = Instant::now();
    let mut delivering = Duration::ZERO;
    let cost = source.perform(request, &mut |target, result| {
        let begin = Instant::now();
        deliver(file.keys[target], result);
        delivering += begin.elapsed();
    });
    let time = start.elapsed().saturating_sub(delivering);
    Spent { requests: cost.requests, bytes: cost.bytes, time }
}
