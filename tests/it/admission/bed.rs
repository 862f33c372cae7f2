//! A corpus of which it is known how often each shard names each object, and a cache with room for
//! some of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use onepull::commands::materialize::{CacheLimit, CachePolicy, Options, Report};
use onepull::locator::Location;
use onepull::locator::Target;
use onepull::object::ObjectName;

use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::run::materialize_from;
use crate::support::stores::Recording;

const OBJECTS: usize = 60;
const MANIFESTS: usize = 6;
const ROWS: usize = 150;

pub struct Bed {
    pub corpus: Corpus,
    pub objects: Vec<Object>,
    pub limit: CacheLimit,
    /// Whether the cache takes an object.
    pub admitted: Vec<bool>,
}

pub struct Object {
    pub path: PathBuf,
    pub target: Target,
    /// Where its bytes are in the file.
    place: Range<u64>,
    pub size: u64,
    locator: String,
    /// References of each manifest.
    pub uses: BTreeMap<String, u64>,
}

impl Object {
    pub fn references(&self) -> u64 {
        self.uses.values().sum()
    }

    pub fn shards(&self) -> u64 {
        self.uses.len() as u64
    }

    /// A member's is known only to its archive.
    fn known_size(&self) -> Option<u64> {
        (!matches!(self.target, Target::Member(_))).then_some(self.size)
    }

    pub fn name(&self) -> ObjectName {
        ObjectName::new(self.path.as_os_str().as_bytes(), &self.target)
    }
}

impl Bed {
    /// Ranges of tars, and whole files; the cache has room for some of them.
    pub fn new() -> Bed {
        Bed::naming(0)
    }

    /// Of the members of tars, which are as many as whole files, half are given by name.
    pub fn with_named_members() -> Bed {
        Bed::naming(1)
    }

    fn naming(named: usize) -> Bed {
        let corpus = Corpus::new();
        let mut random = Random::new(450);
        let mut objects = Vec::new();
        for archive in ["a.tar", "b.tar"] {
            // Between them lies so much else that no two share a read.
            let payloads: Vec<_> = (0..OBJECTS / 3)
                .flat_map(|n| {
                    let size = 100 + random.below(3000);
                    let payload = (format!("{n}.jpg"), random.bytes(size));
                    [payload, (format!("{n}.txt"), vec![b'-'; 70_000])]
                })
                .collect();
            for (n, member) in corpus.tar(archive, &payloads).into_iter().step_by(2).enumerate() {
                let (locator, target) = match n % 2 * named {
                    0 => {
                        let range = Target::Range { offset: member.offset, size: member.size };
                        (member.by_range(), range)
                    }
                    _ => (member.by_name(), Target::Member(member.name.as_str().into())),
                };
                objects.push(Object {
                    path: corpus.path(archive),
                    target,
                    place: member.offset..member.offset + member.size,
                    size: member.size,
                    locator,
                    uses: BTreeMap::new(),
                });
            }
        }
        while objects.len() < OBJECTS {
            let (name, size) = (format!("{}.png", objects.len()), 100 + random.below(3000));
            objects.push(Object {
                locator: corpus.file(&name, &random.bytes(size)),
                path: corpus.path(name),
                target: Target::Whole,
                place: 0..size as u64,
                size: size as u64,
                uses: BTreeMap::new(),
            });
        }
        random.shuffle(&mut objects);
        let limit = CacheLimit { bytes: 30_000, policy: CachePolicy::Density };
        let mut bed = Bed { corpus, objects, limit, admitted: Vec::new() };
        bed.write_manifests(&mut random);
        bed.admit(limit);
        bed
    }

    fn write_manifests(&mut self, random: &mut Random) {
        for number in 0..MANIFESTS {
            let name = format!("p{number}");
            let row = |place: usize| {
                // Some objects are named by most rows, and the last ones by hardly any.
                let range = [4, 20, OBJECTS][random.below(3)];
                let object = &mut self.objects[random.below(range)];
                *object.uses.entry(name.clone()).or_default() += 1;
                Row::image(format!("s{}", place / 4), (place % 4) as i32, object.locator.clone())
            };
            let rows: Vec<Row> = (0..ROWS).map(row).collect();
            match number % 2 {
                0 => self.corpus.parquet(&format!("{name}.parquet"), &rows),
                _ => self.corpus.jsonl(&format!("{name}.jsonl"), &rows),
            };
        }
        assert!(self.objects.iter().all(|object| object.references() > 0), "each object is named");
    }

    pub fn references(&self) -> u64 {
        self.objects.iter().map(Object::references).sum()
    }

    pub fn taken(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().zip(&self.admitted).filter(|(_, admitted)| **admitted).map(|(object, _)| object)
    }

    pub fn left_out(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().zip(&self.admitted).filter(|(_, admitted)| !**admitted).map(|(object, _)| object)
    }

    /// References to admitted objects, beyond the first of each.
    pub fn predicted_hits(&self) -> u64 {
        self.taken().map(|object| object.references() - 1).sum()
    }

    /// References to the others, beyond the first in each shard.
    pub fn in_shard_duplicates(&self) -> u64 {
        self.left_out().map(|object| object.references() - object.shards()).sum()
    }

    /// Limits the cache, and fills it in the order of the policy until an object does not fit.
    pub fn admit(&mut self, limit: CacheLimit) {
        let recurring: Vec<usize> =
            (0..self.objects.len()).filter(|&n| self.objects[n].references() > 1).collect();
        let known = recurring.iter().filter_map(|&n| self.objects[n].known_size());
        let mean = known.clone().sum::<u64>() / known.count() as u64;
        let size = |n: usize| self.objects[n].known_size().unwrap_or(mean);
        let key = |n: usize| {
            let hits = (self.objects[n].references() - 1) as f64;
            if limit.policy == CachePolicy::Count { hits } else { hits / size(n) as f64 }
        };
        let mut order = recurring;
        order.retain(|&n| size(n) + 96 <= limit.bytes);
        order.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(size(a).cmp(&size(b))));
        let mut admitted = vec![false; self.objects.len()];
        let mut left = limit.bytes;
        for n in order {
            let Some(rest) = left.checked_sub(size(n) + 96) else { break };
            (left, admitted[n]) = (rest, true);
        }
        (self.limit, self.admitted) = (limit, admitted);
    }

    /// Through a limited cache, in many small chunks.
    pub fn options_into(&self, output: &str) -> Options {
        Options { cache_limit: Some(self.limit), row_group_bytes: 20_000, ..self.corpus.options_into(output) }
    }

    pub fn run(&self, options: &Options) -> (Recording, Report) {
        let source = Recording::default();
        let report = materialize_from(&source, options);
        (source, report)
    }

    /// How often each object was read, in their order.
    pub fn reads(&self, source: &Recording) -> Vec<u64> {
        let reads = |object: &Object| {
            source.reads_of(&Location::from_bytes(object.path.as_os_str().as_bytes()), &object.place)
        };
        self.objects.iter().map(reads).collect()
    }

    /// How often each object is to be read from an empty cache, in their order.
    pub fn expected_reads(&self) -> Vec<u64> {
        let reads = |(object, admitted): (&Object, &bool)| if *admitted { 1 } else { object.shards() };
        self.objects.iter().zip(&self.admitted).map(reads).collect()
    }
}
