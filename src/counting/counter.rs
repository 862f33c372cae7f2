//! Counts objects by their ids, and keeps their names where a command wants them.
//!
//! The top bits of an id choose the partition of a reference. A partition adds new references to a table
//! of its objects, which is small enough for a core's cache. When the partitions exceed the memory, the
//! largest are moved to one unnamed temporary file and added at the end.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;

use super::names::{NameEntries, NameLog};
use super::partition::TakenOut;
use super::record::{self, CountRecord, Meaning};
use super::spill::Spill;
use crate::memory::{Bound, MemoryBudget};

pub use super::partition::Partition;
pub use super::record::PARTITIONS;

/// References that a thread collects for one partition before it takes the partition's lock:
/// few enough that the buffers of all partitions stay in a core's cache.
const BLOCK: usize = 32;

/// Bytes of names that a thread collects for one partition.
const NAMES_BLOCK: usize = 4 << 10;

/// Counts references from several threads.
pub struct ObjectCounter {
    partitions: Vec<Mutex<Partition>>,
    budget: Arc<MemoryBudget>,
    spill: Arc<Spill>,
}

/// Adds references from one thread; buffered ones count once it is finished.
pub struct CountInserter<'a> {
    counter: &'a ObjectCounter,
    records: Vec<Vec<CountRecord>>,
    names: Vec<Vec<u8>>,
}

impl ObjectCounter {
    /// Spills when the budget is exceeded.
    pub fn new(budget: Arc<MemoryBudget>) -> ObjectCounter {
        let partitions = (0..PARTITIONS).map(|_| Mutex::default()).collect();
        ObjectCounter { partitions, budget, spill: Arc::default() }
    }

    pub fn inserter(&self) -> CountInserter<'_> {
        CountInserter {
            counter: self,
            records: (0..PARTITIONS).map(|_| Vec::with_capacity(BLOCK)).collect(),
            names: vec![Vec::new(); PARTITIONS],
        }
    }

    /// The temporary file, which a result may share.
    pub fn spill(&self) -> Arc<Spill> {
        self.spill.clone()
    }

    /// Hands a block to its partition and empties it.
    fn append(&self, partition: usize, block: &mut Vec<CountRecord>) -> io::Result<()> {
        let grown = self.partitions[partition].lock().append(block);
        block.clear();
        self.account(grown)
    }

    fn append_names(&self, partition: usize, block: Vec<u8>) -> io::Result<()> {
        let grown = self.partitions[partition].lock().append_names(block);
        self.account(grown)
    }

    fn account(&self, grown: usize) -> io::Result<()> {
        if grown > 0 && self.budget.take(grown) == Bound::Exceeded { self.move_largest_out() } else { Ok(()) }
    }

    fn move_largest_out(&self) -> io::Result<()> {
        let largest =
            self.partitions.iter().max_by_key(|p| p.lock().resident()).expect("there are partitions");
        let TakenOut { records, names, freed } = largest.lock().take_out();
        self.budget.give_back(freed);
        let records = self.spill.write(&[record::to_bytes(&records)])?;
        let names = self.spill.write(&names)?;
        largest.lock().moved_to([records, names]);
        Ok(())
    }

    /// Takes a partition with all its objects, in no order. There are [`PARTITIONS`]; the ids of each are
    /// above those of the ones before it.
    ///
    /// Fails when the temporary file cannot be read.
    pub fn take(&self, number: usize) -> io::Result<Partition> {
        let partition = std::mem::take(&mut *self.partitions[number].lock());
        self.budget.give_back(partition.resident());
        partition.load(&self.spill)
    }
}

impl CountInserter<'_> {
    /// Adds `count` references to one object.
    ///
    /// Fails when the temporary file cannot be written.
    #[inline]
    pub fn add(&mut self, meaning: &Meaning, count: u64) -> io::Result<()> {
        let record = CountRecord::new(meaning, count);
        let partition = record.partition();
        let buffer = &mut self.records[partition];
        buffer.push(record);
        if buffer.len() == BLOCK {
            self.counter.append(partition, buffer)?;
        }
        Ok(())
    }

    /// Adds the names of `log` and empties it.
    ///
    /// Fails when the temporary file cannot be written.
    pub fn add_names(&mut self, log: &mut NameLog) -> io::Result<()> {
        for (id, name) in NameEntries::new(log.bytes()) {
            let partition = record::partition_of(id);
            let buffer = &mut self.names[partition];
            NameLog::write(buffer, id, name);
            if buffer.len() >= NAMES_BLOCK {
                let block = std::mem::replace(buffer, Vec::with_capacity(NAMES_BLOCK + 256));
                self.counter.append_names(partition, block)?;
            }
        }
        log.clear();
        Ok(())
    }

    /// Hands everything over. Fails when the temporary file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        for partition in 0..PARTITIONS {
            self.counter.append(partition, &mut self.records[partition])?;
            let names = std::mem::take(&mut self.names[partition]);
            if !names.is_empty() {
                self.counter.append_names(partition, names)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
