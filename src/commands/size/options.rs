//! What a sizing is asked to do: domain values, checked, free of flag syntax.

use std::path::PathBuf;

pub use crate::analysis::cost::Objective;

/// Everything `size` needs to know.
#[derive(Clone, Debug)]
pub struct Options {
    pub origin: Origin,
    /// Cache sizes, bytes; empty: a ladder up to the bytes of all objects.
    pub budgets: Vec<u64>,
    /// The policies `count` and `density` are always there; this one beside them.
    pub objective: Objective,
    /// Request hit rates to find the smallest cache for, between 0 and 1.
    pub targets: Vec<f64>,
    /// Bytes of an object whose size nobody says; `None`: such objects are left out.
    pub assumed_size: Option<u64>,
    /// Objects of unknown size to ask the sources about: all objects of unknown size are then
    /// assumed to have the mean of the answers. 0: none. A saved table has no sources to ask.
    pub probe_sizes: usize,
    /// No source outside these is asked; empty: no limit.
    pub allow: Vec<PathBuf>,
    pub root: Option<PathBuf>,
    /// Files that the caller writes afterwards, see [`crate::commands::outputs::places`].
    pub outputs: Vec<PathBuf>,
    /// Threads, at least 1.
    pub jobs: usize,
    /// Bound on memory, bytes.
    pub memory: u64,
}

/// Where the multiplicities come from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Files, or folders that are walked.
    Manifests(Vec<PathBuf>),
    /// What `analyze --save` wrote.
    Table(PathBuf),
}
