//! References become objects with counts, each with the canonical bytes that a fetch needs.
//!
//! Every reference is scattered by a hash of its place into one of [`PARTITIONS`] buffers, so
//! that all references of an object meet in one partition, together with their neighbours in the
//! source file. A partition is small enough to be counted in one hash table. When the buffers
//! exceed the memory allowed, the largest are moved to the temporary file.
//!
//! Objects are compared byte by byte, so that a collision of fingerprints cannot join objects.

mod count;

use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::spill::{Spill, Stretch};
use crate::object::{Object, ObjectName};
use count::count;

/// Partitions of one grouping. With this many, a billion references of 80 bytes are counted in
/// pieces of 160 MB.
pub const PARTITIONS: usize = 512;

/// Bytes that a thread collects for one partition before it takes the partition's lock.
const BLOCK: usize = 4 << 10;

/// Ranges of one file share a partition when they start in the same stretch of this many bytes,
/// so that neighbours stay together and a single huge archive still spreads.
const PLACE_BYTES: u64 = 256 << 20;

/// Collects references from several threads.
pub struct Grouper {
    partitions: Vec<Mutex<Partition>>,
    resident: AtomicUsize,
    /// Bytes of buffers kept in memory.
    budget: usize,
    spill: Spill,
}

/// The encoded references, later objects, of one partition.
#[derive(Default)]
struct Partition {
    blocks: Vec<Vec<u8>>,
    resident: usize,
    stretches: Vec<Stretch>,
}

/// The objects of all references, in the same partitions.
pub struct Groups {
    partitions: Vec<Partition>,
    spill: Spill,
    pub totals: Totals,
}

/// What is known of all objects together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub references: u64,
    pub objects: u64,
    /// Bytes of objects and references that went through the temporary file.
    pub spilled_bytes: u64,
}

/// Adds references from one thread; what is buffered counts once it is finished.
pub struct Inserter<'a> {
    grouper: &'a Grouper,
    buffers: Vec<Vec<u8>>,
}

impl Grouper {
    /// `memory` bounds the bytes held while references are collected and counted.
    pub fn new(memory: u64) -> Grouper {
        Grouper {
            partitions: (0..PARTITIONS).map(|_| Mutex::default()).collect(),
            resident: AtomicUsize::new(0),
            // Half of it for the buffers; counting a partition needs some beside them.
            budget: usize::try_from(memory / 2).unwrap_or(usize::MAX),
            spill: Spill::default(),
        }
    }

    pub fn inserter(&self) -> Inserter<'_> {
        Inserter { grouper: self, buffers: vec![Vec::new(); PARTITIONS] }
    }

    fn append(&self, partition: usize, block: Vec<u8>) -> std::io::Result<()> {
        let size = block.len();
        // Counted before it can be taken away again by another thread that makes room.
        let resident = self.resident.fetch_add(size, Ordering::Relaxed) + size;
        {
            let mut partition = self.partitions[partition].lock();
            partition.resident += size;
            partition.blocks.push(block);
        }
        if resident > self.budget {
            self.make_room()?;
        }
        Ok(())
    }

    /// Moves the largest partition to the temporary file.
    fn make_room(&self) -> std::io::Result<()> {
        let largest = self.partitions.iter().max_by_key(|p| p.lock().resident).expect("there are partitions");
        let (blocks, size) = {
            let mut partition = largest.lock();
            (std::mem::take(&mut partition.blocks), std::mem::take(&mut partition.resident))
        };
        self.resident.fetch_sub(size, Ordering::Relaxed);
        let stretch = self.spill.write(&blocks)?;
        largest.lock().stretches.push(stretch);
        Ok(())
    }

    /// Counts every partition, on all threads of the current pool.
    ///
    /// Fails when the temporary file cannot be written or read.
    pub fn finish(self) -> std::io::Result<Groups> {
        let Grouper { partitions, resident, budget, spill } = self;
        let references = AtomicUsize::new(0);
        let objects = AtomicUsize::new(0);
        let partitions = partitions
            .into_par_iter()
            .map(|partition| {
                let partition = partition.into_inner();
                let raw = partition.load(&spill)?;
                resident.fetch_sub(partition.resident, Ordering::Relaxed);
                drop(partition);
                let counted = count(&raw);
                drop(raw);
                references.fetch_add(counted.references as usize, Ordering::Relaxed);
                objects.fetch_add(counted.objects as usize, Ordering::Relaxed);
                let size = counted.encoded.len();
                if resident.fetch_add(size, Ordering::Relaxed) + size > budget {
                    resident.fetch_sub(size, Ordering::Relaxed);
                    let stretch = spill.write(&[counted.encoded])?;
                    return Ok(Partition { stretches: vec![stretch], ..Partition::default() });
                }
                Ok(Partition { blocks: vec![counted.encoded], resident: size, stretches: Vec::new() })
            })
            .collect::<std::io::Result<Vec<_>>>()?;
        let totals = Totals {
            references: references.into_inner() as u64,
            objects: objects.into_inner() as u64,
            spilled_bytes: spill.written(),
        };
        Ok(Groups { partitions, spill, totals })
    }
}

