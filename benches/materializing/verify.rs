//! Compares what a contestant wrote with the payloads that the corpus was made of.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::corpus::payload;

/// Checks every image row of the Parquet files in `folder` against its object, and that there
/// are `references` of them.
pub fn check(folder: &Path, references: u32) -> anyhow::Result<()> {
    let mut images = 0;
    for entry in walkdir::WalkDir::new(folder).max_depth(1).sort_by_file_name() {
        let path = entry?.into_path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            images += check_shard(&path).with_context(|| format!("checking {}", path.display()))?;
        }
    }
    let folder = folder.display();
    ensure!(images == u64::from(references), "{folder} holds {images} images, expected {references}");
    Ok(())
}

/// Returns the number of images.
fn check_shard(path: &Path) -> anyhow::Result<u64> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let mask =
        ProjectionMask::columns(builder.parquet_schema(), ["modality", "source_ref", "binary_content"]);
    let mut images = 0;
    for batch in builder.with_projection(mask).with_batch_size(64).build()? {
        images += check_batch(&batch?)?;
    }
    Ok(images)
}

fn check_batch(batch: &RecordBatch) -> anyhow::Result<u64> {
    let column = |name: &str, kind: DataType| -> anyhow::Result<ArrayRef> {
        Ok(cast(batch.column_by_name(name).with_context(|| format!("no column {name}"))?, &kind)?)
    };
    let modality = column("modality", DataType::Utf8)?;
    let source_ref = column("source_ref", DataType::Utf8)?;
    let content = column("binary_content", DataType::LargeBinary)?;
    let (modality, source_ref) = (modality.as_string::<i32>(), source_ref.as_string::<i32>());
    let content = content.as_binary::<i64>();
    let mut expected = Vec::new();
    let mut images = 0;
    for row in (0..batch.num_rows()).filter(|&row| modality.value(row) == "image") {
        let locator = source_ref.value(row);
        let (place, size) = place_and_size(locator).with_context(|| format!("reading {locator}"))?;
        expected.resize(size, 0);
        payload::fill(place, &mut expected);
        if content.is_null(row) || content.value(row) != expected {
            bail!("the payload of {locator} is not what the archive holds");
        }
        images += 1;
    }
    Ok(images)
}

fn place_and_size(locator: &str) -> anyhow::Result<(u32, usize)> {
    let locator: serde_json::Value = serde_json::from_str(locator)?;
    let place = locator["member"].as_str().and_then(place_of).context("no member")?;
    let size = locator["byte_size"].as_u64().context("no size")?;
    Ok((place, size as usize))
}

/// The place of the object in the member of this name.
fn place_of(member: &str) -> Option<u32> {
    member.strip_suffix(".jpg")?.parse().ok()
}
