//! From a locator as written to the object it means, local or remote. Nothing is read.
//!
//! Relative paths start at a [`Base`]: the folder of their manifest, or one folder for all. The
//! base is made real once (no symlinks left in it), so that leading `..` can be taken off by text
//! and the same file reached from two folders is one object. A `..` further inside a path is left
//! to the file system, which alone knows what it means behind a symlink.
//!
//! Canonical paths of local objects start with a slash, those of remote ones ([`super::url`])
//! with a letter, so neither can be taken for the other. This runs once a reference: it allocates
//! nothing, and an absolute path that is canonical already is looked at once and copied.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Locator;
use super::url;
use crate::fault::{Class, Fault};
use crate::object;

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

    /// Writes the canonical bytes of the object that `locator` means into `canonical`, which is
    /// cleared first, and returns where the path ends in them. Remote objects have some, too: see
    /// [`crate::object::is_remote`].
    ///
    /// Fails with [`Class::BadLocator`] where the path can name nothing.
    pub fn resolve(&self, locator: &Locator, canonical: &mut Vec<u8>) -> Result<usize, Fault> {
        canonical.clear();
        let path = locator.path.as_ref();
        if is_clean(path.as_bytes()) {
            object::canonical(path.as_bytes(), &locator.target, canonical);
            return Ok(path.len());
        }
        if path.as_bytes().contains(&0) {
            return Err(Fault::new(Class::BadLocator, "path holds a NUL character"));
        }
        match url::split(path) {
            None => self.absolute(path, canonical),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
                self.absolute(file_path(path, rest)?, canonical);
            }
            Some(url) => url::canonical(url, canonical)?,
        }
        let end = canonical.len();
        object::end(&locator.target, canonical);
        Ok(end)
    }

    /// The absolute form of `path`: one slash between components, no `.`, no leading `..`.
    fn absolute(&self, path: &str, out: &mut Vec<u8>) {
        let mut folder = self.folder.as_path();
        let mut rest = path;
        if path.starts_with('/') {
            folder = Path::new("/");
        } else {
            while let Some(after) = leading_step(rest) {
                match after {
                    Step::Stay(tail) => rest = tail,
                    Step::Up(tail) => {
                        folder = folder.parent().unwrap_or(folder);
                        rest = tail;
                    }
                }
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

enum Step<'a> {
    Stay(&'a str),
    Up(&'a str),
}

/// Takes a leading `.`, `..` or empty component off a relative path.
fn leading_step(path: &str) -> Option<Step<'_>> {
    let (head, tail) = path.split_once('/').unwrap_or((path, ""));
    match head {
        ".." => Some(Step::Up(tail)),
        "." => Some(Step::Stay(tail)),
        "" if !path.is_empty() => Some(Step::Stay(tail)),
        _ => None,
    }
}

/// The path of the file URL `url`, which goes on with `rest` after its scheme.
fn file_path<'a>(url: &str, rest: &'a str) -> Result<&'a str, Fault> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if path.starts_with('/') {
        return Ok(path);
    }
    Err(Fault::new(Class::BadLocator, format!("{url}: a file URL needs an absolute path")))
}

/// Bytes that are compared in one step.
const STEP: usize = 16;

/// Whether `path` is absolute and surely its own canonical form. A path with a component that
/// starts with a dot is said not to be, although it may be.
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
    // The last step overlaps the one before it, which costs less than single bytes.
    let at = length - STEP - 1;
    !(any | any_flawed(&path[at..], &path[at + 1..]))
}

/// Whether `b` cannot follow `a`: a NUL, or a slash or dot after a slash.
fn flawed(a: u8, b: u8) -> bool {
    // Slash and dot differ in the lowest bit alone.
    ((a == b'/') & (b | 1 == b'/')) | (b == 0)
}

/// [`flawed`] for the first [`STEP`] bytes. Without branches, so that it becomes vector code.
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
    use crate::locator::SourcePath;
    use crate::locator::Target;

    fn object(base: &str, text: &str) -> Result<(SourcePath, Target), Fault> {
        let base = Base { folder: PathBuf::from(base) };
        let locator = Locator::parse(text).unwrap().unwrap();
        let mut canonical = Vec::new();
        let end = base.resolve(&locator, &mut canonical)?;
        assert_eq!(end, object::path_end(&canonical));
        Ok(object::decode(&canonical))
    }

    fn path(base: &str, path: &str) -> String {
        object(base, &format!("{{\"path\":\"{path}\"}}")).unwrap().0.to_string()
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
        let resolve = |path: &str| {
            let base = Base { folder: PathBuf::from("/c") };
            let locator = Locator { path: path.into(), target: Target::Whole, frame: None };
            let mut canonical = Vec::new();
            base.resolve(&locator, &mut canonical).map(|_| canonical)
        };
        for path in ["foo://bar", "s3://b/k", "HTTPS://h/x.jpg", "C://x"] {
            assert!(object::is_remote(&resolve(path).unwrap()), "{path}");
        }
        for path in ["a", "/s3://b/k", "s3:/b/k", "x y://b", "file:///s3://b/k"] {
            assert!(!object::is_remote(&resolve(path).unwrap()), "{path}");
        }
        for path in ["file://host/x", "http://", "s3://b/\0", "/a\0", "/0123456789abcdef\0g", "\0"] {
            assert_eq!(resolve(path).unwrap_err().class, Class::BadLocator, "{path}");
        }
        assert_eq!(path("/c", "S3://b//k#1"), "s3://b//k#1");
    }

    #[test]
    fn objects_decode_to_what_was_encoded() {
        let (_, target) = object("/c", r#"{"path":"a","member":"m","byte_offset":3,"byte_size":0}"#).unwrap();
        assert_eq!(target, Target::Range { offset: 3, size: 0 });
        let (_, target) = object("/c", r#"{"path":"a","member":"m\u0000x"}"#).unwrap();
        assert_eq!(target, Target::Member("m\0x".into()));
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
