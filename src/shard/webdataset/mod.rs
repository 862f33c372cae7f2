//! WebDataset shards: a tar in which a sample is its images, then one JSON document.
//!
//! The members of a sample are adjacent: `{key}.{position}.{extension}` by position, then `{key}.json`
//! (see `names`, and `document` for the content of the JSON). Equal rows give equal bytes, however they
//! are cut into chunks.

mod document;
mod fields;
mod json;
mod member;
mod names;
mod sample;
#[cfg(test)]
mod tests;

use std::io::Write;

use anyhow::{Context, bail};
use arrow_schema::Schema;

use self::fields::Passthrough;
use self::names::Keys;
use self::sample::{SampleColumns, SampleLayout, SampleRow};
use super::Chunk;
use crate::manifest::rows::*;

/// Writes samples to a tar.
pub struct WebDatasetWriter<W: Write> {
    tar: tar::Builder<W>,
    tokens: ImageTokens,
    keys: Keys,
    /// A buffer for the document of a sample.
    document: Vec<u8>,
}

/// The entry of an image in the `images` of its sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageTokens {
    /// The name of its member.
    Member,
    /// The part of that name after the first dot.
    Part,
}

/// Checks the schema of a Parquet manifest: fails with the name of the first column that is missing or
/// has a type that cannot be written.
///
/// The types of `text_content`, `content_type` and `materialize_error` are not checked: a column that
/// is all null may have any type, and only the rows show whether it is.
pub fn check_schema(schema: &Schema) -> anyhow::Result<()> {
    for name in [SAMPLE_ID, POSITION, MODALITY] {
        let Some((_, field)) = schema.column_with_name(name) else { bail!("column `{name}` is missing") };
        let (usable, wanted) = match name {
            POSITION => (is_number(field.data_type()), "a number"),
            _ => (is_text(field.data_type()), "text"),
        };
        if !usable {
            bail!("column `{name}` has type {}, not {wanted}", field.data_type());
        }
    }
    for field in schema.fields().iter().filter(|field| fields::is_passthrough(field.name())) {
        if !json::is_supported(field.data_type()) {
            bail!("column `{}` cannot be written as JSON", field.name());
        }
    }
    Ok(())
}

impl<W: Write> WebDatasetWriter<W> {
    /// Starts an archive at the current end of `out`.
    pub fn new(out: W, tokens: ImageTokens) -> Self {
        WebDatasetWriter { tar: tar::Builder::new(out), tokens, keys: Keys::default(), document: Vec::new() }
    }

    /// Writes the samples of a chunk: consecutive rows with the same `sample_id` are a sample, and none
    /// spans two chunks.
    pub fn write(&mut self, chunk: &Chunk) -> anyhow::Result<()> {
        let columns = chunk.tables.iter().map(SampleColumns::new).collect::<anyhow::Result<Vec<_>>>()?;
        let fields = Passthrough::new(&chunk.tables);
        for sample in sample::rows(chunk, &columns).chunk_by(|a, b| a.sample_id == b.sample_id) {
            self.write_sample(sample, &fields).with_context(|| {
                format!("cannot write sample {:?}", sample[0].sample_id.unwrap_or_default())
            })?;
        }
        Ok(())
    }

    /// Ends the archive and returns the output, flushed.
    pub fn finish(self) -> anyhow::Result<W> {
        let mut out = self.tar.into_inner()?;
        out.flush()?;
        Ok(out)
    }

    fn write_sample<'a>(&mut self, sample: &[SampleRow<'a>], fields: &Passthrough<'a>) -> anyhow::Result<()> {
        let key = self.keys.next(sample[0].sample_id.unwrap_or_default());
        let mut layout = SampleLayout::new(sample);
        for place in &mut layout.content {
            let row = &sample[place.row];
            let Some(payload) = row.payload else { continue };
            place.extension = names::extension(row.content_type, payload);
            let part = format!("{}.{}", place.position, place.extension);
            let name = format!("{key}.{part}");
            member::append(&mut self.tar, &name, payload)?;
            place.token = Some(match self.tokens {
                ImageTokens::Member => name,
                ImageTokens::Part => part,
            });
        }
        self.document.clear();
        document::write(&mut self.document, sample, &layout, &fields.sample(sample)?)?;
        member::append(&mut self.tar, &format!("{key}.json"), &self.document)?;
        Ok(())
    }
}
