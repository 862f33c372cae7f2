//! Reads the directories of a TIFF or BigTIFF, bounds-checked and without copying values.

use std::collections::HashSet;

/// A payload with the header of a TIFF.
pub struct Tiff<'a> {
    pub data: &'a [u8],
    pub form: Form,
}

/// How the file writes numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub order: Order,
    pub width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

/// The width of offsets and counts: 4 bytes in TIFF, 8 bytes in BigTIFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Classic,
    Big,
}

/// The fields of one page, in the order of the file.
pub struct Page<'a> {
    pub fields: Vec<Field<'a>>,
    /// Whether it is the only page of the file.
    pub is_only: bool,
}

/// One tag of a page.
pub struct Field<'a> {
    pub tag: u16,
    pub kind: u16,
    pub count: u64,
    /// `count` values of type `kind`.
    pub value: &'a [u8],
}

impl Form {
    /// `bytes` as an unsigned number.
    pub fn number(self, bytes: &[u8]) -> u64 {
        let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self.order {
            Order::Little => bytes.iter().rev().fold(0, append),
            Order::Big => bytes.iter().fold(0, append),
        }
    }

    /// Appends the low `bytes` bytes of `number`.
    pub fn put(self, out: &mut Vec<u8>, number: u64, bytes: usize) {
        match self.order {
            Order::Little => out.extend_from_slice(&number.to_le_bytes()[..bytes]),
            Order::Big => out.extend_from_slice(&number.to_be_bytes()[8 - bytes..]),
        }
    }

    /// Bytes of an offset.
    pub fn word(self) -> usize {
        match self.width {
            Width::Classic => 4,
            Width::Big => 8,
        }
    }

    /// Bytes of the header, whose second half is the offset of the first page.
    pub fn header(self) -> usize {
        2 * self.word()
    }

    /// Bytes of the number of fields at the start of a directory.
    pub fn counter(self) -> usize {
        match self.width {
            Width::Classic => 2,
            Width::Big => 8,
        }
    }
}

impl<'a> Tiff<'a> {
    /// `None` if `data` does not have the header of a TIFF.
    pub fn open(data: &'a [u8]) -> Option<Tiff<'a>> {
        let (order, width) = match data.get(..4)? {
            b"II*\0" => (Order::Little, Width::Classic),
            b"MM\0*" => (Order::Big, Width::Classic),
            b"II+\0" => (Order::Little, Width::Big),
            b"MM\0+" => (Order::Big, Width::Big),
            _ => return None,
        };
        Some(Tiff { data, form: Form { order, width } })
    }

    /// Page `index`, counted from 0.
    ///
    /// Fails with a message if there is no such page, or if a directory before it is damaged.
    pub fn page(&self, index: u32) -> Result<Page<'a>, String> {
        let word = self.form.word();
        let mut at = self.read(word as u64, word)?;
        let mut seen = HashSet::new();
        loop {
            if at == 0 {
                return Err(match seen.len() {
                    0 => "it has no pages".to_owned(),
                    pages => format!("the last one is page {}", pages - 1),
                });
            }
            if !seen.insert(at) {
                return Err("its list of pages is circular".to_owned());
            }
            let count = self.read(at, self.form.counter())?;
            let fields = at + self.form.counter() as u64;
            let size = 4 + 2 * word as u64;
            let end = count.checked_mul(size).and_then(|size| size.checked_add(fields)).ok_or(BEYOND)?;
            let next = self.read(end, word)?;
            if seen.len() as u64 > u64::from(index) {
                let fields = (fields..end).step_by(size as usize).filter_map(|at| self.field(at).transpose());
                return Ok(Page {
                    fields: fields.collect::<Result<_, _>>()?,
                    is_only: index == 0 && next == 0,
                });
            }
            at = next;
        }
    }

    /// The field at `at`; `None` if its type is unknown, which the TIFF specification says to skip.
    fn field(&self, at: u64) -> Result<Option<Field<'a>>, String> {
        let word = self.form.word();
        let tag = self.read(at, 2)? as u16;
        let kind = self.read(at + 2, 2)? as u16;
        let count = self.read(at + 4, word)?;
        let Some(unit) = unit(kind) else { return Ok(None) };
        let length = count.checked_mul(unit).ok_or(BEYOND)?;
        let inline = at + 4 + word as u64;
        let value = if length <= word as u64 { inline } else { self.read(inline, word)? };
        Ok(Some(Field { tag, kind, count, value: self.bytes(value, length)? }))
    }

    fn read(&self, at: u64, bytes: usize) -> Result<u64, String> {
        self.bytes(at, bytes as u64).map(|bytes| self.form.number(bytes))
    }

    /// `length` bytes at `at`.
    pub fn bytes(&self, at: u64, length: u64) -> Result<&'a [u8], String> {
        let range = at.checked_add(length).filter(|&end| end <= self.data.len() as u64);
        let end = range.ok_or(BEYOND)?;
        Ok(&self.data[at as usize..end as usize])
    }
}

const BEYOND: &str = "it points past the end of the file";

/// Bytes of one value of a type.
pub fn unit(kind: u16) -> Option<u64> {
    Some(match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => return None,
    })
}
