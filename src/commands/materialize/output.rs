//! The output folder: shards, and what is needed to go on where a run stopped.
//!
//! ```text
//! OUTPUT/<shards>
//! OUTPUT/.onepull/lock                   held while a run writes here
//! OUTPUT/.onepull/records/<shard>.json   what a shard was made from, and its hash
//! OUTPUT/.onepull/tmp/                   shards being written; emptied by the next run
//! ```
//!
//! A record is written before its shard gets its name. So a shard counts as finished only if its
//! record says that it was made from this manifest with these options, and its bytes are those
//! that the record names.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::chunks::Outcome;
use super::options::Existing;
use crate::monitor::Monitor;
use crate::publish::{self, Draft};

/// An output folder that this run may write to.
pub struct Output {
    folder: PathBuf,
    _lock: Option<File>,
}

/// What a finished shard is, and what it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// BLAKE3 of the manifest.
    pub manifest: String,
    /// The options that decide about the bytes of a shard.
    pub options: String,
    pub bytes: u64,
    pub blake3: String,
    pub rows_out: u64,
    pub rows_dropped: u64,
    pub materialized: u64,
    pub materialized_bytes: u64,
}

impl Record {
    pub fn outcome(&self) -> Outcome {
        Outcome {
            rows_out: self.rows_out,
            rows_dropped: self.rows_dropped,
            materialized: self.materialized,
            materialized_bytes: self.materialized_bytes,
            ..Outcome::default()
        }
    }
}

impl Output {
    /// Makes the folder if needed and takes it for this run.
    ///
    /// Fails while another run writes there.
    pub fn open(folder: &Path) -> anyhow::Result<Output> {
        let state = folder.join(".onepull");
        let context = || format!("cannot write to the output folder {}", folder.display());
        fs::create_dir_all(&state).with_context(context)?;
        let lock =
            File::options().create(true).append(true).open(state.join("lock")).with_context(context)?;
        let lock = match lock.try_lock() {
            Ok(()) => Some(lock),
            Err(TryLockError::WouldBlock) => {
                bail!(
                    "another run is writing to {}; wait for it, or choose another --output",
                    folder.display()
                )
            }
            // Without locks two runs at once cost work, not bytes: shards appear by rename.
            Err(TryLockError::Error(_)) => None,
        };
        let output = Output { folder: folder.to_owned(), _lock: lock };
        output.empty_scratch().with_context(context)?;
        fs::create_dir_all(output.scratch()).with_context(context)?;
        Ok(output)
    }

    /// Where temporary files go.
    pub fn scratch(&self) -> PathBuf {
        self.folder.join(".onepull/tmp")
    }

    fn empty_scratch(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.scratch()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// A new file for a shard.
    pub fn draft(&self) -> anyhow::Result<Draft> {
        Draft::create(&self.scratch(), "shard-")
            .with_context(|| format!("cannot write to the output folder {}", self.folder.display()))
    }

    /// Gives a shard its name, with its record.
    pub fn commit(&self, draft: Draft, shard: &Path, record: &Record) -> anyhow::Result<()> {
        let context = || format!("cannot write the shard {}", self.folder.join(shard).display());
        let json = serde_json::to_vec_pretty(record)?;
        let path = record_path(&self.folder, shard);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(context)?;
        }
        publish::write(&self.scratch(), &path, &json).with_context(context)?;
        draft.commit(&self.folder.join(shard)).with_context(context)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // A folder that cannot be removed now is emptied by the next run.
        let _ = self.empty_scratch();
    }
}

fn record_path(folder: &Path, shard: &Path) -> PathBuf {
    let mut name = folder.join(".onepull/records").join(shard).into_os_string();
    name.push(".json");
    name.into()
}

/// What stands where a shard is to go.
pub enum Found {
    /// Nothing, or a shard that must be made again.
    Unfinished,
    Finished(Record),
}

/// Looks for the finished shard of the manifest with this hash, made with these options.
///
/// Fails when a file is there that no run of this tool has written.
pub fn find(
    folder: &Path,
    shard: &Path,
    manifest: &Path,
    options: &str,
    existing: Existing,
    monitor: &dyn Monitor,
) -> anyhow::Result<Found> {
    if existing == Existing::Overwrite {
        return Ok(Found::Unfinished);
    }
    let path = folder.join(shard);
    let Ok(json) = fs::read(record_path(folder, shard)) else {
        if path.exists() {
            bail!("{} is there and was not written by this tool; --overwrite replaces it", path.display());
        }
        return Ok(Found::Unfinished);
    };
    let Ok(record) = serde_json::from_slice::<Record>(&json) else { return Ok(Found::Unfinished) };
    let same_length = path.metadata().is_ok_and(|metadata| metadata.len() == record.bytes);
    if record.options != options || !same_length {
        return Ok(Found::Unfinished);
    }
    let finished = hash(manifest, monitor).is_ok_and(|hash| hash == record.manifest)
        && hash(&path, monitor).is_ok_and(|hash| hash == record.blake3);
    monitor.check()?;
    Ok(if finished { Found::Finished(record) } else { Found::Unfinished })
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

/// Bytes of a file that are hashed before it is asked whether to stop.
const HASHED_BETWEEN_CHECKS: u64 = 64 << 20;
