//! What is known of the objects that repeat while shards are written: the references that are still to
//! come, and whether the cache takes them.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::object::ObjectName;

/// Objects that are referenced more than once: all of them, or those that a limited cache takes.
///
/// An object takes [`BYTES_PER_OBJECT`]. All of them are counted only where they fit the memory of the
/// run. Those that a limited cache takes are bounded by its limit instead: a cache of 1 TB holds 10
/// million payloads of 100 kB, whose uses take 160 MB.
pub struct Uses {
    /// The references left, by [`crate::object::ObjectId::short`], ascending once sorted: with n of these
    /// objects, another one is mistaken for one of them with probability n / 2^64.
    left: Vec<(u64, AtomicU32)>,
    cache: CacheTakes,
}

/// What the cache takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTakes {
    All,
    /// Those in the table.
    Admitted,
}

/// Bytes that a table takes for each object.
pub const BYTES_PER_OBJECT: u64 = size_of::<(u64, AtomicU32)>() as u64;

impl Uses {
    pub fn new(cache: CacheTakes) -> Uses {
        Uses { left: Vec::new(), cache }
    }

    /// Adds an object, by [`crate::object::ObjectId::short`], with its references.
    pub fn push(&mut self, id: u64, count: u64) {
        self.left.push((id, AtomicU32::new(u32::try_from(count).unwrap_or(u32::MAX))));
    }

    /// To be called between the last [`Uses::push`] and the first question.
    pub fn sort(&mut self) {
        self.left.sort_unstable_by_key(|(id, _)| *id);
    }

    /// Whether the cache takes the object. A limited one takes none that is referenced once.
    pub fn admit(&self, name: &ObjectName) -> bool {
        self.cache == CacheTakes::All || self.left(name).is_some()
    }

    /// Whether there are objects that the cache does not take.
    pub fn cache_is_limited(&self) -> bool {
        self.cache == CacheTakes::Admitted
    }

    /// Counts one reference as served; whether it was the last one.
    pub fn used(&self, name: &ObjectName) -> bool {
        let Some(left) = self.left(name) else { return true };
        let less = |left: u32| left.checked_sub(1);
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or(0) <= 1
    }

    /// Whether more than one reference is still to be served.
    pub fn recur(&self, name: &ObjectName) -> bool {
        self.left(name).is_some_and(|left| left.load(Ordering::Relaxed) > 1)
    }

    fn left(&self, name: &ObjectName) -> Option<&AtomicU32> {
        let found = self.left.binary_search_by_key(&name.id().short(), |(id, _)| *id);
        found.ok().map(|at| &self.left[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locator::Target;

    #[test]
    fn references_are_counted_down_and_what_is_not_in_the_table_is_not_admitted() {
        let names = ["/a", "/b", "/c"].map(|path| ObjectName::new(path.as_bytes(), &Target::Whole));
        let [a, b, c] = &names;
        let table = |cache| {
            let mut uses = Uses::new(cache);
            uses.push(a.id().short(), 2);
            uses.push(b.id().short(), u64::MAX);
            uses.sort();
            uses
        };
        assert!(table(CacheTakes::All).admit(c));
        let uses = table(CacheTakes::Admitted);
        assert_eq!([a, b, c].map(|name| uses.admit(name)), [true, true, false]);
        assert_eq!([a, b, c].map(|name| uses.recur(name)), [true, true, false]);
        assert_eq!([a, b, c].map(|name| uses.used(name)), [false, false, true]);
        assert_eq!([a, b, c].map(|name| uses.recur(name)), [false, true, false]);
        // More references than were counted are no error.
        assert_eq!([a, a, a].map(|name| uses.used(name)), [true, true, true]);
        assert!(uses.admit(a));
    }
}
