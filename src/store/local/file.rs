//! One file that payloads are read from.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::{Errno, pread};

use crate::archive::forward::{FileCursor, Forward};
use crate::archive::index::{self, Index};
use crate::archive::layout::Layout;
use crate::archive::sniff::Kind;
use crate::archive::stream::Streamed;
use crate::fault::{Class, Fault};
use crate::locator::SourcePath;

/// What the requests of one file share.
#[derive(Debug)]
pub struct FileInfo {
    pub path: SourcePath,
    /// Bytes, when the file was prepared.
    pub length: u64,
    /// [`Kind::Plain`] also where nothing depended on it, so that nobody looked.
    pub kind: Kind,
    /// What is opened: where links led when the path was admitted.
    pub(super) real: PathBuf,
    layout: OnceLock<Layout>,
}

impl FileInfo {
    pub(super) fn new(path: &SourcePath, real: PathBuf, length: u64, kind: Kind) -> FileInfo {
        FileInfo { path: path.clone(), length, kind, real, layout: OnceLock::new() }
    }

    /// Reads the headers of a tar, and keeps what they say about byte ranges.
    pub(super) fn index(&self, file: &File) -> Index {
        let index = self.read_index(file);
        // Another thread may have kept the same already.
        let _ = self.layout.set(index.layout.clone());
        index
    }

    /// What the headers of a tar say about byte ranges; they are read once.
    pub(super) fn layout(&self, file: &File) -> &Layout {
        self.layout.get_or_init(|| self.read_index(file).layout)
    }

    fn read_index(&self, file: &File) -> Index {
        let forward = Forward::new(FileCursor::new(file));
        let mut index = index::walk(&forward, |_, _, _| ControlFlow::Continue(()));
        index.layout.cut_at(self.length);
        index
    }

    /// The archive in `file`, which is this one, opened.
    pub(super) fn streamed<'a>(&'a self, file: &'a File) -> Streamed<'a> {
        let codec = match self.kind {
            Kind::Packed(codec, _) => Some(codec),
            _ => None,
        };
        Streamed { path: &self.path, file, codec }
    }

    pub(super) fn open(&self) -> Result<File, Fault> {
        open(&self.path, &self.real).map(|(file, _)| file)
    }
}

/// Opens a regular file; returns it with its length. Never waits for a writer of a pipe.
pub fn open(path: &SourcePath, real: &Path) -> Result<(File, u64), Fault> {
    regular(path, real)?;
    // The flag matters only if the path was exchanged for a pipe since it was looked at.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(real);
    let file = file.map_err(|error| Fault::from_io(path, &error))?;
    let found = file.metadata().map_err(|error| Fault::from_io(path, &error))?;
    if found.is_file() { Ok((file, found.len())) } else { Err(irregular(path, found.file_type())) }
}

/// The length of a regular file, without opening it.
pub fn regular(path: &SourcePath, real: &Path) -> Result<u64, Fault> {
    let found = real.metadata().map_err(|error| Fault::from_io(path, &error))?;
    if found.is_file() { Ok(found.len()) } else { Err(irregular(path, found.file_type())) }
}

fn irregular(path: &SourcePath, kind: FileType) -> Fault {
    let name = match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    };
    Fault::new(Class::Unsupported, format!("{path}: it is {name}; payloads are read from regular files"))
}

/// Reads `size` bytes from `offset`, or fewer where the file ends; the error comes with what was
/// read before it.
pub fn read_at(file: &File, offset: u64, size: u64) -> (Vec<u8>, io::Result<()>) {
    let mut bytes = Vec::new();
    let reserved = usize::try_from(size).map_err(io::Error::other).and_then(|size| {
        bytes.try_reserve_exact(size).map_err(io::Error::other)?;
        Ok(size)
    });
    let size = match reserved {
        Ok(size) => size,
        Err(error) => return (bytes, Err(error)),
    };
    while bytes.len() < size {
        let position = offset + bytes.len() as u64;
        match pread(file, spare_capacity(&mut bytes), position) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return (bytes, Err(error.into())),
        }
    }
    bytes.truncate(size);
    (bytes, Ok(()))
}
