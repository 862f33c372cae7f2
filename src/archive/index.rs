//! The members of a tar and their positions, from one walk over its headers.
//!
//! If several members share a name, the last one counts. Names are found exactly, then without `./`, doubled
//! and leading slashes. Links are followed inside the archive only: hard links name a member
//! from the root, symbolic links one beside them. A damaged header ends the walk; what came
//! before it stays good.

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use hashbrown::HashTable;
use tar::Archive;
use xxhash_rust::xxh3::xxh3_64;

use super::forward::{FileCursor, Forward, Last, ReadAt, Skip};
use super::layout::{Damage, Layout};
use super::record::{self, Member};
use crate::fault::{Fault, FaultClass};
use crate::locator::MemberName;

const NO_END: &str = "it has no end marker, so it may be truncated";

/// How many links may lead to a member.
const LONGEST_CHAIN: usize = 10;

/// The members of one archive, in its order; numbers are positions in that order.
#[derive(Default)]
pub struct Index {
    members: Vec<Indexed>,
    exact: HashTable<u32>,
    normal: OnceLock<HashTable<u32>>,
    pub layout: Layout,
}

struct Indexed {
    member: Member,
    /// The member before this one with the same name.
    previous: Option<u32>,
}

/// Why a name has no member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is no such name.
    Name,
    /// The name is a link to this name, which is not in the archive.
    Link(String),
    /// Links are circular, or too many.
    Loop,
}

/// Reads the headers of the tar in `file`.
pub fn read(file: &dyn ReadAt) -> Index {
    let mut index = walk(&Forward::new(FileCursor::new(file)), |_, _, _| ControlFlow::Continue(()));
    index.layout.cut_at(file.length());
    index
}

/// Reads the headers of an archive up to its end, to damage, or until `visit` breaks. `visit`
/// sees each member as it is met, and may read its content.
pub fn walk<S: Skip>(
    forward: &Forward<S>,
    mut visit: impl FnMut(&Index, u32, &mut dyn Read) -> ControlFlow<()>,
) -> Index {
    let mut index = Index::default();
    let mut archive = Archive::new(forward);
    // Archives that were concatenated go on after their end marks.
    archive.set_ignore_zeros(true);
    let entries = archive.entries_with_seek().expect("the archive is at its start");
    let mut broken = None;
    for entry in entries {
        let described = entry.map_err(|error| error.to_string()).and_then(|mut entry| {
            let described = record::describe(&mut entry, forward.position())?;
            Ok((entry, described))
        });
        match described {
            Err(reason) => {
                broken = Some(reason);
                break;
            }
            Ok((mut entry, described)) => {
                index.layout.add(&described);
                if let Some(member) = described.member {
                    forward.allow(described.end - described.start);
                    let number = index.push(member);
                    if visit(&index, number, &mut entry).is_break() {
                        return index;
                    }
                }
            }
        }
    }
    let corrupt = |reason| Fault::new(FaultClass::ArchiveCorrupt, reason);
    let fault = forward.failure().or_else(|| match forward.last() {
        Last::Padding => None,
        Last::Blank => broken.map(corrupt),
        _ => Some(corrupt(broken.unwrap_or_else(|| NO_END.to_owned()))),
    });
    index.layout.damage = fault.map(|fault| Damage::new(index.layout.end(), fault));
    index
}

impl Index {
    /// The index of an archive that cannot be read at all.
    pub fn broken(fault: Fault) -> Index {
        let mut index = Index::default();
        index.layout.damage = Some(Damage::new(0, fault));
        index
    }

    pub fn member(&self, number: u32) -> &Member {
        &self.members[number as usize].member
    }

    /// The number of the member before `number` that has the same name.
    pub fn previous(&self, number: u32) -> Option<u32> {
        self.members[number as usize].previous
    }

    /// The number of the member that `name` leads to, links followed.
    pub fn resolve(&self, name: &[u8]) -> Result<u32, Missing> {
        let mut number = self.find(name).ok_or(Missing::Name)?;
        for _ in 0..=LONGEST_CHAIN {
            let member = self.member(number);
            let Some(link) = &member.link else { return Ok(number) };
            let nowhere = || Missing::Link(link.shown());
            number = match link {
                // A hard link means what its name stood for when it was written.
                record::Link::Hard(to) => {
                    self.chain(to).find(|&other| other < number).or_else(|| self.find(to))
                }
                record::Link::Symbolic(to) => beside(&member.name, to).and_then(|path| self.find(&path)),
            }
            .ok_or_else(nowhere)?;
        }
        Err(Missing::Loop)
    }

