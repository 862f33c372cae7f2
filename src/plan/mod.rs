//! What to fetch, in which order, in how many requests. Pure: no I/O, no clock.
//!
//! A plan is made of the objects that no cache holds, by source file and in file order. How a
//! file's targets become requests in the end is the source's business, since members of an
//! archive have places only there; the plan says how many there are at most.

pub mod coalesce;

use std::ops::AddAssign;

use crate::locator::SourcePath;
use crate::locator::Target;
use crate::object::{Key, ObjectName};
use coalesce::coalesce;

/// What to obtain from one source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFetch {
    pub path: SourcePath,
    /// Distinct, in the order of names; `keys` beside them.
    pub targets: Vec<Target>,
    pub keys: Vec<Key>,
}

/// The size of a plan, or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub objects: u64,
    /// Objects whose size the locator tells, and the sum of these sizes in bytes.
    pub sized: u64,
    pub sized_bytes: u64,
    /// Read calls at most.
    pub requests: u64,
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        self.objects += other.objects;
        self.sized += other.sized;
        self.sized_bytes += other.sized_bytes;
        self.requests += other.requests;
    }
}

/// Plans the fetch of `objects`, distinct and in the order of their names.
pub fn plan<'a>(objects: impl IntoIterator<Item = (&'a ObjectName, Key)>) -> Vec<FileFetch> {
    let mut files: Vec<FileFetch> = Vec::new();
    let mut previous: &[u8] = &[];
    for (name, key) in objects {
        let location = name.location_bytes();
        if files.is_empty() || location != previous {
            files.push(FileFetch { path: name.location(), targets: Vec::new(), keys: Vec::new() });
            previous = location;
        }
        let file = files.last_mut().expect("pushed above");
        file.targets.push(name.target());
        file.keys.push(key);
    }
    files
}

/// How large the fetch of one file is.
pub fn size(file: &FileFetch) -> Size {
    let mut ranges = Vec::new();
    for target in &file.targets {
        if let Target::Range { offset, size } = target {
            ranges.push((*offset, offset + size));
        }
    }
    let other = file.targets.len() - ranges.len();
    Size {
        objects: file.targets.len() as u64,
        sized: ranges.len() as u64,
        sized_bytes: ranges.iter().map(|(start, end)| end - start).sum(),
        requests: (coalesce(&ranges, coalesce::LOCAL).len() + other) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(path: &str, target: &Target) -> ObjectName {
        ObjectName::new(path.as_bytes(), target)
    }

    #[test]
    fn objects_come_by_file_in_file_order_and_adjacent_ranges_share_requests() {
        let range = |offset| Target::Range { offset, size: 1000 };
        let mut objects = [
            object("/b.tar", &range(1 << 30)),
            object("/b.tar", &range(512)),
            object("/a.png", &Target::Whole),
            object("/b.tar", &range(2048)),
            object("/b.tar", &Target::Member("x".into())),
        ];
        objects.sort();
        let files = plan(objects.iter().map(|name| (name, name.key())));
        assert_eq!(files.iter().map(|f| f.path.to_string()).collect::<Vec<_>>(), ["/a.png", "/b.tar"]);
        assert_eq!(files[1].targets[1..], [range(512), range(2048), range(1 << 30)]);
        let whole = size(&files[1]);
        assert_eq!((whole.objects, whole.sized, whole.sized_bytes, whole.requests), (4, 3, 3000, 3));
    }
}
