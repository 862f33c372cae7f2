//! What tests of counting have in common: random references, and the naive model, a map.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::counter::{CountTotals, ObjectCounter, Partition};
use super::{CountedObject, Meaning};
use crate::object::ObjectId;

/// One reference: the number of its object, and in which way that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestReference {
    pub object: u64,
    pub spelling: u64,
}

impl TestReference {
    /// The hash of its text.
    pub fn hash(self) -> u128 {
        xxh3_128(format!("{} as {}", self.object, self.spelling).as_bytes())
    }

    /// What the text means. Every third object has no size; one has none, one is huge; of every
    /// fifth object only a second spelling is wanted.
    pub fn meaning(self) -> Meaning {
        let TestReference { object, spelling } = self;
        Meaning {
            id: ObjectId(xxh3_128(&object.to_le_bytes())),
            source: (object % 13) as u32,
            size: match object {
                1 => Some(0),
                2 => Some(i64::MAX as u64),
                n => (n % 3 > 0).then_some(n * 7),
            },
            text: self.hash() as u64,
            wanted: !object.is_multiple_of(5) || spelling == 2,
        }
    }
}

/// A few objects are named by many references, most by one or two; every fourth reference is
/// written in one of four further ways.
pub fn references(seed: u64, count: u64) -> Vec<TestReference> {
    (0..count)
        .map(|n| {
            let random = xxh3_64(&(seed << 32 | n).to_le_bytes());
            let range = [20, 900, 40_000][(random % 3) as usize];
            let spelling = if random & 0x300 == 0 { 1 + (random >> 10) % 4 } else { 0 };
            TestReference { object: (random >> 16) % range, spelling }
        })
        .collect()
}

/// What counting must find.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Source, size, references and whether any is wanted, by the upper half of the id.
    pub objects: BTreeMap<u64, (u32, Option<u64>, u64, bool)>,
    pub texts: u64,
}

impl Model {
    pub fn of(references: &[TestReference]) -> Model {
        let mut model = Model::default();
        for reference in references {
            let Meaning { id, source, size, wanted, .. } = reference.meaning();
            let object = model.objects.entry(id.short()).or_insert((source, size, 0, false));
            object.2 += 1;
            object.3 |= wanted;
        }
        model.texts = references.iter().collect::<BTreeSet<_>>().len() as u64;
        model
    }

    /// What `counter` found.
    pub fn found(counter: ObjectCounter, jobs: usize) -> (Model, CountTotals) {
        let add = |objects: &mut Vec<CountedObject>, _, more: Partition| {
            objects.extend(more.objects());
            Ok::<(), std::io::Error>(())
        };
        let join = |objects: &mut Vec<CountedObject>, more: Vec<CountedObject>| objects.extend(more);
        let (objects, totals) = counter.fold(jobs, Vec::new, add, join).unwrap();
        let mut model = Model { texts: totals.texts, ..Model::default() };
        for CountedObject { id, source, size, count, wanted } in objects {
            let earlier = model.objects.insert(id, (source, size, count, wanted));
            assert_eq!(earlier, None, "an object comes once");
        }
        (model, totals)
    }
}
