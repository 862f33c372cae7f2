//! Why one reference has no bytes: a class that reports count by, and what happened.
//!
//! A fault is a value that travels with its object or row. It never ends a run by itself;
//! [`crate::commands::materialize::OnError`] decides what becomes of the row.

use std::fmt;

use serde::Serialize;

/// The kinds of failure that a report counts separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The line or row is not a row of the interleaved schema.
    BadRow,
    BadLocator,
    /// Understood, but not something this build can read.
    Unsupported,
    /// Outside every `--allow` prefix.
    NotAllowed,
    NotFound,
    Forbidden,
    /// Fewer bytes than the locator or the archive promised.
    ShortBody,
    /// Not what it was earlier in the run.
    Changed,
    ArchiveCorrupt,
    MemberMissing,
    FrameMissing,
    NoSpace,
    Io,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Class::BadRow => "bad_row",
            Class::BadLocator => "bad_locator",
            Class::Unsupported => "unsupported",
            Class::NotAllowed => "not_allowed",
            Class::NotFound => "not_found",
            Class::Forbidden => "forbidden",
            Class::ShortBody => "short_body",
            Class::Changed => "changed",
            Class::ArchiveCorrupt => "archive_corrupt",
            Class::MemberMissing => "member_missing",
            Class::FrameMissing => "frame_missing",
            Class::NoSpace => "no_space",
            Class::Io => "io",
        }
    }
}

/// A class and a sentence. Displays as `class: what happened`, the form that rows carry in
/// `materialize_error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub class: Class,
    /// Names the file or value concerned; never repeats the class.
    pub what: String,
}

impl Fault {
    pub fn new(class: Class, what: impl Into<String>) -> Fault {
        Fault { class, what: what.into() }
    }

    /// Classifies an I/O error met while reading `path`.
    pub fn from_io(path: impl fmt::Display, error: &std::io::Error) -> Fault {
        use std::io::ErrorKind;
        let class = match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Class::NotFound,
            ErrorKind::PermissionDenied => Class::Forbidden,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Class::NoSpace,
            ErrorKind::UnexpectedEof => Class::ShortBody,
            _ => Class::Io,
        };
        Fault::new(class, format!("{path}: {error}"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class.name(), self.what)
    }
}

impl std::error::Error for Fault {}
