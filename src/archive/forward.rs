//! Reading an archive forward, with skips, under a bound on what its records may cost.
//!
//! The tar reader loads long names and PAX headers into memory, whatever size they claim. It seeks
//! before every header, so the bytes between two seeks are one header and its records. [`Forward`]
//! limits them, and remembers how the archive ended.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Seek, SeekFrom};

use crate::fault::{Fault, FaultClass};

/// The unit of tar files, bytes: a header is one block, contents are padded to blocks.
pub const BLOCK: u64 = 512;

/// Longest records in front of one member, bytes. Real ones are a few kilobytes.
const RECORDS: u64 = 4 << 20;

/// Bytes that can be read at any offset: the file of an archive.
pub trait ReadAt {
    /// Reads some bytes from `offset`, and none only at the end. An error may hold a [`Fault`].
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Bytes in all.
    fn length(&self) -> u64;
}

/// A reader that can skip bytes.
pub trait Skip: Read {
    fn skip(&mut self, bytes: u64) -> io::Result<()>;
}

/// Reads a file from its start.
pub struct FileCursor<'a> {
    file: &'a dyn ReadAt,
    position: u64,
}

impl<'a> FileCursor<'a> {
    pub fn new(file: &'a dyn ReadAt) -> FileCursor<'a> {
        FileCursor { file, position: 0 }
    }
}

impl Read for FileCursor<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Skip for FileCursor<'_> {
    /// Costs nothing, and does not notice the end of the file.
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let position = self.position.checked_add(bytes).filter(|&position| i64::try_from(position).is_ok());
        self.position = position.ok_or_else(|| io::Error::other("the archive names a position past 2^63"))?;
        Ok(())
    }
}

/// The fault inside of an error of reading; otherwise the archive is corrupt.
pub fn fault(error: &io::Error) -> Fault {
    inner(error).cloned().unwrap_or_else(|| Fault::new(FaultClass::ArchiveCorrupt, error.to_string()))
}

/// The fault inside of an error of reading.
pub fn inner(error: &io::Error) -> Option<&Fault> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// What is found where the last header is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    Header,
    /// A block of zeros: the mark that ends an archive.
    Blank,
    /// Less than a block, behind a header or its content.
    Partial,
    /// Less than a block, behind the end mark.
    Padding,
}

/// What the tar reader reads through.
pub struct Forward<S> {
    source: RefCell<S>,
    position: Cell<u64>,
    budget: Cell<u64>,
    /// No byte has been read since the last seek.
    fresh: Cell<bool>,
    last: Cell<Last>,
    failure: RefCell<Option<io::Error>>,
}

impl<S: Skip> Forward<S> {
    pub fn new(source: S) -> Forward<S> {
        Forward {
            source: RefCell::new(source),
            position: Cell::new(0),
            budget: Cell::new(RECORDS),
            fresh: Cell::new(false),
            last: Cell::new(Last::Partial),
            failure: RefCell::new(None),
        }
    }

    /// Bytes from the start of the archive to the next byte that is read.
    pub fn position(&self) -> u64 {
        self.position.get()
    }

    /// Allows `bytes` more before the next seek: the content of a member.
    pub fn allow(&self, bytes: u64) {
        self.budget.set(self.budget.get().saturating_add(bytes));
    }

    pub fn last(&self) -> Last {
        self.last.get()
    }

    /// The fault of the first error of the source.
    pub fn failure(&self) -> Option<Fault> {
        self.failure.borrow().as_ref().map(fault)
    }

    /// The source and its error.
    pub fn into_parts(self) -> (S, Option<io::Error>) {
        (self.source.into_inner(), self.failure.into_inner())
    }

    /// Keeps a copy of the first error of the source.
    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            let mut failure = self.failure.borrow_mut();
            if failure.is_none() {
                *failure = Some(match inner(error) {
                    Some(fault) => io::Error::other(fault.clone()),
                    None => io::Error::new(error.kind(), error.to_string()),
                });
            }
        })
    }

    /// Reads a block, or less only at the end.
    fn read_block(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self.source.borrow_mut().read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let block = &into[..filled];
        match self.last.get() {
            _ if filled == into.len() => {
                let blank = block.iter().all(|&byte| byte == 0);
                self.last.set(if blank { Last::Blank } else { Last::Header });
            }
            _ if filled == 0 => {}
            Last::Blank => self.last.set(Last::Padding),
            _ => self.last.set(Last::Partial),
        }
        Ok(filled)
    }
}

impl<S: Skip> Read for &Forward<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.budget.get() == 0 && !into.is_empty() {
            return Err(io::Error::other("the headers of a member are longer than 4 MiB"));
        }
        let read = if self.fresh.replace(false) && into.len() as u64 == BLOCK {
            self.note(self.read_block(into))?
        } else {
            let most = into.len().min(usize::try_from(self.budget.get()).unwrap_or(usize::MAX));
            let read = self.source.borrow_mut().read(&mut into[..most]);
            self.note(read)?
        };
        self.position.set(self.position.get() + read as u64);
        self.budget.set(self.budget.get().saturating_sub(read as u64));
        Ok(read)
    }
}

impl<S: Skip> Seek for &Forward<S> {
    /// Only forward from here, which is all that the tar reader asks for.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Current(bytes) = to else {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        };
        let bytes = u64::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::Unsupported))?;
        if bytes > 0 {
            let skipped = self.source.borrow_mut().skip(bytes);
            self.note(skipped)?;
        }
        self.position.set(self.position.get() + bytes);
        self.budget.set(RECORDS);
        self.fresh.set(true);
        Ok(self.position.get())
    }
}
