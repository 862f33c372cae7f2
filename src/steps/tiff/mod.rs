//! Extracts one page of a multi-page TIFF as a TIFF file.
//!
//! Nothing is decoded: the page gets a new directory, and its compressed strips or tiles are copied,
//! so that any compression works and no pixel changes. The `tiff` crate writes only the byte order of
//! the machine, for which samples of the other byte order would have to be decoded and encoded again;
//! hence the small reader and writer here. Pointers to data outside the page (EXIF, GPS, sub-images)
//! are dropped.

mod directory;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use bytes::Bytes;

use crate::fault::{Fault, FaultClass};
use directory::{Field, Page, Tiff, Width, unit};

const COMPRESSION: u16 = 259;
const OLD_JPEG: u64 = 6;
const LONG: u16 = 4;
const LONG8: u16 = 16;

/// The fields with the offsets and byte counts of strips, and of tiles.
const PIECES: [(u16, u16); 2] = [(273, 279), (324, 325)];

/// Fields that point to data outside the page: sub-images, free space, tables and streams of
/// old-style JPEG, EXIF, GPS, interoperability.
const ELSEWHERE: [u16; 11] = [288, 289, 330, 513, 514, 519, 520, 521, 34665, 34853, 40965];

/// The types of fields that hold offsets of directories.
const DIRECTORIES: [u16; 2] = [13, 18];

/// How many bytes longer than its source the new file may be, since it has a new directory.
const SLACK: u64 = 64 << 10;

/// Page `index`, counted from 0, of the payload. A payload that is not a TIFF is returned whole, and
/// so is a TIFF with one page.
///
/// Fails with [`FaultClass::FrameMissing`] if there is no such page or it is damaged, and with
/// [`FaultClass::Unsupported`] if its tables are outside the page, as in old-style JPEG.
pub fn extract(payload: &Bytes, index: u32) -> Result<Bytes, Fault> {
    let Some(tiff) = Tiff::open(payload) else { return Ok(payload.clone()) };
    let fault = |class, what: &str| Fault::new(class, format!("page {index} of a TIFF: {what}"));
    let missing = |what: String| fault(FaultClass::FrameMissing, &what);
    let page = tiff.page(index).map_err(missing)?;
    if page.is_only {
        pieces(&tiff, &page).map_err(missing)?;
        return Ok(payload.clone());
    }
    let compression = page.fields.iter().find(|field| field.tag == COMPRESSION);
    if compression.and_then(|field| numbers(&tiff, field).ok()).is_some_and(|values| values == [OLD_JPEG]) {
        let what = "pages with old-style JPEG compression are not supported";
        return Err(fault(FaultClass::Unsupported, what));
    }
    copy(&tiff, &page).map(Bytes::from).map_err(missing)
}

