//! The spec of a shard: its format, and everything else beside its rows that decides its bytes.
//!
//! Formats differ in the columns and payloads that they can hold, and in where a chunk may end. Other
//! modules ask the spec instead of the format.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, bail};

use super::Chunk;
use super::parquet::{FieldTypes, JsonFields, ParquetCodec, ParquetLayout, ParquetShard};
use super::webdataset::{self, ImageTokens, WebDatasetWriter};
use crate::manifest::rows::{self, Columns};
use crate::manifest::{Manifest, ManifestPiece};
use crate::threads::in_turns;

/// The format of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardFormat {
    Parquet,
    WebDataset,
}

/// Where a chunk may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    AfterAnyRow,
    AfterSamples,
}

/// The options of all shards of a run.
#[derive(Clone, Copy, Debug)]
pub struct ShardOptions {
    /// `None`: Parquet for Parquet manifests, WebDataset for JSONL.
    pub format: Option<ShardFormat>,
    pub codec: ParquetCodec,
    /// Payload bytes in a Parquet row group.
    pub row_group_bytes: u64,
    pub image_tokens: ImageTokens,
    pub cut: Cut,
}

/// Payload bytes in a chunk of a tar.
const WEBDATASET_CHUNK_BYTES: u64 = 16 << 20;

/// Lengths in Parquet have 31 bits, and a page holds more than its payload.
const LARGEST_IN_PARQUET: u64 = (1 << 31) - (1 << 20);

impl ShardFormat {
    /// The format of the shard of `manifest`. Fails, naming the file and the column, if the shard cannot
    /// hold a column of the manifest.
    pub fn for_manifest(manifest: &Manifest, options: &ShardOptions) -> anyhow::Result<ShardFormat> {
        let format = options.format.unwrap_or(match manifest.schema() {
            Some(_) => ShardFormat::Parquet,
            None => ShardFormat::WebDataset,
        });
        format.check_columns(manifest, options.cut).with_context(|| manifest.path.display().to_string())?;
        Ok(format)
    }

    fn check_columns(self, manifest: &Manifest, cut: Cut) -> anyhow::Result<()> {
        let Some(schema) = manifest.schema() else { return Ok(()) };
        let as_text = match (self, cut) {
            (ShardFormat::WebDataset, _) => {
                webdataset::check_schema(schema)?;
                &[rows::MATERIALIZE_ERROR, rows::CONTENT_TYPE, rows::TEXT_CONTENT][..]
            }
            (ShardFormat::Parquet, Cut::AfterSamples) => &[rows::MATERIALIZE_ERROR, rows::SAMPLE_ID],
            (ShardFormat::Parquet, Cut::AfterAnyRow) => &[rows::MATERIALIZE_ERROR],
        };
        if cut == Cut::AfterSamples && schema.column_with_name(rows::SAMPLE_ID).is_none() {
            bail!("--on-error drop-sample needs the column `{}`", rows::SAMPLE_ID);
        }
        for field in schema.fields().iter().filter(|field| as_text.contains(&field.name().as_str())) {
            if !rows::is_text(field.data_type()) && manifest.has_values(field.name()) {
                bail!("column `{}` has type {}, not text", field.name(), field.data_type());
            }
        }
        Ok(())
    }

    /// The file extension of a shard.
    pub fn ending(self) -> &'static str {
        match self {
            ShardFormat::Parquet => "parquet",
            ShardFormat::WebDataset => "tar",
        }
    }

    /// Bytes of memory needed to write a chunk.
    pub fn chunk_memory(self, options: &ShardOptions) -> u64 {
        match self {
            // The pages of a dictionary are made while the payloads are still in memory.
            ShardFormat::Parquet => options.row_group_bytes.saturating_mul(2),
            ShardFormat::WebDataset => WEBDATASET_CHUNK_BYTES,
        }
    }
}

/// Everything beside its rows that decides the bytes of a shard.
#[derive(Clone, Debug)]
pub struct ShardSpec {
    /// Payload bytes that end a chunk.
    pub chunk_bytes: u64,
    pub cut: Cut,
    /// Bytes of the largest payload that the shard can hold.
    pub largest_payload: u64,
    layout: Layout,
}

#[derive(Clone, Debug)]
enum Layout {
    Parquet(ParquetLayout),
    WebDataset(ImageTokens),
}

