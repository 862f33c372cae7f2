//! What a `source_ref` says: location, target, frame, and claims about the payload.
//!
//! Writers spell the same locator in many ways (key order, spaces, escapes, null or absent,
//! `1024`, `1024.0` or `"1024"`, repeated keys of which the last counts). Parsing makes them one
//! typed value. A text that is no locator at all (empty, null, without `path`) is `None`; a text
//! that means to be one and fails is a fault of its row.
//!
//! Claims are what a locator says of a payload without naming it: two locators that differ in their
//! claims alone name one object.

pub mod allow;
mod full;
pub(crate) mod json;
mod plain;
pub mod resolve;
pub mod url;

pub use resolve::Base;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// Which bytes of the file at the path are the payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// All of them.
    Whole,
    /// The content of the archive member with this name.
    Member(MemberName),
    /// `size` bytes from `offset`: of the uncompressed content, where the file is a compressed
    /// tar. A locator may name the member that lies there, which changes nothing.
    Range { offset: u64, size: u64 },
}

impl Target {
    /// Bytes of the payload, where the locator says it.
    pub fn size(&self) -> Option<u64> {
        match self {
            Target::Range { size, .. } => Some(*size),
            Target::Whole | Target::Member(_) => None,
        }
    }
}

/// The name of an archive member: bytes that need not be text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberName(Box<[u8]>);

impl MemberName {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl<T: Into<Vec<u8>>> From<T> for MemberName {
    fn from(name: T) -> MemberName {
        MemberName(name.into().into())
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

impl fmt::Debug for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

/// Where a file is: a resolved place that payloads are read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// An absolute path of this machine.
    File(PathBuf),
    /// A URL in its canonical form.
    Url(String),
}

impl Location {
    /// Of the form that [`Base::resolve`] writes: paths start with a slash.
    pub fn from_bytes(bytes: &[u8]) -> Location {
        match bytes.first() {
            Some(b'/') => Location::File(PathBuf::from(OsStr::from_bytes(bytes))),
            _ => Location::Url(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Location::File(path) => path.as_os_str().as_bytes(),
            Location::Url(url) => url.as_bytes(),
        }
    }

    /// The path of a local file.
    pub fn as_path(&self) -> Option<&Path> {
        match self {
            Location::File(path) => Some(path),
            Location::Url(_) => None,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => path.display().fmt(f),
            Location::Url(url) => url.fmt(f),
        }
    }
}

/// A parsed locator; the location is still as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locator<'a> {
    pub location: Cow<'a, str>,
    pub target: Target,
    /// The page of a multi-page TIFF payload that the row wants: a step after the fetch.
    pub frame: Option<u32>,
    pub claims: Claims<'a>,
}

/// What a locator claims of its payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims<'a> {
    /// Bytes.
    pub size: Option<u64>,
    /// `ALG:digest`.
    pub checksum: Option<Cow<'a, str>>,
    pub content_type: Option<Cow<'a, str>>,
}

impl<'a> Locator<'a> {
    /// All of `target` at `location`, without claims.
    pub fn new(location: impl Into<Cow<'a, str>>, target: Target) -> Locator<'a> {
        Locator { location: location.into(), target, frame: None, claims: Claims::default() }
    }

    /// Parses the text of a `source_ref`. `Ok(None)`: the row has no locator.
    ///
    /// Fails with [`crate::fault::FaultClass::BadLocator`] when the text is not a JSON object, when a field has a
    /// value of the wrong kind, and when offset and size do not come together.
    pub fn parse(text: &'a str) -> Result<Option<Locator<'a>>, Fault> {
        match plain::parse(text) {
            Some(locator) => Ok(Some(locator)),
            None => full::parse(text),
        }
    }
}
