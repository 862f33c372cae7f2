//! A byte budget shared by several owners.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A bound on memory that several owners share. They keep it themselves: [`MemoryBudget::take`] says
/// when it is exceeded.
pub struct MemoryBudget {
    budget: usize,
    taken: AtomicUsize,
}

/// How the bytes that are held stand to the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Kept,
    Exceeded,
}

impl MemoryBudget {
    /// A budget of this many bytes.
    pub fn new(bytes: u64) -> MemoryBudget {
        MemoryBudget { budget: usize::try_from(bytes).unwrap_or(usize::MAX), taken: AtomicUsize::new(0) }
    }

    /// The bound, bytes.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Counts `bytes` more.
    pub fn take(&self, bytes: usize) -> Bound {
        let taken = self.taken.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if taken > self.budget { Bound::Exceeded } else { Bound::Kept }
    }

    /// Takes `bytes` if that does not exceed the bound.
    pub fn reserve(self: &Arc<MemoryBudget>, bytes: usize) -> Option<Reservation> {
        let more = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.budget);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Reservation { budget: Arc::clone(self), bytes })
    }

    /// Counts `bytes` less.
    pub fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes of a budget, given back when this is dropped.
pub struct Reservation {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
