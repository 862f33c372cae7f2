//! One header of a tar, with its extended records, as what it means for reading members.

use std::io::Read;

use tar::{Entry, EntryType};

use super::forward::BLOCK;

/// A file or link in an archive.
#[derive(Debug)]
pub struct Member {
    pub name: Box<[u8]>,
    /// Where its content starts in the (uncompressed) archive, and how long it is, bytes.
    pub offset: u64,
    pub size: u64,
    /// Where what is stored of it ends; other than `offset + size` when it is sparse.
    pub end: u64,
    pub store: Store,
    pub link: Option<Link>,
}

impl Member {
    /// Offset and size of its content; nothing for links, and where other bytes are stored.
    pub fn place(&self) -> Option<(u64, u64)> {
        (self.store == Store::Plain && self.link.is_none()).then_some((self.offset, self.size))
    }

    /// The name, for messages.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

/// How the content of a member is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// As it is.
    Plain,
    /// Without its holes, described in GNU headers, which the tar reader expands.
    Sparse,
    /// Without its holes, described in extended records, which nothing here expands.
    Unreadable,
}

#[derive(Debug)]
pub enum Link {
    /// To a name from the root of the archive.
    Hard(Box<[u8]>),
    /// To a name from the folder of the link.
    Symbolic(Box<[u8]>),
}

impl Link {
    pub fn shown(&self) -> String {
        let (Link::Hard(to) | Link::Symbolic(to)) = self;
        String::from_utf8_lossy(to).into_owned()
    }
}

/// A header and the bytes that belong to it.
pub struct Described {
    /// Nothing for folders, labels, devices and other things without content.
    pub member: Option<Member>,
    /// From its header to the end of what is stored, without padding.
    pub start: u64,
    pub end: u64,
    /// Whether the stored bytes are not the content.
    pub sparse: bool,
}

impl Described {
    /// Where the next header starts.
    pub fn next(&self) -> u64 {
        self.end.next_multiple_of(BLOCK)
    }
}

/// Reads what `entry` says about itself; `position` is where the reader stands after its headers.
///
/// # Errors
/// A sentence, when the records contradict themselves or cannot be read. What follows such an
/// entry is not to be trusted, since its length is not known.
pub fn describe<R: Read>(entry: &mut Entry<'_, R>, position: u64) -> Result<Described, String> {
    let kind = entry.header().entry_type();
    let records = match kind {
        EntryType::XGlobalHeader | EntryType::XHeader => Records::default(),
        _ => records(entry)?,
    };
    let stored = match (kind, records.size) {
        (EntryType::GNUSparse, Some(size)) => size,
        (EntryType::GNUSparse, None) => entry.header().entry_size().map_err(|error| error.to_string())?,
        _ => entry.size(),
    };
    let sparse = records.sparse || kind.is_gnu_sparse();
    let end = position.checked_add(stored).filter(|&end| end <= i64::MAX as u64 - BLOCK);
    let end = end.ok_or("a member ends past 2^63")?;
    let mut described = Described { member: None, start: entry.raw_header_position(), end, sparse };

    let name = match records.name {
        Some(name) => name,
        None => text(&entry.path_bytes()),
    };
    let target = || entry.link_name_bytes().map(|to| text(&to)).unwrap_or_default();
    let link = match kind {
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => None,
        EntryType::Link => Some(Link::Hard(target())),
        EntryType::Symlink => Some(Link::Symbolic(target())),
        _ => return Ok(described),
    };
    // Before there was a type for folders, a slash at the end made one.
    if name.is_empty() || name.ends_with(b"/") {
        return Ok(described);
    }
    let store = match (records.sparse, kind) {
        (true, _) => Store::Unreadable,
        (false, EntryType::GNUSparse) => Store::Sparse,
        (false, _) => Store::Plain,
    };
    described.member = Some(Member { name, offset: position, size: entry.size(), end, store, link });
    Ok(described)
}

/// Names in headers end at the first NUL.
fn text(name: &[u8]) -> Box<[u8]> {
    name.split(|&byte| byte == 0).next().unwrap_or_default().into()
}

/// What the extended records of an entry say beyond what the tar reader applies.
#[derive(Default)]
struct Records {
    size: Option<u64>,
    sparse: bool,
    /// The real name of a sparse member, whose other name is made up.
    name: Option<Box<[u8]>>,
}

fn records<R: Read>(entry: &mut Entry<'_, R>) -> Result<Records, String> {
    let mut found = Records::default();
    let Some(records) = entry.pax_extensions().map_err(|error| error.to_string())? else {
        return Ok(found);
    };
    // Readers differ in which of two records counts, so two that disagree are refused.
    let mut seen: [(&str, Option<&[u8]>); 3] = [("path", None), ("linkpath", None), ("size", None)];
    for record in records {
        let record = record.map_err(|error| error.to_string())?;
        let (key, value) = (record.key_bytes(), record.value_bytes());
        if let Some((name, earlier)) = seen.iter_mut().find(|(name, _)| name.as_bytes() == key)
            && earlier.replace(value).is_some_and(|earlier| earlier != value)
        {
            return Err(format!("two PAX records for {name} disagree"));
        }
        match key {
            b"size" => {
                let size = std::str::from_utf8(value).ok().and_then(|size| size.parse().ok());
                found.size = Some(size.ok_or("the size in a PAX record is not a number")?);
            }
            b"GNU.sparse.name" => found.name = Some(text(value)),
            _ => {}
        }
        found.sparse |= SPARSE.iter().any(|prefix| key.starts_with(prefix));
    }
    Ok(found)
}

/// Records of members whose stored bytes are not their content, by GNU tar, star and Solaris.
const SPARSE: [&[u8]; 3] = [b"GNU.sparse.", b"SCHILY.realsize", b"SUN.holesdata"];
