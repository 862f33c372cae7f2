//! Members of an archive read in one pass, by name or place: compressed tars, and sparse members.
//!
//! Which of two members of one name counts is known at the end only, so wanted contents are held
//! until then, as far as there is room. A byte range has to be exactly the content of a member, which proves that it means
//! the uncompressed archive. A second pass happens for what
//! was not held: what found no room, and what links lead to. Members that were
//! read whole before a compressed file was cut are good; where the compressed bytes are damaged,
//! only what a checksum has vouched for is.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;

use bytes::Bytes;

use super::forward::{FileCursor, Forward};
use super::index::{self, Index, normalized};
use super::record::{Member, Store};
use super::sniff::Codec;
use super::unpack::Unpacked;
use crate::fault::{Class, Fault};
use crate::locator::SourcePath;
use crate::store::{Cost, Wanted};

/// The largest member that is held in memory, bytes. A small file can claim to unpack to any size.
const LARGEST: u64 = 1 << 30;

/// Contents that are held in the first pass, bytes; the others wait for the second.
const HELD: u64 = 64 << 20;

/// An archive that is read forward.
pub struct Streamed<'a> {
    pub path: &'a SourcePath,
    pub file: &'a File,
    /// Nothing for a plain tar.
    pub codec: Option<Codec>,
}

impl Streamed<'_> {
    /// Delivers one result for each of `parts`. Costs one request per pass.
    pub fn read(
        &self,
        parts: &[(usize, Wanted)],
        deliver: &mut dyn FnMut(usize, Result<Bytes, Fault>),
    ) -> Cost {
        let moved = Cell::new(0);
        let mut held: HashMap<u32, Result<Bytes, Fault>> = HashMap::new();
        let mut room = HELD;
        let sought = Sought::new(parts);
        let (index, trusted) = self.pass(&moved, |index, number, content| {
            let member = index.member(number);
            if sought.want(member) {
                if let Some(previous) = index.previous(number)
                    && !sought.want_here(index.member(previous))
                {
                    held.remove(&previous);
                }
                if room > 0 {
                    let content = self.content(member, content);
                    room = room.saturating_sub(content.as_ref().map_or(0, |content| content.len() as u64));
                    held.insert(number, content);
                }
            }
            ControlFlow::Continue(())
        });
        held.retain(|&number, content| content.is_err() || index.member(number).end <= trusted);

        let mut linked = Vec::new();
        for (target, wanted) in parts {
            match self.locate(&index, wanted) {
                Err(fault) => deliver(*target, Err(fault)),
                Ok(number) => match held.get(&number) {
                    Some(content) => deliver(*target, content.clone()),
                    None if index.member(number).end > trusted => {
                        deliver(*target, Err(self.untrusted(&index, number)))
                    }
                    None => linked.push((number, *target)),
                },
            }
        }
        drop(held);
        let mut requests = 1;
        if !linked.is_empty() {
            requests += 1;
            self.read_linked(&moved, linked, deliver);
        }
        Cost { requests, bytes: moved.get() }
    }

    /// Delivers the size of what [`Streamed::read`] would deliver for each of `parts`, in one pass
    /// that holds nothing.
    pub fn measure(&self, parts: &[(usize, Wanted)], deliver: &mut dyn FnMut(usize, Result<u64, Fault>)) {
        let (index, trusted) = self.pass(&Cell::new(0), |_, _, _| ControlFlow::Continue(()));
        for (target, wanted) in parts {
            let size = self.locate(&index, wanted).and_then(|number| match index.member(number) {
                member if member.end > trusted => Err(self.untrusted(&index, number)),
                member if member.store == Store::Unreadable => Err(unreadable(self.path, member.shown())),
                member => Ok(member.size),
            });
            deliver(*target, size);
        }
    }

    /// The second pass: members by number, delivered as they are met.
    fn read_linked(
        &self,
        moved: &Cell<u64>,
        mut linked: Vec<(u32, usize)>,
        deliver: &mut dyn FnMut(usize, Result<Bytes, Fault>),
    ) {
        linked.sort_unstable_by(|a, b| b.cmp(a));
        self.pass(moved, |index, number, content| {
            let mut read = None;
            while let Some(&(_, target)) = linked.last().filter(|(wanted, _)| *wanted == number) {
                let read = read.get_or_insert_with(|| self.content(index.member(number), content));
                deliver(target, read.clone());
                linked.pop();
            }
            if linked.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        for (_, target) in linked {
            let what = format!("{}: it changed while it was read", self.path);
            deliver(target, Err(Fault::new(Class::ArchiveCorrupt, what)));
        }
    }

    /// Walks the archive once. Returns its index, and up to where the bytes can be trusted.
    fn pass(
        &self,
        moved: &Cell<u64>,
        visit: impl FnMut(&Index, u32, &mut dyn Read) -> ControlFlow<()>,
    ) -> (Index, u64) {
        let file = FileCursor::counting(self.file, moved);
        let Some(codec) = self.codec else {
            return (index::walk(&Forward::new(file), visit), u64::MAX);
        };
        let unpacked = match Unpacked::open(codec, file) {
            Ok(unpacked) => unpacked,
            Err(error) => return (Index::broken(error.to_string()), 0),
        };
        let forward = Forward::new(unpacked);
        let mut stopped = false;
        let mut visit = visit;
        let index = index::walk(&forward, |index, number, content| {
            let flow = visit(index, number, content);
            stopped = flow.is_break();
            flow
        });
        let (mut unpacked, failure) = forward.into_parts();
        // Only the end of the stream has the checksum of what was read.
        let failure = match failure {
            None if !stopped => io::copy(&mut unpacked, &mut io::sink()).err(),
            failure => failure,
        };
        let trusted = match failure {
            Some(error) if error.kind() != ErrorKind::UnexpectedEof => unpacked.verified(),
            _ => u64::MAX,
        };
        (index, trusted)
    }

    fn content(&self, member: &Member, content: &mut dyn Read) -> Result<Bytes, Fault> {
        let name = member.shown();
        if member.store == Store::Unreadable {
            return Err(unreadable(self.path, name));
        }
        if member.size > LARGEST {
            let what = format!(
                "{}: member {name} has {} bytes; members that have to be unpacked may have {LARGEST}",
                self.path, member.size
            );
            return Err(Fault::new(Class::Unsupported, what));
        }
        let mut bytes = Vec::with_capacity(member.size.min(16 << 20) as usize);
        match content.take(member.size).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() as u64 == member.size => Ok(bytes.into()),
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
                Err(Fault::new(Class::ArchiveCorrupt, format!("{}: member {name}: {error}", self.path)))
            }
            _ => Err(Fault::new(
                Class::ShortBody,
                format!(
                    "{}: it ends inside member {name}, after {} of {} bytes",
                    self.path,
                    bytes.len(),
                    member.size
                ),
            )),
        }
    }

    /// The number of the member that is wanted.
    fn locate(&self, index: &Index, wanted: &Wanted) -> Result<u32, Fault> {
        let (offset, size) = match wanted {
            Wanted::Name(name) => {
                let number = index.resolve(name.as_bytes());
                return number.map_err(|missing| index.missing(self.path, name, missing));
            }
            Wanted::Place(offset, size) => (*offset, *size),
        };
        if let Some(number) = index.at(offset, size) {
            return Ok(number);
        }
        index.layout.check(self.path, offset, size)?;
        let what = format!(
            "{}: {size} bytes at {offset} of the uncompressed archive are not the content of a member: \
             give the offset and size of one, or its name without them",
            self.path
        );
        Err(Fault::new(Class::ArchiveCorrupt, what))
    }

    fn untrusted(&self, index: &Index, number: u32) -> Fault {
        let name = index.member(number).shown();
        let what = format!("{}: the compressed bytes around member {name} are damaged", self.path);
        Fault::new(Class::ArchiveCorrupt, what)
    }
}

