//! Writing one page of a TIFF as a file: header, directory, long values, strips or tiles.

use std::collections::HashMap;

use super::directory::{Field, Page, Tiff, Width, unit};

const COMPRESSION: u16 = 259;
const OLD_JPEG: u64 = 6;
const LONG: u16 = 4;
const LONG8: u16 = 16;

/// Offsets and byte counts of the pieces of an image: strips, tiles.
const PIECES: [(u16, u16); 2] = [(273, 279), (324, 325)];

/// Fields that point to places outside the page: sub-images, free space, tables and streams of
/// old-style JPEG, EXIF, GPS, interoperability.
const ELSEWHERE: [u16; 11] = [288, 289, 330, 513, 514, 519, 520, 521, 34665, 34853, 40965];

/// Types of fields that are offsets of directories.
const DIRECTORIES: [u16; 2] = [13, 18];

/// How much longer than its file a page may become, bytes: it has a directory of its own.
const SLACK: u64 = 64 << 10;

/// Whether the page is compressed in the way that keeps its tables wherever it likes.
pub fn is_old_jpeg(tiff: &Tiff, page: &Page) -> bool {
    let field = page.fields.iter().find(|field| field.tag == COMPRESSION);
    field.is_some_and(|field| numbers(tiff, field).is_ok_and(|values| values == [OLD_JPEG]))
}

/// # Errors
/// A sentence, when the strips or tiles of the page are not all in the file.
pub fn check(tiff: &Tiff, page: &Page) -> Result<(), String> {
    pieces(tiff, page).map(drop)
}

/// The page as a file in the byte order and width of its own.
///
/// # Errors
/// A sentence, when the page is damaged.
pub fn copy(tiff: &Tiff, page: &Page) -> Result<Vec<u8>, String> {
    let pieces = pieces(tiff, page)?;
    let mut fields: Vec<&Field> = page.fields.iter().filter(|field| is_kept(field)).collect();
    fields.sort_by_key(|field| field.tag);
    fields.dedup_by_key(|field| field.tag);
    let bytes = |piece: &Piece| piece.data.iter().map(|data| data.len() as u64).sum::<u64>();
    let values: u64 = fields.iter().map(|field| field.value.len() as u64).sum();
    // Pieces that lie on top of each other could make a small file large.
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
        let placed;
        let (kind, value) = match pieces.iter().find(|piece| piece.tag == field.tag) {
            Some(piece) => {
                let kind = if form.width == Width::Big { LONG8 } else { LONG };
                placed = piece.data.iter().map(|data| tail.place(data)).collect::<Vec<_>>();
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
        return Err("it is too long for a TIFF of its own".to_owned());
    }
    Ok(out)
}

fn is_kept(field: &Field) -> bool {
    !ELSEWHERE.contains(&field.tag) && !DIRECTORIES.contains(&field.kind)
}

/// What follows the directory.
struct Tail {
    start: usize,
    bytes: Vec<u8>,
}

impl Tail {
    /// Appends `data` at an even place; returns its offset in the file.
    fn place(&mut self, data: &[u8]) -> u64 {
        if !(self.start + self.bytes.len()).is_multiple_of(2) {
            self.bytes.push(0);
        }
        let offset = self.start + self.bytes.len();
        self.bytes.extend_from_slice(data);
        offset as u64
    }
}

/// The strips, or the tiles, of a page.
struct Piece<'a> {
    /// The field that holds their offsets.
    tag: u16,
    /// Each distinct run of bytes once: equal tiles may share theirs.
    data: Vec<&'a [u8]>,
    /// For each strip or tile its place in `data`; nothing for one that is not stored.
    order: Vec<Option<usize>>,
}

fn pieces<'a>(tiff: &Tiff<'a>, page: &Page<'a>) -> Result<Vec<Piece<'a>>, String> {
    let find = |tag: u16| page.fields.iter().find(|field| field.tag == tag);
    let mut found = Vec::new();
    for (tag, counts) in PIECES {
        let Some(offsets) = find(tag) else { continue };
        let counts = find(counts).ok_or("it does not say how long its strips are")?;
        let (offsets, counts) = (numbers(tiff, offsets)?, numbers(tiff, counts)?);
        if offsets.len() != counts.len() {
            return Err(format!("it has {} strips and {} lengths of strips", offsets.len(), counts.len()));
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

/// The values of a field of whole numbers.
fn numbers(tiff: &Tiff, field: &Field) -> Result<Vec<u64>, String> {
    match (field.kind, unit(field.kind)) {
        (1 | 3 | LONG | LONG8, Some(unit)) => {
            Ok(field.value.chunks_exact(unit as usize).map(|value| tiff.form.number(value)).collect())
        }
        _ => Err(format!("field {} holds no whole numbers", field.tag)),
    }
}
