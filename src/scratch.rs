//! A folder of drafts: the files that a process is writing, and those that dead processes left.
//!
//! A process holds a lock while it lives; the lock dies with it, however it ends. Where many
//! processes share the folder, each has a lock of its own there, and whoever opens the folder removes
//! the drafts of every process whose lock it can take. Where locks do not work, a draft is removed
//! when it is a day old. A folder that one process has at a time is emptied before and after.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::publish::Draft;

/// A place for the drafts of one process.
pub struct Scratch {
    folder: PathBuf,
    /// Names of this process's drafts start with it.
    prefix: String,
    owner: Owner,
}

/// Who has drafts in a folder, and the lock that shows it, where locks work.
enum Owner {
    Many { lock: Option<File>, path: PathBuf },
    One { _lock: Option<File> },
}

impl Scratch {
    /// Opens `folder`, which many processes share, making it if needed. Removes what dead ones left
    /// there.
    pub fn shared(folder: &Path) -> io::Result<Scratch> {
        fs::create_dir_all(folder)?;
        sweep(folder)?;
        let process = unique();
        let path = lock_path(folder, &process);
        let lock = OpenOptions::new().write(true).create_new(true).open(&path)?;
        // Without a lock this process's files look abandoned only where locks work for others.
        let lock = match lock.try_lock() {
            Ok(()) => Some(lock),
            Err(_) => {
                let _ = fs::remove_file(&path);
                None
            }
        };
        let prefix = format!("{process}-");
        Ok(Scratch { folder: folder.to_owned(), prefix, owner: Owner::Many { lock, path } })
    }

    /// Opens `folder`, which this process has for itself as long as it holds the lock on the file
    /// `lock`, making both if needed. Empties it.
    ///
    /// Fails with [`ErrorKind::WouldBlock`] while another process has it.
    pub fn exclusive(folder: &Path, lock: &Path) -> io::Result<Scratch> {
        lock.parent().map_or(Ok(()), fs::create_dir_all)?;
        let file = File::options().create(true).append(true).open(lock)?;
        let _lock = match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) => return Err(ErrorKind::WouldBlock.into()),
            // Without locks two processes at once cost work, not bytes: files appear by rename.
            Err(TryLockError::Error(_)) => None,
        };
        empty(folder)?;
        fs::create_dir_all(folder)?;
        let prefix = "draft-".to_owned();
        Ok(Scratch { folder: folder.to_owned(), prefix, owner: Owner::One { _lock } })
    }

    /// A new file in this place.
    pub fn draft(&self) -> io::Result<Draft> {
        Draft::create(&self.folder, &self.prefix)
    }

    /// Writes a small file in one step.
    pub fn write(&self, to: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut draft = self.draft()?;
        draft.file().write_all(bytes)?;
        draft.commit(to)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed when the folder is opened again.
        let _ = match &self.owner {
            Owner::Many { lock: Some(_), path } => fs::remove_file(path),
            Owner::Many { lock: None, .. } => Ok(()),
            Owner::One { .. } => empty(&self.folder),
        };
    }
}

fn empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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
        let live = Scratch::shared(folder.path()).unwrap();
        let draft = live.draft().unwrap();
        fs::write(folder.path().join("1.2.3.lock"), "").unwrap();
        fs::write(folder.path().join("1.2.3-abc"), "half").unwrap();
        let other = Scratch::shared(folder.path()).unwrap();
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
        drop(Scratch::shared(folder.path()).unwrap());
        assert!(young.exists());
        fs::remove_file(young).unwrap();
        assert_eq!(files(folder.path()), 0);
    }

    #[test]
    fn one_process_at_a_time_has_a_folder_and_it_is_emptied_before_and_after() {
        let folder = tempfile::tempdir().unwrap();
        let (drafts, lock) = (folder.path().join("tmp"), folder.path().join("lock"));
        fs::create_dir(&drafts).unwrap();
        fs::write(drafts.join("left"), "half").unwrap();
        let scratch = Scratch::exclusive(&drafts, &lock).unwrap();
        assert_eq!(files(&drafts), 0);
        let taken = Scratch::exclusive(&drafts, &lock).err().unwrap();
        assert_eq!(taken.kind(), ErrorKind::WouldBlock);
        scratch.write(&folder.path().join("whole"), b"all").unwrap();
        let draft = scratch.draft().unwrap();
        drop(scratch);
        assert!(!drafts.exists());
        drop((draft, Scratch::exclusive(&drafts, &lock).unwrap()));
    }
}
