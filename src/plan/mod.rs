//! What to fetch, in which order, in how many requests. Pure: no I/O, no clock.
//!
//! A [`Plan`] is made once, from the counted objects and what the cache holds of them. It marks each
//! object with what is to be done for it, so that nobody asks the cache again. The store decides in the
//! end which targets of a file share a request, since only it knows where the members of an archive are;
//! the plan gives an upper bound.

pub mod coalesce;
pub mod uses;

use std::collections::HashSet;
use std::ops::AddAssign;

use xxhash_rust::xxh3::xxh3_64;

use crate::locator::{Location, Target};
use crate::object::{Key, Object, ObjectName};
use coalesce::coalesce;
use uses::Uses;

/// What to do for all objects of a run.
#[derive(Default)]
pub struct Plan {
    pub totals: PlanTotals,
    /// In the order in which the objects were given.
    pub batches: Vec<Marks>,
    /// `None`: the cache takes every object, and uses are not counted.
    pub uses: Option<Uses>,
    /// Files of which ranges are read: a large one comes in several batches, and counts once.
    ranged: HashSet<u64>,
}

/// What to do for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: only finished shards need it.
    Reused,
    /// Nothing: the cache holds it.
    Held,
    /// It goes into the cache.
    Fetch,
    /// It is read for each shard that needs it, since the cache does not take it.
    Apart,
}

/// The marks of a batch of objects, in their order; two bits each.
#[derive(Default)]
pub struct Marks(Vec<u8>);

/// Sums over a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanTotals {
    /// Objects that only finished shards need, and their bytes as far as they are known.
    pub reused: u64,
    pub reused_bytes: u64,
    pub held: u64,
    pub held_bytes: u64,
    /// What goes into the cache.
    pub fetch: FetchSize,
    /// What the cache neither holds nor takes, if each object were read once; and the references to
    /// it.
    pub apart: FetchSize,
    pub apart_references: u64,
    /// Source files that something is fetched from.
    pub files: u64,
}

/// How much is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchSize {
    pub objects: u64,
    /// Objects whose locator has a size, and the sum of these sizes in bytes.
    pub sized: u64,
    pub sized_bytes: u64,
    /// Read calls at most.
    pub requests: u64,
}

/// What to obtain from one source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFetch {
    pub location: Location,
    /// Distinct, in the order of names; `keys` beside them.
    pub targets: Vec<Target>,
    pub keys: Vec<Key>,
}

impl Plan {
    /// An empty plan. `uses`: of the objects that a limited cache takes; or empty, to be filled with all
    /// that repeat, for a cache that takes all.
    pub fn new(uses: Option<Uses>) -> Plan {
        Plan { uses, ..Plan::default() }
    }

    /// Adds a batch of objects, distinct and sorted. `held`: the bytes of each that the cache holds.
    pub fn add(&mut self, objects: &[Object], held: &[Option<u64>]) {
        if let Some(uses) = self.uses.as_mut().filter(|uses| !uses.cache_is_limited()) {
            let repeated = objects.iter().filter(|object| object.count > 1);
            repeated.for_each(|object| uses.push(object.name.id().short(), object.count));
        }
        let totals = &mut self.totals;
        let mut marks = Marks::default();
        for (at, (object, held)) in objects.iter().zip(held).enumerate() {
            let mark = match held {
                _ if !object.wanted => {
                    totals.reused += 1;
                    totals.reused_bytes += held.or_else(|| object.name.size()).unwrap_or(0);
                    Mark::Reused
                }
                Some(bytes) => {
                    totals.held += 1;
                    totals.held_bytes += bytes;
                    Mark::Held
                }
                None if self.uses.as_ref().is_none_or(|uses| uses.admit(&object.name)) => Mark::Fetch,
                None => {
                    totals.apart_references += object.count;
                    Mark::Apart
                }
            };
            marks.push(at, mark);
        }
        // The same file may be read for both purposes.
        let mut others: HashSet<u64> = HashSet::new();
        for (mark, size) in [(Mark::Fetch, &mut totals.fetch), (Mark::Apart, &mut totals.apart)] {
            let names: Vec<&ObjectName> = marks.names(objects, mark).collect();
            for file in names.chunk_by(|a, b| a.location_bytes() == b.location_bytes()) {
                let file_size = FetchSize::new(file);
                let files = if file_size.sized > 0 { &mut self.ranged } else { &mut others };
                files.insert(xxh3_64(file[0].location_bytes()));
                *size += file_size;
            }
        }
        totals.files += others.difference(&self.ranged).count() as u64;
        self.batches.push(marks);
    }

    /// Ends the plan.
    pub fn finish(mut self) -> Plan {
        self.totals.files += self.ranged.len() as u64;
        self.ranged = HashSet::new();
        if let Some(uses) = &mut self.uses {
            uses.sort();
        }
        self
    }
}

