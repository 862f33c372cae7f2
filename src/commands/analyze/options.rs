//! Options of an analysis: domain values, checked, without flag syntax.

use std::path::{Path, PathBuf};

pub use crate::analysis::sampling::Share;

/// Everything `analyze` needs to know.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files, or folders that are walked.
    pub manifests: Vec<PathBuf>,
    /// What relative paths are relative to; `None`: the folder of their manifest.
    pub root: Option<PathBuf>,
    /// Only the objects of this share of all keys are counted; `None`: all of them.
    pub sample: Option<Share>,
    /// Sources that are listed one by one, most references first.
    pub sources: usize,
    /// Tasks that run at the same time, each with its own line in the report.
    pub workers: Vec<u64>,
    /// Tasks of the whole pass; `None`: one per manifest.
    pub tasks: Option<u64>,
    /// Whether a replay counts what workers lose, with the references where they are.
    pub simulate: bool,
    /// Objects that are read from their sources to compare their bytes; 0: none.
    pub content_sample: usize,
    /// Objects of unknown size that a sizing probes; 0: none.
    pub unsized_sample: usize,
    /// Whether some objects are timed, from their sources and through a cache.
    pub probe: bool,
    /// Nothing outside these is read; empty: no limit. Concerns payloads, not manifests.
    pub allow: Vec<PathBuf>,
    /// Where the probe keeps its entries while it runs; a folder that is made and removed below it.
    pub cache_dir: PathBuf,
    /// The file to save the counts in, for a sizing.
    pub save: Option<PathBuf>,
    /// Files that the caller writes afterwards, see [`crate::commands::outputs::places`].
    pub outputs: Vec<PathBuf>,
    /// References whose order is kept, at most; beyond that a sample by key. 0: none.
    pub ordered: usize,
    /// Threads, at least 1.
    pub jobs: usize,
    /// Bound on memory, bytes; beyond it grouping spills to temporary files.
    pub memory: u64,
}

impl Options {
    /// To count all references exactly, and no more.
    pub fn counting(manifests: &[PathBuf], root: Option<&Path>, jobs: usize, memory: u64) -> Options {
        let (manifests, root) = (manifests.to_vec(), root.map(Path::to_owned));
        Options { manifests, root, jobs, memory, ..Options::default() }
    }
}
