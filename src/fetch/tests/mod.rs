//! Fetching as its callers see it: targets in, payloads or faults out, and what it cost.

mod archives;
mod damage;
mod files;
mod measured;
mod packed;
mod sparse;

use std::path::Path;

use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use crate::fault::{Fault, FaultClass};
use crate::locator::allow::Allow;
use crate::locator::{Location, Target};
use crate::object::Key;
use crate::store::{Local, Store};

/// One result for each target, in order.
pub type Results<T = Bytes> = Vec<Result<T, Fault>>;

pub fn whole() -> Target {
    Target::Whole
}

pub fn member(name: &str) -> Target {
    Target::Member(name.into())
}

pub fn range(offset: u64, size: u64) -> Target {
    Target::Range { offset, size }
}

/// What came of targets, and what it cost.
pub struct Fetched {
    pub results: Results,
    pub spent: Spent,
}

impl Fetched {
    /// Requests and bytes.
    pub fn cost(&self) -> (u64, u64) {
        (self.spent.requests, self.spent.bytes)
    }
}

/// Fetches `targets` of the file at `path`, and checks that their sizes are told rightly, too.
pub fn obtain_from(store: &dyn Store, allow: &Allow, path: &Path, targets: &[Target]) -> Fetched {
    let source = Source { store, allow };
    let mut spent = Spent::default();
    let results = each(path, targets, |files, pool, deliver| {
        spent = obtain(source, files, pool, &|| Ok(true), deliver).unwrap();
    });
    Fetched { results, spent }
}

pub fn fetch_path(path: &Path, targets: &[Target]) -> Fetched {
    let fetched = obtain_from(&Local, &Allow::new(Vec::new()).unwrap(), path, targets);
    for (size, result) in measured(path, targets).into_iter().zip(&fetched.results) {
        if let Ok(payload) = result {
            assert_eq!(size, Ok(payload.len() as u64));
        }
    }
    fetched
}

fn measured(path: &Path, targets: &[Target]) -> Results<u64> {
    let allow = Allow::new(Vec::new()).unwrap();
    let source = Source { store: &Local, allow: &allow };
    each(path, targets, |files, pool, deliver| {
        super::sizes(source, files, pool, &|| Ok(true), deliver).unwrap();
    })
}

/// What is told of the sizes of the targets, in order.
pub fn sizes(path: &Path, targets: &[Target]) -> Vec<Result<u64, FaultClass>> {
    measured(path, targets).into_iter().map(|size| size.map_err(|fault| fault.class)).collect()
}

/// Collects what `work` delivers for each target: one result.
fn each<T: Send>(
    path: &Path,
    targets: &[Target],
    work: impl FnOnce(&[FileFetch], &rayon::ThreadPool, Deliver<T>),
) -> Results<T> {
    static POOL: std::sync::LazyLock<rayon::ThreadPool> =
        std::sync::LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    let key = |number: usize| Key([number as u8; 32]);
    let keys = (0..targets.len()).map(key).collect();
    let file = FileFetch { location: Location::File(path.to_owned()), targets: targets.to_vec(), keys };
    let results: Mutex<Vec<Option<Result<T, Fault>>>> = Mutex::new(targets.iter().map(|_| None).collect());
    work(&[file], &POOL, &|key, result| {
        let target = usize::from(key.0[0]);
        assert!(results.lock()[target].replace(result).is_none(), "target {target} got two results");
    });
    results.into_inner().into_iter().map(|result| result.expect("every target has a result")).collect()
}

/// Fetches from a file that holds `bytes`.
pub fn fetch(bytes: &[u8], targets: &[Target]) -> Fetched {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, bytes).unwrap();
    fetch_path(&path, targets)
}

/// The one result for the one target.
pub fn one(bytes: &[u8], target: Target) -> Result<Bytes, Fault> {
    fetch(bytes, &[target]).results.remove(0)
}

/// The class of the fault of the one target.
pub fn class(bytes: &[u8], target: Target) -> FaultClass {
    one(bytes, target).unwrap_err().class
}
