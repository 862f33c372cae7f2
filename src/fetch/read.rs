//! Reading: spans that carry payloads, members of archives, and archives through a store.

use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Range;

use bytes::Bytes;
use pollster::block_on;

use super::file::{Looked, Part, Read};
use super::{Run, Work};
use crate::archive::forward::{BLOCK, ReadAt};
use crate::archive::layout;
use crate::archive::sniff::Kind;
use crate::archive::stream::Streamed;
use crate::fault::{Fault, FaultClass};
use crate::locator::Target;
use crate::store::Opened;

impl Run<'_> {
    /// Makes one read and hands over its payloads.
    pub(super) fn read(&self, file: &Looked, read: &Read, mut work: Work<Bytes>) {
        match read {
            Read::Span { range, parts } => self.read_span(file, range.clone(), parts, &mut work),
            Read::Members(targets) => {
                let reader = Reader::new(self, &file.opened);
                let members = members(work.file.targets.as_slice(), targets);
                let mut deliver = |target, result| work.deliver(target, result);
                let passes = streamed(file, &reader).read(&members, &mut deliver);
                work.spent.requests += passes;
                work.spent.bytes += reader.moved.get();
            }
        }
    }

    /// Hands over the sizes of the payloads of [`Read::Members`].
    pub(super) fn measure_members(&self, file: &Looked, targets: &[usize], work: &mut Work<u64>) {
        let reader = Reader::new(self, &file.opened);
        let members = members(work.file.targets.as_slice(), targets);
        streamed(file, &reader).measure(&members, &mut |target, size| work.deliver(target, size));
    }

    fn read_span(&self, file: &Looked, range: Range<u64>, parts: &[Part], work: &mut Work<Bytes>) {
        let length = range.end - range.start;
        let _flying = self.in_flight.take(length);
        let mut bytes = Vec::new();
        let fault = self.collect(&file.opened, range.clone(), &mut bytes).err();
        work.spent.requests += 1;
        work.spent.bytes += bytes.len() as u64;
        // What came before an error is good, but for one that speaks of the whole.
        let whole = bytes.len() as u64 == length;
        if let Some(fault) = fault.as_ref().filter(|fault| whole || fault.class == FaultClass::Changed) {
            parts.iter().for_each(|part| work.deliver(part.target, Err(fault.clone())));
            return;
        }
        let bytes = Bytes::from(bytes);
        // A slice keeps the whole span in memory as long as it lives.
        let wasteful = parts.iter().map(|part| part.size).sum::<u64>() < length / 2;
        let slice = |from, to| match wasteful {
            true => Bytes::copy_from_slice(&bytes[from..to]),
            false => bytes.slice(from..to),
        };
        for part in parts {
            let from = (part.offset - range.start) as usize;
            let to = from + part.size as usize;
            let result = if to <= bytes.len() {
                self.check(file, &bytes[..from], part).map(|()| slice(from, to))
            } else {
                Err(fault.clone().unwrap_or_else(|| short(part, range.start + bytes.len() as u64)))
            };
            work.deliver(part.target, result);
        }
    }

    /// Appends the bytes `range` of `file` to `bytes`, or fewer where it ends before.
    fn collect(&self, file: &Opened, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let memory = |error| Fault::from_io(&file.location, io::Error::other(error));
        let length = usize::try_from(range.end - range.start).map_err(|error| memory(error.to_string()))?;
        bytes.try_reserve_exact(length).map_err(|error| memory(error.to_string()))?;
        block_on(async {
            let mut body = self.source.store.read(file, range).await?;
            while body.chunk(bytes).await? > 0 && bytes.len() < length && self.continues() {}
            Ok(())
        })
    }

    /// Refuses ranges of a tar that are not what they seem; `before` is what was read before the
    /// range.
    fn check(&self, file: &Looked, before: &[u8], part: &Part) -> Result<(), Fault> {
        if file.kind != Kind::Tar {
            return Ok(());
        }
        // The header before the range spares reading all of them.
        if let Some(block) = before.len().checked_sub(BLOCK as usize)
            && layout::vouches(&before[block..], part.size)
        {
            return Ok(());
        }
        file.layout(&Reader::new(self, &file.opened)).check(part.offset, part.size)
    }
}

fn short(part: &Part, end: u64) -> Fault {
    let Part { offset, size, .. } = part;
    let what = format!("{size} bytes at {offset} were asked for, but it ends at {end}");
    Fault::new(FaultClass::ShortBody, what)
}

fn members<'t>(all: &'t [Target], targets: &[usize]) -> Vec<(usize, &'t Target)> {
    targets.iter().map(|&target| (target, &all[target])).collect()
}

/// The archive in a file.
fn streamed<'r>(file: &Looked, reader: &'r Reader<'r>) -> Streamed<'r> {
    let codec = match file.kind {
        Kind::Packed(codec, _) => Some(codec),
        _ => None,
    };
    Streamed { file: reader, codec }
}

/// A file of a store as archives read it.
pub struct Reader<'a> {
    run: &'a Run<'a>,
    file: &'a Opened,
    buffer: RefCell<Vec<u8>>,
    moved: Cell<u64>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(run: &'a Run<'a>, file: &'a Opened) -> Reader<'a> {
        Reader { run, file, buffer: RefCell::default(), moved: Cell::new(0) }
    }
}

impl ReadAt for Reader<'_> {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        if !self.run.continues() {
            return Err(io::Error::other("the run is to stop"));
        }
        let end = offset.saturating_add(into.len() as u64).min(self.length());
        if offset >= end {
            return Ok(0);
        }
        let mut buffer = self.buffer.borrow_mut();
        buffer.clear();
        self.run.collect(self.file, offset..end, &mut buffer).map_err(io::Error::other)?;
        into[..buffer.len()].copy_from_slice(&buffer);
        self.moved.set(self.moved.get() + buffer.len() as u64);
        Ok(buffer.len())
    }

    fn length(&self) -> u64 {
        self.file.stat.length
    }
}
