//! Objects with a multiplicity and a size, corpora of them, and the naive choice among them: a
//! sort, and nothing shared with the program.

use std::cmp::Ordering;

use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;

#[derive(Clone, Copy, Debug)]
pub struct Object {
    pub k: u64,
    pub size: Option<u64>,
}

/// Objects of known sizes.
pub fn objects(of: &[(u64, u64)]) -> Vec<Object> {
    of.iter().map(|&(k, size)| Object { k, size: Some(size) }).collect()
}

/// Two fifths are referenced once, a few often; many tie in multiplicity, size or both, and every
/// eighth has no size.
pub fn random_objects(random: &mut Random, count: usize) -> Vec<Object> {
    let object = |_| {
        let k = match random.below(10) {
            0..4 => 1,
            4..9 => 2 + random.below(4) as u64,
            _ => 2 + random.below(60) as u64,
        };
        let size = match random.below(8) {
            0 => None,
            1..5 => Some([100, 200, 400, 1_000][random.below(4)]),
            _ => Some(1 + random.below(3_000) as u64),
        };
        Object { k, size }
    };
    (0..count).map(object).collect()
}

/// What manifests in `in` say of the object number `nth`.
pub fn locator(nth: usize, object: Object) -> String {
    match object.size {
        Some(size) => format!("{{\"path\":\"../{nth}.bin\",\"byte_offset\":7,\"byte_size\":{size}}}"),
        None => format!("{{\"path\":\"../{nth}.jpg\"}}"),
    }
}

/// All references, in random order.
pub fn rows(random: &mut Random, objects: &[Object]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (nth, &object) in objects.iter().enumerate() {
        rows.extend((0..object.k).map(|_| Row::image("s", 0, locator(nth, object))));
    }
    random.shuffle(&mut rows);
    rows
}

/// A corpus of these objects: three JSONL manifests. Their payloads are nowhere.
pub fn corpus(objects: &[Object]) -> Corpus {
    let corpus = Corpus::new();
    let rows = rows(&mut Random::new(7), objects);
    for (nth, part) in rows.chunks(rows.len().div_ceil(3).max(1)).enumerate() {
        corpus.jsonl(&format!("{nth}.jsonl"), part);
    }
    corpus
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Count,
    Density,
}

/// What is admitted, and the first object that does not fit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Admitted {
    pub objects: u64,
    pub bytes: u64,
    pub hits: u64,
    pub hit_bytes: u64,
    pub next: Option<(u64, u64)>,
}

/// The objects that a cache may be worth, by multiplicity and size, in their order: ties by the
/// smaller size.
pub fn in_order(objects: &[Object], order: Order) -> Vec<(u64, u64)> {
    let mut sorted: Vec<(u64, u64)> =
        objects.iter().filter(|of| of.k > 1).filter_map(|of| Some((of.k, of.size?))).collect();
    let earlier = |a: &(u64, u64), b: &(u64, u64)| -> Ordering {
        let worth = match order {
            Order::Count => b.0.cmp(&a.0),
            Order::Density => ((b.0 - 1) * a.1).cmp(&((a.0 - 1) * b.1)),
        };
        worth.then(a.1.cmp(&b.1))
    };
    sorted.sort_by(earlier);
    sorted
}

/// Admits in order, without what is larger than the cache, until one does not fit.
pub fn greedy(objects: &[Object], order: Order, budget: u64) -> Admitted {
    let mut admitted = Admitted::default();
    for (k, size) in in_order(objects, order).into_iter().filter(|&(_, size)| size <= budget) {
        if admitted.bytes + size > budget {
            admitted.next = Some((k, size));
            break;
        }
        admitted.add(k, size);
    }
    admitted
}

/// The bytes of the shortest prefix of the order with so many hits.
pub fn smallest(objects: &[Object], order: Order, hits: u64) -> Option<u64> {
    let mut admitted = Admitted::default();
    for (k, size) in in_order(objects, order) {
        if admitted.hits >= hits {
            break;
        }
        admitted.add(k, size);
    }
    (admitted.hits >= hits).then_some(admitted.bytes)
}

impl Admitted {
    fn add(&mut self, k: u64, size: u64) {
        self.objects += 1;
        self.bytes += size;
        self.hits += k - 1;
        self.hit_bytes += (k - 1) * size;
    }
}
