//! Finds, opens and checks the manifests of a run.
//!
//! Whatever makes a run impossible is refused here, before anything is fetched.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::options::Options;
use crate::commands::{Unreadable, manifests};
use crate::locator::allow::real_path;
use crate::manifest::Manifest;
use crate::shard::ShardFormat;

/// A manifest and its shard.
pub struct Input {
    pub manifest: Manifest,
    pub format: ShardFormat,
    /// The path of the shard below the output folder.
    pub shard: PathBuf,
}

/// All manifests of a run.
pub struct Inputs {
    pub readable: Vec<Input>,
    pub unreadable: Vec<Unreadable>,
}

/// Finds and opens all manifests.
///
/// Fails when an input does not exist, when two manifests have the same shard, and when one of the
/// folders of input, output and cache contains another.
pub fn find(options: &Options) -> anyhow::Result<Inputs> {
    keep_folders_apart(options)?;
    let exclude: Vec<PathBuf> = options.output.iter().cloned().collect();
    let root = options.root.as_deref();
    let (readable, unreadable) =
        manifests::open_all(&options.manifests, &exclude, root, |manifest| prepare(options, manifest))?;
    refuse_collisions(&readable, options)?;
    Ok(Inputs { readable, unreadable })
}

fn prepare(options: &Options, manifest: Manifest) -> anyhow::Result<Input> {
    let format = ShardFormat::for_manifest(&manifest, &options.shards())?;
    let mut shard = manifest.name.clone().into_os_string();
    shard.push(".");
    shard.push(format.ending());
    Ok(Input { manifest, format, shard: shard.into() })
}

fn refuse_collisions(inputs: &[Input], options: &Options) -> anyhow::Result<()> {
    let mut seen: HashMap<&Path, &Path> = HashMap::new();
    let manifests: HashSet<PathBuf> = inputs.iter().map(|input| real_path(&input.manifest.path)).collect();
    for input in inputs {
        if let Some(other) = seen.insert(&input.shard, &input.manifest.path) {
            if real_path(other) == real_path(&input.manifest.path) {
                bail!("{} is listed twice on the command line", other.display());
            }
            bail!(
                "{} and {} would both write the shard {}; pass their common folder instead, or use two runs",
                other.display(),
                input.manifest.path.display(),
                input.shard.display()
            );
        }
        let Some(output) = &options.output else { continue };
        let shard = real_path(&output.join(&input.shard));
        if manifests.contains(&shard) {
            bail!("the shard {} would overwrite a manifest; choose another --output", shard.display());
        }
    }
    Ok(())
}

/// Refuses a cache inside a folder that is read or written: its files would be taken for data.
fn keep_folders_apart(options: &Options) -> anyhow::Result<()> {
    let cache = real_path(&options.cache_dir);
    let inputs = options.manifests.iter().filter(|path| path.is_dir()).map(|path| (path, "input"));
    for (folder, what) in inputs.chain(options.output.iter().map(|path| (path, "output"))) {
        let folder = real_path(folder);
        if cache.starts_with(&folder) {
            bail!(
                "the cache {} is inside the {what} folder {}; choose another --cache",
                cache.display(),
                folder.display()
            );
        }
        if what == "output" && folder.starts_with(&cache) {
            bail!(
                "the output folder {} is inside the cache {}; choose another --output",
                folder.display(),
                cache.display()
            );
        }
    }
    Ok(())
}
