//! From paths on the command line to manifests that can be read and shards that can be written.
//!
//! Everything that can be refused is refused here, before anything is fetched.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};

use super::options::{Format, OnError, Options};
use crate::commands::Unreadable;
use crate::commands::manifests;
use crate::manifest::rows::{self, Columns};
use crate::manifest::{Manifest, Piece};
use crate::monitor::Monitor;
use crate::shard::parquet::{JsonFields, Layout};
use crate::shard::webdataset;

/// A manifest and the shard it becomes.
pub struct Input {
    pub manifest: Manifest,
    pub format: Format,
    /// Path of the shard below the output folder.
    pub shard: PathBuf,
}

/// All manifests of a run.
pub struct Inputs {
    pub readable: Vec<Input>,
    pub unreadable: Vec<Unreadable>,
}

/// Finds and opens all manifests.
///
/// Fails when an input does not exist, when two manifests would become one shard, and when the
/// folders of input, output and cache lie inside one another.
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
    let format = options.format.unwrap_or(match manifest.schema() {
        Some(_) => Format::Parquet,
        None => Format::WebDataset,
    });
    check_columns(&manifest, format, options.on_error)
        .with_context(|| manifest.path.display().to_string())?;
    let ending = match format {
        Format::Parquet => "parquet",
        Format::WebDataset => "tar",
    };
    let mut shard = manifest.name.clone().into_os_string();
    shard.push(".");
    shard.push(ending);
    Ok(Input { manifest, format, shard: shard.into() })
}

/// Refuses columns that rows could not be written with, while nothing has been fetched yet.
fn check_columns(manifest: &Manifest, format: Format, on_error: OnError) -> anyhow::Result<()> {
    let Some(schema) = manifest.schema() else { return Ok(()) };
    if format == Format::WebDataset {
        webdataset::check_schema(schema)?;
    }
    if on_error == OnError::DropSample && schema.column_with_name(rows::SAMPLE_ID).is_none() {
        bail!("column `{}` is missing, so there are no samples to drop", rows::SAMPLE_ID);
    }
    let as_text = match (format, on_error) {
        (Format::WebDataset, _) => &[rows::MATERIALIZE_ERROR, rows::CONTENT_TYPE, rows::TEXT_CONTENT][..],
        (Format::Parquet, OnError::DropSample) => &[rows::MATERIALIZE_ERROR, rows::SAMPLE_ID],
        (Format::Parquet, _) => &[rows::MATERIALIZE_ERROR],
    };
    for field in schema.fields().iter().filter(|field| as_text.contains(&field.name().as_str())) {
        if !rows::is_text(field.data_type()) && manifest.has_values(field.name()) {
            bail!("column `{}` has type {}, not text", field.name(), field.data_type());
        }
    }
    Ok(())
}

fn refuse_collisions(inputs: &[Input], options: &Options) -> anyhow::Result<()> {
    let mut seen: HashMap<&Path, &Path> = HashMap::new();
    let manifests: HashSet<PathBuf> = inputs.iter().map(|input| real(&input.manifest.path)).collect();
    for input in inputs {
        if let Some(other) = seen.insert(&input.shard, &input.manifest.path) {
            if real(other) == real(&input.manifest.path) {
                bail!("{} is given twice", other.display());
            }
            bail!(
                "{} and {} would both become the shard {}; give their common folder instead, or run them apart",
                other.display(),
                input.manifest.path.display(),
                input.shard.display()
            );
        }
        let Some(output) = &options.output else { continue };
        let shard = real(&output.join(&input.shard));
        if manifests.contains(&shard) {
            bail!("the shard {} would replace a manifest; choose another --output", shard.display());
        }
    }
    Ok(())
}

/// A cache inside a folder that is read or written would be taken for data.
fn keep_folders_apart(options: &Options) -> anyhow::Result<()> {
    let cache = real(&options.cache_dir);
    let inputs = options.manifests.iter().filter(|path| path.is_dir()).map(|path| (path, "input"));
    for (folder, what) in inputs.chain(options.output.iter().map(|path| (path, "output"))) {
        let folder = real(folder);
        if cache.starts_with(&folder) {
            bail!(
                "the cache {} lies inside the {what} folder {}; choose another --cache",
                cache.display(),
                folder.display()
            );
        }
        if what == "output" && folder.starts_with(&cache) {
            bail!(
                "the output folder {} lies inside the cache {}; choose another --output",
                folder.display(),
                cache.display()
            );
        }
    }
    Ok(())
}

/// The path without symlinks, as far as it exists. What is missing would be made as folders, so
/// that a `..` after it leads back.
fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut real = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => drop(real.pop()),
            other => real.push(other),
        }
        real = real.canonicalize().unwrap_or(real);
    }
    real
}

/// The layouts of Parquet shards: of each manifest its own columns, of all JSONL manifests one.
pub fn layouts(
    inputs: &[Input],
    options: &Options,
    monitor: &dyn Monitor,
) -> anyhow::Result<Vec<Option<Layout>>> {
    let codec = options.compression;
    let jsonl: Vec<&Input> =
        inputs.iter().filter(|i| i.format == Format::Parquet && i.manifest.schema().is_none()).collect();
    let json_fields = if jsonl.is_empty() { None } else { Some(Arc::new(json_fields(&jsonl, monitor)?)) };
    let layout = |input: &Input| match (input.format, input.manifest.schema(), &json_fields) {
        (Format::WebDataset, _, _) => None,
        (Format::Parquet, Some(schema), _) => Some(Layout::of_parquet(schema, codec)),
        (Format::Parquet, None, fields) => {
            let fields = fields.clone().expect("inferred above for JSONL manifests");
            Some(Layout::of_jsonl(fields, codec))
        }
    };
    Ok(inputs.iter().map(layout).collect())
}

/// Looks at every row for the types of its other fields. Damaged manifests are met again, and
/// reported, when their references are read.
fn json_fields(inputs: &[&Input], monitor: &dyn Monitor) -> anyhow::Result<JsonFields> {
    let rows = inputs.iter().flat_map(|input| {
        let readable = input.manifest.rows(Piece::Whole, Columns::All).map_while(Result::ok);
        readable.map(|rows| monitor.check().map(|()| (input.manifest.path.as_path(), rows)))
    });
    JsonFields::infer(rows)
}
