//! One request, done.

use std::fs::File;

use bytes::Bytes;

use super::file::{self, FileInfo};
use crate::archive::BLOCK;
use crate::archive::layout;
use crate::archive::sniff::Kind;
use crate::fault::{Class, Fault};
use crate::store::{Cost, Part, Read};

type Deliver<'a> = &'a mut dyn FnMut(usize, Result<Bytes, Fault>);

pub fn perform(info: &FileInfo, read: &Read, deliver: Deliver) -> Cost {
    if let Read::Span { start, end, parts } = read
        && start == end
    {
        parts.iter().for_each(|part| deliver(part.target, Ok(Bytes::new())));
        return Cost::default();
    }
    let file = match info.open() {
        Ok(file) => file,
        Err(fault) => {
            targets(read).into_iter().for_each(|target| deliver(target, Err(fault.clone())));
            return Cost::default();
        }
    };
    match read {
        Read::Whole { target } => whole(info, &file, *target, deliver),
        Read::Span { start, end, parts } => span(info, &file, (*start, *end), parts, deliver),
        Read::Members { parts } => info.streamed(&file).read(parts, deliver),
    }
}

fn targets(read: &Read) -> Vec<usize> {
    match read {
        Read::Whole { target } => vec![*target],
        Read::Span { parts, .. } => parts.iter().map(|part| part.target).collect(),
        Read::Members { parts } => parts.iter().map(|(target, _)| *target).collect(),
    }
}

fn whole(info: &FileInfo, file: &File, target: usize, deliver: Deliver) -> Cost {
    let length = file.metadata().map_or(info.length, |found| found.len());
    let (bytes, end) = file::read_at(file, 0, length);
    let cost = Cost { requests: 1, bytes: bytes.len() as u64 };
    let result = match end {
        Err(error) => Err(Fault::from_io(&info.path, &error)),
        Ok(()) if cost.bytes < length || length < info.length => {
            let what = format!("{}: it shrank to {} bytes while it was read", info.path, cost.bytes);
            Err(Fault::new(Class::ShortBody, what))
        }
        // Files of the kernel say 0 and have content: their size tells nothing.
        Ok(()) if file::read_at(file, length, 1).0.len() == 1 => {
            let what =
                format!("{}: it holds more than the {length} bytes that it is said to have", info.path);
            Err(Fault::new(Class::Io, what))
        }
        Ok(()) => Ok(bytes.into()),
    };
    deliver(target, result);
    cost
}

fn span(info: &FileInfo, file: &File, (start, end): (u64, u64), parts: &[Part], deliver: Deliver) -> Cost {
    let (bytes, outcome) = file::read_at(file, start, end - start);
    let bytes = Bytes::from(bytes);
    let cost = Cost { requests: 1, bytes: bytes.len() as u64 };
    // A slice keeps the whole span in memory as long as it lives.
    let wasteful = parts.iter().map(|part| part.size).sum::<u64>() < (end - start) / 2;
    let slice =
        |from, to| if wasteful { Bytes::copy_from_slice(&bytes[from..to]) } else { bytes.slice(from..to) };
    for part in parts {
        let from = (part.offset - start) as usize;
        let to = from + part.size as usize;
        let result = if to <= bytes.len() {
            legal(info, file, &bytes[..from], part).map(|()| slice(from, to))
        } else if let Err(error) = &outcome {
            Err(Fault::from_io(&info.path, error))
        } else {
            let found = start + bytes.len() as u64;
            let what = format!(
                "{}: {} bytes at {} were asked, but it ends at {found}",
                info.path, part.size, part.offset
            );
            Err(Fault::new(Class::ShortBody, what))
        };
        deliver(part.target, result);
    }
    cost
}

/// Refuses ranges of a tar that are not what they seem; `before` is what was read before the range.
fn legal(info: &FileInfo, file: &File, before: &[u8], part: &Part) -> Result<(), Fault> {
    if info.kind != Kind::Tar {
        return Ok(());
    }
    // The header before the range spares reading all of them.
    if let Some(block) = before.len().checked_sub(BLOCK as usize)
        && layout::vouches(&before[block..], part.size)
    {
        return Ok(());
    }
    info.layout(file).check(&info.path, part.offset, part.size)
}
