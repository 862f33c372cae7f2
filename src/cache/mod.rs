//! Payloads kept on a file system, by key.
//!
//! Entries appear whole, by rename, and are checked against their hash whenever they are read: a
//! bad one is a miss, and storing it again heals it. There is no index and no scan at the start.
//! Readers need no lock. A failed read is a miss; a failed write is the caller's to skip.

pub mod flight;
mod layout;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use bytes::Bytes;

use crate::object::Key;
use crate::scratch::Scratch;

/// Bytes that an entry takes on the disk beside its payload.
pub const ENTRY_OVERHEAD: u64 = layout::TRAILER_LEN as u64;

/// An open cache folder. Shared by threads and by processes.
pub struct Cache {
    entries: PathBuf,
    /// `None`: the folder is read-only.
    scratch: Option<Scratch>,
}

/// What the cache has for a key.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup {
    Hit(Bytes),
    Absent,
    /// The entry is not intact or cannot be read. `length`: the payload bytes that its file claims to
    /// hold.
    Damaged {
        length: u64,
    },
}

impl Cache {
    /// Opens the cache at `root`, making it if needed. A cache that cannot be written to serves the
    /// entries it has.
    pub fn open(root: &Path) -> anyhow::Result<Cache> {
        let context =
            || format!("cannot open the cache {}; choose another folder with --cache", root.display());
        let entries = layout::entries(root);
        let made = fs::create_dir_all(root).and_then(|()| Scratch::shared(&layout::scratch(root)));
        let scratch = match made {
            Ok(scratch) => scratch,
            Err(error) if is_read_only(&error) && entries.is_dir() => {
                return Ok(Cache { entries, scratch: None });
            }
            Err(error) => return Err(error).with_context(context),
        };
        let tag = layout::tag(root);
        if !tag.exists() {
            // A cache without the tag works as well, so a lost race or a full disk is no error.
            let _ = scratch.write(&tag, layout::CACHEDIR_TAG.as_bytes());
        }
        Ok(Cache { entries, scratch: Some(scratch) })
    }

    /// The payload stored under `key`, verified.
    pub fn lookup(&self, key: &Key) -> Lookup {
        let path = layout::entry(&self.entries, key);
        let damaged = || Lookup::Damaged { length: payload_length(&path).unwrap_or(0) };
        match read_whole(&path) {
            Ok(mut file) => match layout::check(key, &file) {
                Some(length) => {
                    file.truncate(length);
                    Lookup::Hit(Bytes::from(file))
                }
                None => damaged(),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Lookup::Absent,
            Err(_) => damaged(),
        }
    }

    /// [`Cache::lookup`] for callers that do the same for absent and damaged entries.
    pub fn get(&self, key: &Key) -> Option<Bytes> {
        match self.lookup(key) {
            Lookup::Hit(payload) => Some(payload),
            Lookup::Absent | Lookup::Damaged { .. } => None,
        }
    }

    /// [`held`] for this cache.
    pub fn held(&self, key: &Key) -> Option<u64> {
        payload_length(&layout::entry(&self.entries, key))
    }

    /// Stores `payload` under `key`, replacing what is there.
    pub fn put(&self, key: &Key, payload: &[u8]) -> io::Result<()> {
        let scratch = self.scratch.as_ref().ok_or(ErrorKind::ReadOnlyFilesystem)?;
        let mut draft = scratch.draft()?;
        draft.file().write_all(payload)?;
        draft.file().write_all(&layout::trailer(key, payload))?;
        let entry = layout::entry(&self.entries, key);
        if entry.is_dir() {
            // No entry is a folder, and a rename cannot replace one.
            fs::remove_dir_all(&entry)?;
        }
        draft.commit(&entry)
    }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}

/// The payload length, bytes, of the entry of `key` in the cache at `root`, by its file size
/// alone. Needs no open cache and makes none.
pub fn held(root: &Path, key: &Key) -> Option<u64> {
    payload_length(&layout::entry(&layout::entries(root), key))
}

fn payload_length(entry: &Path) -> Option<u64> {
    let metadata = fs::metadata(entry).ok()?;
    metadata.is_file().then(|| metadata.len().checked_sub(layout::TRAILER_LEN as u64)).flatten()
}

/// Reads a file into a buffer of its exact size.
fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    Read::take(&file, length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key([7; 32]);

    fn with_entry(payload: &[u8], damage: impl FnOnce(&Path)) -> Lookup {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        cache.put(&KEY, payload).unwrap();
        damage(&layout::entry(&layout::entries(root.path()), &KEY));
        let found = cache.lookup(&KEY);
        cache.put(&KEY, payload).unwrap();
        assert_eq!(cache.get(&KEY).as_deref(), Some(payload), "storing again heals");
        found
    }

    #[test]
    fn what_is_put_is_got_and_empty_payloads_too() {
        assert_eq!(with_entry(b"abc", |_| ()), Lookup::Hit(Bytes::from_static(b"abc")));
        assert_eq!(with_entry(b"", |_| ()), Lookup::Hit(Bytes::new()));
    }

    #[test]
    fn the_payload_starts_at_offset_zero_and_its_size_is_known_without_reading() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(held(root.path(), &KEY), None);
        Cache::open(root.path()).unwrap().put(&KEY, b"GIF89a").unwrap();
        assert_eq!(held(root.path(), &KEY), Some(6));
        let file = fs::read(layout::entry(&layout::entries(root.path()), &KEY)).unwrap();
        assert!(file.starts_with(b"GIF89a"));
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_a_miss_that_heals() {
        let length = 5 + layout::TRAILER_LEN;
        for position in 0..length {
            let flip = |path: &Path| {
                let mut bytes = fs::read(path).unwrap();
                bytes[position] ^= 0x20;
                fs::write(path, bytes).unwrap();
            };
            assert_eq!(with_entry(b"hello", flip), Lookup::Damaged { length: 5 }, "flip at {position}");
            let cut = |path: &Path| {
                fs::File::options().write(true).open(path).unwrap().set_len(position as u64).unwrap()
            };
            let length = position.saturating_sub(layout::TRAILER_LEN) as u64;
            assert_eq!(with_entry(b"hello", cut), Lookup::Damaged { length }, "cut at {position}");
        }
        let fill = |path: &Path| fs::write(path, [0; 300]).unwrap();
        assert_eq!(with_entry(b"hello", fill), Lookup::Damaged { length: 300 - layout::TRAILER_LEN as u64 });
    }

    #[test]
    fn an_entry_under_a_name_that_is_not_its_own_is_a_miss() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        cache.put(&KEY, b"abc").unwrap();
        let other = Key([8; 32]);
        let to = layout::entry(&layout::entries(root.path()), &other);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(layout::entry(&layout::entries(root.path()), &KEY), to).unwrap();
        assert_eq!(cache.lookup(&other), Lookup::Damaged { length: 3 });
        assert_eq!(cache.lookup(&KEY), Lookup::Absent);
    }
}
