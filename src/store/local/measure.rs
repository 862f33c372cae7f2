//! How large the payloads of one request are.
//!
//! A file was looked at when it was prepared, and so was the index of a tar: nothing more is read
//! of those. Members of a compressed archive are known only when all of it is unpacked.

use super::file::FileInfo;
use crate::fault::Fault;
use crate::store::Read;

pub fn measure(info: &FileInfo, read: &Read, deliver: &mut dyn FnMut(usize, Result<u64, Fault>)) {
    match read {
        Read::Whole { target } => deliver(*target, Ok(info.length)),
        Read::Span { parts, .. } => parts.iter().for_each(|part| deliver(part.target, Ok(part.size))),
        Read::Members { parts } => match info.open() {
            Ok(file) => info.streamed(&file).measure(parts, deliver),
            Err(fault) => parts.iter().for_each(|(target, _)| deliver(*target, Err(fault.clone()))),
        },
    }
}
