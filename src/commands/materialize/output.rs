//! The output folder: shards, and the records that let a run continue where another stopped.
//!
//! ```text
//! OUTPUT/<shards>
//! OUTPUT/.onepull/lock                   held while a run writes here
//! OUTPUT/.onepull/records/<shard>.json   what a shard was made from, and its hash
//! OUTPUT/.onepull/tmp/                   shards being written; emptied by the next run
//! ```
//!
//! A record is written before its shard gets its name. A shard is finished only if its record names
//! this manifest and these options, and the hash in the record is that of the shard.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::chunks::ShardCounts;
use super::inputs::Input;
use super::options::{Existing, Options};
use crate::monitor::Monitor;
use crate::publish::Draft;
use crate::scratch::Scratch;

/// An output folder that this run may write to.
pub struct OutputFolder {
    folder: PathBuf,
    scratch: Scratch,
}

/// A shard, and what it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardRecord {
    /// BLAKE3 of the manifest.
    pub manifest: String,
    /// The options that decide about the bytes of a shard.
    pub options: String,
    pub bytes: u64,
    pub blake3: String,
    #[serde(flatten)]
    pub counts: ShardCounts,
}

impl OutputFolder {
    /// Makes the folder if needed and takes it for this run.
    ///
    /// Fails while another run writes there.
    pub fn open(folder: &Path) -> anyhow::Result<OutputFolder> {
        let state = folder.join(".onepull");
        match Scratch::exclusive(&state.join("tmp"), &state.join("lock")) {
            Ok(scratch) => Ok(OutputFolder { folder: folder.to_owned(), scratch }),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                bail!(
                    "another run is writing to {}; wait for it, or choose another --output",
                    folder.display()
                )
            }
            Err(error) => {
                Err(error).with_context(|| format!("cannot write to the output folder {}", folder.display()))
            }
        }
    }

    /// Where temporary files go.
    pub fn scratch(&self) -> &Path {
        self.scratch.folder()
    }

    /// A new file for a shard.
    pub fn draft(&self) -> anyhow::Result<Draft> {
        let context = || format!("cannot write to the output folder {}", self.folder.display());
        self.scratch.draft().with_context(context)
    }

    /// Gives a shard its name, with its record.
    pub fn commit(&self, draft: Draft, shard: &Path, record: &ShardRecord) -> anyhow::Result<()> {
        let context = || format!("cannot write the shard {}", self.folder.join(shard).display());
        let json = serde_json::to_vec_pretty(record)?;
        self.scratch.write(&record_path(&self.folder, shard), &json).with_context(context)?;
        draft.commit(&self.folder.join(shard)).with_context(context)
    }
}

fn record_path(folder: &Path, shard: &Path) -> PathBuf {
    let mut name = folder.join(".onepull/records").join(shard).into_os_string();
    name.push(".json");
    name.into()
}

/// The record of the finished shard of `input`, made with the options that `fingerprint` stands for;
/// `None` where the shard has to be made.
///
/// Fails when a file is there that no run of onepull wrote, and when the run is to stop.
pub fn find_finished(
    input: &Input,
    fingerprint: &str,
    options: &Options,
    monitor: &dyn Monitor,
) -> anyhow::Result<Option<ShardRecord>> {
    let Some(folder) = options.output.as_deref().filter(|_| options.existing == Existing::Keep) else {
        return Ok(None);
    };
    let path = folder.join(&input.shard);
    let Ok(json) = fs::read(record_path(folder, &input.shard)) else {
        if path.exists() {
            bail!("{} exists and onepull did not write it; pass --overwrite to replace it", path.display());
        }
        return Ok(None);
    };
    let Ok(record) = serde_json::from_slice::<ShardRecord>(&json) else { return Ok(None) };
    let same_length = path.metadata().is_ok_and(|metadata| metadata.len() == record.bytes);
    if record.options != fingerprint || !same_length {
        return Ok(None);
    }
    let finished = hash(&input.manifest.path, monitor).is_ok_and(|hash| hash == record.manifest)
        && hash(&path, monitor).is_ok_and(|hash| hash == record.blake3);
    monitor.check()?;
    Ok(finished.then_some(record))
}

/// BLAKE3 of a file, in hex.
///
/// Fails when the file cannot be read or the run is to stop.
pub fn hash(path: &Path, monitor: &dyn Monitor) -> anyhow::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let context = || path.display().to_string();
    let mut file = File::open(path).with_context(context)?;
    loop {
        monitor.check()?;
        let before = hasher.count();
        hasher.update_reader((&mut file).take(HASHED_BETWEEN_CHECKS)).with_context(context)?;
        if hasher.count() == before {
            return Ok(hasher.finalize().to_hex().to_string());
        }
    }
}

/// Bytes of a file that are hashed between two checks for an interruption.
const HASHED_BETWEEN_CHECKS: u64 = 64 << 20;
