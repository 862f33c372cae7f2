//! Locator texts that were seen before: what they mean, and how often they occurred since.
//!
//! A text is parsed when it first occurs; while there is memory, further occurrences are only counted.
//! Its references are flushed to the counter of its object when the text is forgotten, when a count is
//! full, and at the end. When memory is short, the rarest texts are forgotten first. With references in
//! random order and memory for a fifth of the texts, this parses a fifth fewer texts than forgetting
//! those that occurred once recently.
//!
//! Texts are told apart by 85 bits of their hash: 79 in a table, and 6 that choose the table. With
//! n texts, n^2 / 2^86 pairs are expected to be taken for one: 1.3e-8 for a billion.

mod table;

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::counter::ObjectCounter;
use super::record::Meaning;
use crate::memory::MemoryBudget;
use crate::threads::in_turns;
use table::{TextHash, TextTable};

/// Texts are spread over this many tables by the top bits of their hash.
pub const TABLES: usize = 64;

/// Bytes left for a counter, if there are as many.
const COUNTER: usize = 24 << 20;

/// All texts.
pub struct Texts {
    tables: Vec<Mutex<TextTable>>,
    budget: Arc<MemoryBudget>,
    /// Slots that a table may have.
    most: usize,
}

/// What a text was read to mean.
#[derive(Clone, Copy, Debug)]
pub struct TextRead {
    pub meaning: Meaning,
    /// Whether to read the text again the next time.
    pub again: bool,
}

/// What a text means, and how many references with that text leave its table for the counter.
pub type Flushed = (Meaning, u64);

impl Texts {
    /// Takes seven eighths of the budget at most, since what passes through needs less than what
    /// stays, but leaves the counter what its partitions need to collect anything.
    pub fn new(budget: Arc<MemoryBudget>) -> Texts {
        let tables = (0..TABLES).map(|_| Mutex::default()).collect();
        let all = budget.budget();
        let bytes = (all / 8 * 7).min(all.saturating_sub(COUNTER)).max(all / 4);
        Texts { tables, most: table::slots_within(bytes / TABLES), budget }
    }

    /// Counts the texts of `batch` and empties it. `read` is called with the row and the hash of
    /// each text that is not known or to be read again; a text that it returns nothing for is not
    /// counted. What leaves the tables is appended to `flushed`. Returns how many texts were counted.
    pub fn count(
        &self,
        batch: &mut TextBatch,
        mut read: impl FnMut(u32, u128) -> Option<TextRead>,
        flushed: &mut Vec<Flushed>,
    ) -> u64 {
        batch.sort();
        let mut counted = 0;
        let mut tables = batch.by_table().map(|of| (self.open(of.table, of.texts), of));
        // While the texts of one table are looked up, the memory of the next is on its way. Tables
        // are locked in ascending order, so no two threads can wait for each other.
        let mut next = tables.next();
        while let Some((mut open, of)) = next {
            next = tables.next();
            let read = |nth: usize| {
                let (hash, row) = of.rows[nth];
                read(row, hash)
            };
            counted += open.table.count(of.texts, read, flushed);
            self.close(open, flushed);
        }
        counted
    }

    /// Flushes all that is left to `counter`, with `jobs` threads. `done` is called after each of the
    /// [`TABLES`] tables; an error of it ends the work and is returned.
    ///
    /// Fails when the counter cannot write its temporary file.
    pub fn drain(
        self,
        jobs: usize,
        counter: &ObjectCounter,
        done: impl Fn() -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        in_turns(jobs, TABLES, |turns| -> anyhow::Result<()> {
            let mut inserter = counter.inserter();
            for number in turns {
                let table = std::mem::take(&mut *self.tables[number].lock());
                self.budget.give_back(table.resident());
                for (meaning, count) in table.rest() {
                    inserter.add(&meaning, count)?;
                }
                done()?;
            }
            Ok(inserter.finish()?)
        })?;
        Ok(())
    }

    /// Locks a table and asks for the memory that looking up `texts` takes.
    fn open(&self, table: usize, texts: &[TextHash]) -> OpenTable<'_> {
        let mut table = self.tables[table].lock();
        let before = table.resident();
        table.expect(texts, self.most);
        OpenTable { table, before }
    }

    /// Gives a table up again. If there is no place for more texts it forgets some.
    fn close(&self, open: OpenTable, flushed: &mut Vec<Flushed>) {
        let OpenTable { mut table, before } = open;
        if table.is_full(self.most) {
            table.forget(flushed);
        }
        let after = table.resident();
        drop(table);
        if after > before {
            self.budget.take(after - before);
        }
    }
}

/// A table at work.
struct OpenTable<'a> {
    table: MutexGuard<'a, TextTable>,
    /// Bytes that the budget counts for it.
    before: usize,
}

/// Some texts of one manifest. One for each thread, used again and again.
#[derive(Default)]
pub struct TextBatch {
    /// Hash and row, in order of arrival.
    pushed: Vec<(u128, u32)>,
    /// The same sorted by table, in two lists: a lookup needs only the first.
    texts: Vec<TextHash>,
    rows: Vec<(u128, u32)>,
    /// By table: where its texts end among the sorted ones.
    ends: Vec<u32>,
}

/// The texts of a batch that are for one table.
struct ForTable<'a> {
    table: usize,
    texts: &'a [TextHash],
    /// Hash and row of each text.
    rows: &'a [(u128, u32)],
}

impl TextBatch {
    /// Adds the text with this hash, of this row.
    #[inline]
    pub fn push(&mut self, hash: u128, row: u32) {
        self.pushed.push((hash, row));
    }

    /// Sorts the texts by table, ready for [`TextBatch::by_table`]; those of one table stay in order.
    fn sort(&mut self) {
        let count = self.pushed.len();
        self.texts.resize(count, TextHash::new(0));
        self.rows.resize(count, (0, 0));
        self.ends.clear();
        self.ends.resize(TABLES, 0);
        self.pushed.iter().for_each(|(hash, _)| self.ends[table_of(*hash)] += 1);
        // First where each table starts; every text that is put there moves it on to the end.
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        for (hash, row) in self.pushed.drain(..) {
            let end = &mut self.ends[table_of(hash)];
            let at = *end as usize;
            self.texts[at] = TextHash::new(hash);
            self.rows[at] = (hash, row);
            *end += 1;
        }
    }

    /// The sorted texts, in ascending order of their tables; tables without texts are left out.
    fn by_table(&self) -> impl Iterator<Item = ForTable<'_>> {
        let mut start = 0;
        let ranges =
            self.ends.iter().map(move |&end| std::mem::replace(&mut start, end as usize)..end as usize);
        ranges.enumerate().filter(|(_, range)| !range.is_empty()).map(|(table, range)| ForTable {
            table,
            texts: &self.texts[range.clone()],
            rows: &self.rows[range],
        })
    }
}

fn table_of(hash: u128) -> usize {
    (hash >> (128 - TABLES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests;
