//! The options of `materialize`, as checked values.

use std::path::PathBuf;

use crate::shard::{Cut, ShardOptions};
pub use crate::shard::{ImageTokens, ParquetCodec as Compression, ShardFormat as Format};

/// Everything `materialize` needs to know.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files, or folders that are walked.
    pub manifests: Vec<PathBuf>,
    /// Where shards go. A dry run needs none.
    pub output: Option<PathBuf>,
    /// `None`: as the input, JSONL gives WebDataset.
    pub format: Option<Format>,
    pub cache_dir: PathBuf,
    pub cache_mode: CacheMode,
    /// Needs [`CacheMode::Always`]. `None`: the cache takes every object.
    pub cache_limit: Option<CacheLimit>,
    pub on_error: OnError,
    pub max_errors: MaxErrors,
    /// What relative paths are relative to; `None`: the folder of their manifest.
    pub root: Option<PathBuf>,
    /// Nothing outside these is read; empty: no limit.
    pub allow: Vec<PathBuf>,
    /// Files that the caller writes afterwards, see [`crate::commands::outputs::places`].
    pub outputs: Vec<PathBuf>,
    pub stop_after: StopAfter,
    pub existing: Existing,
    pub compression: Compression,
    /// Payload bytes per Parquet row group.
    pub row_group_bytes: u64,
    pub image_tokens: ImageTokens,
    /// Threads for fetching and writing, at least 1.
    pub jobs: usize,
    /// Bound on memory, bytes; beyond it grouping spills to temporary files.
    pub memory: u64,
}

impl Options {
    /// What is asked of the shards.
    pub(super) fn shards(&self) -> ShardOptions {
        ShardOptions {
            format: self.format,
            codec: self.compression,
            row_group_bytes: self.row_group_bytes,
            image_tokens: self.image_tokens,
            cut: match self.on_error {
                OnError::DropSample => Cut::AfterSamples,
                OnError::Fail | OnError::Keep | OnError::DropRow => Cut::AfterAnyRow,
            },
        }
    }
}

/// Whether payloads go through the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMode {
    /// Every object is read from its source once and kept.
    Always,
    /// Times the source and the cache, and bypasses the cache where it is slower.
    Auto,
    /// Payloads are read when a row needs them and are not kept.
    Never,
}

/// The size of the cache, and which objects it takes if not all fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimit {
    /// Of all entries together.
    pub bytes: u64,
    pub policy: CachePolicy,
}

/// Which objects a cache of limited size takes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// Those with the most references.
    Count,
    /// Those with the most references beyond the first per byte.
    Density,
}

impl CachePolicy {
    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            CachePolicy::Count => "count",
            CachePolicy::Density => "density",
        }
    }
}

/// What to do with a row whose image cannot be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The run fails.
    Fail,
    /// The row stays, without payload, with `materialize_error`.
    Keep,
    DropRow,
    DropSample,
}

/// How many failed references a run may have and still be a success.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxErrors {
    Count(u64),
    /// Of the references, 0 to 100.
    Percent(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAfter {
    /// `--dry-run`.
    Plan,
    Shards,
}

/// What to do about files in the output folder that this command did not write, and about
/// shards that are already finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Finished shards are reused, files of others are refused.
    Keep,
    /// Everything is written again, also over files of others.
    Overwrite,
}
