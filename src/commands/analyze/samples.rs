//! What tests of this command have in common: objects of the fixture corpus, a source that counts,
//! a monitor that remembers.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::archive::forward::BLOCK;
use crate::fetch::Source;
use crate::locator::Base;
use crate::locator::Location;
use crate::locator::Locator;
use crate::locator::Target;
use crate::locator::allow::Allow;
use crate::monitor::{Monitor, Phase};
use crate::object::ObjectName;
use crate::store::{Answer, Body, Local, Opened, Stat, Store};

pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/corpus").canonicalize().unwrap()
}

pub fn object(path: &str, target: &Target) -> ObjectName {
    ObjectName::new(path.as_bytes(), target)
}

/// The objects that the image rows of the plain fixture manifest name.
pub fn objects() -> Vec<ObjectName> {
    let folder = corpus().join("jsonl");
    let base = Base::new(&folder).unwrap();
    let mut objects = BTreeSet::new();
    for line in std::fs::read_to_string(folder.join("part-00000.jsonl")).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        if row["modality"] != "image" || row["source_ref"].is_null() {
            continue;
        }
        let text = row["source_ref"].as_str().map_or_else(|| row["source_ref"].to_string(), str::to_owned);
        if let Ok(Some(locator)) = Locator::parse(&text) {
            let mut name = ObjectName::default();
            name.resolve(&locator, &base).unwrap();
            objects.insert(name);
        }
    }
    objects.into_iter().collect()
}

pub fn pool(jobs: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(jobs).build().unwrap()
}

/// All local files.
pub fn local() -> Source<'static> {
    static EVERYTHING: LazyLock<Allow> = LazyLock::new(|| Allow::new(Vec::new()).unwrap());
    Source { store: &Local, allow: &EVERYTHING }
}

/// Local files, and how many bytes of them were asked for: headers of archives aside.
#[derive(Default)]
pub struct Counting {
    pub bytes: AtomicU64,
}

impl Store for Counting {
    fn stat<'a>(&'a self, location: &'a Location) -> Answer<'a, Stat> {
        Local.stat(location)
    }

    fn list<'a>(&'a self, prefix: &'a Location) -> Answer<'a, Vec<Location>> {
        Local.list(prefix)
    }

    fn read<'a>(&'a self, file: &'a Opened, range: Range<u64>) -> Answer<'a, Box<dyn Body + 'a>> {
        let bytes = Some(range.end - range.start).filter(|&bytes| bytes > BLOCK).unwrap_or(0);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Local.read(file, range)
    }
}

/// What a monitor was told.
#[derive(Default)]
pub struct Told {
    pub totals: Mutex<Vec<(Phase, u64)>>,
    pub done: AtomicU64,
    pub problems: Mutex<Vec<String>>,
    /// Once set, the run is to stop.
    pub stop: AtomicBool,
    /// After how many objects that happens by itself; 0: never.
    pub stop_after: u64,
}

impl Monitor for Told {
    fn start(&self, phase: Phase, total: u64) {
        self.totals.lock().push((phase, total));
    }

    fn advance(&self, _: Phase, done: u64, _: u64) {
        if self.done.fetch_add(done, Ordering::Relaxed) + done == self.stop_after {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn finish(&self, _: Phase) {}

    fn problem(&self, message: &str) {
        self.problems.lock().push(message.to_owned());
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
