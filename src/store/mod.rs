//! Where bytes come from: files and archives on local disks.
//!
//! A source is asked in two steps. [`Source::prepare`] looks at one file once (does it exist, is
//! it an archive, where are its members) and says which [`Request`]s obtain the wanted targets;
//! [`Source::perform`] does one of them. Requests of one file are independent of each other, so
//! that a large archive keeps every thread busy. Every payload is complete or a [`Fault`]. In place
//! of performing a request, [`Source::measure`] only says how large its payloads are.

pub mod local;

use std::sync::Arc;

use bytes::Bytes;

use crate::fault::Fault;
use crate::locator::{MemberName, SourcePath, Target};
use local::FileInfo;

/// Obtains payloads. Implemented by [`local::Local`] and by recorders in tests.
pub trait Source: Send + Sync {
    /// Says how to obtain `targets` (distinct, sorted) from the file at `path`.
    fn prepare(&self, path: &SourcePath, targets: &[Target]) -> Prepared;

    /// Performs one request and hands over one result for each target it carries, by the
    /// target's index in the slice given to [`Source::prepare`]. Returns what it cost.
    fn perform(&self, request: &Request, deliver: &mut dyn FnMut(usize, Result<Bytes, Fault>)) -> Cost;

    /// Hands over the size in bytes of each payload that the request carries, as
    /// [`Source::perform`] does the payloads, and reads none of them. An archive without offsets of
    /// its own is unpacked once for it.
    fn measure(&self, request: &Request, deliver: &mut dyn FnMut(usize, Result<u64, Fault>));
}

/// The answer of [`Source::prepare`]: together, `requests` and `faults` name each target once.
#[derive(Debug, Default)]
pub struct Prepared {
    pub requests: Vec<Request>,
    pub faults: Vec<(usize, Fault)>,
}

/// One independent piece of reading, for one file.
#[derive(Debug)]
pub struct Request {
    pub file: Arc<FileInfo>,
    pub read: Read,
}

/// What a request reads.
#[derive(Debug)]
pub enum Read {
    /// The whole file is the payload of one target.
    Whole { target: usize },
    /// One contiguous read `[start, end)` that carries the payloads of `parts`.
    Span { start: u64, end: u64, parts: Vec<Part> },
    /// One pass over the uncompressed content of an archive that has no offsets of its own.
    Members { parts: Vec<(usize, Wanted)> },
}

/// One payload inside a span.
#[derive(Clone, Debug)]
pub struct Part {
    pub target: usize,
    /// Absolute position in the file, bytes.
    pub offset: u64,
    pub size: u64,
}

/// One member wanted from a streamed archive.
#[derive(Clone, Debug)]
pub enum Wanted {
    Name(MemberName),
    /// The one whose content has this place in the uncompressed stream: offset and size, bytes.
    Place(u64, u64),
}

/// What performing a request cost: read calls on the source and bytes moved by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub requests: u64,
    pub bytes: u64,
}