/// The fault of a sparse member that cannot be expanded.
pub fn unreadable(path: &SourcePath, member: impl std::fmt::Display) -> Fault {
    let what = format!("{path}: member {member} is stored sparse in extended headers; store it whole");
    Fault::new(Class::Unsupported, what)
}

/// What is wanted: members by normalized name, and contents by offset and size.
#[derive(Default)]
struct Sought {
    names: HashSet<Vec<u8>>,
    places: HashSet<(u64, u64)>,
}

impl Sought {
    fn new(parts: &[(usize, Wanted)]) -> Sought {
        let mut sought = Sought::default();
        for (_, wanted) in parts {
            match wanted {
                Wanted::Name(name) => sought.names.insert(normalized(name.as_bytes())),
                Wanted::Place(offset, size) => sought.places.insert((*offset, *size)),
            };
        }
        sought
    }

    /// Whether the content of `member` may be wanted, as far as its name and place say.
    fn want(&self, member: &Member) -> bool {
        let named = || member.link.is_none() && self.names.contains(&normalized(&member.name));
        self.want_here(member) || named()
    }

    /// Whether it is wanted for its place, so also when a later member has its name.
    fn want_here(&self, member: &Member) -> bool {
        member.place().is_some_and(|place| self.places.contains(&place))
    }
}
