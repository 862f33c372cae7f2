//! Folders as values: what is in them, byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access, statvfs};
use tempfile::TempDir;
use walkdir::WalkDir;

/// MemoryBudget that a test may need, bytes.
const ROOM: u64 = 1 << 30;

/// A folder for one test. In memory where there is room for it: caches have thousands of folders,
/// and removing those from a disk can take longer than everything else.
pub fn scratch() -> TempDir {
    let memory = "/dev/shm";
    let roomy = statvfs(memory).is_ok_and(|found| found.f_bavail * found.f_frsize >= ROOM);
    if roomy && access(memory, Access::WRITE_OK).is_ok() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

/// All files below `folder` by relative path; a hash stands for the content.
pub type Tree = BTreeMap<PathBuf, blake3::Hash>;

pub fn tree(folder: &Path) -> Tree {
    hashed(folder, files(folder))
}

/// The shards in an output folder: all of it but what the runs keep for themselves, where files
/// come and go while one is at work.
pub fn shards(output: &Path) -> Tree {
    hashed(output, files_outside(output, &output.join(".onepull")))
}

fn hashed(folder: &Path, files: impl Iterator<Item = PathBuf>) -> Tree {
    let relative = |path: &Path| path.strip_prefix(folder).unwrap().to_owned();
    files.map(|path| (relative(&path), blake3::hash(&fs::read(&path).unwrap()))).collect()
}

/// The paths of the cache entries in a cache folder.
pub fn entries(cache: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = files_outside(&cache.join("v1"), &cache.join("v1/tmp")).collect();
    entries.sort();
    entries
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in WalkDir::new(from).min_depth(1) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// None if the folder is not there.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    files_outside(folder, Path::new(""))
}

/// Does not look into `without`, where what it sees may be gone when it looks at it.
fn files_outside(folder: &Path, without: &Path) -> impl Iterator<Item = PathBuf> {
    let there = folder.exists();
    let walk = WalkDir::new(folder).into_iter().filter_entry(move |entry| entry.path() != without);
    walk.filter(move |_| there)
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.into_path())
}
