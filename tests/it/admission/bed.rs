//! A corpus of which it is known how often each shard names each object.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use onepull::commands::admission::{Admission, Choice, digest};
use onepull::commands::materialize::{Options, Report};
use onepull::locator::SourcePath;
use onepull::locator::Target;
use onepull::object;

use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;
use crate::support::recording::Recording;
use crate::support::run::materialize_from;

const OBJECTS: usize = 60;
const MANIFESTS: usize = 6;
const ROWS: usize = 150;

pub struct Bed {
    pub corpus: Corpus,
    pub objects: Vec<Object>,
    /// Whether an object is on the list.
    pub admitted: Vec<bool>,
}

pub struct Object {
    pub path: PathBuf,
    pub target: Target,
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

    pub fn canonical(&self) -> Vec<u8> {
        let mut canonical = Vec::new();
        object::canonical(self.path.as_os_str().as_bytes(), &self.target, &mut canonical);
        canonical
    }

    /// As a recording source names it.
    fn wanted(&self) -> (SourcePath, Target) {
        (SourcePath::from_bytes(self.path.as_os_str().as_bytes()), self.target.clone())
    }
}

impl Bed {
    /// Ranges and members of tars, and whole files; a third of them is on the list.
    pub fn new() -> Bed {
        let corpus = Corpus::new();
        let mut random = Random::new(450);
        let mut objects = Vec::new();
        for archive in ["a.tar", "b.tar"] {
            let payloads: Vec<_> = (0..OBJECTS / 3)
                .map(|n| {
                    let size = 100 + random.below(3000);
                    (format!("{n}.jpg"), random.bytes(size))
                })
                .collect();
            for (n, member) in corpus.tar(archive, &payloads).into_iter().enumerate() {
                let (locator, target) = match n % 2 {
                    0 => {
                        let range = Target::Range { offset: member.offset, size: member.size };
                        (member.by_range(), range)
                    }
                    _ => (member.by_name(), Target::Member(member.name.clone())),
                };
                objects.push(Object {
                    path: corpus.path(archive),
                    target,
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
                size: size as u64,
                uses: BTreeMap::new(),
            });
        }
        random.shuffle(&mut objects);
        let admitted = (0..objects.len()).map(|n| n % 3 == 0).collect();
        let mut bed = Bed { corpus, objects, admitted };
        bed.write_manifests(&mut random);
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

    pub fn on_the_list(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().zip(&self.admitted).filter(|(_, admitted)| **admitted).map(|(object, _)| object)
    }

    pub fn left_out(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().zip(&self.admitted).filter(|(_, admitted)| !**admitted).map(|(object, _)| object)
    }

    /// References to objects on the list, beyond the first of each.
    pub fn predicted_hits(&self) -> u64 {
        self.on_the_list().map(|object| object.references() - 1).sum()
    }

    /// References to the others, beyond the first in each shard.
    pub fn in_shard_duplicates(&self) -> u64 {
        self.left_out().map(|object| object.references() - object.shards()).sum()
    }

    pub fn list(&self) -> Admission {
        let bytes = self.on_the_list().map(|object| object.size).sum();
        let choice = Choice {
            policy: "density".into(),
            budget: bytes,
            hits: self.predicted_hits(),
            references: self.references(),
            objects: self.objects.len() as u64,
            bytes: self.objects.iter().map(|object| object.size).sum(),
            admitted_bytes: bytes,
        };
        Admission::new(choice, self.on_the_list().map(|object| digest(&object.canonical())).collect())
    }

    /// Obeys the list, in many small chunks.
    pub fn options_into(&self, output: &str) -> Options {
        let file = self.corpus.path("list");
        self.list().write(&file).unwrap();
        Options { admit: Some(file), row_group_bytes: 20_000, ..self.corpus.options_into(output) }
    }

    pub fn run(&self, options: &Options) -> (Recording, Report) {
        let source = Recording::new();
        let report = materialize_from(&source, options);
        (source, report)
    }

    /// How often `source` handed each object over, in their order.
    pub fn reads(&self, source: &Recording) -> Vec<u64> {
        let deliveries: HashMap<_, _> = source.deliveries();
        self.objects.iter().map(|object| deliveries.get(&object.wanted()).copied().unwrap_or(0)).collect()
    }

    /// How often each object is to be read from an empty cache, in their order.
    pub fn expected_reads(&self) -> Vec<u64> {
        let reads = |(object, admitted): (&Object, &bool)| if *admitted { 1 } else { object.shards() };
        self.objects.iter().zip(&self.admitted).map(reads).collect()
    }
}
