//! The objects of one partition, and their names where these are kept.

use std::io;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::names::{NameEntries, NamedObject};
use super::record::{self, CountRecord, CountedObject};
use super::spill::{Spill, Stretch};

/// References are buffered until there are this many: visiting the table for fewer is slow.
const PENDING: usize = 1024;

#[derive(Default)]
pub struct Partition {
    pending: Vec<CountRecord>,
    /// Each object once, with its first text.
    objects: HashTable<CountRecord>,
    /// Further texts of objects, each once.
    texts: HashTable<CountRecord>,
    /// Blocks of the names of objects, each at least once.
    names: Vec<Vec<u8>>,
    names_bytes: usize,
    /// Where records and names are that were moved out.
    stretches: Vec<[Stretch; 2]>,
}

/// What a partition held in memory.
pub struct TakenOut {
    pub records: Vec<CountRecord>,
    pub names: Vec<Vec<u8>>,
    /// Bytes that were held.
    pub freed: usize,
}

impl Partition {
    /// Takes a block of records and returns how many bytes more the partition holds now.
    pub fn append(&mut self, block: &[CountRecord]) -> usize {
        let before = self.resident();
        if self.pending.capacity() == 0 {
            self.pending.reserve_exact(PENDING);
        }
        if self.pending.len() + block.len() > PENDING.max(self.objects.len()) {
            self.absorb();
        }
        self.pending.extend_from_slice(block);
        self.resident() - before
    }

    /// Takes a block of names and returns how many bytes more the partition holds now.
    pub fn append_names(&mut self, block: Vec<u8>) -> usize {
        let bytes = block.capacity();
        self.names_bytes += bytes;
        self.names.push(block);
        bytes
    }

    /// Bytes held.
    pub fn resident(&self) -> usize {
        let tables = self.objects.allocation_size() + self.texts.allocation_size();
        self.pending.capacity() * size_of::<CountRecord>() + tables + self.names_bytes
    }

    /// Takes everything out of memory.
    pub fn take_out(&mut self) -> TakenOut {
        let freed = self.resident();
        let mut records = std::mem::take(&mut self.pending);
        records.extend(std::mem::take(&mut self.objects));
        records.extend(std::mem::take(&mut self.texts));
        self.names_bytes = 0;
        TakenOut { records, names: std::mem::take(&mut self.names), freed }
    }

    /// Records where the records and names that were taken out are.
    pub fn moved_to(&mut self, stretches: [Stretch; 2]) {
        self.stretches.push(stretches);
    }

    /// The whole partition, including its part of the temporary file.
    pub fn load(mut self, spill: &Spill) -> io::Result<Partition> {
        self.absorb();
        let mut bytes = Vec::new();
        for [records, names] in std::mem::take(&mut self.stretches) {
            bytes.clear();
            spill.read(&records, &mut bytes)?;
            record::from_bytes(&bytes).for_each(|record| self.insert(record));
            let mut block = Vec::new();
            spill.read(&names, &mut block)?;
            self.names.push(block);
        }
        Ok(self)
    }

    pub fn objects(&self) -> impl Iterator<Item = CountedObject> + '_ {
        self.objects.iter().map(CountRecord::counted)
    }

    /// Takes out all objects with their names, in no order. Needs the names of all of them.
    pub fn named(&mut self) -> Vec<NamedObject<'_>> {
        let mut named = Vec::with_capacity(self.objects.len());
        for (id, name) in self.names.iter().flat_map(|block| NameEntries::new(block)) {
            let hash = record::hash_within_partition(id.short());
            // An object whose name is repeated was removed already.
            if let Ok(entry) = self.objects.find_entry(hash, |object| object.is_of(id)) {
                let CountedObject { count, wanted, .. } = entry.remove().0.counted();
                named.push(NamedObject { name, count, wanted });
            }
        }
        debug_assert!(self.objects.is_empty(), "every object has a name");
        named
    }

    /// How many texts name the objects.
    pub fn texts(&self) -> u64 {
        (self.objects.len() + self.texts.len()) as u64
    }

    fn absorb(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        self.objects.reserve(pending.len(), CountRecord::hash);
        pending.drain(..).for_each(|record| self.insert(record));
        self.pending = pending;
    }

    #[inline]
    fn insert(&mut self, record: CountRecord) {
        match self.objects.entry(record.hash(), |object| object.same_object(&record), CountRecord::hash) {
            Entry::Occupied(mut object) => {
                let object = object.get_mut();
                object.join(&record);
                if !object.same_text(&record) {
                    self.add_text(record.text_only());
                }
            }
            Entry::Vacant(place) => drop(place.insert(record)),
        }
    }

    #[cold]
    fn add_text(&mut self, record: CountRecord) {
        let same = |other: &CountRecord| other.same_object(&record) && other.same_text(&record);
        if let Entry::Vacant(place) = self.texts.entry(record.hash(), same, CountRecord::hash) {
            place.insert(record);
        }
    }
}
