//! The limit on what may be read: a path is allowed when what it really is lies under a prefix.
//!
//! Symbolic links and `..` are resolved first, and prefixes are compared by whole components. A
//! path that does not exist is judged by where it would be, so that nobody learns from the kind
//! of failure what exists outside.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::Location;
use crate::fault::{Fault, FaultClass};

/// The prefixes, resolved. None: everything is allowed.
#[derive(Debug)]
pub struct Allow(Vec<PathBuf>);

impl Allow {
    /// # Errors
    /// A prefix that does not exist or cannot be resolved; the error names it.
    pub fn new(prefixes: Vec<PathBuf>) -> io::Result<Allow> {
        let resolve = |prefix: PathBuf| {
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", prefix.display()));
            prefix.canonicalize().map_err(named)
        };
        Ok(Allow(prefixes.into_iter().map(resolve).collect::<io::Result<_>>()?))
    }

    /// The location to read instead of `location`: what it really is.
    ///
    /// # Errors
    /// It lies outside of the prefixes.
    pub fn admit(&self, location: &Location) -> Result<Location, Fault> {
        if self.0.is_empty() {
            return Ok(location.clone());
        }
        let real = location.as_path().map(|path| path.canonicalize().unwrap_or_else(|_| expected(path)));
        match real {
            Some(real) if self.0.iter().any(|prefix| real.starts_with(prefix)) => Ok(Location::File(real)),
            _ => {
                let what = "it is outside every --allow prefix";
                Err(Fault::new(FaultClass::NotAllowed, what).at(location))
            }
        }
    }
}

/// Where a path that cannot be resolved would be: what exists of it is resolved, the rest is
/// taken literally.
fn expected(path: &Path) -> PathBuf {
    let mut ancestors = path.ancestors().skip(1);
    let found = ancestors.find_map(|parent| Some((parent, parent.canonicalize().ok()?)));
    let Some((parent, mut real)) = found else { return path.to_owned() };
    let rest = path.strip_prefix(parent).expect("an ancestor is a prefix");
    for component in rest.components() {
        match component {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => real.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
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