impl Marks {
    fn push(&mut self, at: usize, mark: Mark) {
        if at.is_multiple_of(4) {
            self.0.push(0);
        }
        *self.0.last_mut().expect("pushed with the first of four") |= (mark as u8) << (at % 4 * 2);
    }

    fn get(&self, at: usize) -> Mark {
        match self.0[at / 4] >> (at % 4 * 2) & 3 {
            0 => Mark::Reused,
            1 => Mark::Held,
            2 => Mark::Fetch,
            _ => Mark::Apart,
        }
    }

    /// The names of those of `objects`, the batch of these marks, that have this mark.
    pub fn names<'o>(&self, objects: &'o [Object], mark: Mark) -> impl Iterator<Item = &'o ObjectName> {
        let marked = objects.iter().enumerate().filter(move |(at, _)| self.get(*at) == mark);
        marked.map(|(_, object)| &object.name)
    }
}

impl AddAssign for FetchSize {
    fn add_assign(&mut self, other: FetchSize) {
        self.objects += other.objects;
        self.sized += other.sized;
        self.sized_bytes += other.sized_bytes;
        self.requests += other.requests;
    }
}

/// The files to read for `objects`, distinct and in the order of their names.
pub fn files<'a>(objects: impl IntoIterator<Item = (&'a ObjectName, Key)>) -> Vec<FileFetch> {
    let mut files: Vec<FileFetch> = Vec::new();
    let mut previous: &[u8] = &[];
    for (name, key) in objects {
        let location = name.location_bytes();
        if files.is_empty() || location != previous {
            files.push(FileFetch { location: name.location(), targets: Vec::new(), keys: Vec::new() });
            previous = location;
        }
        let file = files.last_mut().expect("pushed above");
        file.targets.push(name.target());
        file.keys.push(key);
    }
    files
}

impl FetchSize {
    /// The size of a fetch of these objects of one file, in the order of their names.
    fn new(names: &[&ObjectName]) -> FetchSize {
        let range = |name: &&ObjectName| match name.target() {
            Target::Range { offset, size } => Some((offset, offset + size)),
            Target::Whole | Target::Member(_) => None,
        };
        let ranges: Vec<(u64, u64)> = names.iter().filter_map(range).collect();
        let other = names.len() - ranges.len();
        FetchSize {
            objects: names.len() as u64,
            sized: ranges.len() as u64,
            sized_bytes: ranges.iter().map(|(start, end)| end - start).sum(),
            requests: (coalesce(&ranges, coalesce::LOCAL).len() + other) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(path: &str, target: &Target) -> ObjectName {
        ObjectName::new(path.as_bytes(), target)
    }

    #[test]
    fn objects_come_by_file_in_file_order_and_adjacent_ranges_share_requests() {
        let range = |offset| Target::Range { offset, size: 1000 };
        let mut objects = [
            name("/b.tar", &range(1 << 30)),
            name("/b.tar", &range(512)),
            name("/a.png", &Target::Whole),
            name("/b.tar", &range(2048)),
            name("/b.tar", &Target::Member("x".into())),
        ];
        objects.sort();
        let files = files(objects.iter().map(|o| (o, o.key())));
        assert_eq!(files.iter().map(|f| f.location.to_string()).collect::<Vec<_>>(), ["/a.png", "/b.tar"]);
        assert_eq!(files[1].targets[1..], [range(512), range(2048), range(1 << 30)]);
        let names: Vec<&ObjectName> = objects[1..].iter().collect();
        let whole = FetchSize::new(&names);
        assert_eq!((whole.objects, whole.sized, whole.sized_bytes, whole.requests), (4, 3, 3000, 3));
    }

    #[test]
    fn each_object_has_one_mark_and_is_in_one_sum() {
        let object = |n: u64, wanted: bool| Object {
            name: name("/a.tar", &Target::Range { offset: n << 20, size: 10 }),
            count: n,
            wanted,
        };
        let objects: Vec<Object> = (1..=6).map(|n| object(n, n != 2)).collect();
        let mut uses = Uses::new(uses::CacheTakes::Admitted);
        [1, 3, 4].into_iter().for_each(|at: usize| uses.push(objects[at].name.id().short(), 2));
        uses.sort();
        let held = [Some(7), Some(8), None, None, None, None];
        let mut plan = Plan::new(Some(uses));
        plan.add(&objects[..3], &held[..3]);
        plan.add(&objects[3..], &held[3..]);
        let Plan { totals, batches, .. } = plan.finish();
        let marks: Vec<Mark> = (0..6).map(|at| batches[at / 3].get(at % 3)).collect();
        use Mark::*;
        assert_eq!(marks, [Held, Reused, Apart, Fetch, Fetch, Apart]);
        assert_eq!((totals.held, totals.held_bytes, totals.reused, totals.reused_bytes), (1, 7, 1, 8));
        assert_eq!((totals.fetch.objects, totals.fetch.requests, totals.fetch.sized_bytes), (2, 2, 20));
        assert_eq!((totals.apart.objects, totals.apart_references, totals.files), (2, 9, 1));
    }
}