impl Partition {
    fn load(&self, spill: &Spill) -> std::io::Result<Vec<u8>> {
        let spilled: usize = self.stretches.iter().map(|s| s.length).sum();
        let mut bytes = Vec::with_capacity(self.resident + spilled);
        for stretch in &self.stretches {
            spill.read(stretch, &mut bytes)?;
        }
        for block in &self.blocks {
            bytes.extend_from_slice(block);
        }
        Ok(bytes)
    }
}

impl Groups {
    /// The objects in batches of about `batch_bytes`, each sorted and so in source order.
    /// Every object comes once; neighbours in a file share a batch, as a rule.
    pub fn batches(&self, batch_bytes: u64) -> impl Iterator<Item = std::io::Result<Vec<Object>>> + '_ {
        let mut next = 0;
        std::iter::from_fn(move || {
            if next == self.partitions.len() {
                return None;
            }
            let mut objects = Vec::new();
            let mut taken = 0;
            while next < self.partitions.len() {
                let partition = &self.partitions[next];
                let size = partition.resident + partition.stretches.iter().map(|s| s.length).sum::<usize>();
                if taken > 0 && (taken + size) as u64 > batch_bytes {
                    break;
                }
                match partition.load(&self.spill) {
                    Ok(bytes) => objects.extend(count::decode(&bytes)),
                    Err(error) => return Some(Err(error)),
                }
                taken += size;
                next += 1;
            }
            objects.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            Some(Ok(objects))
        })
    }

    /// Gives the memory of the objects back; only the totals stay.
    pub fn release(&mut self) {
        self.partitions.clear();
    }
}

impl Inserter<'_> {
    /// Adds one reference to an object. `wanted`: whether it is still to be served.
    ///
    /// Fails when the temporary file cannot be written.
    pub fn add(&mut self, name: &ObjectName, wanted: bool) -> std::io::Result<()> {
        let partition = place(name);
        let buffer = &mut self.buffers[partition];
        count::encode(buffer, name.as_bytes(), 1, wanted);
        if buffer.len() >= BLOCK {
            let block = std::mem::replace(buffer, Vec::with_capacity(BLOCK + 256));
            self.grouper.append(partition, block)?;
        }
        Ok(())
    }

    /// Hands everything over. Fails when the temporary file could not be written.
    pub fn finish(mut self) -> std::io::Result<()> {
        for partition in 0..PARTITIONS {
            let block = std::mem::take(&mut self.buffers[partition]);
            if !block.is_empty() {
                self.grouper.append(partition, block)?;
            }
        }
        Ok(())
    }
}

/// The partition of an object: a hash of its file and of where in the file it lies.
fn place(name: &ObjectName) -> usize {
    (name.neighbourhood(PLACE_BYTES) >> (64 - PARTITIONS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests;
