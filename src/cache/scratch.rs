//! The files that a process is writing into the cache, and those that dead processes left.
//!
//! Each process holds a lock on a file of its own while it lives; the lock dies with it, however
//! it ends. Whoever opens the cache removes the files of every process whose lock it can take.
//! On file systems without locks a draft is removed when it is a day old.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::publish::Draft;

/// A place for drafts of one process.
pub struct Scratch {
    folder: PathBuf,
    /// Names of this process's files start with it.
    process: String,
    lock: Option<File>,
}

impl Scratch {
    /// Opens `folder`, making it if needed, and sweeps what dead processes left there.
    pub fn open(folder: &Path) -> io::Result<Scratch> {
        fs::create_dir_all(folder)?;
        sweep(folder)?;
        let process = unique();
        let lock = OpenOptions::new().write(true).create_new(true).open(lock_path(folder, &process))?;
        // Without a lock this process's files look abandoned only where locks work for others.
        let lock = match lock.try_lock() {
            Ok(()) => Some(lock),
            Err(_) => {
                let _ = fs::remove_file(lock_path(folder, &process));
                None
            }
        };
        Ok(Scratch { folder: folder.to_owned(), process, lock })
    }

    /// A new file in this place.
    pub fn draft(&self) -> io::Result<Draft> {
        Draft::create(&self.folder, &format!("{}-", self.process))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.lock.is_some() {
            let _ = fs::remove_file(lock_path(&self.folder, &self.process));
        }
    }
}

fn lock_path(folder: &Path, process: &str) -> PathBuf {
    folder.join(format!("{process}.lock"))
}

/// A name that no other open of any process on any host has.
fn unique() -> String {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    format!("{:x}.{:x}.{:x}", std::process::id(), nanos, OPENED.fetch_add(1, Ordering::Relaxed))
}

/// Whether `name` is a lock, or a draft of a process that has one.
fn has_lock(name: &str, names: &[String]) -> bool {
    let process = name.split_once('-').map_or(name, |(process, _)| process);
    name.ends_with(".lock") || names.iter().any(|other| other.strip_suffix(".lock") == Some(process))
}

/// Drafts of processes that could not lock are removed after this time.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

fn is_old(path: &Path) -> bool {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > OLD))
}

/// Removes lock and drafts of every process that no longer holds its lock.
fn sweep(folder: &Path) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string());
    }
    for name in names.iter().filter(|name| !has_lock(name, &names) && is_old(&folder.join(name))) {
        let _ = fs::remove_file(folder.join(name));
    }
    for process in names.iter().filter_map(|name| name.strip_suffix(".lock")) {
        let path = lock_path(folder, process);
        let Ok(lock) = File::open(&path) else { continue };
        match lock.try_lock() {
            Ok(()) => {
                for draft in
                    names.iter().filter(|n| n.strip_prefix(process).is_some_and(|r| r.starts_with('-')))
                {
                    let _ = fs::remove_file(folder.join(draft));
                }
                let _ = fs::remove_file(&path);
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn what_a_dead_process_left_is_swept_and_what_a_live_one_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let live = Scratch::open(folder.path()).unwrap();
        let draft = live.draft().unwrap();
        fs::write(folder.path().join("1.2.3.lock"), "").unwrap();
        fs::write(folder.path().join("1.2.3-abc"), "half").unwrap();
        let other = Scratch::open(folder.path()).unwrap();
        assert_eq!(files(folder.path()), 3, "two locks and a draft");
        drop((draft, live, other));
        assert_eq!(files(folder.path()), 0);
    }

    #[test]
    fn a_draft_without_a_lock_is_swept_when_it_is_a_day_old() {
        let folder = tempfile::tempdir().unwrap();
        let young = folder.path().join("7.8.9-young");
        fs::write(&young, "half").unwrap();
        let old = File::create(folder.path().join("7.8.9-old")).unwrap();
        old.set_modified(SystemTime::now() - 2 * OLD).unwrap();
        drop(Scratch::open(folder.path()).unwrap());
        assert!(young.exists());
        fs::remove_file(young).unwrap();
        assert_eq!(files(folder.path()), 0);
    }
}
