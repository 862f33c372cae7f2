//! Reading: spans that carry payloads, and members of archives.

use std::ops::Range;

use bytes::Bytes;

use super::file::{Looked, Part, Read};
use super::run::{Reader, Run, Work};
use crate::archive::forward::BLOCK;
use crate::archive::layout;
use crate::archive::sniff::Kind;
use crate::archive::stream::Streamed;
use crate::fault::{Fault, FaultClass};
use crate::locator::Target;

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
