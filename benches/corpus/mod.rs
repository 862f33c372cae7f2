//! Corpora of any size to measure with: archives of incompressible payloads, and manifests whose
//! references are scattered over samples and files by a fixed seed.
//!
//! The same [`Spec`] gives the same bytes. A corpus on disk is used again when its stamp names
//! the spec and the folder it was made for (locators hold absolute paths). Memory while making
//! one: 4 bytes a reference and 16 an object.

mod archives;
mod manifests;
mod objects;
pub mod payload;
mod spec;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

pub use spec::{Payloads, Sizes, Spec};

use crate::setup;

/// A corpus on disk.
#[derive(Debug)]
pub struct Corpus {
    /// Sorted.
    pub manifests: Vec<PathBuf>,
    /// Manifests and archives.
    pub files: Vec<PathBuf>,
}

/// The corpus for `spec` in `folder`, made now unless an earlier run did.
pub fn prepare(folder: &Path, spec: &Spec) -> anyhow::Result<Corpus> {
    if let Some(corpus) = open(folder, spec) {
        return Ok(corpus);
    }
    eprintln!("making a corpus in {}: {spec}", folder.display());
    setup::in_own_process("generate", folder, &spec.settings())?;
    open(folder, spec).context("the corpus is not the one that was asked for")
}

/// Makes the corpus in `folder`, in place of whatever an earlier corpus left there.
pub fn generate(folder: &Path, spec: &Spec) -> anyhow::Result<()> {
    let _ = fs::remove_file(folder.join(STAMP));
    for part in [MANIFESTS, ARCHIVES] {
        let part = folder.join(part);
        if part.exists() {
            fs::remove_dir_all(&part).with_context(|| format!("removing {}", part.display()))?;
        }
        fs::create_dir_all(&part).with_context(|| format!("creating {}", part.display()))?;
    }
    let objects = objects::draw(spec)?;
    let archives = folder.canonicalize()?.join(ARCHIVES);
    if let Payloads::Written = spec.payloads {
        archives::write(&archives, &objects)?;
    }
    manifests::write(&folder.join(MANIFESTS), &archives, spec.manifests, &objects)?;
    // Last: a corpus without a stamp is an unfinished one.
    fs::write(folder.join(STAMP), stamp(folder, spec)?)?;
    Ok(())
}

/// The corpus in `folder`, if it is a whole one and the one that `spec` describes.
fn open(folder: &Path, spec: &Spec) -> Option<Corpus> {
    let expected = stamp(folder, spec).ok()?;
    if fs::read_to_string(folder.join(STAMP)).ok()? != expected {
        return None;
    }
    let manifests = list(&folder.join(MANIFESTS)).ok()?;
    let files = [manifests.clone(), list(&folder.join(ARCHIVES)).ok()?].concat();
    Some(Corpus { manifests, files })
}

const MANIFESTS: &str = "manifests";
const ARCHIVES: &str = "archives";
const STAMP: &str = "corpus.stamp";

/// Raised when the generator changes what it writes for the same spec.
const GENERATOR: u32 = 1;

fn stamp(folder: &Path, spec: &Spec) -> anyhow::Result<String> {
    Ok(format!("generator {GENERATOR}\n{spec:?}\n{}\n", folder.canonicalize()?.display()))
}

fn list(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
