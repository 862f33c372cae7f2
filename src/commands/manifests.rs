//! Manifests that a command reads, opened and ready.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Unreadable;
use crate::locator::Base;
use crate::manifest::Outline;
use crate::manifest::discover::{Manifest, discover};

/// A manifest whose columns were found, and where its relative paths start.
pub struct Opened {
    pub manifest: Manifest,
    pub outline: Outline,
    pub base: Base,
}

impl Opened {
    /// Fails when the manifest cannot be read, or `root` or its own folder does not exist.
    pub fn new(manifest: Manifest, root: Option<&Path>) -> anyhow::Result<Opened> {
        let outline = crate::manifest::outline(&manifest)?;
        let folder = root.unwrap_or(manifest.folder());
        let base =
            Base::new(folder).with_context(|| format!("cannot resolve the folder {}", folder.display()))?;
        Ok(Opened { manifest, outline, base })
    }
}

/// Opens all manifests among `inputs`, files and folders, that are not below `exclude`, with
/// `open`.
///
/// Fails when an input or `root` does not exist. A manifest that cannot be opened is in the second
/// list.
pub fn open_all<T>(
    inputs: &[PathBuf],
    exclude: &[PathBuf],
    root: Option<&Path>,
    open: impl Fn(Opened) -> anyhow::Result<T>,
) -> anyhow::Result<(Vec<T>, Vec<Unreadable>)> {
    if let Some(root) = root {
        Base::new(root).with_context(|| format!("cannot resolve --root {}", root.display()))?;
    }
    let (mut opened, mut unreadable) = (Vec::new(), Vec::new());
    for manifest in discover(inputs, exclude)? {
        match Opened::new(manifest.clone(), root).and_then(&open) {
            Ok(manifest) => opened.push(manifest),
            Err(error) => unreadable.push(Unreadable::new(&manifest.path, &error)),
        }
    }
    Ok((opened, unreadable))
}

/// The paths of manifests that are one file with one before them, and whose relative paths start at
/// the same folder: those of a file and a folder that holds it, given together.
pub fn repeated(opened: &[Opened]) -> Vec<&Path> {
    let mut seen = HashSet::new();
    let paths = opened.iter().filter_map(|Opened { manifest, base, .. }| {
        let path = manifest.path.as_path();
        // One that went away since it was opened is found out when it is read.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        (!seen.insert((real, base))).then_some(path)
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
