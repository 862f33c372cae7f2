//! A manifest that could not be read, as reports name it.

use std::fmt;
use std::path::Path;

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Unreadable {
    pub path: String,
    /// Why; without the path.
    pub error: String,
}

impl Unreadable {
    pub fn new(path: &Path, error: &anyhow::Error) -> Unreadable {
        let (path, error) = (path.display().to_string(), format!("{error:#}"));
        let error = error.strip_prefix(&format!("{path}: ")).map(str::to_owned).unwrap_or(error);
        Unreadable { path, error }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; the manifest is left out", self.path, self.error)
    }
}
