//! The JSON member of a sample.
//!
//! `sample_id`, `texts` and `images` come first; `texts` and `images` have one entry per position, null
//! in the gaps. The other names in [`OURS`] follow if a row needs them, also with one entry per
//! position, except for `metadata_text`. Then come the fields that onepull does not interpret.
//!
//! The form of such a field depends on the rows that have it:
//!
//! * a metadata row: the value itself, or a list with one entry per metadata row if several have it;
//! * only images: a list with one entry for each non-null entry of `images`;
//! * only texts: the same for `texts`;
//! * otherwise a list with one entry for each row with a position.
//!
//! Values without room there go into another list, named like the field with an underscore added:
//! values that differ from that of the metadata row, and, with one entry per position, those of images
//! without payload and of texts without text.

use std::collections::HashSet;

use serde::Serialize;

use super::fields::{OURS, SampleField, SampleFields};
use super::names;
use super::sample::{SampleEntry, SampleLayout, SampleRow};

/// Writes the document of a sample to `out`.
pub fn write<'a>(
    out: &mut Vec<u8>,
    sample: &[SampleRow<'a>],
    layout: &SampleLayout,
    fields: &SampleFields,
) -> anyhow::Result<()> {
    out.push(b'{');
    member(out, "sample_id", &sample[0].sample_id)?;
    member(out, "texts", &layout.aligned(|place| shown_text(&sample[place.row])))?;
    member(out, "images", &layout.aligned(|place| place.token.as_deref()))?;
    let rows = || layout.content.iter().map(|place| &sample[place.row]);
    if rows().any(|row| !matches!(row.modality, Some("text" | "image"))) {
        member(out, "modalities", &layout.aligned(|place| sample[place.row].modality))?;
    }
    if layout.content.iter().any(|place| !is_implied(&sample[place.row], place)) {
        member(out, "content_type", &layout.aligned(|place| sample[place.row].content_type))?;
    }
    type Entry<'a> = fn(&SampleRow<'a>) -> Option<&'a str>;
    let sparse: [(&str, Entry<'a>); 3] = [
        ("image_texts", |row| row.text.filter(|_| row.is_image())),
        ("materialize_error", |row| row.error),
        ("source_ref", |row| row.source_ref.filter(|_| row.is_image() && row.payload.is_none())),
    ];
    for (name, entry) in sparse {
        if rows().any(|row| entry(row).is_some()) {
            member(out, name, &layout.aligned(|place| entry(&sample[place.row])))?;
        }
    }
    match &layout.metadata.iter().filter_map(|&row| sample[row].text).collect::<Vec<_>>()[..] {
        [] => {}
        [text] => member(out, "metadata_text", text)?,
        texts => member(out, "metadata_text", &texts)?,
    }
    let mut spares = HashSet::new();
    for field in fields.fields.iter().filter(|field| !field.is_empty()) {
        Placement { sample, layout, fields, field, spares: &mut spares }.write(out)?;
    }
    out.push(b'}');
    Ok(())
}

/// The entry of a row in `texts`.
fn shown_text<'a>(row: &SampleRow<'a>) -> Option<&'a str> {
    row.text.filter(|_| !row.is_image())
}

/// Whether the type of a row follows from the rest of the document.
fn is_implied(row: &SampleRow, place: &SampleEntry) -> bool {
    match row.content_type {
        None => true,
        Some(content_type) if place.token.is_some() => {
            names::of_content_type(content_type) == Some(place.extension)
        }
        Some(content_type) => content_type == "text/plain" && row.modality == Some("text"),
    }
}

/// Writes one field of a sample.
struct Placement<'a> {
    sample: &'a [SampleRow<'a>],
    layout: &'a SampleLayout,
    fields: &'a SampleFields<'a>,
    field: &'a SampleField<'a>,
    /// The names of lists that are named like a field.
    spares: &'a mut HashSet<String>,
}

impl<'a> Placement<'a> {
    fn write(&mut self, out: &mut Vec<u8>) -> anyhow::Result<()> {
        let name = &*self.field.name;
        let of_metadata: Vec<_> = self.layout.metadata.iter().map(|&row| self.value(row)).collect();
        let mut set = of_metadata.iter().flatten();
        let Some(only) = set.next() else { return self.write_lists(out, name) };
        if set.next().is_some() {
            list(out, name, of_metadata.iter().copied())?;
        } else {
            start(out, name)?;
            out.extend_from_slice(only);
        }
        let mut of_content = self.layout.content.iter().filter_map(|place| self.value(place.row));
        if of_content.any(|value| value != *only) {
            let spare = self.spare();
            self.write_lists(out, &spare)?;
        }
        Ok(())
    }

    /// Writes the values of the rows with a position.
    fn write_lists(&mut self, out: &mut Vec<u8>, name: &str) -> anyhow::Result<()> {
        let places = || self.layout.content.iter();
        let mut holders = places().filter(|place| self.value(place.row).is_some()).peekable();
        let first = holders.peek().is_some_and(|place| self.is_among_images(place));
        if holders.any(|place| self.is_among_images(place) != first || !self.belongs_to_a_list(place)) {
            return list(out, name, places().map(|place| self.value(place.row)));
        }
        let has_entry = |place: &SampleEntry| match first {
            true => place.token.is_some(),
            false => shown_text(&self.sample[place.row]).is_some(),
        };
        list(out, name, places().filter(|place| has_entry(place)).map(|place| self.value(place.row)))?;
        let left = self.layout.aligned(|place| self.value(place.row).filter(|_| !has_entry(place)));
        if left.iter().any(Option::is_some) {
            let spare = self.spare();
            list(out, &spare, left.into_iter())?;
        }
        Ok(())
    }

    fn value(&self, row: usize) -> Option<&'a [u8]> {
        self.fields.value(self.field, row)
    }

    /// A name like that of the field that nothing else in the document has.
    fn spare(&mut self) -> String {
        let mut spare = format!("{}_", self.field.name);
        let is_field = |name: &str| self.fields.fields.iter().any(|field| field.name == name);
        while OURS.contains(&&*spare) || is_field(&spare) || !self.spares.insert(spare.clone()) {
            spare.push('_');
        }
        spare
    }

    fn is_among_images(&self, place: &SampleEntry) -> bool {
        self.sample[place.row].is_image() || place.token.is_some()
    }

    /// Whether the row has, or would have but for a failure, an entry among images or texts.
    fn belongs_to_a_list(&self, place: &SampleEntry) -> bool {
        let row = &self.sample[place.row];
        self.is_among_images(place) || row.modality == Some("text") || row.text.is_some()
    }
}

fn list<'a>(
    out: &mut Vec<u8>,
    name: &str,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> anyhow::Result<()> {
    start(out, name)?;
    out.push(b'[');
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(value.unwrap_or(b"null"));
    }
    out.push(b']');
    Ok(())
}

fn member(out: &mut Vec<u8>, name: &str, value: &impl Serialize) -> anyhow::Result<()> {
    start(out, name)?;
    Ok(serde_json::to_writer(out, value)?)
}

fn start(out: &mut Vec<u8>, name: &str) -> anyhow::Result<()> {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    serde_json::to_writer(&mut *out, name)?;
    out.push(b':');
    Ok(())
}
