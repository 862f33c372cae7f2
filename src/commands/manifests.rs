//! Opens the manifests of a command.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use crate::locator::Base;
use crate::manifest::Manifest;
use crate::manifest::discover::discover;

/// Opens all manifests among `inputs`, files and folders, except those below `exclude`, and passes them
/// to `prepare`. The second list has the manifests for which either fails.
///
/// Fails if an input or `root` does not exist.
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

/// The paths of manifests that are the same file as an earlier one and have the same base, such as a
/// file that is listed together with its folder.
pub fn repeated(opened: &[Manifest]) -> Vec<&Path> {
    let mut seen = HashSet::new();
    let paths = opened.iter().filter_map(|Manifest { path, base, .. }| {
        // If it was removed after it was opened, reading it reports that.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        (!seen.insert((real, base))).then_some(path.as_path())
    });
    paths.collect()
}

/// The message if `inputs` contain no manifests.
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
    /// The cause, without the path.
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
