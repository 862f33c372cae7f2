//! Where objects come from: hosts, buckets and folders, each with a number.

use std::cmp::Reverse;
use std::collections::HashMap;

use parking_lot::Mutex;

use super::report::SourceShare;
use crate::analysis::sampling::scaled;
use crate::counting::CountedObject;

/// Sources with a number of their own; all further ones share the last number, and which those are
/// depends on the threads. A web corpus has millions of hosts. A source takes its name, some 70
/// bytes beside it while manifests are read, and 32 afterwards.
const MOST: usize = 1 << 24;

/// All sources of a corpus.
#[derive(Default)]
pub struct Sources {
    numbers: Mutex<HashMap<Box<[u8]>, u32>>,
}

impl Sources {
    fn number(&self, prefix: &[u8]) -> u32 {
        let mut numbers = self.numbers.lock();
        if let Some(number) = numbers.get(prefix) {
            return *number;
        }
        let number = numbers.len().min(MOST) as u32;
        if numbers.len() < MOST {
            numbers.insert(prefix.into(), number);
        }
        number
    }

    /// The prefixes by number. A number past them stands for all other sources.
    pub fn prefixes(self) -> Vec<Box<[u8]>> {
        let mut prefixes: Vec<(u32, Box<[u8]>)> =
            self.numbers.into_inner().into_iter().map(|(prefix, number)| (number, prefix)).collect();
        prefixes.sort_unstable();
        prefixes.into_iter().map(|(_, prefix)| prefix).collect()
    }
}

/// References, objects and bytes of each source.
#[derive(Default)]
pub struct SourceSums {
    /// By the number of the source.
    sums: Vec<Sum>,
    prefixes: Vec<Box<[u8]>>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    references: u64,
    objects: u64,
    /// Of objects of known size.
    bytes: u128,
}

impl Sum {
    fn add(&mut self, other: &Sum) {
        self.references += other.references;
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}

impl SourceSums {
    pub fn add_all(&mut self, objects: &[CountedObject]) {
        for object in objects {
            let bytes = u128::from(object.size.unwrap_or(0));
            self.sum(object.source as usize).add(&Sum { references: object.count, objects: 1, bytes });
        }
    }

    /// Says what the numbers mean.
    pub fn name(&mut self, sources: Sources) {
        self.prefixes = sources.prefixes();
    }

    /// The `most` sources with most references, by their names where those are equal; every number
    /// scaled by `scale`.
    pub fn report(&self, most: usize, scale: f64) -> Vec<SourceShare> {
        let mut named: Vec<(&Sum, &[u8])> =
            self.sums.iter().zip(&self.prefixes).map(|(sum, prefix)| (sum, prefix.as_ref())).collect();
        named.retain(|(sum, _)| sum.objects > 0);
        named.sort_by_key(|(sum, prefix)| (Reverse(sum.references), *prefix));
        let scaled = |n: u128| scaled(n, scale);
        let share = |(sum, prefix): &(&Sum, &[u8])| SourceShare {
            prefix: String::from_utf8_lossy(prefix).into_owned(),
            references: scaled(sum.references.into()),
            objects: scaled(sum.objects.into()),
            bytes: scaled(sum.bytes),
        };
        named.iter().take(most).map(share).collect()
    }

    fn sum(&mut self, number: usize) -> &mut Sum {
        if self.sums.len() <= number {
            self.sums.resize(number + 1, Sum::default());
        }
        &mut self.sums[number]
    }
}

/// What one thread remembers of the sources.
pub struct SourceCache<'a> {
    sources: &'a Sources,
    known: HashMap<Box<[u8]>, u32>,
    last: (Vec<u8>, u32),
}

/// Sources that a thread remembers.
const REMEMBERED: usize = 1 << 16;

impl<'a> SourceCache<'a> {
    pub fn new(sources: &'a Sources) -> SourceCache<'a> {
        SourceCache { sources, known: HashMap::new(), last: (Vec::new(), MOST as u32) }
    }

    /// The number of the source that `prefix` names. The prefix is not empty.
    #[inline]
    pub fn number(&mut self, prefix: &[u8]) -> u32 {
        if self.last.0 != prefix {
            let number = self.look_up(prefix);
            self.last.0.clear();
            self.last.0.extend_from_slice(prefix);
            self.last.1 = number;
        }
        self.last.1
    }

    fn look_up(&mut self, prefix: &[u8]) -> u32 {
        if let Some(number) = self.known.get(prefix) {
            return *number;
        }
        let number = self.sources.number(prefix);
        if self.known.len() < REMEMBERED {
            self.known.insert(prefix.into(), number);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(source: u32, count: u64, size: Option<u64>) -> CountedObject {
        CountedObject { id: 0, source, size, count, wanted: true }
    }

    fn share(prefix: &str, references: u64, objects: u64, bytes: u64) -> SourceShare {
        SourceShare { prefix: prefix.into(), references, objects, bytes }
    }

    /// Two threads that met four sources, and the objects of three of them.
    fn sums() -> SourceSums {
        let sources = Sources::default();
        let (mut one, mut other) = (SourceCache::new(&sources), SourceCache::new(&sources));
        assert_eq!([b"/z", b"/a", b"/z"].map(|prefix| one.number(prefix)), [0, 1, 0]);
        assert_eq!([b"/b", b"/a", b"/q", b"/b"].map(|prefix| other.number(prefix)), [2, 1, 3, 2]);
        let mut sums = SourceSums::default();
        sums.add_all(&[object(0, 3, Some(10)), object(1, 1, None)]);
        sums.add_all(&[object(0, 1, Some(5)), object(1, 3, Some(7)), object(2, 9, Some(1))]);
        sums.name(sources);
        sums
    }

    #[test]
    fn sources_are_listed_by_references_then_by_name_without_those_that_have_no_object() {
        let listed = [share("/b", 9, 1, 1), share("/a", 4, 2, 7), share("/z", 4, 2, 15)];
        assert_eq!(sums().report(10, 1.0), listed);
        assert_eq!(sums().report(1, 1.0), listed[..1]);
    }

    #[test]
    fn the_numbers_of_a_sample_are_scaled_up() {
        assert_eq!(sums().report(1, 4.0), [share("/b", 36, 4, 4)]);
    }

    #[test]
    fn bytes_are_exact_past_what_a_float_holds() {
        let mut sums = sums();
        sums.add_all(&[object(1, 1, Some((1 << 60) + 1))]);
        assert_eq!(sums.report(2, 1.0).iter().map(|of| of.bytes).collect::<Vec<_>>(), [1, (1 << 60) + 8]);
    }

    #[test]
    fn sources_past_those_that_are_told_apart_are_not_listed() {
        let mut sums = sums();
        sums.add_all(&[object(4, 100, Some(1000))]);
        assert_eq!(sums.report(10, 1.0).len(), 3);
    }
}
