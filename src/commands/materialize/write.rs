//! Writes shards, several at a time: the rows of one manifest in order, payloads filled in, one rename at
//! the end.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use parking_lot::Mutex;

use super::budget::WriteMemory;
use super::chunks::{Chunker, ShardCounts};
use super::jobs::ShardJob;
use super::options::OnError;
use super::output::{self, OutputFolder, ShardRecord};
use super::wants::{RowWant, RowWants};
use crate::commands::references::Tally;
use crate::manifest::ManifestPiece;
use crate::manifest::rows::Columns;
use crate::memory::MemoryBudget;
use crate::monitor::{Interrupted, Phase};
use crate::object::Key;
use crate::payloads::{Payloads, ShardPayloads, ShardTier};
use crate::shard::{Chunk, Cut, ShardWriter};
use crate::threads::in_turns;

/// By the number of the job: its shard, or why its manifest cannot be read any more.
pub type AllWritten = HashMap<usize, anyhow::Result<ShardRecord>>;

/// Writes the shard of each job that is pending.
///
/// Fails when the run ends: what is finished by then stays.
pub fn write_all(
    jobs: &[ShardJob],
    output: &OutputFolder,
    payloads: &Payloads,
    memory: &WriteMemory,
    on_error: OnError,
) -> anyhow::Result<AllWritten> {
    let monitor = payloads.monitor;
    let pending: Vec<(usize, &Tally)> =
        jobs.iter().enumerate().filter_map(|(at, job)| Some((at, job.pending()?))).collect();
    monitor.start(Phase::Write, pending.iter().map(|(_, tally)| tally.rows).sum());
    let results: Mutex<AllWritten> = Mutex::default();
    in_turns(memory.writers, pending.len(), |turns| -> anyhow::Result<()> {
        for nth in turns {
            let (at, tally) = pending[nth];
            let task = WriteTask { job: &jobs[at], tally, output, payloads, memory: &memory.apart, on_error };
            let result = match task.write() {
                Ok(record) => Ok(record),
                Err(Stop::Run(error)) => return Err(error),
                Err(Stop::Shard(error)) => {
                    monitor.problem(&format!("{error:#}"));
                    Err(error)
                }
            };
            results.lock().insert(at, result);
        }
        Ok(())
    })?;
    monitor.finish(Phase::Write);
    Ok(results.into_inner())
}

/// Why a shard is not written.
enum Stop {
    /// Its manifest is damaged; other shards are not concerned.
    Shard(anyhow::Error),
    Run(anyhow::Error),
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Stop {
        Stop::Run(error)
    }
}

/// The error of reading a manifest, or an interruption meanwhile.
fn manifest_error(error: anyhow::Error) -> Stop {
    if error.is::<Interrupted>() { Stop::Run(error) } else { Stop::Shard(error) }
}

/// What writing a shard needs.
struct WriteTask<'a> {
    job: &'a ShardJob,
    tally: &'a Tally,
    output: &'a OutputFolder,
    payloads: &'a Payloads<'a>,
    /// For payloads that shards keep for themselves.
    memory: &'a Arc<MemoryBudget>,
    on_error: OnError,
}

impl WriteTask<'_> {
    fn write(&self) -> Result<ShardRecord, Stop> {
        let ShardJob { input, spec, fingerprint, .. } = self.job;
        // Before it is read: if it changes meanwhile, the record does not match it.
        let manifest = output::hash(&input.manifest.path, self.payloads.monitor).map_err(manifest_error)?;
        let mut draft = self.output.draft()?;
        let mut shard = spec.create(BufWriter::with_capacity(256 << 10, Hashed::new(draft.file())));
        let counts = self.fill(&mut shard)?;
        let out = shard.finish().map_err(|error| self.explain(error))?;
        let hashed = out.into_inner().map_err(|error| self.explain(error.into_error().into()))?;
        let (bytes, blake3) = (hashed.bytes, hashed.hasher.finalize().to_hex().to_string());
        self.check_laws(&counts).map_err(Stop::Shard)?;
        // A shard with failed references is not finished: the next run tries them again.
        let manifest = if counts.failed.is_empty() { manifest } else { String::new() };
        let record = ShardRecord { manifest, options: fingerprint.clone(), bytes, blake3, counts };
        self.output.commit(draft, &input.shard, &record)?;
        Ok(record)
    }

    fn fill(&self, shard: &mut ShardWriter<BufWriter<Hashed<'_>>>) -> Result<ShardCounts, Stop> {
        let ShardJob { input, spec, .. } = self.job;
        let monitor = self.payloads.monitor;
        let apart = self.references_apart().map_err(manifest_error)?;
        let tier = ShardTier::new(apart, Arc::clone(self.memory), self.output.scratch().to_owned());
        let mut emit = |chunk: &Chunk| shard.write(chunk).map_err(|error| self.explain(error));
        std::thread::scope(|scope| {
            let mut chunker =
                Chunker::new(ShardPayloads::new(self.payloads, tier, scope), spec, self.on_error);
            for rows in input.manifest.rows(ManifestPiece::Whole, Columns::All) {
                monitor.check()?;
                let rows = rows.map_err(Stop::Shard)?;
                let wants = RowWants::new(&rows, &input.manifest.base, spec.cut)
                    .map_err(|error| Stop::Shard(error.context(input.manifest.path.display().to_string())))?;
                chunker.push(&wants, &mut emit)?;
                monitor.advance(Phase::Write, (rows.len() + rows.bad.len()) as u64, 0);
            }
            Ok(chunker.finish(&mut emit)?)
        })
    }

    /// The references to objects that a limited cache does not take: how often each recurs in the
    /// manifest is known before its payload is read.
    fn references_apart(&self) -> anyhow::Result<HashMap<Key, u64>> {
        let manifest = &self.job.input.manifest;
        let mut references = HashMap::new();
        let Some(admitted) = self.payloads.limited() else { return Ok(references) };
        for rows in manifest.rows(ManifestPiece::Whole, Columns::References) {
            self.payloads.monitor.check()?;
            for want in RowWants::new(&rows?, &manifest.base, Cut::AfterAnyRow)?.wants {
                if let RowWant::Payload(want) = want
                    && !admitted.admit(&want.object)
                {
                    *references.entry(want.key).or_default() += 1;
                }
            }
        }
        Ok(references)
    }

    /// Rows in = rows written + rows dropped, and every reference has its outcome: else the
    /// manifest is not the one that was scanned.
    fn check_laws(&self, counts: &ShardCounts) -> anyhow::Result<()> {
        let references = counts.materialized + counts.failed.values().sum::<u64>();
        let rows = counts.rows_out + counts.rows_dropped;
        if (rows, references) != (self.tally.rows, self.tally.references) {
            let path = self.job.input.manifest.path.display();
            anyhow::bail!("{path}: it changed while it was being read; run again");
        }
        Ok(())
    }

    fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        error.context(format!("cannot write the shard {}", self.job.input.shard.display()))
    }
}

/// Hashes what goes through it.
struct Hashed<'a> {
    file: &'a mut File,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<'a> Hashed<'a> {
    fn new(file: &'a mut File) -> Hashed<'a> {
        Hashed { file, hasher: blake3::Hasher::new(), bytes: 0 }
    }
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
