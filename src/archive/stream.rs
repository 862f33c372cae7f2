//! Members of an archive read in one pass, by name or place: compressed tars, and sparse members.
//!
//! Which of two members of one name counts is known at the end only, so wanted contents are held
//! until then, as far as there is room. A byte range has to be exactly the content of a member, which
//! proves that it means the uncompressed archive. A second pass reads what was not held: what found no
//! room, and what links lead to. Members that were read whole before a compressed file was cut are
//! good; where the compressed bytes are damaged, only what a checksum has vouched for is, and nothing
//! of a file that changed.

use std::collections::{HashMap, HashSet};
use std::io::{self, ErrorKind, Read};
use std::ops::ControlFlow;

use bytes::Bytes;

use super::forward::{self, FileCursor, Forward, ReadAt};
use super::index::{self, Index, normalized};
use super::record::{Member, Store};
use super::unpack::{Codec, Unpacked};
use crate::fault::{Fault, FaultClass};
use crate::locator::Target;

/// The largest member that is held in memory, bytes. A small file can claim to unpack to any size.
const LARGEST: u64 = 1 << 30;

/// Contents that are held in the first pass, bytes; the others wait for the second.
const HELD: u64 = 64 << 20;

/// An archive that is read forward.
pub struct Streamed<'a> {
    pub file: &'a dyn ReadAt,
    /// Nothing for a plain tar.
    pub codec: Option<Codec>,
}

/// What one pass over an archive found.
struct Pass {
    index: Index,
    /// Up to where the bytes can be trusted.
    trusted: u64,
    /// Why no further.
    fault: Option<Fault>,
}

impl Streamed<'_> {
    /// Delivers one result for each of `members`, which are numbered. Returns how many passes that
    /// took.
    pub fn read(
        &self,
        members: &[(usize, &Target)],
        deliver: &mut dyn FnMut(usize, Result<Bytes, Fault>),
    ) -> u64 {
        let mut held: HashMap<u32, Result<Bytes, Fault>> = HashMap::new();
        let mut room = HELD;
        let sought = Sought::new(members);
        let pass = self.pass(|index, number, content| {
            let member = index.member(number);
            if sought.want(member) {
                if let Some(previous) = index.previous(number)
                    && !sought.want_here(index.member(previous))
                {
                    held.remove(&previous);
                }
                if room > 0 {
                    let content = self::content(member, content);
                    room = room.saturating_sub(content.as_ref().map_or(0, |content| content.len() as u64));
                    held.insert(number, content);
                }
            }
            ControlFlow::Continue(())
        });
        held.retain(|&number, content| content.is_err() || pass.trusts(number));

        let mut linked = Vec::new();
        for &(target, wanted) in members {
            match locate(&pass.index, wanted) {
                Err(fault) => deliver(target, Err(fault)),
                Ok(number) => match held.get(&number) {
                    Some(content) => deliver(target, content.clone()),
                    None if !pass.trusts(number) => deliver(target, Err(pass.untrusted(number))),
                    None => linked.push((number, target)),
                },
            }
        }
        drop(held);
        if linked.is_empty() {
            return 1;
        }
        self.read_linked(linked, deliver);
        2
    }

    /// Delivers the size of what [`Streamed::read`] would deliver for each of `members`, in one pass
    /// that holds nothing.
    pub fn measure(&self, members: &[(usize, &Target)], deliver: &mut dyn FnMut(usize, Result<u64, Fault>)) {
        let pass = self.pass(|_, _, _| ControlFlow::Continue(()));
        for &(target, wanted) in members {
            let size = locate(&pass.index, wanted).and_then(|number| match pass.index.member(number) {
                _ if !pass.trusts(number) => Err(pass.untrusted(number)),
                member if member.store == Store::Unreadable => Err(unreadable(member.shown())),
                member => Ok(member.size),
            });
            deliver(target, size);
        }
    }

    /// The second pass: members by number, delivered as they are met.
    fn read_linked(
        &self,
        mut linked: Vec<(u32, usize)>,
        deliver: &mut dyn FnMut(usize, Result<Bytes, Fault>),
    ) {
        linked.sort_unstable_by(|a, b| b.cmp(a));
        self.pass(|index, number, content| {
            let mut read = None;
            while let Some(&(_, target)) = linked.last().filter(|(wanted, _)| *wanted == number) {
                let read = read.get_or_insert_with(|| self::content(index.member(number), content));
                deliver(target, read.clone());
                linked.pop();
            }
            if linked.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        for (_, target) in linked {
            deliver(target, Err(Fault::new(FaultClass::Changed, "it changed while it was being read")));
        }
    }

    /// Walks the archive once.
    fn pass(&self, mut visit: impl FnMut(&Index, u32, &mut dyn Read) -> ControlFlow<()>) -> Pass {
        let file = FileCursor::new(self.file);
        let Some(codec) = self.codec else {
            let forward = Forward::new(file);
            let index = index::walk(&forward, visit);
            return Pass::new(index, forward.into_parts().1, u64::MAX);
        };
        let unpacked = match Unpacked::open(codec, file) {
            Ok(unpacked) => unpacked,
            Err(error) => return Pass::new(Index::broken(forward::fault(&error)), Some(error), 0),
        };
        let forward = Forward::new(unpacked);
        let mut stopped = false;
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
        let cut = failure.as_ref().is_none_or(|error| error.kind() == ErrorKind::UnexpectedEof);
        let trusted = if cut { u64::MAX } else { unpacked.verified() };
        Pass::new(index, failure, trusted)
    }
}

impl Pass {
    fn new(index: Index, failure: Option<io::Error>, trusted: u64) -> Pass {
        let fault = failure.as_ref().and_then(forward::inner).cloned();
        let changed = fault.as_ref().is_some_and(|fault| fault.class == FaultClass::Changed);
        Pass { index, trusted: if changed { 0 } else { trusted }, fault }
    }

    fn trusts(&self, number: u32) -> bool {
        self.index.member(number).end <= self.trusted
    }

    fn untrusted(&self, number: u32) -> Fault {
        self.fault.clone().unwrap_or_else(|| {
            let name = self.index.member(number).shown();
            let what = format!("the compressed bytes around member {name} are damaged");
            Fault::new(FaultClass::ArchiveCorrupt, what)
        })
    }
}

fn content(member: &Member, content: &mut dyn Read) -> Result<Bytes, Fault> {
    let name = member.shown();
    if member.store == Store::Unreadable {
        return Err(unreadable(name));
    }
    if member.size > LARGEST {
        let what =
            format!("member {name} has {} bytes; the limit for compressed members is {LARGEST}", member.size);
        return Err(Fault::new(FaultClass::Unsupported, what));
    }
    let mut bytes = Vec::with_capacity(member.size.min(16 << 20) as usize);
    match content.take(member.size).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 == member.size => Ok(bytes.into()),
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(match forward::inner(&error) {
            Some(fault) => fault.clone(),
            None => Fault::new(FaultClass::ArchiveCorrupt, format!("member {name}: {error}")),
        }),
        _ => {
            let found = bytes.len();
            let what = format!("it ends inside member {name}, after {found} of {} bytes", member.size);
            Err(Fault::new(FaultClass::ShortBody, what))
        }
    }
}

