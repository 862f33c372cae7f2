//! Texts of locators that were seen before: what they mean, and how often they came since.
//!
//! A text is read when it comes first, and for as long as there is memory it is only counted when
//! it comes again. Its references are passed on to its object when it is forgotten, when a count
//! is full, and at the end. Where memory is short, the texts that came least are forgotten first.
//! On references in random order, with memory for a fifth of the texts, that saves a fifth of the
//! readings against forgetting those that came once lately.
//!
//! Texts are told apart by 85 bits of their hash: 79 in a table, and 6 that choose the table. With
//! n texts, n^2 / 2^86 pairs are expected to be taken for one: 1.3e-8 for a billion.

mod batch;
mod shelf;
mod slots;

use std::io;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::multiplicity::{Counter, Named};
use crate::memory::MemoryBudget;
use crate::threads::in_turns;
pub use batch::Batch;
use shelf::{Shelf, Text};

/// Texts are spread over this many tables by the top bits of their hash.
pub const SHELVES: usize = 64;

/// Bytes that a counter is left where there is as much.
const COUNTER: usize = 24 << 20;

/// All texts.
pub struct Spellings {
    shelves: Vec<Mutex<Shelf>>,
    room: Arc<MemoryBudget>,
    /// Slots that a shelf may have.
    most: usize,
}

/// What a text means.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    pub named: Named,
    /// Whether the text is to be read again when it comes again.
    pub again: bool,
}

/// What a text means, and how many references with that text are passed on to the object.
pub type Passed = (Named, u64);

impl Spellings {
    /// Takes seven eighths of `room` at most, since what passes through needs less than what stays,
    /// but leaves the counter what its partitions need to collect anything.
    pub fn new(room: Arc<MemoryBudget>) -> Spellings {
        let shelves = (0..SHELVES).map(|_| Mutex::default()).collect();
        let budget = room.budget();
        let bytes = (budget / 8 * 7).min(budget.saturating_sub(COUNTER)).max(budget / 4);
        Spellings { shelves, most: shelf::slots_within(bytes / SHELVES), room }
    }

    /// Counts the texts of `batch` and empties it. `read` is called with the row and the hash of
    /// each text that is not known or to be read again; a text that it returns nothing for is not
    /// counted. What is to be passed on is appended to `passed`. Returns how many texts were counted.
    pub fn count(
        &self,
        batch: &mut Batch,
        mut read: impl FnMut(u32, u128) -> Option<Meaning>,
        passed: &mut Vec<Passed>,
    ) -> u64 {
        batch.sort();
        let mut counted = 0;
        let mut lots = batch.lots().map(|lot| (self.open(lot.shelf, lot.texts), lot));
        // While the texts of one shelf are looked up, the memory of the next is on its way. Shelves
        // are locked in ascending order, so no two threads can wait for each other.
        let mut next = lots.next();
        while let Some((mut open, lot)) = next {
            next = lots.next();
            let read = |nth: usize| {
                let (hash, row) = lot.rows[nth];
                read(row, hash)
            };
            counted += open.shelf.count(lot.texts, read, passed);
            self.close(open, passed);
        }
        counted
    }

    /// Passes on to `counter` all that was not passed on before, with `jobs` threads. `done` is
    /// called after each of the [`SHELVES`] shelves; an error of it ends the work and is returned.
    ///
    /// Fails when the counter cannot write its temporary file.
    pub fn drain<E: Send + From<io::Error>>(
        self,
        jobs: usize,
        counter: &Counter,
        done: impl Fn() -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        in_turns(jobs, SHELVES, |turns| -> Result<(), E> {
            let mut inserter = counter.inserter();
            for number in turns {
                let shelf = std::mem::take(&mut *self.shelves[number].lock());
                self.room.give_back(shelf.resident());
                for (named, count) in shelf.passed() {
                    inserter.add(&named, count)?;
                }
                done()?;
            }
            Ok(inserter.finish()?)
        })?;
        Ok(())
    }

    /// Locks a shelf and asks for the memory that looking up `texts` takes.
    fn open(&self, shelf: usize, texts: &[Text]) -> Open<'_> {
        let mut shelf = self.shelves[shelf].lock();
        let before = shelf.resident();
        shelf.expect(texts, self.most);
        Open { shelf, before }
    }

    /// Gives a shelf up again. If there is no place for more texts it forgets some.
    fn close(&self, open: Open, passed: &mut Vec<Passed>) {
        let Open { mut shelf, before } = open;
        if shelf.is_full(self.most) {
            shelf.forget(passed);
        }
        let after = shelf.resident();
        drop(shelf);
        if after > before {
            self.room.take(after - before);
        }
    }
}

/// A shelf at work.
struct Open<'a> {
    shelf: MutexGuard<'a, Shelf>,
    /// Bytes that the room counts for it.
    before: usize,
}

#[cfg(test)]
mod tests;
