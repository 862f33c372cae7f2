//! What is known of each object that recurs while shards are written: the references that are still to
//! come, and whether the cache takes it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::object::ObjectName;

/// The objects of a run that are referenced more than once.
pub struct Uses {
    /// By [`crate::object::ObjectId::short`], ascending: with n of these objects, another one is taken
    /// for one of them with probability n / 2^64.
    objects: Vec<(u64, AtomicU32)>,
    cache: CacheTakes,
}

/// What the cache takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTakes {
    All,
    /// Those that are marked so.
    Admitted,
}

/// The bit of a word that says that the cache takes the object; the others count what is left.
const ADMITTED: u32 = 1 << 31;

/// Bytes that a table takes for each object.
pub const BYTES_PER_OBJECT: u64 = size_of::<(u64, AtomicU32)>() as u64;

impl Uses {
    /// `objects`, in any order: [`crate::object::ObjectId::short`] of each, its references, and whether
    /// it is admitted.
    pub fn new(objects: impl IntoIterator<Item = (u64, u64, bool)>, cache: CacheTakes) -> Uses {
        let word = |count: u64, admitted| {
            let left = u32::try_from(count).unwrap_or(u32::MAX).min(ADMITTED - 1);
            AtomicU32::new(left | if admitted { ADMITTED } else { 0 })
        };
        let mut objects: Vec<_> =
            objects.into_iter().map(|(id, count, admitted)| (id, word(count, admitted))).collect();
        objects.sort_unstable_by_key(|(id, _)| *id);
        Uses { objects, cache }
    }

    /// Whether the cache takes the object. A limited one takes none that is referenced once.
    pub fn admit(&self, name: &ObjectName) -> bool {
        let admitted = |word: &AtomicU32| word.load(Ordering::Relaxed) & ADMITTED != 0;
        self.cache == CacheTakes::All || self.word(name).is_some_and(admitted)
    }

    /// Counts one reference as served; whether it was the last one.
    pub fn used(&self, name: &ObjectName) -> bool {
        let Some(word) = self.word(name) else { return true };
        let less = |word: u32| (word & !ADMITTED > 0).then(|| word - 1);
        let before = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        before.unwrap_or_else(|word| word) & !ADMITTED <= 1
    }

    /// Whether there are objects that the cache does not take.
    pub fn cache_is_limited(&self) -> bool {
        self.cache == CacheTakes::Admitted
    }

    /// Whether more than one reference is still to be served.
    pub fn recur(&self, name: &ObjectName) -> bool {
        self.word(name).is_some_and(|word| word.load(Ordering::Relaxed) & !ADMITTED > 1)
    }

    fn word(&self, name: &ObjectName) -> Option<&AtomicU32> {
        let found = self.objects.binary_search_by_key(&name.id().short(), |(id, _)| *id);
        found.ok().map(|at| &self.objects[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locator::Target;

    #[test]
    fn references_are_counted_down_and_objects_that_come_once_are_not_admitted() {
        let names = ["/a", "/b", "/c"].map(|path| ObjectName::new(path.as_bytes(), &Target::Whole));
        let [a, b, c] = &names;
        let objects = [(a.id().short(), 2, true), (b.id().short(), u64::MAX, false)];
        assert!(Uses::new(objects, CacheTakes::All).admit(c));
        let uses = Uses::new(objects, CacheTakes::Admitted);
        assert_eq!([a, b, c].map(|name| uses.admit(name)), [true, false, false]);
        assert_eq!([a, b, c].map(|name| uses.recur(name)), [true, true, false]);
        assert_eq!([a, b, c].map(|name| uses.used(name)), [false, false, true]);
        assert_eq!([a, b, c].map(|name| uses.recur(name)), [false, true, false]);
        // More references than were counted are no error.
        assert_eq!([a, a, a].map(|name| uses.used(name)), [true, true, true]);
        assert!(uses.admit(a));
    }
}
