//! Texts that are looked up together, as their hashes.

use super::SHELVES;
use super::shelf::Text;

/// Some texts of one manifest. One for each thread, used again and again.
#[derive(Default)]
pub struct Batch {
    /// Hash and row, as they came.
    pushed: Vec<(u128, u32)>,
    /// The same sorted by shelf, in two lists: a lookup needs only the first.
    texts: Vec<Text>,
    rows: Vec<(u128, u32)>,
    /// By shelf: where its texts end among the sorted ones.
    ends: Vec<u32>,
}

/// The texts of a batch that are for one shelf.
pub(super) struct Lot<'a> {
    pub shelf: usize,
    pub texts: &'a [Text],
    /// Hash and row of each text.
    pub rows: &'a [(u128, u32)],
}

impl Batch {
    /// Adds the text with this hash, of this row.
    #[inline]
    pub fn push(&mut self, hash: u128, row: u32) {
        self.pushed.push((hash, row));
    }

    /// Takes all texts out, in the order in which they came.
    pub fn drain(&mut self) -> impl Iterator<Item = (u128, u32)> + '_ {
        self.pushed.drain(..)
    }

    /// Sorts the texts by shelf, ready for [`Batch::lots`]; those of one shelf stay in order.
    pub(super) fn sort(&mut self) {
        let count = self.pushed.len();
        self.texts.resize(count, Text::new(0));
        self.rows.resize(count, (0, 0));
        self.ends.clear();
        self.ends.resize(SHELVES, 0);
        self.pushed.iter().for_each(|(hash, _)| self.ends[shelf(*hash)] += 1);
        // First where each shelf starts; every text that is put there moves it on to the end.
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        for (hash, row) in self.pushed.drain(..) {
            let end = &mut self.ends[shelf(hash)];
            let at = *end as usize;
            self.texts[at] = Text::new(hash);
            self.rows[at] = (hash, row);
            *end += 1;
        }
    }

    /// The sorted texts, in ascending order of their shelves; shelves without texts are left out.
    pub(super) fn lots(&self) -> impl Iterator<Item = Lot<'_>> {
        let mut start = 0;
        let ranges =
            self.ends.iter().map(move |&end| std::mem::replace(&mut start, end as usize)..end as usize);
        ranges.enumerate().filter(|(_, range)| !range.is_empty()).map(|(shelf, range)| Lot {
            shelf,
            texts: &self.texts[range.clone()],
            rows: &self.rows[range],
        })
    }
}

fn shelf(hash: u128) -> usize {
    (hash >> (128 - SHELVES.trailing_zeros())) as usize
}
