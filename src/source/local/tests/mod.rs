//! The source as its callers see it: targets in, payloads or faults out, and what it cost.

mod archives;
mod damage;
mod files;
mod packed;
mod sparse;

use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::fault::Class;
use crate::source::Read;

/// One result for each target, in order.
pub type Results = Vec<Result<Bytes, Fault>>;

pub fn whole() -> Target {
    Target::Whole
}

pub fn member(name: &str) -> Target {
    Target::Member(name.to_owned())
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
    prepared.faults.into_iter().for_each(|(target, fault)| put(target, Err(fault)));
    let mut cost = Cost::default();
    for request in &prepared.requests {
        let one = source.perform(request, &mut put);
        cost = Cost { requests: cost.requests + one.requests, bytes: cost.bytes + one.bytes };
    }
    let results = results.into_iter().map(|result| result.expect("every target has a result")).collect();
    Fetched { results, reads: prepared.requests.into_iter().map(|request| request.read).collect(), cost }
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
