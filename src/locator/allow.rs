//! The limit on what may be read: a path is allowed if the file that it leads to is under a prefix.
//!
//! Symbolic links and `..` are resolved first, and prefixes are compared by whole components. A path
//! that does not exist is judged by where it would be, so that the kind of failure does not reveal
//! what exists outside the prefixes.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::Location;
use crate::fault::{Fault, FaultClass};

/// The resolved prefixes. If there are none, everything is allowed.
#[derive(Debug)]
pub struct Allow(Vec<PathBuf>);

impl Allow {
    /// Fails, naming the prefix, if one does not exist or cannot be resolved.
    pub fn new(prefixes: Vec<PathBuf>) -> io::Result<Allow> {
        let resolve = |prefix: PathBuf| {
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", prefix.display()));
            prefix.canonicalize().map_err(named)
        };
        Ok(Allow(prefixes.into_iter().map(resolve).collect::<io::Result<_>>()?))
    }

    /// `location` with symbolic links resolved, which is the one to read. Fails if it is outside the
    /// prefixes.
    pub fn admit(&self, location: &Location) -> Result<Location, Fault> {
        if self.0.is_empty() {
            return Ok(location.clone());
        }
        match location.as_path().map(real_path) {
            Some(real) if self.0.iter().any(|prefix| real.starts_with(prefix)) => Ok(Location::File(real)),
            _ => Err(Fault::new(FaultClass::NotAllowed, "it is outside every --allow prefix").at(location)),
        }
    }
}

/// The absolute path without symbolic links and `..`. A component that does not exist is taken for a
/// folder, so that a `..` after it leads back.
pub fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut real = PathBuf::new();
    for component in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
        match component {
            Component::ParentDir => drop(real.pop()),
            other => real.push(other),
        }
        real = real.canonicalize().unwrap_or(real);
    }
    real
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_dots_are_resolved_before_prefixes_are_compared() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::create_dir_all(root.join("inner")).unwrap();
        fs::write(root.join("in/a"), b"a").unwrap();
        fs::write(root.join("inner/b"), b"b").unwrap();
        symlink(root.join("inner/b"), root.join("in/out")).unwrap();
        symlink(root.join("in/a"), root.join("alias")).unwrap();
        let allow = Allow::new(vec![root.join("in")]).unwrap();
        let admit = |allow: &Allow, path: &str| allow.admit(&Location::File(root.join(path))).is_ok();
        let admits = |path: &str| admit(&allow, path);
        assert!(admits("in/a"));
        assert!(admits("alias"));
        assert!(admits("in/deep/../a"));
        assert!(admits("in/missing"));
        assert!(!admits("inner/b"));
        assert!(!admits("in/out"));
        assert!(!admits("in/../inner/b"));
        assert!(!admits("in/../missing"));
        assert!(!admits("in/missing/../../inner/b"));
        assert!(!admits("missing"));
        assert!(admit(&Allow::new(Vec::new()).unwrap(), "missing"));
    }

    #[test]
    fn a_prefix_that_does_not_exist_is_named() {
        let error = Allow::new(vec!["/no/such/folder".into()]).unwrap_err();
        assert!(error.to_string().starts_with("/no/such/folder: "));
    }
}
