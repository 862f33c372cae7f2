//! Writes all pending shards, several at a time.

use parking_lot::Mutex;

use super::Prepared;
use super::budget::WriteMemory;
use super::options::Options;
use super::output::OutputFolder;
use super::write::{Job, Written};
use crate::monitor::Phase;
use crate::payloads::Payloads;
use crate::threads::in_turns;

/// One result for each input that was pending; an error is that of its manifest.
pub type AllWritten = Vec<(usize, Result<Written, anyhow::Error>)>;

/// Fails when the run ends: what is finished by then stays.
pub fn write_all(
    prepared: &Prepared,
    output: &OutputFolder,
    payloads: &Payloads,
    memory: &WriteMemory,
    options: &Options,
) -> anyhow::Result<AllWritten> {
    let monitor = payloads.monitor;
    let pending = prepared.pending();
    let rows = pending.iter().filter_map(|&at| prepared.scanned.tallies[at].as_ref()).map(|tally| tally.rows);
    monitor.start(Phase::Write, rows.sum());
    let results: Mutex<AllWritten> = Mutex::default();
    in_turns(memory.writers, pending.len(), |turns| -> anyhow::Result<()> {
        for nth in turns {
            let at = pending[nth];
            let tally = prepared.scanned.tallies[at].as_ref().expect("only what was scanned is pending");
            let fingerprint = &prepared.fingerprints[at];
            let memory = &memory.apart;
            let job = Job { options, fingerprint, tally, output, payloads, memory, monitor };
            let result = job.write(&prepared.inputs[at], &prepared.specs[at])?;
            if let Err(error) = &result {
                monitor.problem(&format!("{error:#}"));
            }
            results.lock().push((at, result));
        }
        Ok(())
    })?;
    monitor.finish(Phase::Write);
    let mut results = results.into_inner();
    results.sort_by_key(|(at, _)| *at);
    Ok(results)
}
