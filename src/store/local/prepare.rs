//! From the targets of one file to the requests that obtain them.

use std::fs::File;
use std::sync::Arc;

use super::file::{self, FileInfo};
use crate::archive::BLOCK;
use crate::archive::record::Store;
use crate::archive::sniff::{self, Content, Kind};
use crate::archive::stream::unreadable;
use crate::fault::{Class, Fault};
use crate::locator::allow::Allow;
use crate::locator::{MemberName, SourcePath, Target};
use crate::plan::coalesce::{Coalesce, coalesce};
use crate::store::{Part, Prepared, Read, Request, Wanted};

/// Reading over a gap of this size is cheaper than another request, also on network file systems.
const RULE: Coalesce = Coalesce { gap: 64 << 10, cap: 8 << 20 };

/// # Errors
/// The fault that every target of the file has.
pub fn prepare(allow: &Allow, path: &SourcePath, targets: &[Target]) -> Result<Prepared, Fault> {
    let real = allow.admit(path.as_path()).ok_or_else(|| {
        Fault::new(Class::NotAllowed, format!("{path}: it lies outside every allowed prefix"))
    })?;
    let mut plan = Plan::default();
    if targets.iter().all(|target| matches!(target, Target::Whole | Target::Range { size: 0, .. })) {
        let info = FileInfo::new(path, real.clone(), file::regular(path, &real)?, Kind::Plain);
        for (target, _) in targets.iter().enumerate() {
            match targets[target] {
                Target::Whole => plan.wholes.push(target),
                _ => plan.empties.push(target),
            }
        }
        return Ok(plan.requests(info));
    }
    let (file, length) = file::open(path, &real)?;
    let kind = sniff::sniff(&file).map_err(|error| Fault::from_io(path, &error))?;
    let info = FileInfo::new(path, real, length, kind);
    let mut named = Vec::new();
    for (target, wanted) in targets.iter().enumerate() {
        match step(&info, wanted) {
            Step::Whole => plan.wholes.push(target),
            Step::Bytes(0, 0) => plan.empties.push(target),
            Step::Bytes(offset, size) => plan.add_range(&info, target, offset, size),
            Step::Lookup(name) => named.push((target, name)),
            Step::Stream(wanted) => plan.streamed.push((target, wanted)),
            Step::Refuse(fault) => plan.faults.push((target, fault)),
        }
    }
    if !named.is_empty() {
        plan.look_up(&info, &file, &named);
    }
    Ok(plan.requests(info))
}

/// How to obtain one target.
enum Step<'a> {
    Whole,
    /// Offset and size in the file; nothing at all is `(0, 0)`.
    Bytes(u64, u64),
    /// A member of a tar, which lies where the headers say.
    Lookup(&'a MemberName),
    Stream(Wanted),
    Refuse(Fault),
}

fn step<'a>(info: &FileInfo, target: &'a Target) -> Step<'a> {
    let path = &info.path;
    let refuse = |class: Class, what: String| Step::Refuse(Fault::new(class, what));
    match (&info.kind, target) {
        (_, Target::Whole) => Step::Whole,
        (_, Target::Range { size: 0, .. }) => Step::Bytes(0, 0),
        (Kind::Tar | Kind::Blank, Target::Member(name)) => Step::Lookup(name),
        (Kind::Packed(_, Content::Tar), Target::Member(name)) => Step::Stream(Wanted::Name(name.clone())),
        (Kind::Packed(_, Content::Tar), &Target::Range { offset, size }) => {
            Step::Stream(Wanted::Place(offset, size))
        }
        (Kind::Packed(_, Content::Unreadable(reason)), _) => {
            refuse(Class::ArchiveCorrupt, format!("{path}: it cannot be decompressed: {reason}"))
        }
        // Offsets may be those of an archive inside, so the bytes of a range would be wrong ones.
        (Kind::Foreign(name), _) => {
            let what = format!("{path}: it is {name} data; archives are read as tar, tar.gz and tar.zst");
            refuse(Class::Unsupported, what)
        }
        (Kind::Zip, Target::Member(_)) => {
            let what = format!("{path}: it is a zip archive; archives are read as tar, tar.gz and tar.zst");
            refuse(Class::Unsupported, what)
        }
        (_, &Target::Range { offset, size }) => Step::Bytes(offset, size),
        (Kind::Packed(..) | Kind::Plain, Target::Member(name)) => {
            refuse(Class::ArchiveCorrupt, format!("{path}: it is no tar archive, so it has no member {name}"))
        }
    }
}

/// What the targets of a file need, before it becomes requests.
#[derive(Default)]
struct Plan {
    wholes: Vec<usize>,
    empties: Vec<usize>,
    parts: Vec<Part>,
    streamed: Vec<(usize, Wanted)>,
    faults: Vec<(usize, Fault)>,
}

impl Plan {
    fn add_range(&mut self, info: &FileInfo, target: usize, offset: u64, size: u64) {
        if offset.checked_add(size).is_none_or(|end| end > info.length) {
            let FileInfo { path, length, .. } = info;
            let what = format!("{path}: {size} bytes at {offset} are not in a file of {length} bytes");
            self.faults.push((target, Fault::new(Class::ShortBody, what)));
        } else {
            self.parts.push(Part { target, offset, size });
        }
    }

    fn look_up(&mut self, info: &FileInfo, file: &File, named: &[(usize, &MemberName)]) {
        let index = info.index(file);
        for &(target, name) in named {
            let member = match index.resolve(name.as_bytes()) {
                Ok(number) => index.member(number),
                Err(missing) => {
                    self.faults.push((target, index.missing(&info.path, name, missing)));
                    continue;
                }
            };
            match member.store {
                Store::Unreadable => self.faults.push((target, unreadable(&info.path, name))),
                Store::Sparse => self.streamed.push((target, Wanted::Name(name.clone()))),
                Store::Plain if member.size == 0 => self.empties.push(target),
                Store::Plain if member.end > info.length => {
                    let what = format!("{}: it ends inside member {name}", info.path);
                    self.faults.push((target, Fault::new(Class::ShortBody, what)));
                }
                Store::Plain => self.parts.push(Part { target, offset: member.offset, size: member.size }),
            }
        }
    }

    fn requests(mut self, info: FileInfo) -> Prepared {
        // The block before a range of a tar says whether it is a member.
        let lead = if info.kind == Kind::Tar { BLOCK } else { 0 };
        let mut reads: Vec<Read> = self.wholes.into_iter().map(|target| Read::Whole { target }).collect();
        if !self.empties.is_empty() {
            let part = |target| Part { target, offset: 0, size: 0 };
            let parts = self.empties.into_iter().map(part).collect();
            reads.push(Read::Span { start: 0, end: 0, parts });
        }
        self.parts.sort_by_key(|part| (part.offset, part.size));
        let range = |part: &Part| (part.offset.saturating_sub(lead), part.offset + part.size);
        let ranges: Vec<_> = self.parts.iter().map(range).collect();
        for merged in coalesce(&ranges, RULE) {
            let parts = self.parts[merged.ranges].to_vec();
            reads.push(Read::Span { start: merged.start, end: merged.end, parts });
        }
        if !self.streamed.is_empty() {
            reads.push(Read::Members { parts: self.streamed });
        }
        let file = Arc::new(info);
        let request = |read| Request { file: Arc::clone(&file), read };
        Prepared { requests: reads.into_iter().map(request).collect(), faults: self.faults }
    }
}
