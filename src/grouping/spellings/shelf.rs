//! A hash table that is looked up for many texts at once.
//!
//! A lookup needs the text and the count; what the text means lies apart and is read only when the
//! text is passed on.

use super::super::multiplicity::Named;

/// A hash of a text: 80 bits, which are not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text(u128);

impl Text {
    pub fn new(hash: u128) -> Text {
        // A slot without text holds zeros.
        Text(hash & HASH | 1)
    }
}

/// Known texts, open addressing with linear probing.
#[derive(Default)]
pub struct Shelf {
    slots: Vec<Slot>,
    meanings: Vec<Meaning>,
}

/// From the lowest bit: hash of the text, references that are not passed on yet, number of the
/// meaning. It never lies across two lines of a cache.
#[derive(Clone, Copy, Default)]
struct Slot(u128);

const HASH_BITS: u32 = 80;
const COUNT_BITS: u32 = 18;
const HASH: u128 = (1 << HASH_BITS) - 1;
const ONE: u128 = 1 << HASH_BITS;
const COUNT: u128 = ((1 << COUNT_BITS) - 1) << HASH_BITS;

impl Slot {
    fn text(self) -> Text {
        Text(self.0 & HASH)
    }

    fn count(self) -> u64 {
        ((self.0 & COUNT) >> HASH_BITS) as u64
    }

    fn meaning(self) -> usize {
        (self.0 >> (HASH_BITS + COUNT_BITS)) as usize
    }
}

#[derive(Clone, Copy, Default)]
struct Meaning {
    digest: u64,
    size: u64,
    more_digest: u32,
    /// The top bit: framed.
    source: u32,
}

const FRAMED: u32 = 1 << 31;
const NO_SIZE: u64 = u64::MAX;

/// Slots of a shelf that is used.
const FEWEST: usize = 64;

impl Shelf {
    /// Bytes held.
    pub fn resident(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.meanings.capacity() * size_of::<Meaning>()
    }

    /// Makes ready for [`Shelf::count`] of these texts: most of a lookup is waiting for memory, which
    /// can be asked for before it is needed.
    pub fn expect(&mut self, texts: &[Text]) {
        self.make_room(texts.len());
        texts.iter().for_each(|text| prefetch(&self.slots[self.start(*text)]));
    }

    /// Adds a reference to each of `texts`, which were expected. `read` tells what the text at a position means, if it is
    /// not known; what it does not tell is not counted. `full` takes what has too many references. Returns how many were counted.
    pub fn count(
        &mut self,
        texts: &[Text],
        mut read: impl FnMut(usize) -> Option<Named>,
        mut full: impl FnMut(Named, u64),
    ) -> u64 {
        let mut counted = 0;
        for (nth, text) in texts.iter().enumerate() {
            match self.find(*text) {
                Ok(at) => {
                    let slot = self.slots[at];
                    counted += 1;
                    self.slots[at].0 = slot.0 + ONE;
                    if slot.0 & COUNT == COUNT - ONE {
                        self.slots[at].0 = slot.0 & !COUNT;
                        full(self.named(slot), slot.count() + 1);
                    }
                }
                Err(at) => {
                    if let Some(named) = read(nth) {
                        counted += 1;
                        let meaning = (self.meanings.len() as u128) << (HASH_BITS + COUNT_BITS);
                        self.slots[at] = Slot(text.0 | ONE | meaning);
                        self.meanings.push(Meaning::of(&named));
                    }
                }
            }
        }
        counted
    }

    /// All known texts that have references, and how many, in the order in which they were met.
    pub fn passed(&self) -> impl Iterator<Item = (Named, u64)> + '_ {
        // By way of a list, so that the meanings are read one after the other.
        let mut slots = vec![Slot::default(); self.meanings.len()];
        self.slots.iter().filter(|slot| slot.count() > 0).for_each(|slot| slots[slot.meaning()] = *slot);
        slots.into_iter().filter(|slot| slot.count() > 0).map(|slot| (self.named(slot), slot.count()))
    }

    /// The slot of a text, or the free one where it belongs.
    #[inline]
    fn find(&self, text: Text) -> Result<usize, usize> {
        let mut at = self.start(text);
        loop {
            let slot = self.slots[at];
            if slot.text() == text {
                return Ok(at);
            }
            if slot.0 == 0 {
                return Err(at);
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
    }

    /// Where the search for a text starts: its lower bits, since the upper ones chose the shelf.
    #[inline]
    fn start(&self, text: Text) -> usize {
        ((u64::from((text.0 >> 32) as u32) * self.slots.len() as u64) >> 32) as usize
    }

    /// Grows so that `more` texts find a free slot, and no search is long.
    fn make_room(&mut self, more: usize) {
        let needed = (self.meanings.len() + more) * 5 / 4;
        if needed < self.slots.len() {
            return;
        }
        let length =
            (needed + 1).max(self.slots.len() * if self.slots.len() < 1 << 16 { 4 } else { 2 }).max(FEWEST);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); length]);
        self.meanings.reserve_exact(length * 4 / 5 - self.meanings.len());
        for slot in old.iter().filter(|slot| slot.0 != 0) {
            if let Err(at) = self.find(slot.text()) {
                self.slots[at] = *slot;
            }
        }
    }

    fn named(&self, slot: Slot) -> Named {
        let meaning = &self.meanings[slot.meaning()];
        Named {
            digest: u128::from(meaning.digest) << 64 | u128::from(meaning.more_digest),
            source: meaning.source & !FRAMED,
            framed: meaning.source & FRAMED != 0,
            size: (meaning.size != NO_SIZE).then_some(meaning.size),
            spelling: slot.0 as u64,
        }
    }
}

/// Asks for the memory of `slot` without waiting for it.
#[inline]
fn prefetch(slot: &Slot) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(slot).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}

impl Meaning {
    fn of(named: &Named) -> Meaning {
        Meaning {
            digest: (named.digest >> 64) as u64,
            size: named.size.unwrap_or(NO_SIZE),
            more_digest: named.digest as u32,
            source: named.source | if named.framed { FRAMED } else { 0 },
        }
    }
}