/// The number of the member that `wanted` means, by its name or by its exact place.
fn locate(index: &Index, wanted: &Target) -> Result<u32, Fault> {
    let (offset, size) = match wanted {
        Target::Member(name) => {
            let number = index.resolve(name.as_bytes());
            return number.map_err(|missing| index.missing(name, missing));
        }
        Target::Range { offset, size } => (*offset, *size),
        Target::Whole => unreachable!("a whole file is no member"),
    };
    if let Some(number) = index.at(offset, size) {
        return Ok(number);
    }
    index.layout.check(offset, size)?;
    let what = format!(
        "{size} bytes at {offset} of the uncompressed archive are not the content of a member: \
         give the offset and size of one, or its name without them"
    );
    Err(Fault::new(FaultClass::ArchiveCorrupt, what))
}

/// The fault of a sparse member that cannot be expanded.
pub fn unreadable(member: impl std::fmt::Display) -> Fault {
    let what = format!("member {member} is stored sparse in PAX headers; store it whole");
    Fault::new(FaultClass::Unsupported, what)
}

/// What is wanted: members by normalized name, and contents by offset and size.
#[derive(Default)]
struct Sought {
    names: HashSet<Vec<u8>>,
    places: HashSet<(u64, u64)>,
}

impl Sought {
    fn new(members: &[(usize, &Target)]) -> Sought {
        let mut sought = Sought::default();
        for (_, wanted) in members {
            match wanted {
                Target::Member(name) => drop(sought.names.insert(normalized(name.as_bytes()))),
                Target::Range { offset, size } => drop(sought.places.insert((*offset, *size))),
                Target::Whole => {}
            }
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
