//! The manifests that a command reads, opened.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use crate::locator::Base;
use crate::manifest::Manifest;
use crate::manifest::discover::discover;

/// Opens all manifests among `inputs`, files and folders, that are not below `exclude`, with
/// `prepare`.
///
/// Fails when an input or `root` does not exist. A manifest that cannot be opened is in the second
/// list.
pub fn open_all<T>(
    inputs: &[PathBuf],
    exclude: &[PathBuf],
    root: Option<&Path>,
    prepare: impl Fn(Manifest) -> anyhow::Result<T>,
) -> anyhow::Result<(Vec<T>, Vec<Unreadable>)> {
    if let Some(root) = root {
        Base::new(root).with_context(|| format!("cannot resolve --root {}", root.display()))?;
    }
    let (mut opened, mut unreadable) = (Vec::new(), Vec::new());
    for found in discover(inputs, exclude)? {
        let path = found.path.clone();
        match Manifest::open(found, root).and_then(&prepare) {
            Ok(manifest) => opened.push(manifest),
            Err(error) => unreadable.push(Unreadable::new(&path, &error)),
        }
    }
    Ok((opened, unreadable))
}

/// The paths of manifests that are one file with one before them, and whose relative paths start at
/// the same folder: those of a file and a folder that holds it, given together.
pub fn repeated(opened: &[Manifest]) -> Vec<&Path> {
    let mut seen = HashSet::new();
    let paths = opened.iter().filter_map(|Manifest { path, base, .. }| {
        // One that went away since it was opened is found out when it is read.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        (!seen.insert((real, base))).then_some(path.as_path())
    });
    paths.collect()
}

/// What to say where there are no manifests at all.
pub fn none_in(inputs: &[PathBuf]) -> String {
    let places: Vec<_> = inputs.iter().map(|path| path.display().to_string()).collect();
    let what =
        "no manifests (*.parquet, *.jsonl, *.ndjson, *.jsonlines, *.json; JSONL also .gz, .zst and .zstd)";
    format!("{what} in {}", places.join(", "))
}

/// A manifest that cannot be read, as reports name it.
#[derive(Clone, Debug, Serialize)]
pub struct Unreadable {
    pub path: String,
    /// Why; without the path.
    pub error: String,
}

impl Unreadable {
    pub fn new(path: &Path, error: &anyhow::Error) -> Unreadable {
        let (path, error) = (path.display().to_string(), format!("{error:#}"));
        let error = error.strip_prefix(&format!("{path}: ")).map(str::to_owned).unwrap_or(error);
        Unreadable { path, error }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; the manifest is left out", self.path, self.error)
    }
}
