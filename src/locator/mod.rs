//! Locators, the values of `source_ref`: location, target, frame, and claims about the payload.
//!
//! The same locator can be written in many ways (key order, spaces, escapes, null or absent, `1024`,
//! `1024.0` or `"1024"`, repeated keys of which the last counts). Parsing makes them one typed value.
//! A text without a locator (empty, null, without `path`) gives `None`; an invalid one is a fault of
//! its row.
//!
//! Claims describe a payload without naming it: two locators that differ only in their claims name one
//! object.

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

/// The part of the file that is the payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The whole file.
    Whole,
    /// The content of the archive member with this name.
    Member(MemberName),
    /// `size` bytes from `offset`, in the uncompressed content if the file is a compressed tar. A
    /// locator may also name the member at this offset; that name is ignored.
    Range { offset: u64, size: u64 },
}

impl Target {
    /// The size of the payload in bytes, if the locator has it.
    pub fn size(&self) -> Option<u64> {
        match self {
            Target::Range { size, .. } => Some(*size),
            Target::Whole | Target::Member(_) => None,
        }
    }
}

/// The name of an archive member, which may not be UTF-8.
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

/// The resolved location of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// An absolute path on this machine.
    File(PathBuf),
    /// A URL in its canonical form.
    Url(String),
}

impl Location {
    /// From the form that [`Base::resolve`] writes: paths start with a slash.
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

/// A parsed locator; its location is not resolved yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locator<'a> {
    pub location: Cow<'a, str>,
    pub target: Target,
    /// The page to extract from a TIFF payload after it is fetched.
    pub frame: Option<u32>,
    pub claims: Claims<'a>,
}

/// What a locator claims about its payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims<'a> {
    /// Bytes.
    pub size: Option<u64>,
    /// `ALG:digest`.
    pub checksum: Option<Cow<'a, str>>,
    pub content_type: Option<Cow<'a, str>>,
}

impl<'a> Locator<'a> {
    /// A locator without a frame and without claims.
    pub fn new(location: impl Into<Cow<'a, str>>, target: Target) -> Locator<'a> {
        Locator { location: location.into(), target, frame: None, claims: Claims::default() }
    }

    /// Parses the text of a `source_ref`. `Ok(None)`: the row has no locator.
    ///
    /// Fails with [`crate::fault::FaultClass::BadLocator`] if the text is not a JSON object, if a field
    /// has a value of the wrong type, and if it has only one of offset and size.
    pub fn parse(text: &'a str) -> Result<Option<Locator<'a>>, Fault> {
        match plain::parse(text) {
            Some(locator) => Ok(Some(locator)),
            None => full::parse(text),
        }
    }
}
