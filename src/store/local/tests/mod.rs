//! The source as its callers see it: targets in, payloads or faults out, and what it cost.

mod archives;
mod damage;
mod files;
mod measured;
mod packed;
mod sparse;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::fault::Class;
use crate::store::Read;

/// One result for each target, in order.
pub type Results = Vec<Result<Bytes, Fault>>;

pub fn whole() -> Target {
    Target::Whole
}

pub fn member(name: &str) -> Target {
    Target::Member(name.into())
}

pub fn range(offset: u64, size: u64) -> Target {
    Target::Range { offset, size }
}

/// Everything a source says about `targets` of the file at `path`.
pub struct Fetched {
    pub results: Results,
    pub reads: Vec<Read>,
    pub cost: Cost,
}

pub fn fetch_path(source: &Local, path: &Path, targets: &[Target]) -> Fetched {
    let path = SourcePath::from_bytes(path.as_os_str().as_encoded_bytes());
    let prepared = source.prepare(&path, targets);
    let mut results: Vec<Option<Result<Bytes, Fault>>> = vec![None; targets.len()];
    let mut put = |target: usize, result| {
        assert!(results[target].replace(result).is_none(), "target {target} got two results");
    };
    prepared.faults.iter().for_each(|(target, fault)| put(*target, Err(fault.clone())));
    let mut cost = Cost::default();
    for request in &prepared.requests {
        let one = source.perform(request, &mut put);
        cost = Cost { requests: cost.requests + one.requests, bytes: cost.bytes + one.bytes };
    }
    let results: Results =
        results.into_iter().map(|result| result.expect("every target has a result")).collect();
    assert_measured(source, &prepared, &results);
    Fetched { results, reads: prepared.requests.into_iter().map(|request| request.read).collect(), cost }
}

/// Each request measures its own payloads, and rightly.
fn assert_measured(source: &Local, prepared: &Prepared, results: &Results) {
    let mut left: BTreeSet<usize> = (0..results.len()).collect();
    prepared.faults.iter().for_each(|(target, _)| assert!(left.remove(target)));
    for request in &prepared.requests {
        source.measure(request, &mut |target, size| {
            assert!(left.remove(&target), "target {target} was measured twice");
            if let Ok(payload) = &results[target] {
                assert_eq!(size, Ok(payload.len() as u64), "target {target}");
            }
        });
    }
    assert!(left.is_empty(), "{left:?}");
}

/// What is told of the sizes of the targets, in order.
pub fn sizes(path: &Path, targets: &[Target]) -> Vec<Result<u64, Class>> {
    let path = SourcePath::from_bytes(path.as_os_str().as_encoded_bytes());
    let source = Local::new(Vec::new()).unwrap();
    let prepared = source.prepare(&path, targets);
    let mut told: BTreeMap<usize, Result<u64, Class>> =
        prepared.faults.into_iter().map(|(target, fault)| (target, Err(fault.class))).collect();
    for request in &prepared.requests {
        source.measure(request, &mut |target, size| {
            assert!(told.insert(target, size.map_err(|fault| fault.class)).is_none());
        });
    }
    told.into_values().collect()
}

/// Fetches from a file that holds `bytes`.
pub fn fetch(bytes: &[u8], targets: &[Target]) -> Fetched {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, bytes).unwrap();
    fetch_path(&Local::new(Vec::new()).unwrap(), &path, targets)
}

/// The one result for the one target.
pub fn one(bytes: &[u8], target: Target) -> Result<Bytes, Fault> {
    fetch(bytes, &[target]).results.remove(0)
}

/// The class of the fault of the one target.
pub fn class(bytes: &[u8], target: Target) -> Class {
    one(bytes, target).unwrap_err().class
}
