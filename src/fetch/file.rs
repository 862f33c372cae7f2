//! One source file: its kind, and the reads that obtain its targets.

use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use super::run::{Reader, Run};
use crate::archive::forward::{BLOCK, ReadAt, inner};
use crate::archive::index::{self, Index};
use crate::archive::layout::Layout;
use crate::archive::record::Store;
use crate::archive::sniff::{self, Content, Kind};
use crate::archive::stream::unreadable;
use crate::fault::{Fault, FaultClass};
use crate::locator::{MemberName, Target};
use crate::plan::coalesce::{LOCAL, coalesce};
use crate::store::Opened;

/// A file whose kind is known.
pub struct Looked {
    pub opened: Opened,
    /// Also [`Kind::Plain`] if no target depends on the kind.
    pub kind: Kind,
    layout: OnceLock<Layout>,
}

impl Looked {
    /// The layout of a tar; its headers are read once.
    pub fn layout(&self, file: &dyn ReadAt) -> &Layout {
        self.layout.get_or_init(|| index::read(file).layout)
    }
}

/// One read. Those of a file are independent of each other.
pub enum Read {
    /// One request for the bytes `range`, which carry the payloads of `parts`.
    Span { range: Range<u64>, parts: Vec<Part> },
    /// One pass over an archive for those of its members that these targets mean.
    Members(Vec<usize>),
}

/// One payload inside a span.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub target: usize,
    /// Where it lies in the file, bytes.
    pub offset: u64,
    pub size: u64,
}

/// How to obtain the targets of a file, each of them in one way.
#[derive(Default)]
pub struct FilePlan {
    pub reads: Vec<Read>,
    /// Targets of no bytes.
    pub empty: Vec<usize>,
    pub faults: Vec<(usize, Fault)>,
}

impl Run<'_> {
    /// Plans how to obtain `targets` of the file.
    ///
    /// # Errors
    /// The fault that every target of the file has.
    pub(super) fn plan(&self, opened: Opened, targets: &[Target]) -> Result<(Looked, FilePlan), Fault> {
        let unread = |target: &Target| matches!(target, Target::Whole | Target::Range { size: 0, .. });
        let mut looked = Looked { opened, kind: Kind::Plain, layout: OnceLock::new() };
        let reader = Reader::new(self, &looked.opened);
        let kind = match targets.iter().all(unread) {
            true => Kind::Plain,
            false => sniff::sniff(&reader).map_err(fault)?,
        };
        let mut plan = Planning::new(&kind, reader.length());
        targets.iter().enumerate().for_each(|(number, target)| plan.add(number, target));
        let layout = plan.look_up(&reader);
        let plan = plan.finish();
        looked.kind = kind;
        layout.into_iter().for_each(|layout| drop(looked.layout.set(layout)));
        Ok((looked, plan))
    }
}

/// The fault of a file that cannot be read.
fn fault(error: io::Error) -> Fault {
    inner(&error).cloned().unwrap_or_else(|| Fault::from_io("", error))
}

/// The plan of a file as it is made.
struct Planning<'t> {
    kind: &'t Kind,
    /// Of the file, bytes.
    length: u64,
    wholes: Vec<usize>,
    empty: Vec<usize>,
    parts: Vec<Part>,
    /// Members of a tar, which lie where its headers say.
    named: Vec<(usize, &'t MemberName)>,
    streamed: Vec<usize>,
    faults: Vec<(usize, Fault)>,
}

