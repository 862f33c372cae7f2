//! How many bytes several holders have together, and how many they may have.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A bound on memory that is shared. It is kept by those who hold: [`Room::take`] says when it is
/// passed.
pub struct Room {
    budget: usize,
    taken: AtomicUsize,
}

/// Whether there is room left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Some,
    None,
}

impl Room {
    /// Room for this many bytes.
    pub fn new(bytes: u64) -> Room {
        Room { budget: usize::try_from(bytes).unwrap_or(usize::MAX), taken: AtomicUsize::new(0) }
    }

    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Counts `bytes` more.
    pub fn take(&self, bytes: usize) -> Left {
        let taken = self.taken.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if taken > self.budget { Left::None } else { Left::Some }
    }

    /// Counts `bytes` less.
    pub fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}
