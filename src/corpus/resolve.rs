//! From a locator as written to the object it means on this machine.
//!
//! Relative paths start at a [`Base`]: the folder of their manifest, or one folder for all. The
//! base is made real once (no symlinks left in it), so that leading `..` can be taken off by text
//! and the same file reached from two folders is one object. A `..` further inside a path is left
//! to the file system, which alone knows what it means behind a symlink.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::key;
use super::locator::Locator;
use crate::fault::{Class, Fault};

/// Where relative paths start.
#[derive(Clone, Debug)]
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
    /// cleared first.
    pub fn resolve(&self, locator: &Locator, canonical: &mut Vec<u8>) -> Result<(), Fault> {
        canonical.clear();
        let path = local_path(&locator.path)?;
        let mut path_bytes = Vec::with_capacity(path.len() + 64);
        self.absolute(path, &mut path_bytes);
        key::canonical(&path_bytes, &locator.target, canonical);
        Ok(())
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

/// The local path that `path` names; remote schemes are faults.
fn local_path(path: &str) -> Result<&str, Fault> {
    if path.contains('\0') {
        return Err(Fault::new(Class::BadLocator, "path holds a NUL character"));
    }
    let Some((scheme, rest)) = path.split_once("://") else { return Ok(path) };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme {
        return Ok(path);
    }
    if scheme.eq_ignore_ascii_case("file") {
        let rest = rest.strip_prefix("localhost").unwrap_or(rest);
        if rest.starts_with('/') {
            return Ok(rest);
        }
        return Err(Fault::new(Class::BadLocator, format!("{path}: a file URL needs an absolute path")));
    }
    Err(Fault::new(Class::Unsupported, format!("{path}: this build reads local files only")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{SourcePath, Target};

    fn object(base: &str, text: &str) -> Result<(SourcePath, Target), Fault> {
        let base = Base { folder: PathBuf::from(base) };
        let locator = Locator::parse(text).unwrap().unwrap();
        let mut canonical = Vec::new();
        base.resolve(&locator, &mut canonical)?;
        Ok(key::decode(&canonical))
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
    fn other_schemes_are_faults_of_their_own() {
        for url in ["foo://bar", "s3://b/k", "https://h/x.jpg", "file://host/x"] {
            assert!(object("/c", &format!("{{\"path\":\"{url}\"}}")).is_err(), "{url}");
        }
    }

    #[test]
    fn objects_decode_to_what_was_encoded() {
        let (_, target) = object("/c", r#"{"path":"a","member":"m","byte_offset":3,"byte_size":0}"#).unwrap();
        assert_eq!(target, Target::Range { offset: 3, size: 0 });
        let (_, target) = object("/c", r#"{"path":"a","member":"m\u0000x"}"#).unwrap();
        assert_eq!(target, Target::Member("m\0x".into()));
    }
}
