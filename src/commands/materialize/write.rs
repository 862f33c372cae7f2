//! Writes shards, several at a time: the rows of one manifest in order, payloads filled in, one rename at
//! the end.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use parking_lot::Mutex;

use super::Prepared;
use super::budget::WriteMemory;
use super::chunks::{Chunker, Rule, ShardCounts};
use super::inputs::Input;
use super::options::Options;
use super::output::{self, OutputFolder, ShardRecord};
use super::wants::{RowWant, RowWants};
use crate::commands::references::Tally;
use crate::manifest::ManifestPiece;
use crate::manifest::rows::Columns;
use crate::memory::MemoryBudget;
use crate::monitor::{Interrupted, Monitor, Phase};
use crate::object::Key;
use crate::payloads::{Payloads, ShardPayloads, ShardTier};
use crate::shard::{Chunk, Cut, ShardSpec, ShardWriter};
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
            let job = ShardJob { options, fingerprint, tally, output, payloads, memory, monitor };
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

/// A shard that was written.
pub struct Written {
    pub outcome: ShardCounts,
    pub bytes: u64,
    pub blake3: String,
}

/// What writing a shard needs beside its input.
struct ShardJob<'a> {
    options: &'a Options,
    /// See [`ShardRecord::options`].
    fingerprint: &'a str,
    /// What the rows of the input were when they were scanned.
    tally: &'a Tally,
    output: &'a OutputFolder,
    payloads: &'a Payloads<'a>,
    /// For payloads that shards keep for themselves.
    memory: &'a Arc<MemoryBudget>,
    monitor: &'a dyn Monitor,
}

impl ShardJob<'_> {
    /// The inner error is that of the manifest: it is damaged, and other shards are not concerned.
    fn write(&self, input: &Input, spec: &ShardSpec) -> anyhow::Result<Result<Written, anyhow::Error>> {
        // Before it is read: if it changes meanwhile, the record does not match it.
        let manifest = match output::hash(&input.manifest.path, self.monitor) {
            Ok(manifest) => manifest,
            Err(error) => return self.unread(error),
        };
        let mut draft = self.output.draft()?;
        let out = BufWriter::with_capacity(256 << 10, Hashed::new(draft.file()));
        let mut shard = spec.create(out);
        let outcome = match self.fill(input, spec, &mut shard)? {
            Ok(outcome) => outcome,
            Err(error) => return Ok(Err(error)),
        };
        let out = shard.finish().map_err(|error| self.explain(input, error))?;
        let hashed = out.into_inner().map_err(|error| self.explain(input, error.into_error().into()))?;
        let blake3 = hashed.hasher.finalize().to_hex().to_string();
        let bytes = hashed.bytes;
        if let Err(error) = self.check_laws(input, &outcome) {
            return Ok(Err(error));
        }
        let record = ShardRecord {
            manifest,
            options: self.fingerprint.to_owned(),
            bytes,
            blake3,
            rows_out: outcome.rows_out,
            rows_dropped: outcome.rows_dropped,
            materialized: outcome.materialized,
            materialized_bytes: outcome.materialized_bytes,
        };
        // A shard with failed references is not finished: the next run tries them again.
        let record = if outcome.failed.is_empty() {
            record
        } else {
            ShardRecord { manifest: String::new(), ..record }
        };
        self.output.commit(draft, &input.shard, &record)?;
        Ok(Ok(Written { outcome, bytes: record.bytes, blake3: record.blake3 }))
    }

    fn fill(
        &self,
        input: &Input,
        spec: &ShardSpec,
        shard: &mut ShardWriter<BufWriter<Hashed<'_>>>,
    ) -> anyhow::Result<Result<ShardCounts, anyhow::Error>> {
        let rule = Rule {
            bytes: spec.chunk_bytes,
            cut: spec.cut,
            on_error: self.options.on_error,
            largest: spec.largest_payload,
        };
        let apart = match self.references_apart(input) {
            Ok(references) => references,
            Err(error) => return self.unread(error),
        };
        let tier = ShardTier::new(apart, Arc::clone(self.memory), self.output.scratch().to_owned());
        let mut emit = |chunk: &Chunk| shard.write(chunk).map_err(|error| self.explain(input, error));
        std::thread::scope(|scope| {
            let mut chunker = Chunker::new(ShardPayloads::new(self.payloads, tier, scope), rule);
            for rows in input.manifest.rows(ManifestPiece::Whole, Columns::All) {
                self.monitor.check()?;
                let rows = match rows {
                    Ok(rows) => rows,
                    Err(error) => return Ok(Err(error)),
                };
                let wants = match RowWants::new(&rows, &input.manifest.base, rule.cut) {
                    Ok(wants) => wants,
                    Err(error) => return Ok(Err(error.context(input.manifest.path.display().to_string()))),
                };
                chunker.push(&wants, &mut emit)?;
                self.monitor.advance(Phase::Write, (rows.len() + rows.bad.len()) as u64, 0);
            }
            chunker.finish(&mut emit)?;
            Ok(Ok(chunker.outcome))
        })
    }

    /// The references to objects that a limited cache does not take: how often each recurs in the
    /// manifest is known before its payload is read.
    fn references_apart(&self, input: &Input) -> anyhow::Result<HashMap<Key, u64>> {
        let mut references = HashMap::new();
        let Some(uses) = self.payloads.limited() else { return Ok(references) };
        for rows in input.manifest.rows(ManifestPiece::Whole, Columns::References) {
            self.monitor.check()?;
            for want in RowWants::new(&rows?, &input.manifest.base, Cut::AfterAnyRow)?.wants {
                if let RowWant::Payload(want) = want
                    && !uses.admit(&want.object)
                {
                    *references.entry(want.key).or_default() += 1;
                }
            }
        }
        Ok(references)
    }

    /// Rows in = rows written + rows dropped, and every reference has its outcome: else the
    /// manifest is not the one that was scanned.
    fn check_laws(&self, input: &Input, outcome: &ShardCounts) -> anyhow::Result<()> {
        let references = outcome.materialized + outcome.failed.values().sum::<u64>();
        let rows = outcome.rows_out + outcome.rows_dropped;
        if (rows, references) != (self.tally.rows, self.tally.references) {
            anyhow::bail!("{}: it changed while it was being read; run again", input.manifest.path.display());
        }
        Ok(())
    }

    fn unread<T>(&self, error: anyhow::Error) -> anyhow::Result<Result<T, anyhow::Error>> {
        if error.is::<Interrupted>() { Err(error) } else { Ok(Err(error)) }
    }

    fn explain(&self, input: &Input, error: anyhow::Error) -> anyhow::Error {
        error.context(format!("cannot write the shard {}", input.shard.display()))
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
