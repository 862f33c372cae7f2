//! Counted objects with their names: what a plan is made from.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::counter::{ObjectCounter, PARTITIONS};
use super::names::NamedObject;
use super::partition::Partition;
use super::spill::{Spill, Stretch};
use crate::object::{Object, ObjectName};
use crate::threads::in_turns;

/// The objects of a run, in memory or in the temporary file.
pub struct NamedCounts {
    partitions: Vec<StoredObjects>,
    spill: Arc<Spill>,
    pub totals: NamedTotals,
}

/// Sums over all objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedTotals {
    pub references: u64,
    pub objects: u64,
    /// Bytes of objects and references that went through the temporary file.
    pub spilled_bytes: u64,
}

/// The encoded objects of one partition.
enum StoredObjects {
    InMemory(Vec<u8>),
    InFile(Stretch),
}

/// The top bit of the count in an encoded object: whether it is wanted.
const WANTED: u64 = 1 << 63;

impl NamedCounts {
    /// Counts everything in `counter`, which has the names of all objects, with `jobs` threads. Of
    /// the result `memory` bytes stay in memory. `done` is called after each of the [`PARTITIONS`];
    /// an error of it ends the work.
    ///
    /// Fails when the temporary file cannot be written or read.
    pub fn new(
        counter: ObjectCounter,
        jobs: usize,
        memory: u64,
        done: impl Fn() -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<NamedCounts> {
        let spill = counter.spill();
        let (budget, resident) = (usize::try_from(memory).unwrap_or(usize::MAX), AtomicUsize::new(0));
        let store = |encoded: Vec<u8>| {
            let bytes = encoded.len();
            if resident.fetch_add(bytes, Ordering::Relaxed) + bytes > budget {
                resident.fetch_sub(bytes, Ordering::Relaxed);
                spill.write(&[encoded]).map(StoredObjects::InFile)
            } else {
                Ok(StoredObjects::InMemory(encoded))
            }
        };
        let by_thread = in_turns(jobs, PARTITIONS, |turns| -> anyhow::Result<_> {
            let (mut totals, mut partitions) = (NamedTotals::default(), Vec::new());
            for number in turns {
                let encoded = encode(counter.take(number)?, &mut totals);
                partitions.push((number, store(encoded)?));
                done()?;
            }
            Ok((totals, partitions))
        })?;
        let mut totals = NamedTotals { spilled_bytes: spill.written(), ..NamedTotals::default() };
        let mut partitions = Vec::with_capacity(PARTITIONS);
        for (of_thread, more) in by_thread {
            totals.references += of_thread.references;
            totals.objects += of_thread.objects;
            partitions.extend(more);
        }
        partitions.sort_unstable_by_key(|(number, _)| *number);
        let partitions = partitions.into_iter().map(|(_, stored)| stored).collect();
        Ok(NamedCounts { partitions, spill, totals })
    }

    /// The objects in batches of about `batch_bytes`, each sorted and so in source order.
    /// Every object is in one batch; neighbours in a file usually share it.
    pub fn batches(&self, batch_bytes: u64) -> impl Iterator<Item = io::Result<Vec<Object>>> + '_ {
        let mut partitions = self.partitions.iter().peekable();
        std::iter::from_fn(move || {
            let (mut objects, mut taken) = (Vec::new(), 0);
            while let Some(stored) =
                partitions.next_if(|next| taken == 0 || (taken + next.bytes()) as u64 <= batch_bytes)
            {
                taken += stored.bytes();
                match stored.load(&self.spill) {
                    Ok(bytes) => objects.extend(decode(&bytes)),
                    Err(error) => return Some(Err(error)),
                }
            }
            // The objects of each partition are sorted: a sort that finds them so has little to do.
            objects.sort_by(|a: &Object, b| a.name.cmp(&b.name));
            (taken > 0).then_some(Ok(objects))
        })
    }

    /// Gives the memory of the objects back; only the totals stay.
    pub fn release(&mut self) {
        self.partitions.clear();
    }
}

impl StoredObjects {
    fn bytes(&self) -> usize {
        match self {
            StoredObjects::InMemory(bytes) => bytes.len(),
            StoredObjects::InFile(stretch) => stretch.length,
        }
    }

    fn load(&self, spill: &Spill) -> io::Result<std::borrow::Cow<'_, [u8]>> {
        match self {
            StoredObjects::InMemory(bytes) => Ok(bytes.into()),
            StoredObjects::InFile(stretch) => {
                let mut bytes = Vec::with_capacity(stretch.length);
                spill.read(stretch, &mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}

/// The objects in the order of their names, each as the length of its name, its references, and its
/// name. They are sorted here, where all threads are at work.
fn encode(mut partition: Partition, totals: &mut NamedTotals) -> Vec<u8> {
    let mut objects = partition.named();
    objects.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    let bytes = |object: &NamedObject| size_of::<u32>() + size_of::<u64>() + object.name.as_bytes().len();
    let mut out = Vec::with_capacity(objects.iter().map(bytes).sum());
    totals.objects += objects.len() as u64;
    for NamedObject { name, count, wanted } in objects {
        totals.references += count;
        let name = name.as_bytes();
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(&(count | if wanted { WANTED } else { 0 }).to_le_bytes());
        out.extend_from_slice(name);
    }
    out
}

fn decode(mut bytes: &[u8]) -> impl Iterator<Item = Object> + '_ {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        bytes = rest;
        let (name, count) = (ObjectName::from_bytes(name).to_owned(), u64::from_le_bytes(*count));
        Some(Object { name, count: count & !WANTED, wanted: count & WANTED != 0 })
    })
}

#[cfg(test)]
mod tests;
