//! The manifests: snappy Parquet in the interleaved schema, one row per text block or image.
//!
//! A sample alternates text and images and has one to seven of each; a sample never spans two
//! manifests. Every image row has a locator with member and range, and no payload.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use arrow_array::builder::{Int32Builder, LargeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::archives::{archive_name, member_name};
use super::objects::Objects;
use super::payload::Random;

const ROWS_PER_BATCH: usize = 8192;

/// Writes `count` manifests with about the same number of references each.
pub fn write(folder: &Path, archives: &Path, count: u32, objects: &Objects) -> anyhow::Result<()> {
    let total = objects.references.len() as u64;
    let bound = |manifest: u32| (total * u64::from(manifest) / u64::from(count)) as usize;
    let archives = archives.to_str().context("the path of the corpus is not UTF-8")?;
    for manifest in 0..count {
        let path = folder.join(format!("part-{manifest:05}.parquet"));
        let part = &objects.references[bound(manifest)..bound(manifest + 1)];
        write_one(&path, manifest, archives, objects, part)
            .with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

fn write_one(
    path: &Path,
    manifest: u32,
    archives: &str,
    objects: &Objects,
    mut references: &[u32],
) -> anyhow::Result<()> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut rows = Rows::new();
    let mut writer = ArrowWriter::try_new(File::create(path)?, rows.schema.clone(), Some(properties))?;
    let mut random = Random::new(u64::from(manifest));
    let mut sample = 0;
    while !references.is_empty() {
        let images = (1 + random.below(7) as usize).min(references.len());
        let (these, rest) = references.split_at(images);
        references = rest;
        let id = format!("doc-{manifest:05}-{sample:07}");
        for (position, &place) in (0i32..).step_by(2).zip(these) {
            rows.text(&id, position, random.below(PROSE.len() as u32) as usize);
            rows.image(&id, position + 1, &locator(archives, objects, place));
        }
        sample += 1;
        if rows.len >= ROWS_PER_BATCH {
            writer.write(&rows.take()?)?;
        }
    }
    writer.write(&rows.take()?)?;
    writer.close()?;
    Ok(())
}

fn locator(archives: &str, objects: &Objects, place: u32) -> String {
    let extent = objects.extents[place as usize];
    serde_json::json!({
        "path": format!("{archives}/{}", archive_name(place)),
        "member": member_name(place),
        "byte_offset": extent.offset,
        "byte_size": extent.size,
    })
    .to_string()
}

/// Text blocks are suffixes of this.
const PROSE: &str = "The mill stands where the two streams meet, and its wheel has not turned since the \
    summer in which the upper weir gave way. Visitors come for the swallows, which nest under the eaves \
    in April, and for the view down the valley, which on a clear morning reaches as far as the coast.";

/// Rows of one batch, column by column.
struct Rows {
    schema: SchemaRef,
    len: usize,
    sample_id: StringBuilder,
    position: Int32Builder,
    modality: StringBuilder,
    content_type: StringBuilder,
    text_content: StringBuilder,
    binary_content: LargeBinaryBuilder,
    source_ref: StringBuilder,
    materialize_error: StringBuilder,
}

impl Rows {
    fn new() -> Rows {
        let required = |name: &str, kind| Field::new(name, kind, false);
        let optional = |name: &str, kind| Field::new(name, kind, true);
        let schema = Schema::new(vec![
            required("sample_id", DataType::Utf8),
            required("position", DataType::Int32),
            required("modality", DataType::Utf8),
            optional("content_type", DataType::Utf8),
            optional("text_content", DataType::Utf8),
            optional("binary_content", DataType::LargeBinary),
            optional("source_ref", DataType::Utf8),
            optional("materialize_error", DataType::Utf8),
        ]);
        Rows {
            schema: Arc::new(schema),
            len: 0,
            sample_id: StringBuilder::new(),
            position: Int32Builder::new(),
            modality: StringBuilder::new(),
            content_type: StringBuilder::new(),
            text_content: StringBuilder::new(),
            binary_content: LargeBinaryBuilder::new(),
            source_ref: StringBuilder::new(),
            materialize_error: StringBuilder::new(),
        }
    }

    fn text(&mut self, sample: &str, position: i32, skip: usize) {
        self.modality.append_value("text");
        self.content_type.append_value("text/plain");
        self.text_content.append_value(&PROSE[skip..]);
        self.source_ref.append_null();
        self.rest(sample, position);
    }

    fn image(&mut self, sample: &str, position: i32, locator: &str) {
        self.modality.append_value("image");
        self.content_type.append_value("image/jpeg");
        self.text_content.append_null();
        self.source_ref.append_value(locator);
        self.rest(sample, position);
    }

    fn rest(&mut self, sample: &str, position: i32) {
        self.sample_id.append_value(sample);
        self.position.append_value(position);
        self.binary_content.append_null();
        self.materialize_error.append_null();
        self.len += 1;
    }

    fn take(&mut self) -> anyhow::Result<RecordBatch> {
        self.len = 0;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.sample_id.finish()),
            Arc::new(self.position.finish()),
            Arc::new(self.modality.finish()),
            Arc::new(self.content_type.finish()),
            Arc::new(self.text_content.finish()),
            Arc::new(self.binary_content.finish()),
            Arc::new(self.source_ref.finish()),
            Arc::new(self.materialize_error.finish()),
        ];
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}
