//! Keeps payloads for a second use, beside the cache. A payload carries its reservation of memory, which
//! ends with the last holder of the payload.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;

use crate::memory::{MemoryBudget, Reservation};
use crate::object::Key;

/// What an object costs beside its payload, bytes.
const OVERHEAD: usize = 96;

/// A payload and the memory that it takes.
struct Reserved {
    payload: Bytes,
    reservation: Option<Reservation>,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // A slice keeps all that was read with it: what it takes is free only with the last of them.
        if !self.payload.is_unique()
            && let Some(reservation) = self.reservation.take()
        {
            std::mem::forget(reservation);
        }
    }
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.payload
    }
}

/// Memory for a payload of this length, if there is any.
fn reserve(budget: &Arc<MemoryBudget>, length: usize) -> Option<Reservation> {
    budget.reserve(length + OVERHEAD)
}

/// The same payload with its reservation.
fn carry(payload: Bytes, reservation: Reservation) -> Bytes {
    Bytes::from_owner(Reserved { payload, reservation: Some(reservation) })
}

/// Payloads of all shards, in front of the cache: those that came while there was room.
///
/// With known references there is nothing to predict: every payload that is offered will be used, or
/// has just been used and may be again.
pub struct MemoryTier {
    payloads: RwLock<HashMap<Key, Bytes>>,
    budget: Arc<MemoryBudget>,
}

impl MemoryTier {
    pub fn new(bytes: u64) -> MemoryTier {
        MemoryTier { payloads: RwLock::default(), budget: Arc::new(MemoryBudget::new(bytes)) }
    }

    pub fn get(&self, key: &Key) -> Option<Bytes> {
        self.payloads.read().get(key).cloned()
    }

    /// Keeps the payload if there is room.
    pub fn offer(&self, key: Key, payload: &Bytes) {
        if let Entry::Vacant(entry) = self.payloads.write().entry(key)
            && let Some(reservation) = reserve(&self.budget, payload.len())
        {
            entry.insert(carry(payload.clone(), reservation));
        }
    }

    /// The payload is not used again.
    pub fn forget(&self, key: &Key) {
        // Most are not here once the memory is full, and the read lock is cheap.
        if self.payloads.read().contains_key(key) {
            self.payloads.write().remove(key);
        }
    }
}

/// Payloads that one shard keeps for itself, because they recur in it and the cache does not take
/// them: in memory while there is room, beyond it in one file that has no name.
///
/// How often each object is used is known before, so a payload goes with its last use. The file
/// lies in the output folder's own part and vanishes with the shard, or with the process.
pub struct ShardTier {
    objects: HashMap<Key, Recurring>,
    budget: Arc<MemoryBudget>,
    folder: PathBuf,
    file: Option<File>,
    /// Bytes in the file.
    end: u64,
}

struct Recurring {
    /// References that were not served yet.
    left: u64,
    served: bool,
    kept: Kept,
}

enum Kept {
    /// Not read yet, or not kept.
    None,
    Memory(Bytes),
    File {
        offset: u64,
        length: usize,
        hash: blake3::Hash,
    },
}

/// How a reference got its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supplied {
    /// Through the cache, which may hold the object.
    Cached,
    /// By a read for the shard alone: at its first reference to the object, and at a later one.
    First,
    Again,
}

impl ShardTier {
    /// For the objects that `references` counts. Takes memory from `budget`, then writes into
    /// `folder`.
    pub fn new(references: HashMap<Key, u64>, budget: Arc<MemoryBudget>, folder: PathBuf) -> ShardTier {
        let recurring = |left| Recurring { left, served: false, kept: Kept::None };
        let objects = references.into_iter().filter(|(_, count)| *count > 1);
        let objects = objects.map(|(key, count)| (key, recurring(count))).collect();
        ShardTier { objects, budget, folder, file: None, end: 0 }
    }

    /// The payload, if it was kept and is intact.
    pub fn get(&self, key: &Key) -> Option<Bytes> {
        match &self.objects.get(key)?.kept {
            Kept::None => None,
            Kept::Memory(payload) => Some(payload.clone()),
            Kept::File { offset, length, hash } => {
                let mut payload = vec![0; *length];
                self.file.as_ref()?.read_exact_at(&mut payload, *offset).ok()?;
                (blake3::hash(&payload) == *hash).then(|| payload.into())
            }
        }
    }

