//! The objects of one partition.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::record::{Counted, Record, from_bytes};
use crate::counting::spill::{Spill, Stretch};

/// References that wait until there are enough of them to make going through the table worth it.
const PENDING: usize = 1024;

#[derive(Default)]
pub struct Partition {
    pending: Vec<Record>,
    /// Each object once, with the spelling that came first.
    objects: HashTable<Record>,
    /// Further spellings of objects, each once.
    spellings: HashTable<Record>,
    stretches: Vec<Stretch>,
}

impl Partition {
    /// Takes a block and returns how many bytes more the partition holds now.
    pub fn append(&mut self, block: &[Record]) -> usize {
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

    /// Bytes held.
    pub fn resident(&self) -> usize {
        let tables = self.objects.allocation_size() + self.spellings.allocation_size();
        self.pending.capacity() * size_of::<Record>() + tables
    }

    /// Takes everything out: the records, and the bytes that were held.
    pub fn take(&mut self) -> (Vec<Record>, usize) {
        let freed = self.resident();
        let mut records = std::mem::take(&mut self.pending);
        records.extend(std::mem::take(&mut self.objects));
        records.extend(std::mem::take(&mut self.spellings));
        (records, freed)
    }

    /// Says where what was taken out is now.
    pub fn spilled(&mut self, stretch: Stretch) {
        self.stretches.push(stretch);
    }

    /// The whole partition, with what is in the temporary file.
    pub fn load(mut self, spill: &Spill) -> std::io::Result<Partition> {
        self.absorb();
        let mut bytes = Vec::new();
        for stretch in std::mem::take(&mut self.stretches) {
            bytes.clear();
            spill.read(&stretch, &mut bytes)?;
            from_bytes(&bytes).for_each(|record| self.insert(record));
        }
        Ok(self)
    }

    pub fn objects(&self) -> impl Iterator<Item = Counted> + '_ {
        self.objects.iter().map(Record::counted)
    }

    /// How many texts name the objects.
    pub fn spellings(&self) -> u64 {
        (self.objects.len() + self.spellings.len()) as u64
    }

    fn absorb(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        self.objects.reserve(pending.len(), Record::hash);
        pending.drain(..).for_each(|record| self.insert(record));
        self.pending = pending;
    }

    #[inline]
    fn insert(&mut self, record: Record) {
        match self.objects.entry(record.hash(), |object| object.same_object(&record), Record::hash) {
            Entry::Occupied(mut object) => {
                let object = object.get_mut();
                object.join(&record);
                if !object.same_spelling(&record) {
                    self.add_spelling(record.spelling_only());
                }
            }
            Entry::Vacant(place) => drop(place.insert(record)),
        }
    }

    #[cold]
    fn add_spelling(&mut self, record: Record) {
        let same = |other: &Record| other.same_object(&record) && other.same_spelling(&record);
        if let Entry::Vacant(place) = self.spellings.entry(record.hash(), same, Record::hash) {
            place.insert(record);
        }
    }
}
