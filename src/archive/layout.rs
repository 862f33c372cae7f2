//! Checks of byte ranges of a tar.
//!
//! A byte range of a tar is valid anywhere except in the stored bytes of a sparse member, whose
//! size is not a range of the file. A plain header right before the range that has the same size is
//! a cheap proof. Only without it are the headers of the archive read.

use super::forward::BLOCK;
use super::record::Described;
use super::sniff;
use crate::fault::{Fault, FaultClass};

/// The sparse and the damaged parts of an archive, from its headers.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Sparse members, header to end of stored bytes, in order.
    sparse: Vec<(u64, u64)>,
    end: u64,
    pub damage: Option<Damage>,
}

/// Where reading the headers stopped before the end of the archive, and why: damage, or a failed read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub position: u64,
    pub class: FaultClass,
    pub reason: String,
}

impl Damage {
    pub fn new(position: u64, fault: Fault) -> Damage {
        Damage { position, class: fault.class, reason: fault.what }
    }
}

impl Layout {
    pub fn add(&mut self, described: &Described) {
        self.end = described.next();
        if described.sparse {
            self.sparse.push((described.start, described.end));
        }
    }

    /// The end of what was understood, bytes.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Marks the archive as damaged if a member ends after `length`: the file is truncated.
    pub fn cut_at(&mut self, length: u64) {
        if self.end > length.next_multiple_of(BLOCK) {
            let reason = "it ends inside a member".to_owned();
            self.damage = Some(Damage { position: length, class: FaultClass::ArchiveCorrupt, reason });
        }
    }

    /// Checks that a range can be the content of a member.
    ///
    /// # Errors
    /// The range touches a sparse member or the damaged part of the archive.
    pub fn check(&self, offset: u64, size: u64) -> Result<(), Fault> {
        let end = offset.saturating_add(size);
        let fault = |class, what| Err(Fault::new(class, format!("{size} bytes at {offset} {what}")));
        let next = self.sparse.partition_point(|&(_, to)| to <= offset);
        if self.sparse.get(next).is_some_and(|&(from, _)| from < end) {
            let what = "touch a sparse member, whose size is not a byte range: name the member alone, or \
                        store it whole";
            return fault(FaultClass::Unsupported, what.to_owned());
        }
        match &self.damage {
            Some(Damage { position, class, reason }) if end > *position => {
                let what = format!("come after byte {position}, where the archive is damaged: {reason}");
                fault(*class, what)
            }
            _ => Ok(()),
        }
    }
}

/// Whether `block`, found right before a range of `size` bytes, proves that the range is the
/// content of a member.
pub fn vouches(block: &[u8], size: u64) -> bool {
    sniff::header(block).is_some_and(|header| {
        let plain = matches!(block[156], 0 | b'0' | b'7');
        // The name that GNU tar makes up for sparse members in extended headers.
        let made_up = header.path_bytes().windows(14).any(|part| part == b"GNUSparseFile.");
        plain && !made_up && header.entry_size().is_ok_and(|stored| stored == size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::samples::Tar;

    #[test]
    fn only_a_plain_header_of_the_same_size_vouches() {
        let tar = Tar::new().file("a.jpg", b"12345").end();
        assert!(vouches(&tar[..512], 5));
        assert!(!vouches(&tar[..512], 6));
        assert!(!vouches(&tar[512..1024], 5));
        assert!(!vouches(&tar[..100], 5));
        let sparse = Tar::new().entry(b'S', "a.jpg", b"12345").end();
        assert!(!vouches(&sparse[..512], 5));
        let made_up = Tar::new().file("./GNUSparseFile.7/a.jpg", b"12345").end();
        assert!(!vouches(&made_up[..512], 5));
    }

    #[test]
    fn ranges_that_touch_a_sparse_member_are_refused_and_others_are_not() {
        let layout = Layout { sparse: vec![(1000, 2000)], end: 5000, damage: None };
        let class = |offset, size| layout.check(offset, size).map_err(|fault| fault.class);
        assert_eq!(class(0, 1000), Ok(()));
        assert_eq!(class(999, 2), Err(FaultClass::Unsupported));
        assert_eq!(class(1500, 1), Err(FaultClass::Unsupported));
        assert_eq!(class(2000, 7000), Ok(()));
    }
}
