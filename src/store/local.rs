//! Files on disks of this machine.
//!
//! Payloads are read from regular files only, and opening one never waits. A file is opened once
//! for all reads of it and closed with the last of them.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::{Errno, pread};
use walkdir::WalkDir;

use super::{Answer, Body, Opened, Stat, Store, Validator};
use crate::fault::{Fault, FaultClass};
use crate::locator::{Location, url};

/// Bytes of one read call. A wish to stop is noticed between two of them.
const CHUNK: usize = 8 << 20;

/// The store of local paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Store for Local {
    fn stat<'a>(&'a self, location: &'a Location) -> Answer<'a, Stat> {
        Box::pin(std::future::ready(stat(location)))
    }

    fn list<'a>(&'a self, prefix: &'a Location) -> Answer<'a, Vec<Location>> {
        Box::pin(std::future::ready(list(prefix)))
    }

    fn read<'a>(&'a self, file: &'a Opened, range: Range<u64>) -> Answer<'a, Box<dyn Body + 'a>> {
        let body = || {
            let open = file.keep(|| open(file))?;
            Ok(Box::new(Reading { file, open, range }) as Box<dyn Body + 'a>)
        };
        Box::pin(std::future::ready(body()))
    }
}

/// A range that is being read.
struct Reading<'a> {
    file: &'a Opened,
    open: &'a File,
    /// What is left of it.
    range: Range<u64>,
}

impl Body for Reading<'_> {
    fn chunk<'a>(&'a mut self, into: &'a mut Vec<u8>) -> Answer<'a, usize> {
        Box::pin(std::future::ready(self.next(into)))
    }
}

impl Reading<'_> {
    fn next(&mut self, into: &mut Vec<u8>) -> Result<usize, Fault> {
        let left = self.range.end - self.range.start;
        let read = read_at(self.open, self.range.start, left.min(CHUNK as u64) as usize, into);
        let read = read.map_err(|error| Fault::from_io(&self.file.location, error))?;
        self.range.start += read as u64;
        if read as u64 == left || read == 0 {
            self.end()?;
        }
        Ok(read)
    }

    /// Checks that the file is still the one that was seen.
    fn end(&mut self) -> Result<(), Fault> {
        let Opened { location, stat, .. } = self.file;
        check(self.file, self.open)?;
        // Files of the kernel say 0 and have content: their size tells nothing.
        let complete = self.range.is_empty() && self.range.end == stat.length;
        if complete && read_at(self.open, stat.length, 1, &mut Vec::new()).is_ok_and(|read| read > 0) {
            let length = stat.length;
            let what = format!("it holds more than the {length} bytes that it is said to have");
            return Err(Fault::new(FaultClass::Io, what).at(location));
        }
        Ok(())
    }
}

fn stat(location: &Location) -> Result<Stat, Fault> {
    let path = location.as_path().ok_or_else(|| url::refusal(location))?;
    let found = path.metadata().map_err(|error| Fault::from_io(location, error))?;
    if found.is_file() { Ok(seen(&found)) } else { Err(irregular(location, found.file_type())) }
}

fn seen(found: &Metadata) -> Stat {
    let modified = (found.mtime(), found.mtime_nsec());
    let changed = (found.ctime(), found.ctime_nsec());
    Stat { length: found.len(), validator: Validator::File { inode: found.ino(), modified, changed } }
}

/// Opens the regular file that was seen. Never waits for a writer of a pipe.
fn open(file: &Opened) -> Result<File, Fault> {
    let Opened { location, .. } = file;
    let path = location.as_path().ok_or_else(|| url::refusal(location))?;
    // The flag matters only if the path was exchanged for a pipe since it was looked at.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let open = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let open = open.map_err(|error| Fault::from_io(location, error))?;
    check(file, &open)?;
    Ok(open)
}

/// Fails when `open` is not as it was seen. A file that got another name or mode is the same.
fn check(file: &Opened, open: &File) -> Result<(), Fault> {
    let Opened { location, stat, .. } = file;
    let found = open.metadata().map_err(|error| Fault::from_io(location, error))?;
    if !found.is_file() {
        return Err(irregular(location, found.file_type()));
    }
    let state = |stat: &Stat| {
        let Validator::File { inode, modified, .. } = stat.validator;
        (stat.length, inode, modified)
    };
    if state(&seen(&found)) == state(stat) {
        return Ok(());
    }
    let what = match found.len() {
        length if length == stat.length => "it changed while it was being read".to_owned(),
        length => format!("it changed from {} to {length} bytes while it was being read", stat.length),
    };
    Err(Fault::new(FaultClass::Changed, what).at(location))
}

fn irregular(location: &Location, kind: FileType) -> Fault {
    let name = match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    };
    let what = format!("it is {name}, not a regular file");
    Fault::new(FaultClass::Unsupported, what).at(location)
}

fn list(prefix: &Location) -> Result<Vec<Location>, Fault> {
    let path = prefix.as_path().ok_or_else(|| url::refusal(prefix))?;
    let mut found = Vec::new();
    for entry in WalkDir::new(path) {
        let entry = entry.map_err(|error| Fault::from_io(prefix, error.into()))?;
        if entry.file_type().is_file() {
            found.push(Location::File(entry.into_path()));
        }
    }
    found.sort();
    Ok(found)
}

/// Appends at most `size` bytes from `offset`; returns how many, fewer only where the file ends.
fn read_at(file: &File, offset: u64, size: usize, into: &mut Vec<u8>) -> io::Result<usize> {
    into.try_reserve_exact(size).map_err(io::Error::other)?;
    let before = into.len();
    while into.len() < before + size {
        let done = (into.len() - before) as u64;
        match pread(file, spare_capacity(into), offset + done) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // There may have been room for more.
    into.truncate(before + size);
    Ok(into.len() - before)
}
