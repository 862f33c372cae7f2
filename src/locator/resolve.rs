//! Resolves the path of a locator to the canonical path or URL of its file. Nothing is read.
//!
//! Relative paths start at a [`Base`]: the folder of their manifest, or one folder for all. The base
//! has no symlinks, so leading `..` can be removed textually, and a file that is reached from two
//! folders is one object. A `..` further inside a path is kept, since it may follow a symlink.
//!
//! Canonical local paths start with a slash and canonical URLs ([`super::url`]) with a letter, so they
//! cannot be confused. This runs once for each distinct text of a locator: it allocates nothing, and a
//! path that is already canonical is scanned once and copied.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::url;
use crate::fault::{Fault, FaultClass};

/// Where relative paths start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Base {
    folder: PathBuf,
}

impl Base {
    /// Fails when `folder` does not exist.
    pub fn new(folder: &Path) -> io::Result<Base> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Ok(Base { folder: folder.canonicalize()? })
    }

    /// Writes the canonical form of `path`, the path of a locator, into `out`, which is empty. The form
    /// contains no NUL.
    ///
    /// Fails with [`FaultClass::BadLocator`] if no file can have this path.
    pub fn resolve(&self, path: &str, out: &mut Vec<u8>) -> Result<(), Fault> {
        if is_clean(path.as_bytes()) {
            out.extend_from_slice(path.as_bytes());
            return Ok(());
        }
        if path.as_bytes().contains(&0) {
            return Err(Fault::new(FaultClass::BadLocator, "path contains a NUL character"));
        }
        match url::split(path) {
            None => self.absolute(path, out),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
                let local = rest.strip_prefix("localhost").unwrap_or(rest);
                if !local.starts_with('/') {
                    let what = format!("{path}: a file URL needs an absolute path");
                    return Err(Fault::new(FaultClass::BadLocator, what));
                }
                self.absolute(local, out);
            }
            Some(url) => url::canonical(url, out)?,
        }
        Ok(())
    }

    /// The absolute form of `path`: one slash between components, no `.`, no leading `..`.
    fn absolute(&self, path: &str, out: &mut Vec<u8>) {
        let mut folder = self.folder.as_path();
        let mut rest = path;
        if path.starts_with('/') {
            folder = Path::new("/");
        } else {
            while !rest.is_empty() {
                let (head, tail) = rest.split_once('/').unwrap_or((rest, ""));
                match head {
                    ".." => folder = folder.parent().unwrap_or(folder),
                    "." | "" => {}
                    _ => break,
                }
                rest = tail;
            }
        }
        if folder != Path::new("/") {
            out.extend_from_slice(folder.as_os_str().as_bytes());
        }
        let start = out.len();
        if !rest.starts_with('/') {
            out.push(b'/');
        }
        out.extend_from_slice(rest.as_bytes());
        if is_clean(&out[start..]) {
            return;
        }
        out.truncate(start);
        for component in rest.split('/').filter(|c| !c.is_empty() && *c != ".") {
            out.push(b'/');
            out.extend_from_slice(component.as_bytes());
        }
        if out.is_empty() {
            out.push(b'/');
        }
    }
}

/// Bytes to compare in one step.
const STEP: usize = 16;

/// Whether `path` is absolute and certainly canonical. The answer is `false` for every path with a
/// component that starts with a dot, although some are canonical.
fn is_clean(path: &[u8]) -> bool {
    let [b'/', .., last] = path else { return false };
    if *last == b'/' {
        return false;
    }
    let length = path.len();
    if length <= STEP {
        return !path.windows(2).any(|pair| flawed(pair[0], pair[1]));
    }
    let mut any = false;
    let mut at = 0;
    while at + STEP < length {
        any |= any_flawed(&path[at..], &path[at + 1..]);
        at += STEP;
    }
    // The last step overlaps the one before it, which is faster than single bytes.
    let at = length - STEP - 1;
    !(any | any_flawed(&path[at..], &path[at + 1..]))
}