    /// Keeps the payload if it is needed again after its next use.
    ///
    /// Fails when the file cannot be written; then it is not kept.
    pub fn keep(&mut self, key: &Key, payload: &Bytes) -> io::Result<()> {
        let Some(object) = self.objects.get_mut(key).filter(|object| object.left > 1) else { return Ok(()) };
        if let Some(reservation) = reserve(&self.budget, payload.len()) {
            // A copy, because a slice keeps all that was read with it.
            object.kept = Kept::Memory(carry(Bytes::copy_from_slice(payload), reservation));
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            file => file.insert(tempfile::tempfile_in(&self.folder)?),
        };
        file.write_all_at(payload, self.end)?;
        object.kept = Kept::File { offset: self.end, length: payload.len(), hash: blake3::hash(payload) };
        self.end += payload.len() as u64;
        Ok(())
    }

    /// Counts one reference as served; the last one lets the payload go.
    pub fn used(&mut self, key: &Key) -> Supplied {
        let Some(object) = self.objects.get_mut(key) else { return Supplied::First };
        object.left = object.left.saturating_sub(1);
        if object.left == 0 {
            object.kept = Kept::None;
        }
        if std::mem::replace(&mut object.served, true) { Supplied::Again } else { Supplied::First }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> Key {
        Key([n; 32])
    }

    fn tier(folder: &std::path::Path, bytes: usize) -> ShardTier {
        let budget = Arc::new(MemoryBudget::new(bytes as u64));
        ShardTier::new([(key(1), 1), (key(2), 2), (key(3), 3)].into(), budget, folder.to_owned())
    }

    #[test]
    fn memory_keeps_what_fits_and_counts_each_key_once() {
        let tier = MemoryTier::new(2 * (100 + OVERHEAD as u64));
        let payload = || Bytes::from(vec![1; 100]);
        for n in [1, 1, 1, 2, 3] {
            tier.offer(key(n), &payload());
        }
        assert_eq!([1, 2, 3].map(|n| tier.get(&key(n)).is_some()), [true, true, false]);
        assert_eq!(tier.get(&key(1)), Some(payload()));
        tier.forget(&key(1));
        tier.offer(key(3), &payload());
        assert!(tier.get(&key(3)).is_some(), "the last use of another one made room");
        // A slice leaves the memory that it shares with others, and with it the reservation.
        tier.forget(&key(3));
        let whole = Bytes::from(vec![1; 200]);
        tier.offer(key(4), &whole.slice(..100));
        tier.forget(&key(4));
        tier.offer(key(5), &payload());
        assert!(tier.get(&key(5)).is_none());
    }

    #[test]
    fn what_recurs_is_kept_until_its_last_use_in_memory_or_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        for room in [1000, 300 + OVERHEAD, 0] {
            let mut tier = tier(folder.path(), room);
            let payloads = [1, 2, 3].map(|n| Bytes::from(vec![n; 300]));
            for n in 1..=3 {
                tier.keep(&key(n), &payloads[n as usize - 1]).unwrap();
            }
            assert_eq!(tier.file.is_some(), room < 2 * (300 + OVERHEAD), "{room} bytes of room");
            assert_eq!(tier.get(&key(1)), None, "it is needed once");
            assert_eq!((tier.used(&key(1)), tier.used(&key(2))), (Supplied::First, Supplied::First));
            assert_eq!(tier.get(&key(2)).as_ref(), Some(&payloads[1]));
            assert_eq!((tier.used(&key(2)), tier.get(&key(2))), (Supplied::Again, None));
            assert_eq!(tier.get(&key(3)).as_ref(), Some(&payloads[2]));
            for expected in [Supplied::First, Supplied::Again, Supplied::Again] {
                assert_eq!(tier.used(&key(3)), expected);
            }
            assert_eq!(tier.get(&key(3)), None);
            assert!(tier.budget.reserve(room).is_some(), "all memory is given back");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
    }

    #[test]
    fn what_the_file_no_longer_holds_is_not_handed_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut tier = tier(folder.path(), 0);
        tier.keep(&key(3), &Bytes::from_static(b"payload")).unwrap();
        tier.file.as_ref().unwrap().write_all_at(b"X", 3).unwrap();
        assert_eq!(tier.get(&key(3)), None);
        tier.file.as_ref().unwrap().set_len(3).unwrap();
        assert_eq!(tier.get(&key(3)), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_and_no_payload() {
        let folder = tempfile::tempdir().unwrap();
        let mut tier = tier(&folder.path().join("missing"), 0);
        assert!(tier.keep(&key(2), &Bytes::from_static(b"payload")).is_err());
        assert_eq!(tier.get(&key(2)), None);
    }
}
