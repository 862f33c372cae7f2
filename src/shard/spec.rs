//! What a shard will look like: its format, and all else that decides its bytes beside its rows.
//!
//! Formats differ in more than their bytes: which columns they can hold, how large a payload, and
//! where a chunk may end. All of that is asked here.

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

/// What is asked of the shards of a run.
#[derive(Clone, Copy, Debug)]
pub struct ShardOptions {
    /// `None`: the format of the manifest. JSONL gives WebDataset.
    pub format: Option<ShardFormat>,
    pub codec: ParquetCodec,
    /// Payload bytes in a Parquet row group.
    pub row_group_bytes: u64,
    pub image_tokens: ImageTokens,
    pub cut: Cut,
}

/// Payload bytes that are put together before samples are written to a tar.
const WEBDATASET_CHUNK_BYTES: u64 = 16 << 20;

/// Parquet counts lengths in 31 bits, and a page holds more than its payload.
const LARGEST_IN_PARQUET: u64 = (1 << 31) - (1 << 20);

impl ShardFormat {
    /// The format of the shard of `manifest`. Fails, naming the file and the column, when the
    /// shard cannot hold a column of the manifest.
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

    /// The ending of a shard's name.
    pub fn ending(self) -> &'static str {
        match self {
            ShardFormat::Parquet => "parquet",
            ShardFormat::WebDataset => "tar",
        }
    }

    /// Memory that it takes to write a chunk, bytes.
    pub fn chunk_memory(self, options: &ShardOptions) -> u64 {
        match self {
            // The pages of a dictionary are made while the payloads are still there.
            ShardFormat::Parquet => options.row_group_bytes.saturating_mul(2),
            ShardFormat::WebDataset => WEBDATASET_CHUNK_BYTES,
        }
    }
}

/// What decides the bytes of a shard, beside its rows.
#[derive(Clone, Debug)]
pub enum ShardSpec {
    Parquet { layout: ParquetLayout, row_group_bytes: u64, cut: Cut },
    WebDataset { tokens: ImageTokens },
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
        let fields =
            if untyped.is_empty() { None } else { Some(Arc::new(json_fields(&untyped, jobs, check)?)) };
        let spec = |(manifest, format): &(&Manifest, ShardFormat)| match format {
            ShardFormat::WebDataset => ShardSpec::WebDataset { tokens: options.image_tokens },
            ShardFormat::Parquet => {
                let layout = match (manifest.schema(), &fields) {
                    (Some(schema), _) => ParquetLayout::of_parquet(schema, options.codec),
                    (None, fields) => {
                        let fields =
                            fields.clone().expect("inferred above, since the manifest has no schema");
                        ParquetLayout::of_jsonl(fields, options.codec)
                    }
                };
                ShardSpec::Parquet { layout, row_group_bytes: options.row_group_bytes, cut: options.cut }
            }
        };
        Ok(shards.iter().map(spec).collect())
    }

    /// A text that differs where shards of the same rows may differ.
    pub fn fingerprint(&self) -> String {
        match self {
            ShardSpec::Parquet { layout, row_group_bytes, cut } => {
                format!("parquet {:?} {row_group_bytes} {cut:?} {:?}", layout.codec, layout.schema.fields())
            }
            ShardSpec::WebDataset { tokens } => format!("webdataset {tokens:?}"),
        }
    }

    /// Payload bytes that end a chunk.
    pub fn chunk_bytes(&self) -> u64 {
        match self {
            ShardSpec::Parquet { row_group_bytes, .. } => *row_group_bytes,
            ShardSpec::WebDataset { .. } => WEBDATASET_CHUNK_BYTES,
        }
    }

    /// Where a chunk may end.
    pub fn cut(&self) -> Cut {
        match self {
            ShardSpec::Parquet { cut, .. } => *cut,
            ShardSpec::WebDataset { .. } => Cut::AfterSamples,
        }
    }

    /// The largest payload that the shard can hold, bytes.
    pub fn largest_payload(&self) -> u64 {
        match self {
            ShardSpec::Parquet { .. } => LARGEST_IN_PARQUET,
            ShardSpec::WebDataset { .. } => u64::MAX,
        }
    }

    /// Starts a shard at the current end of `out`.
    pub fn create<W: Write + Send>(&self, out: W) -> ShardWriter<W> {
        match self {
            ShardSpec::Parquet { layout, .. } => {
                ShardWriter::Parquet(Box::new(ParquetShard::new(out, layout.clone())))
            }
            ShardSpec::WebDataset { tokens } => {
                ShardWriter::WebDataset(Box::new(WebDatasetWriter::new(out, *tokens)))
            }
        }
    }
}

/// Looks at every row for the types of its other fields. A damaged manifest is skipped: it is met
/// again, and reported, when its references are read.
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

    /// Completes the shard and gives the output back, flushed.
    pub fn finish(self) -> anyhow::Result<W> {
        match self {
            ShardWriter::Parquet(shard) => shard.finish(),
            ShardWriter::WebDataset(shard) => shard.finish(),
        }
    }
}
