//! A memory tier in front of the cache: payloads of this run that need no second read.
//!
//! It takes what it is offered until it is full and then nothing more. With known references
//! there is nothing to predict: every payload that is offered will be used again, or has just
//! been used and may be.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::object::Key;

/// Payloads by key, bounded in bytes.
pub struct MemoryTier {
    payloads: RwLock<HashMap<Key, Bytes>>,
    /// Bytes that may still be taken.
    room: AtomicU64,
}

/// What an entry costs beside its payload.
const OVERHEAD: u64 = 96;

impl MemoryTier {
    pub fn new(bytes: u64) -> MemoryTier {
        MemoryTier { payloads: RwLock::default(), room: AtomicU64::new(bytes) }
    }

    pub fn get(&self, key: &Key) -> Option<Bytes> {
        self.payloads.read().get(key).cloned()
    }

    /// Keeps the payload if there is room.
    pub fn offer(&self, key: Key, payload: &Bytes) {
        let cost = payload.len() as u64 + OVERHEAD;
        let taken =
            self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(cost));
        if taken.is_ok() {
            let mut payloads = self.payloads.write();
            if payloads.insert(key, payload.clone()).is_some() {
                self.room.fetch_add(cost, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_fits_and_counts_each_key_once() {
        let tier = MemoryTier::new(2 * (100 + OVERHEAD));
        let payload = Bytes::from(vec![1; 100]);
        for n in [1, 1, 1, 2, 3] {
            tier.offer(Key([n; 32]), &payload);
        }
        assert_eq!(tier.get(&Key([1; 32])), Some(payload.clone()));
        assert_eq!(tier.get(&Key([2; 32])), Some(payload));
        assert_eq!(tier.get(&Key([3; 32])), None);
    }
}