/// Whether `b` must not follow `a`: a NUL, or a slash or dot after a slash.
fn flawed(a: u8, b: u8) -> bool {
    // Slash and dot differ only in the lowest bit.
    ((a == b'/') & (b | 1 == b'/')) | (b == 0)
}

/// [`flawed`] for the first [`STEP`] bytes, without branches so that it becomes vector code.
fn any_flawed(a: &[u8], b: &[u8]) -> bool {
    let (a, _) = a.split_first_chunk::<STEP>().expect("the caller leaves a step");
    let (b, _) = b.split_first_chunk::<STEP>().expect("the caller leaves a step");
    let mut any = 0;
    for at in 0..STEP {
        any |= u8::from(flawed(a[at], b[at]));
    }
    any != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn resolve(base: &str, path: &str) -> Result<String, Fault> {
        let base = Base { folder: PathBuf::from(base) };
        let mut out = Vec::new();
        base.resolve(path, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn path(base: &str, path: &str) -> String {
        resolve(base, path).unwrap()
    }

    #[test]
    fn relative_paths_start_at_the_base() {
        assert_eq!(path("/c/jsonl", "a.tar"), "/c/jsonl/a.tar");
        assert_eq!(path("/c/jsonl", "./x//a.tar"), "/c/jsonl/x/a.tar");
        assert_eq!(path("/c/jsonl", "../a.tar"), "/c/a.tar");
        assert_eq!(path("/c/parquet", "..//./../../a.tar"), "/a.tar");
        assert_eq!(path("/c", "x/../a.tar"), "/c/x/../a.tar");
    }

    #[test]
    fn absolute_paths_and_file_urls_leave_the_base_alone() {
        assert_eq!(path("/c", "/d//a.tar"), "/d/a.tar");
        assert_eq!(path("/c", "file:///d/a.tar"), "/d/a.tar");
        assert_eq!(path("/c", "FILE://localhost/d/a.tar"), "/d/a.tar");
        assert_eq!(path("/c", "a b%20+é.tar"), "/c/a b%20+é.tar");
    }

    #[test]
    fn remote_objects_are_told_from_local_ones() {
        for remote in ["foo://bar", "s3://b/k", "HTTPS://h/x.jpg", "C://x"] {
            assert!(!path("/c", remote).starts_with('/'), "{remote}");
        }
        for local in ["a", "/s3://b/k", "s3:/b/k", "x y://b", "file:///s3://b/k"] {
            assert!(path("/c", local).starts_with('/'), "{local}");
        }
        for path in ["file://host/x", "http://", "s3://b/\0", "/a\0", "/0123456789abcdef\0g", "\0"] {
            assert_eq!(resolve("/c", path).unwrap_err().class, FaultClass::BadLocator, "{path}");
        }
        assert_eq!(path("/c", "S3://b//k#1"), "s3://b//k#1");
    }

    /// [`Base::absolute`] for an absolute path, without its short cut.
    fn by_components(path: &str) -> String {
        let kept: Vec<&str> = path.split('/').filter(|c| !c.is_empty() && *c != ".").collect();
        format!("/{}", kept.join("/"))
    }

    proptest! {
        #[test]
        fn the_short_cut_changes_no_path(
            parts in prop::collection::vec(
                prop::sample::select(vec!["/", "/", ".", "..", "a", "é", "0123456789", "tar.gz"]), 0..24),
        ) {
            let text = format!("/{}", parts.concat());
            prop_assert_eq!(path("/c", &text), by_components(&text));
            let relative = format!("x/{}", parts.concat());
            prop_assert_eq!(path("/c", &relative), by_components(&format!("/c/{relative}")));
        }

        #[test]
        fn a_flaw_is_seen_wherever_it_is(length in 3usize..80, at in 1usize..79, flaw in 0usize..4) {
            let mut text = vec![b'a'; length];
            text[0] = b'/';
            prop_assert!(is_clean(&text));
            let flaw: &[u8] = [&b"//"[..], b"/.", b"\0", b"/./"][flaw];
            if at + flaw.len() <= length {
                text[at..at + flaw.len()].copy_from_slice(flaw);
                prop_assert!(!is_clean(&text));
            }
        }
    }
}
