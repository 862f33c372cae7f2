//! Where objects come from: hosts, buckets and folders, each with a number.

use std::cmp::Reverse;
use std::collections::HashMap;

use parking_lot::Mutex;

use super::report::{OtherSources, SourceShare};
use crate::grouping::multiplicity::Counted;

/// Sources that are told apart; all further ones share the last number. A web corpus has millions
/// of hosts, of which a report lists a few.
const MOST: usize = 1 << 20;

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
    pub fn add(&mut self, object: &Counted) {
        let bytes = u128::from(object.size.unwrap_or(0));
        self.sum(object.source as usize).add(&Sum { references: object.count, objects: 1, bytes });
    }

    pub fn merge(&mut self, other: SourceSums) {
        other.sums.iter().enumerate().for_each(|(number, sum)| self.sum(number).add(sum));
    }

    /// Says what the numbers mean.
    pub fn name(&mut self, sources: Sources) {
        self.prefixes = sources.prefixes();
    }

    /// The `most` sources with most references, by their names where those are equal, and the sum
    /// of all others; every number scaled by `scale`.
    pub fn report(&self, most: usize, scale: f64) -> (Vec<SourceShare>, OtherSources) {
        let mut named: Vec<(&Sum, &[u8])> =
            self.sums.iter().zip(&self.prefixes).map(|(sum, prefix)| (sum, prefix.as_ref())).collect();
        named.retain(|(sum, _)| sum.objects > 0);
        named.sort_by_key(|(sum, prefix)| (Reverse(sum.references), *prefix));
        let scaled = |n: u128| (n as f64 * scale).round() as u64;
        let (listed, rest) = named.split_at(most.min(named.len()));
        let listed = listed.iter().map(|(sum, prefix)| SourceShare {
            prefix: String::from_utf8_lossy(prefix).into_owned(),
            references: scaled(sum.references.into()),
            objects: scaled(sum.objects.into()),
            bytes: scaled(sum.bytes),
        });
        let nameless = self.sums.get(self.prefixes.len()..).unwrap_or_default();
        let mut others = Sum::default();
        rest.iter().map(|(sum, _)| *sum).chain(nameless).for_each(|sum| others.add(sum));
        let others = OtherSources {
            sources: (rest.len() + nameless.len()) as u64,
            references: scaled(others.references.into()),
            objects: scaled(others.objects.into()),
            bytes: scaled(others.bytes),
        };
        (listed.collect(), others)
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
