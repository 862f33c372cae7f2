//! What tests of counting have in common: random references, and the naive model, a map.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::counter::{ObjectCounter, PARTITIONS};
use super::{CountedObject, Meaning};
use crate::object::ObjectId;
use crate::threads::in_turns;

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

    /// What `counter` found, and how many bytes it spilled.
    pub fn found(counter: ObjectCounter, jobs: usize) -> (Model, u64) {
        let by_thread = in_turns(jobs, PARTITIONS, |turns| -> std::io::Result<_> {
            let (mut objects, mut texts) = (Vec::new(), 0);
            for number in turns {
                let partition = counter.take(number)?;
                texts += partition.texts();
                objects.extend(partition.objects());
            }
            Ok((objects, texts))
        });
        let mut model = Model::default();
        for (objects, texts) in by_thread.unwrap() {
            model.texts += texts;
            model.add(objects);
        }
        (model, counter.spill().written())
    }

    fn add(&mut self, objects: Vec<CountedObject>) {
        for CountedObject { id, source, size, count, wanted } in objects {
            let earlier = self.objects.insert(id, (source, size, count, wanted));
            assert_eq!(earlier, None, "an object comes once");
        }
    }
}