impl ShardSpec {
    /// The spec of each shard. Parquet shards have the columns of their manifest; those of JSONL
    /// manifests share a schema, for which `jobs` threads read all rows.
    ///
    /// Fails when `check` does, which is called now and then.
    pub fn for_all(
        shards: &[(&Manifest, ShardFormat)],
        options: &ShardOptions,
        jobs: usize,
        check: &(dyn Fn() -> anyhow::Result<()> + Sync),
    ) -> anyhow::Result<Vec<ShardSpec>> {
        let is_untyped = |(manifest, format): &&(&Manifest, _)| {
            *format == ShardFormat::Parquet && manifest.schema().is_none()
        };
        let untyped: Vec<&Manifest> =
            shards.iter().filter(is_untyped).map(|(manifest, _)| *manifest).collect();
        let fields = Arc::new(json_fields(&untyped, jobs, check)?);
        let spec = |(manifest, format): &(&Manifest, ShardFormat)| match format {
            ShardFormat::Parquet => ShardSpec {
                chunk_bytes: options.row_group_bytes,
                cut: options.cut,
                largest_payload: LARGEST_IN_PARQUET,
                layout: Layout::Parquet(match manifest.schema() {
                    Some(schema) => ParquetLayout::from_parquet(schema, options.codec),
                    None => ParquetLayout::from_jsonl(fields.clone(), options.codec),
                }),
            },
            ShardFormat::WebDataset => ShardSpec {
                chunk_bytes: WEBDATASET_CHUNK_BYTES,
                cut: Cut::AfterSamples,
                largest_payload: u64::MAX,
                layout: Layout::WebDataset(options.image_tokens),
            },
        };
        Ok(shards.iter().map(spec).collect())
    }

    /// A text that differs if shards of the same rows may differ.
    pub fn fingerprint(&self) -> String {
        match &self.layout {
            Layout::Parquet(layout) => {
                let ShardSpec { chunk_bytes, cut, .. } = self;
                format!("parquet {:?} {chunk_bytes} {cut:?} {:?}", layout.codec, layout.schema.fields())
            }
            Layout::WebDataset(tokens) => format!("webdataset {tokens:?}"),
        }
    }

    /// Starts a shard at the current end of `out`.
    pub fn create<W: Write + Send>(&self, out: W) -> ShardWriter<W> {
        match &self.layout {
            Layout::Parquet(layout) => ShardWriter::Parquet(Box::new(ParquetShard::new(out, layout.clone()))),
            Layout::WebDataset(tokens) => {
                ShardWriter::WebDataset(Box::new(WebDatasetWriter::new(out, *tokens)))
            }
        }
    }
}

/// Reads all rows of JSONL `manifests` for the types of their other fields. A damaged manifest is
/// skipped here and reported when its references are read.
fn json_fields(
    manifests: &[&Manifest],
    jobs: usize,
    check: &(dyn Fn() -> anyhow::Result<()> + Sync),
) -> anyhow::Result<JsonFields> {
    let found =
        in_turns(jobs.min(manifests.len()), manifests.len(), |turns| -> anyhow::Result<FieldTypes> {
            let mut types = FieldTypes::default();
            for nth in turns {
                for rows in manifests[nth].rows(ManifestPiece::Whole, Columns::All).map_while(Result::ok) {
                    check()?;
                    types.add(&rows.table)?;
                }
            }
            Ok(types)
        })?;
    let mut types = FieldTypes::default();
    found.into_iter().for_each(|of_thread| types.merge(of_thread));
    Ok(types.into_columns())
}

/// Writes a shard, of either format.
pub enum ShardWriter<W: Write + Send> {
    Parquet(Box<ParquetShard<W>>),
    WebDataset(Box<WebDatasetWriter<W>>),
}

impl<W: Write + Send> ShardWriter<W> {
    pub fn write(&mut self, chunk: &Chunk) -> anyhow::Result<()> {
        match self {
            ShardWriter::Parquet(shard) => shard.write(chunk),
            ShardWriter::WebDataset(shard) => shard.write(chunk),
        }
    }

    /// Ends the shard and returns the output, flushed.
    pub fn finish(self) -> anyhow::Result<W> {
        match self {
            ShardWriter::Parquet(shard) => shard.finish(),
            ShardWriter::WebDataset(shard) => shard.finish(),
        }
    }
}
