//! Reads a sample of the objects: the part that comparing and timing have in common.
//!
//! Each object is read once, neighbours in one request, as in a run that writes shards. What cannot
//! be read is told and counted and ends nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::commands::obtain::{Spent, obtain};
use crate::corpus::{Key, key, remote};
use crate::fault::Fault;
use crate::monitor::{Monitor, Phase};
use crate::plan;
use crate::source::Source;

/// How the reading went.
pub struct Read {
    pub failed: u64,
    pub spent: Spent,
}

/// Reads the objects of `sample`, distinct canonical bytes in any order, and hands over each
/// payload, from several threads. Remote objects fail.
///
/// Fails when interrupted.
pub fn read(
    source: &dyn Source,
    sample: &[Box<[u8]>],
    pool: &rayon::ThreadPool,
    monitor: &dyn Monitor,
    deliver: &(dyn Fn(Key, Bytes) + Sync),
) -> anyhow::Result<Read> {
    monitor.start(Phase::Fetch, sample.len() as u64);
    let failed = AtomicU64::new(0);
    let fail = |fault: &Fault| {
        failed.fetch_add(1, Ordering::Relaxed);
        monitor.problem(&fault.to_string());
        monitor.advance(Phase::Fetch, 1, 0);
    };
    let (remotes, mut locals): (Vec<&[u8]>, Vec<&[u8]>) =
        sample.iter().map(|canonical| &**canonical).partition(|canonical| key::is_remote(canonical));
    remotes.into_iter().for_each(|canonical| fail(&remote::refusal(key::readable(canonical))));
    locals.sort_unstable();
    let files = plan::plan(locals.into_iter().map(|canonical| (canonical, key::key(canonical))));
    let go_on = || monitor.check().map(|()| true);
    let spent = obtain(source, &files, pool, &go_on, &|key, result| match result {
        Ok(payload) => {
            let bytes = payload.len() as u64;
            deliver(key, payload);
            monitor.advance(Phase::Fetch, 1, bytes);
        }
        Err(fault) => fail(&fault),
    })?;
    monitor.finish(Phase::Fetch);
    Ok(Read { failed: failed.into_inner(), spent })
}