/// The page as a file with the byte order and width of its source. Fails with a message if the page
/// is damaged.
fn copy(tiff: &Tiff, page: &Page) -> Result<Vec<u8>, String> {
    let pieces = pieces(tiff, page)?;
    let is_kept = |field: &&Field| !ELSEWHERE.contains(&field.tag) && !DIRECTORIES.contains(&field.kind);
    let mut fields: Vec<&Field> = page.fields.iter().filter(is_kept).collect();
    fields.sort_by_key(|field| field.tag);
    fields.dedup_by_key(|field| field.tag);
    let bytes = |piece: &Piece| piece.data.iter().map(|data| data.len() as u64).sum::<u64>();
    let values: u64 = fields.iter().map(|field| field.value.len() as u64).sum();
    // Overlapping pieces could make a small file large.
    if values + pieces.iter().map(bytes).sum::<u64>() > tiff.data.len() as u64 + SLACK {
        return Err("it is longer than its file".to_owned());
    }

    let form = tiff.form;
    let word = form.word();
    let directory = form.counter() + fields.len() * (4 + 2 * word) + word;
    let mut out = tiff.data[..form.header() - word].to_vec();
    form.put(&mut out, form.header() as u64, word);
    form.put(&mut out, fields.len() as u64, form.counter());
    let mut tail = Tail { start: form.header() + directory, bytes: Vec::new() };
    for field in fields {
        let (kind, value) = match pieces.iter().find(|piece| piece.tag == field.tag) {
            Some(piece) => {
                let kind = if form.width == Width::Big { LONG8 } else { LONG };
                let placed: Vec<u64> = piece.data.iter().map(|data| tail.place(data)).collect();
                let mut value = Vec::with_capacity(placed.len() * word);
                for &index in &piece.order {
                    form.put(&mut value, index.map_or(0, |index| placed[index]), word);
                }
                (kind, value)
            }
            None => (field.kind, field.value.to_vec()),
        };
        form.put(&mut out, u64::from(field.tag), 2);
        form.put(&mut out, u64::from(kind), 2);
        form.put(&mut out, field.count, word);
        if value.len() <= word {
            out.extend_from_slice(&value);
            out.resize(out.len() + word - value.len(), 0);
        } else {
            let offset = tail.place(&value);
            form.put(&mut out, offset, word);
        }
    }
    form.put(&mut out, 0, word);
    out.append(&mut tail.bytes);
    if form.width == Width::Classic && u32::try_from(out.len()).is_err() {
        return Err("it is too large for a TIFF file".to_owned());
    }
    Ok(out)
}

/// The bytes after the directory.
struct Tail {
    start: usize,
    bytes: Vec<u8>,
}

impl Tail {
    /// Appends `data` at an even offset; returns its offset in the file.
    fn place(&mut self, data: &[u8]) -> u64 {
        if !(self.start + self.bytes.len()).is_multiple_of(2) {
            self.bytes.push(0);
        }
        let offset = self.start + self.bytes.len();
        self.bytes.extend_from_slice(data);
        offset as u64
    }
}

/// The strips or tiles of a page.
struct Piece<'a> {
    /// The field that holds their offsets.
    tag: u16,
    /// Each distinct run of bytes once: tiles may share one.
    data: Vec<&'a [u8]>,
    /// The index in `data` of each strip or tile; `None` for an empty one.
    order: Vec<Option<usize>>,
}

/// Fails with a message if there are none, or if the file does not hold all of them.
fn pieces<'a>(tiff: &Tiff<'a>, page: &Page<'a>) -> Result<Vec<Piece<'a>>, String> {
    let find = |tag: u16| page.fields.iter().find(|field| field.tag == tag);
    let mut found = Vec::new();
    for (tag, counts) in PIECES {
        let Some(offsets) = find(tag) else { continue };
        let counts = find(counts).ok_or("the lengths of its strips are missing")?;
        let (offsets, counts) = (numbers(tiff, offsets)?, numbers(tiff, counts)?);
        if offsets.len() != counts.len() {
            return Err(format!("it has {} strips, but {} strip lengths", offsets.len(), counts.len()));
        }
        let mut piece = Piece { tag, data: Vec::new(), order: Vec::with_capacity(offsets.len()) };
        let mut places = HashMap::new();
        for (offset, count) in offsets.into_iter().zip(counts) {
            if count == 0 {
                piece.order.push(None);
                continue;
            }
            let data = tiff.bytes(offset, count)?;
            let place = *places.entry((offset, count)).or_insert_with(|| {
                piece.data.push(data);
                piece.data.len() - 1
            });
            piece.order.push(Some(place));
        }
        found.push(piece);
    }
    if found.is_empty() { Err("it has no image".to_owned()) } else { Ok(found) }
}

/// The values of an integer field.
fn numbers(tiff: &Tiff, field: &Field) -> Result<Vec<u64>, String> {
    match (field.kind, unit(field.kind)) {
        (1 | 3 | LONG | LONG8, Some(unit)) => {
            Ok(field.value.chunks_exact(unit as usize).map(|value| tiff.form.number(value)).collect())
        }
        _ => Err(format!("field {} does not hold integers", field.tag)),
    }
}
