//! Which objects a cache of limited size is to hold: what `size --admit-out` writes and
//! `materialize --admit` obeys.
//!
//! ```text
//!     policy: length in bytes, UTF-8
//!     budget, hits; references, objects, bytes of the corpus; objects and bytes admitted
//!     digests of the admitted objects, ascending: each minus the one before it
//! ```
//!
//! That is the content of a `sealed` file. In memory an admitted object takes 8 bytes. An object
//! is known by 64 bits, so that of n admitted ones each of the others is taken for admitted with
//! probability n / 2^64: 3e-12 for the 56 M objects that 2 TB hold by value density.

use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::sealed::{self, Kind, get, put};
use crate::object;
use crate::publish::Draft;

const KIND: Kind = Kind {
    magic: *b"onepull admits\0\x01",
    name: "admission list",
    made_by: "onepull size MANIFEST... --admit-out FILE",
};

/// Whether the bytes are the beginning of a list, of any version.
pub fn is_list(bytes: &[u8]) -> bool {
    KIND.begins(bytes)
}

/// A choice of objects, and what it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    pub choice: Choice,
    /// See [`digest`]; ascending.
    digests: Vec<u64>,
}

/// How objects were chosen, from which corpus, and what the choice gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// As `size` names it: `count`, `density`.
    pub policy: String,
    /// What the entries of the admitted objects had to fit in, bytes.
    pub budget: u64,
    /// References to admitted objects beyond the first of each: sum of k-1.
    pub hits: u64,
    /// References, objects and bytes of the objects of the corpus.
    pub references: u64,
    pub objects: u64,
    pub bytes: u64,
    /// Payload bytes of the admitted objects.
    pub admitted_bytes: u64,
}

/// The 64 bits by which an admission knows the object with these canonical bytes.
pub fn digest(canonical: &[u8]) -> u64 {
    (object::digest(canonical) >> 64) as u64
}

impl Choice {
    /// Hits over all references, before the pass and from a cache that holds nothing yet.
    pub fn predicted_hit_rate(&self) -> f64 {
        if self.references == 0 { 0.0 } else { self.hits as f64 / self.references as f64 }
    }
}

impl Admission {
    /// `digests`: one for each admitted object, in any order.
    pub fn new(choice: Choice, mut digests: Vec<u64>) -> Admission {
        digests.sort_unstable();
        Admission { choice, digests }
    }

    /// Objects on the list.
    pub fn objects(&self) -> u64 {
        self.digests.len() as u64
    }

    /// Whether the cache is to hold the object with these canonical bytes.
    pub fn admits(&self, canonical: &[u8]) -> bool {
        self.digests.binary_search(&digest(canonical)).is_ok()
    }

    /// Writes the list to `file`, in place of what is there.
    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        let bytes = self.encode();
        let checksum = blake3::hash(&bytes);
        let write = || {
            let mut draft = Draft::create(sealed::folder(file), ".onepull-admission-")?;
            draft.file().write_all(&bytes)?;
            draft.file().write_all(checksum.as_bytes())?;
            draft.commit(file)
        };
        write().with_context(|| format!("writing {}", file.display()))
    }

    /// Reads the list in `file`.
    ///
    /// Fails when the file cannot be read, is no list, is one of another version, or is damaged.
    pub fn read(file: &Path) -> anyhow::Result<Admission> {
        let bytes = KIND.bytes(file)?;
        let content = KIND.open(&bytes);
        content
            .and_then(|content| decode(content).ok_or_else(|| KIND.damaged()))
            .with_context(|| file.display().to_string())
    }

    fn encode(&self) -> Vec<u8> {
        let Choice { policy, budget, hits, references, objects, bytes, admitted_bytes } = &self.choice;
        let mut out = Vec::with_capacity(self.digests.len() * 7 + 200);
        out.extend_from_slice(&KIND.magic);
        put(&mut out, policy.len() as u64);
        out.extend_from_slice(policy.as_bytes());
        for number in [*budget, *hits, *references, *objects, *bytes, self.objects(), *admitted_bytes] {
            put(&mut out, number);
        }
        let mut before = 0;
        for digest in &self.digests {
            put(&mut out, digest - before);
            before = *digest;
        }
        out
    }
}

/// `None`: it is no list.
fn decode(mut bytes: &[u8]) -> Option<Admission> {
    let bytes = &mut bytes;
    let length = usize::try_from(get(bytes)?).ok()?;
    let (policy, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let policy = String::from_utf8(policy.to_vec()).ok()?;
    let (budget, hits) = (get(bytes)?, get(bytes)?);
    let (references, objects, size) = (get(bytes)?, get(bytes)?, get(bytes)?);
    let (admitted, admitted_bytes) = (usize::try_from(get(bytes)?).ok()?, get(bytes)?);
    // A digest takes a byte at least.
    let mut digests = Vec::with_capacity(admitted.min(bytes.len()));
    let mut digest = 0u64;
    for _ in 0..admitted {
        digest = digest.checked_add(get(bytes)?)?;
        digests.push(digest);
    }
    let choice = Choice { policy, budget, hits, references, objects, bytes: size, admitted_bytes };
    bytes.is_empty().then_some(Admission { choice, digests })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn list() -> Admission {
        let choice = Choice {
            policy: "density".into(),
            budget: 1 << 40,
            hits: 7,
            references: 20,
            objects: 9,
            bytes: u64::MAX,
            admitted_bytes: 0,
        };
        Admission::new(choice, vec![u64::MAX, digest(b"/b\0\x01"), 0, digest(b"/a\0\x01"), 0])
    }

    #[test]
    fn a_list_reads_as_it_was_written_and_admits_what_was_put_in() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list");
        fs::write(&file, "what was there").unwrap();
        for written in [list(), Admission::new(Choice::default(), Vec::new())] {
            written.write(&file).unwrap();
            assert_eq!(Admission::read(&file).unwrap(), written);
        }
        let admits = [b"/a\0\x01", b"/b\0\x01", b"/c\0\x01"].map(|canonical| list().admits(canonical));
        assert_eq!(admits, [true, true, false]);
        assert_eq!((list().objects(), list().choice.predicted_hit_rate()), (5, 0.35));
        assert_eq!(Choice::default().predicted_hit_rate(), 0.0);
    }

    #[test]
    fn a_list_that_is_not_whole_is_refused_and_it_is_said_how_to_make_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list");
        let refused = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            let error = format!("{:#}", Admission::read(&file).unwrap_err());
            assert!(error.contains("list: ") && error.contains("--admit-out FILE"), "{error}");
            error
        };
        list().write(&file).unwrap();
        let bytes = fs::read(&file).unwrap();
        for at in 0..bytes.len() {
            refused(&bytes[..at]);
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            refused(&damaged);
        }
        let mut other = bytes.clone();
        other[KIND.magic.len() - 1] = 2;
        assert!(refused(&other).contains("another version"));
        assert!(refused(b"{\"policy\":\"density\"}").contains("it is no admission list"));
    }

    #[test]
    fn a_sealed_list_with_wrong_numbers_is_damaged() {
        let whole = list().encode();
        let content = &whole[KIND.magic.len()..];
        assert_eq!(decode(content), Some(list()));
        assert_eq!(decode(&[content, &[0]].concat()), None);
        assert_eq!(decode(&content[..content.len() - 1]), None);
    }
}
