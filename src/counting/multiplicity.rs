//! References become counts: how often each object is named, without keeping its name.
//!
//! Where [`super::objects`] keeps the canonical bytes that a fetch needs, an analysis needs three
//! numbers of an object, and takes 32 bytes for it. Every reference is scattered by the top bits
//! of its digest; a partition joins what comes in with a table of the objects it has seen, which
//! is small enough for a core's cache. When the tables exceed the memory allowed, the largest are
//! moved to one unnamed temporary file and joined at the end. The result is the same either way.

mod partition;
mod record;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::spill::Spill;
use crate::memory::{Bound, MemoryBudget};
use crate::threads::in_turns;
use partition::Partition;
use record::Record;
pub use record::{Counted, Named, PARTITIONS, Packed};

/// References that a thread collects for one partition before it takes the partition's lock:
/// few enough that the buffers of all partitions stay in a core's cache.
const BLOCK: usize = 32;

/// Counts references from several threads.
pub struct Counter {
    partitions: Vec<Mutex<Partition>>,
    room: Arc<MemoryBudget>,
    spill: Spill,
    /// References that want one page, as far as their inserters are finished.
    framed: AtomicU64,
}

/// Adds references from one thread; what is buffered counts once it is finished.
pub struct Inserter<'a> {
    counter: &'a Counter,
    buffers: Vec<Vec<Record>>,
    framed: u64,
}

/// What is known when all references are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Distinct texts of locators, told apart by 24 bits among those of one object: one in
    /// 17 million further texts of an object is missed.
    pub spellings: u64,
    /// References that want one page of their object.
    pub framed: u64,
    /// Bytes that went through the temporary file.
    pub spilled_bytes: u64,
}

impl Counter {
    /// Spills when the bound of `room` is exceeded.
    pub fn new(room: Arc<MemoryBudget>) -> Counter {
        Counter {
            partitions: (0..PARTITIONS).map(|_| Mutex::default()).collect(),
            room,
            spill: Spill::default(),
            framed: AtomicU64::new(0),
        }
    }

    pub fn inserter(&self) -> Inserter<'_> {
        let buffers = (0..PARTITIONS).map(|_| Vec::with_capacity(BLOCK)).collect();
        Inserter { counter: self, buffers, framed: 0 }
    }

    /// Hands a block to its partition and empties it.
    fn append(&self, partition: usize, block: &mut Vec<Record>) -> io::Result<()> {
        let grown = self.partitions[partition].lock().append(block);
        block.clear();
        if grown > 0 && self.room.take(grown) == Bound::Exceeded {
            self.make_room()?;
        }
        Ok(())
    }

    /// Moves the largest partition to the temporary file.
    fn make_room(&self) -> io::Result<()> {
        let largest =
            self.partitions.iter().max_by_key(|p| p.lock().resident()).expect("there are partitions");
        let (records, freed) = largest.lock().take();
        self.room.give_back(freed);
        let stretch = self.spill.write(&[record::to_bytes(&records)])?;
        largest.lock().spilled(stretch);
        Ok(())
    }

    /// Sums the objects up with `jobs` threads: `empty` starts a sum, `add` takes the objects of the
    /// partition with a number in, which are in no order, and `join` adds one sum to another. An
    /// error of `add` ends the counting and is returned. The digests of a partition are above those
    /// of the ones before it; there are [`PARTITIONS`].
    ///
    /// Fails when the temporary file cannot be read.
    pub fn fold<S: Send, E: Send + From<io::Error>>(
        self,
        jobs: usize,
        empty: impl Fn() -> S + Sync,
        add: impl Fn(&mut S, usize, Vec<Counted>) -> Result<(), E> + Sync,
        join: impl Fn(&mut S, S),
    ) -> Result<(S, Totals), E> {
        let Counter { partitions, spill, room, framed } = self;
        let parts = in_turns(jobs, PARTITIONS, |turns| -> Result<(S, u64), E> {
            let (mut sum, mut spellings) = (empty(), 0);
            for number in turns {
                let partition = std::mem::take(&mut *partitions[number].lock());
                room.give_back(partition.resident());
                let partition = partition.load(&spill)?;
                spellings += partition.spellings();
                add(&mut sum, number, partition.objects().collect())?;
            }
            Ok((sum, spellings))
        })?;
        let (mut sum, mut spellings) = (empty(), 0);
        for (part, more) in parts {
            join(&mut sum, part);
            spellings += more;
        }
        Ok((sum, Totals { spellings, framed: framed.into_inner(), spilled_bytes: spill.written() }))
    }
}

impl Inserter<'_> {
    /// Adds `count` references to one object.
    ///
    /// Fails when the temporary file cannot be written.
    #[inline]
    pub fn add(&mut self, named: &Named, count: u64) -> io::Result<()> {
        self.framed += if named.framed { count } else { 0 };
        let record = Record::of(named, count);
        let partition = record.partition();
        let buffer = &mut self.buffers[partition];
        buffer.push(record);
        if buffer.len() == BLOCK {
            self.counter.append(partition, buffer)?;
        }
        Ok(())
    }

    /// Hands everything over. Fails when the temporary file could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        for partition in 0..PARTITIONS {
            self.counter.append(partition, &mut self.buffers[partition])?;
        }
        self.counter.framed.fetch_add(self.framed, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
