//! What tests of counting have in common: random references, and the naive model, a map.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::multiplicity::{Counted, Counter, Named, Totals};
use crate::object::ObjectId;

/// One reference: the number of its object, and in which way that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub object: u64,
    pub spelling: u64,
}

impl Reference {
    /// The hash of its text.
    pub fn hash(self) -> u128 {
        xxh3_128(format!("{} as {}", self.object, self.spelling).as_bytes())
    }

    /// What the text means. Every third object has no size; one has none, one is huge; of every
    /// fifth object all spellings but the first want a page.
    pub fn named(self) -> Named {
        let Reference { object, spelling } = self;
        Named {
            id: ObjectId(xxh3_128(&object.to_le_bytes())),
            source: (object % 13) as u32,
            size: match object {
                1 => Some(0),
                2 => Some(i64::MAX as u64),
                n => (n % 3 > 0).then_some(n * 7),
            },
            spelling: self.hash() as u64,
            framed: object.is_multiple_of(5) && spelling > 0,
        }
    }
}

/// A few objects are named by many references, most by one or two; every fourth reference is
/// written in one of four further ways.
pub fn references(seed: u64, count: u64) -> Vec<Reference> {
    (0..count)
        .map(|n| {
            let random = xxh3_64(&(seed << 32 | n).to_le_bytes());
            let range = [20, 900, 40_000][(random % 3) as usize];
            let spelling = if random & 0x300 == 0 { 1 + (random >> 10) % 4 } else { 0 };
            Reference { object: (random >> 16) % range, spelling }
        })
        .collect()
}

/// What counting must find.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Source, size and references by the upper half of the digest.
    pub objects: BTreeMap<u64, (u32, Option<u64>, u64)>,
    pub spellings: u64,
    /// References that want a page.
    pub framed: u64,
}

impl Model {
    pub fn of(references: &[Reference]) -> Model {
        let mut model = Model::default();
        for reference in references {
            let named = reference.named();
            let object = (named.source, named.size, 0);
            model.objects.entry(named.id.short()).or_insert(object).2 += 1;
            model.framed += u64::from(named.framed);
        }
        model.spellings = references.iter().collect::<BTreeSet<_>>().len() as u64;
        model
    }

    /// What `counter` found.
    pub fn found(counter: Counter, jobs: usize) -> (Model, Totals) {
        let add = |objects: &mut Vec<Counted>, _, more: Vec<Counted>| {
            objects.extend(more);
            Ok::<(), std::io::Error>(())
        };
        let join = |objects: &mut Vec<Counted>, more: Vec<Counted>| objects.extend(more);
        let (objects, totals) = counter.fold(jobs, Vec::new, add, join).unwrap();
        let Totals { framed, spellings, .. } = totals;
        let mut model = Model { framed, spellings, ..Model::default() };
        for Counted { digest, source, size, count } in objects {
            let earlier = model.objects.insert(digest, (source, size, count));
            assert_eq!(earlier, None, "an object comes once");
        }
        (model, totals)
    }
}
