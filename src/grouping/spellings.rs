//! Texts of locators that were seen before: what they mean, and how often they came since.
//!
//! A locator is read once for each distinct text, as long as there is memory, and a count goes on
//! to the objects when a text is forgotten or all is over. Texts are told apart by 96 bits of a
//! hash: with a billion of them the chance that two are taken for one is 10^-11.

mod shelf;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::multiplicity::{Counter, Named, on_threads};
use super::room::Room;
use shelf::{Shelf, Text};

/// Texts are spread over this many tables by the top bits of their hash.
pub const SHELVES: usize = 256;

/// All texts.
pub struct Spellings {
    shelves: Vec<Mutex<Shelf>>,
    /// Bytes that a shelf may hold.
    most: usize,
}

/// The hashes of some texts, and in which order they are looked up. One for each thread, used
/// again and again.
#[derive(Default)]
pub struct Batch {
    /// Hash and row, as they came.
    texts: Vec<(u128, u32)>,
    /// By shelf.
    sorted: Vec<Text>,
    rows: Vec<(u32, u128)>,
    ends: Vec<u32>,
}

/// References to an object that are to be passed on.
pub type Passed = (Named, u64);

impl Spellings {
    /// Uses half of `room` at most.
    pub fn new(room: &Room) -> Spellings {
        let shelves = (0..SHELVES).map(|_| Mutex::default()).collect();
        Spellings { shelves, most: room.budget() / 2 / SHELVES }
    }

    /// Counts the texts of `batch` and empties it. `read` is called with row and hash of each text
    /// that is not known; what it does not tell is not counted. `passed` gets what is to be passed on
    /// to the objects. Returns how many texts were counted.
    pub fn count(
        &self,
        batch: &mut Batch,
        room: &Room,
        mut read: impl FnMut(u32, u128) -> Option<Named>,
        passed: &mut Vec<Passed>,
    ) -> u64 {
        batch.sort();
        let mut counted = 0;
        let mut groups = batch.groups().map(|(shelf, group)| {
            let mut shelf = self.shelves[shelf].lock();
            let before = shelf.resident();
            shelf.expect(&batch.sorted[group.clone()]);
            (shelf, before, group)
        });
        // While one shelf is worked on, the memory of the next is on its way. Shelves are locked in
        // ascending order, so no two threads can wait for each other.
        let mut next = groups.next();
        while let Some((mut shelf, before, group)) = next {
            next = groups.next();
            let (texts, rows) = (&batch.sorted[group.clone()], &batch.rows[group]);
            counted += shelf.count(
                texts,
                |nth| read(rows[nth].0, rows[nth].1),
                |named, count| passed.push((named, count)),
            );
            let after = shelf.resident();
            if after > self.most {
                let full = std::mem::take(&mut *shelf);
                drop(shelf);
                passed.extend(full.passed());
                room.give_back(before);
            } else if after > before {
                room.take(after - before);
            }
        }
        drop(groups);
        batch.texts.clear();
        counted
    }

    /// Passes what is not passed on yet on to `counter`, with `jobs` threads, and returns how many
    /// references of that want one page of their object. `done` is called after each of the
    /// [`SHELVES`] shelves; an error of it ends the work and is returned.
    ///
    /// Fails when the counter cannot write its temporary file.
    pub fn drain<E: Send + From<io::Error>>(
        self,
        jobs: usize,
        room: &Room,
        counter: &Counter,
        done: impl Fn() -> Result<(), E> + Sync,
    ) -> Result<u64, E> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<u64, E> {
            let (mut inserter, mut framed) = (counter.inserter(), 0);
            while let Some(shelf) = self.shelves.get(next.fetch_add(1, Ordering::Relaxed)) {
                let shelf = std::mem::take(&mut *shelf.lock());
                room.give_back(shelf.resident());
                for (named, count) in shelf.passed() {
                    framed += if named.framed { count } else { 0 };
                    inserter.add(&named, count)?;
                }
                done()?;
            }
            inserter.finish()?;
            Ok(framed)
        };
        on_threads(jobs, work).into_iter().sum()
    }
}

impl Batch {
    #[inline]
    pub fn push(&mut self, hash: u128, row: u32) {
        self.texts.push((hash, row));
    }

    /// Takes all texts out, in the order in which they came.
    pub fn drain(&mut self) -> impl Iterator<Item = (u128, u32)> + '_ {
        self.texts.drain(..)
    }

    /// The shelves that are asked for, ascending, and which of the sorted texts are for each.
    fn groups(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let mut start = 0;
        let ranges =
            self.ends.iter().map(move |&end| std::mem::replace(&mut start, end as usize)..end as usize);
        ranges.enumerate().filter(|(_, range)| !range.is_empty())
    }

    /// Orders the texts by shelf.
    fn sort(&mut self) {
        let shelf = |hash: u128| (hash >> (128 - SHELVES.trailing_zeros())) as usize;
        self.ends.clear();
        self.ends.resize(SHELVES, 0);
        self.texts.iter().for_each(|(hash, _)| self.ends[shelf(*hash)] += 1);
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        self.sorted.resize(self.texts.len(), Text::new(0));
        self.rows.resize(self.texts.len(), (0, 0));
        for (hash, row) in &self.texts {
            let place = &mut self.ends[shelf(*hash)];
            self.sorted[*place as usize] = Text::new(*hash);
            self.rows[*place as usize] = (*row, *hash);
            *place += 1;
        }
    }
}

#[cfg(test)]
mod tests;
