//! Writes all pending shards, several at a time.

use parking_lot::Mutex;

use super::Prepared;
use super::budget::Budget;
use super::load::Loader;
use super::options::Options;
use super::output::Output;
use super::write::{Job, Unwritten, Written};
use crate::monitor::Phase;
use crate::threads::in_turns;

/// One result for each input that was pending; an error is that of its manifest.
pub type AllWritten = Vec<(usize, Result<Written, anyhow::Error>)>;

/// Fails when the run ends: what is finished by then stays.
pub fn write_all(
    prepared: &Prepared,
    output: &Output,
    loader: &Loader,
    budget: Budget,
    options: &Options,
) -> anyhow::Result<AllWritten> {
    let monitor = loader.monitor();
    let pending = prepared.pending();
    let rows = pending.iter().filter_map(|&at| prepared.scanned.tallies[at].as_ref()).map(|tally| tally.rows);
    monitor.start(Phase::Write, rows.sum());
    let results: Mutex<AllWritten> = Mutex::default();
    in_turns(budget.writers, pending.len(), |turns| -> anyhow::Result<()> {
        for nth in turns {
            let at = pending[nth];
            let tally = prepared.scanned.tallies[at].as_ref().expect("only what was scanned is pending");
            let fingerprint = &prepared.fingerprints[at];
            let shard_bytes = budget.shard_bytes;
            let job = Job { options, fingerprint, tally, output, loader, shard_bytes, monitor };
            let result = match job.write(&prepared.inputs[at], prepared.layouts[at].clone()) {
                Ok(written) => Ok(written),
                Err(Unwritten::Manifest(error)) => {
                    monitor.problem(&format!("{error:#}"));
                    Err(error)
                }
                Err(Unwritten::Run(error)) => return Err(error),
            };
            results.lock().push((at, result));
        }
        Ok(())
    })?;
    monitor.finish(Phase::Write);
    let mut results = results.into_inner();
    results.sort_by_key(|(at, _)| *at);
    Ok(results)
}
