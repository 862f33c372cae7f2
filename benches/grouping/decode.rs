//! The floor: the columns that grouping needs, decoded by the reader that onepull reads with, and
//! thrown away.
//!
//! Row groups are handed out one at a time to as many threads as there are jobs. In the corpora
//! of the benchmark only references have a locator, so that counting them takes no look at a row.

use std::fs::File;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use arrow_array::Array;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

const COLUMNS: [&str; 2] = ["modality", "source_ref"];
const ROWS_PER_BATCH: usize = 8192;

/// Decodes all of `manifests` on `jobs` threads and returns the number of references.
pub fn run(manifests: &[PathBuf], jobs: usize) -> anyhow::Result<u64> {
    let mut row_groups = Vec::new();
    for manifest in manifests {
        let metadata = open(manifest).with_context(|| format!("opening {}", manifest.display()))?;
        let count = metadata.metadata().num_row_groups();
        row_groups.extend((0..count).map(|index| (manifest, metadata.clone(), index)));
    }
    let next = AtomicUsize::new(0);
    let work = || -> anyhow::Result<u64> {
        let mut references = 0;
        while let Some((path, metadata, index)) = row_groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            references +=
                decode(path, metadata, *index).with_context(|| format!("decoding {}", path.display()))?;
        }
        Ok(references)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("decoding does not panic")).sum()
    })
}

/// The footer, with strings read as views: they are not copied out of their pages.
fn open(path: &Path) -> anyhow::Result<ArrowReaderMetadata> {
    let metadata = ArrowReaderMetadata::load(&File::open(path)?, ArrowReaderOptions::new())?;
    let view = |field: &Arc<Field>| {
        let view = Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View));
        if COLUMNS.contains(&field.name().as_str()) { view } else { field.clone() }
    };
    let schema = metadata.schema();
    let fields: Vec<_> = schema.fields().iter().map(view).collect();
    let views = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    Ok(ArrowReaderMetadata::try_new(
        metadata.metadata().clone(),
        ArrowReaderOptions::new().with_schema(views),
    )?)
}

/// The number of references in a row group.
fn decode(path: &Path, metadata: &ArrowReaderMetadata, row_group: usize) -> anyhow::Result<u64> {
    // A file of its own: threads that share one would move each other's position.
    let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata.clone())
        .with_projection(ProjectionMask::columns(metadata.parquet_schema(), COLUMNS))
        .with_row_groups(vec![row_group])
        .with_batch_size(ROWS_PER_BATCH)
        .build()?;
    let mut references = 0;
    for batch in batches {
        let batch = black_box(batch?);
        let locators = batch.column_by_name(COLUMNS[1]).context("no column source_ref")?;
        references += (locators.len() - locators.null_count()) as u64;
    }
    Ok(references)
}