impl<'t> Planning<'t> {
    fn new(kind: &'t Kind, length: u64) -> Planning<'t> {
        Planning {
            kind,
            length,
            wholes: Vec::new(),
            empty: Vec::new(),
            parts: Vec::new(),
            named: Vec::new(),
            streamed: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn add(&mut self, number: usize, target: &'t Target) {
        match (self.kind, target) {
            (_, Target::Whole) => self.wholes.push(number),
            (_, Target::Range { size: 0, .. }) => self.empty.push(number),
            (Kind::Tar | Kind::Blank, Target::Member(name)) => self.named.push((number, name)),
            (Kind::Packed(_, Content::Tar), _) => self.streamed.push(number),
            (Kind::Packed(_, Content::Unreadable(reason)), _) => {
                let what = format!("it cannot be decompressed: {reason}");
                self.refuse(number, FaultClass::ArchiveCorrupt, what);
            }
            // Offsets may be those of an archive inside, so the bytes of a range would be wrong ones.
            (Kind::Foreign(name), _) => {
                let what = format!("it is {name} data; archives are read as tar, tar.gz and tar.zst");
                self.refuse(number, FaultClass::Unsupported, what);
            }
            (Kind::Zip, Target::Member(_)) => {
                let what = "it is a zip archive; archives are read as tar, tar.gz and tar.zst";
                self.refuse(number, FaultClass::Unsupported, what.to_owned());
            }
            (_, &Target::Range { offset, size }) => self.add_range(number, offset, size),
            (Kind::Packed(..) | Kind::Plain, Target::Member(name)) => {
                let what = format!("it is not a tar archive, so it has no member {name}");
                self.refuse(number, FaultClass::ArchiveCorrupt, what);
            }
        }
    }

    fn refuse(&mut self, target: usize, class: FaultClass, what: String) {
        self.faults.push((target, Fault::new(class, what)));
    }

    fn add_range(&mut self, target: usize, offset: u64, size: u64) {
        let length = self.length;
        if offset.checked_add(size).is_none_or(|end| end > length) {
            let what = format!("{size} bytes at {offset} are not in a file of {length} bytes");
            self.refuse(target, FaultClass::ShortBody, what);
        } else {
            self.parts.push(Part { target, offset, size });
        }
    }

    /// Finds the members that are named in the headers of the archive, if any are.
    fn look_up(&mut self, file: &dyn ReadAt) -> Option<Layout> {
        if self.named.is_empty() {
            return None;
        }
        let index = index::read(file);
        for (target, name) in std::mem::take(&mut self.named) {
            self.add_member(&index, target, name);
        }
        Some(index.layout)
    }

    fn add_member(&mut self, index: &Index, target: usize, name: &MemberName) {
        let member = match index.resolve(name.as_bytes()) {
            Ok(number) => index.member(number),
            Err(missing) => return self.faults.push((target, index.missing(name, missing))),
        };
        match member.store {
            Store::Unreadable => self.faults.push((target, unreadable(name))),
            Store::Sparse => self.streamed.push(target),
            Store::Plain if member.size == 0 => self.empty.push(target),
            Store::Plain if member.end > self.length => {
                self.refuse(target, FaultClass::ShortBody, format!("it ends inside member {name}"));
            }
            Store::Plain => self.parts.push(Part { target, offset: member.offset, size: member.size }),
        }
    }

    fn finish(mut self) -> FilePlan {
        // The block before a range of a tar says whether it is a member.
        let lead = if *self.kind == Kind::Tar { BLOCK } else { 0 };
        let whole = |target| {
            let part = Part { target, offset: 0, size: self.length };
            Read::Span { range: 0..self.length, parts: vec![part] }
        };
        let mut reads: Vec<Read> = self.wholes.into_iter().map(whole).collect();
        self.parts.sort_by_key(|part| (part.offset, part.size));
        let range = |part: &Part| (part.offset.saturating_sub(lead), part.offset + part.size);
        let ranges: Vec<_> = self.parts.iter().map(range).collect();
        for merged in coalesce(&ranges, LOCAL) {
            let parts = self.parts[merged.ranges].to_vec();
            reads.push(Read::Span { range: merged.start..merged.end, parts });
        }
        if !self.streamed.is_empty() {
            reads.push(Read::Members(self.streamed));
        }
        FilePlan { reads, empty: self.empty, faults: self.faults }
    }
}