    /// The number of the member whose content is exactly the `size` bytes at `offset`.
    pub fn at(&self, offset: u64, size: u64) -> Option<u32> {
        let number = self.members.binary_search_by_key(&offset, |indexed| indexed.member.offset).ok()?;
        (self.members[number].member.place() == Some((offset, size))).then_some(number as u32)
    }

    /// The fault of a member that is not found, or leads nowhere.
    pub fn missing(&self, name: &MemberName, missing: Missing) -> Fault {
        let what = match missing {
            Missing::Name => format!("no member {name}"),
            Missing::Link(to) => format!("member {name} is a link to {to}, which is not in the archive"),
            Missing::Loop => format!("member {name} follows too many links"),
        };
        match &self.layout.damage {
            None => Fault::new(FaultClass::MemberMissing, what),
            Some(Damage { position, class, reason }) => Fault::new(
                *class,
                format!("{what} before byte {position}, where the archive is damaged: {reason}"),
            ),
        }
    }

    fn find(&self, name: &[u8]) -> Option<u32> {
        self.chain(name).next()
    }

    /// All members that a name may mean, the best first.
    fn chain(&self, name: &[u8]) -> impl Iterator<Item = u32> {
        let first = self.get(name).or_else(|| {
            let normal = normalized(name);
            let named = |&number: &u32| normalized(&self.member(number).name) == normal;
            self.normal().find(xxh3_64(&normal), named).copied()
        });
        std::iter::successors(first, |&number| self.previous(number))
    }

    fn get(&self, name: &[u8]) -> Option<u32> {
        self.exact.find(xxh3_64(name), |&number| *self.member(number).name == *name).copied()
    }

    /// The last member of each normalized name. Built on first use: most archives are asked
    /// for the names they have.
    fn normal(&self) -> &HashTable<u32> {
        self.normal.get_or_init(|| {
            let mut table: HashTable<u32> = HashTable::new();
            let hash = |number: &u32| xxh3_64(&normalized(&self.member(*number).name));
            for number in (0..self.members.len() as u32).rev() {
                let name = normalized(&self.member(number).name);
                let same = |&other: &u32| normalized(&self.member(other).name) == name;
                table.entry(hash(&number), same, hash).or_insert(number);
            }
            table
        })
    }

    fn push(&mut self, member: Member) -> u32 {
        let number = self.members.len() as u32;
        let hash = xxh3_64(&member.name);
        let members = &self.members;
        let same = |&other: &u32| members[other as usize].member.name == member.name;
        let rehash = |&other: &u32| xxh3_64(&members[other as usize].member.name);
        let previous = match self.exact.entry(hash, same, rehash) {
            hashbrown::hash_table::Entry::Occupied(mut held) => {
                Some(std::mem::replace(held.get_mut(), number))
            }
            hashbrown::hash_table::Entry::Vacant(free) => {
                free.insert(number);
                None
            }
        };
        self.members.push(Indexed { member, previous });
        number
    }
}

/// `name` without empty and `.` parts, so also without a leading slash.
pub fn normalized(name: &[u8]) -> Vec<u8> {
    let parts = name.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    parts.collect::<Vec<_>>().join(&b'/')
}

/// Where a symbolic link of the member `name` leads; nothing when it leaves the archive.
fn beside(name: &[u8], link: &[u8]) -> Option<Vec<u8>> {
    if link.starts_with(b"/") {
        return None;
    }
    let folder = name.iter().rposition(|&byte| byte == b'/').map_or(&name[..0], |slash| &name[..slash]);
    let mut path: Vec<&[u8]> = Vec::new();
    for part in folder.split(|&byte| byte == b'/').chain(link.split(|&byte| byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => drop(path.pop()?),
            part => path.push(part),
        }
    }
    Some(path.join(&b'/'))
}
