//! Corpora that the unit tests of this part share: the law, the founding corpus, draws.

use super::histogram::{Bucket, Histogram};
use super::law::{self, MAX_MULTIPLICITY};
use super::table::{MultiplicityTable, TableRow};
use super::trace::Trace;

/// Tasks, workers, and the hit rates of the founding corpus by event simulation and by formula.
pub const SIMULATED: [(u64, u64, f64, f64); 5] = [
    (24, 16, 0.0949, 0.0903),
    (32, 16, 0.1733, 0.1709),
    (64, 16, 0.3121, 0.3131),
    (128, 16, 0.3902, 0.3909),
    (512, 16, 0.4526, 0.4514),
];

/// A small deterministic generator: a counter, scrambled.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let bits = (bits ^ (bits >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        bits ^ (bits >> 32)
    }

    /// In [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [0, limit).
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.uniform() * limit as f64) as u64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// P(K = k) for k from 0 on.
fn law_probabilities() -> Vec<f64> {
    let probability = |k| if k == 0 { 0.0 } else { law::survival(k) - law::survival(k + 1) };
    (0..=MAX_MULTIPLICITY).map(probability).collect()
}

/// P(K = k) for k from 0 on, when each reference of the law is kept with probability `q`.
fn thinned(q: f64) -> Vec<f64> {
    let law = law_probabilities();
    let mut kept = vec![0.0; law.len()];
    for (k, probability) in law.iter().enumerate() {
        // The binomial distribution of what is kept of k, term by term.
        let mut term = probability * (1.0 - q).powi(k as i32);
        for (j, kept) in kept.iter_mut().enumerate().take(k + 1) {
            *kept += term;
            term *= (k - j) as f64 / (j + 1) as f64 * q / (1.0 - q);
        }
    }
    kept
}

/// Objects with these references and sizes.
pub fn table(objects: &[(u64, Option<u64>)]) -> MultiplicityTable {
    let mut table = MultiplicityTable::default();
    objects.iter().for_each(|&(k, size)| table.push(k, size));
    table.settle();
    table
}

/// Objects of a draw.
pub fn table_of<'a>(objects: impl IntoIterator<Item = &'a (u32, u32)>) -> MultiplicityTable {
    let mut table = MultiplicityTable::default();
    objects.into_iter().for_each(|&(k, size)| table.push(k.into(), Some(size.into())));
    table.settle();
    table
}

pub fn histogram(objects: &[(u64, Option<u64>)]) -> Histogram {
    table(objects).histogram()
}

/// Multiplicities and numbers of objects of unknown size.
pub fn histogram_of(objects: &[(u64, u64)]) -> Histogram {
    Histogram::new(objects.iter().map(|&(k, objects)| TableRow { k, size: None, objects }))
}

/// The same as a list.
pub fn buckets(objects: &[(u64, u64)]) -> Vec<Bucket> {
    let bucket = |&(k, objects)| Bucket { k, objects, ..Bucket::default() };
    objects.iter().map(bucket).collect()
}

/// A trillion objects by these probabilities; those without references are left out.
fn trillion(probabilities: &[f64]) -> Vec<Bucket> {
    let all: f64 = probabilities[1..].iter().sum();
    let objects = |probability: f64| (probability / all * 1e12).round() as u64;
    let by_multiplicity = (1..).zip(&probabilities[1..]).map(|(k, &probability)| (k, objects(probability)));
    buckets(&by_multiplicity.collect::<Vec<_>>())
}

pub fn law() -> Vec<Bucket> {
    trillion(&law_probabilities())
}

pub fn ceiling(buckets: &[Bucket]) -> f64 {
    let sum = |of: fn(&Bucket) -> u64| buckets.iter().map(of).sum::<u64>() as f64;
    1.0 - sum(|bucket| bucket.objects) / sum(|bucket| bucket.objects * bucket.k)
}

/// The share q of the law's references that leaves a ceiling of 0.4720, by bisection. An object
/// with k references stays with probability 1 - (1-q)^k.
pub fn founding_share() -> f64 {
    let law = law_probabilities();
    let sum = |of: &dyn Fn(i32) -> f64| (0..).zip(&law).map(|(k, p)| p * of(k)).sum::<f64>();
    let references = sum(&f64::from);
    let ceiling = |q: f64| 1.0 - sum(&|k| 1.0 - (1.0 - q).powi(k)) / (q * references);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let q = (low + high) / 2.0;
        *if ceiling(q) < 0.4720 { &mut low } else { &mut high } = q;
    }
    low
}

/// The corpus on which the cost of concurrency was first seen: a sample of the law's rows.
pub fn founding() -> Vec<Bucket> {
    trillion(&thinned(founding_share()))
}

/// Its 18,553 objects, at the quantiles of the thinned law.
pub fn founding_multiplicities() -> Vec<u64> {
    const OBJECTS: u64 = 18_553;
    let classes = founding();
    let all: u64 = classes.iter().map(|class| class.objects).sum();
    let (mut class, mut seen) = (classes.iter(), 0);
    let mut k = 0;
    let mut quantile = |rank: u64| {
        while u128::from(seen) * u128::from(2 * OBJECTS) <= u128::from(2 * rank + 1) * u128::from(all) {
            let next = class.next().expect("the classes hold all objects");
            (k, seen) = (next.k, seen + next.objects);
        }
        k
    };
    (0..OBJECTS).map(&mut quantile).collect()
}

/// Multiplicity and size of `objects` objects of the law.
pub fn draw(objects: usize, seed: u64) -> Vec<(u32, u32)> {
    let (mut random, quantiles) = (Random::new(seed), law::Quantiles::default());
    let mut object = || {
        let k = quantiles.multiplicity_at(random.uniform());
        (k, law::size(k, random.normal()))
    };
    (0..objects).map(|_| object()).collect()
}

/// All references to objects of these sizes.
pub fn whole(references: &[u32], sizes: &[u64]) -> Trace {
    Trace { references: references.to_vec(), sizes: sizes.to_vec(), stands_for: 1 }
}

/// The references to these objects, multiplicity and size, in random order.
pub fn trace(objects: &[(u32, u32)], seed: u64) -> Trace {
    let repeat = |(number, &(k, _)): (u32, &(u32, u32))| std::iter::repeat_n(number, k as usize);
    let mut references: Vec<u32> = (0..).zip(objects).flat_map(repeat).collect();
    let mut random = Random::new(seed);
    for place in (1..references.len()).rev() {
        references.swap(place, random.below(place as u64 + 1) as usize);
    }
    Trace { references, sizes: objects.iter().map(|&(_, size)| size.into()).collect(), stands_for: 1 }
}
