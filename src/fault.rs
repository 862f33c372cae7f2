//! Why a reference has no bytes: a class, which reports count by, a place, and what happened.
//!
//! A fault is a value that travels with its object or row. It never ends a run by itself;
//! [`crate::commands::materialize::OnError`] decides what becomes of the row.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use serde::Serialize;

/// The kinds of failure that a report counts separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultClass {
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

impl FaultClass {
    pub fn name(self) -> &'static str {
        match self {
            FaultClass::BadRow => "bad_row",
            FaultClass::BadLocator => "bad_locator",
            FaultClass::Unsupported => "unsupported",
            FaultClass::NotAllowed => "not_allowed",
            FaultClass::NotFound => "not_found",
            FaultClass::Forbidden => "forbidden",
            FaultClass::ShortBody => "short_body",
            FaultClass::Changed => "changed",
            FaultClass::ArchiveCorrupt => "archive_corrupt",
            FaultClass::MemberMissing => "member_missing",
            FaultClass::FrameMissing => "frame_missing",
            FaultClass::NoSpace => "no_space",
            FaultClass::Io => "io",
        }
    }
}

/// A failure. Displays as `class: where: what happened`, the form that rows carry in
/// `materialize_error`.
#[derive(Clone, Debug)]
pub struct Fault {
    pub class: FaultClass,
    /// The file or value concerned; empty where `what` names it, or where the row itself is meant.
    pub place: String,
    /// A sentence; never repeats the class or the place.
    pub what: String,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Fault {
    pub fn new(class: FaultClass, what: impl Into<String>) -> Fault {
        Fault { class, place: String::new(), what: what.into(), cause: None }
    }

    /// Classifies an I/O error met at `place`, and keeps it as the cause.
    pub fn from_io(place: impl fmt::Display, error: io::Error) -> Fault {
        let class = match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => FaultClass::NotFound,
            ErrorKind::PermissionDenied => FaultClass::Forbidden,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FaultClass::NoSpace,
            ErrorKind::UnexpectedEof => FaultClass::ShortBody,
            _ => FaultClass::Io,
        };
        let what = error.to_string();
        Fault { class, place: place.to_string(), what, cause: Some(Arc::new(error)) }
    }

    /// The same fault at another place: as the caller names it.
    pub fn at(self, place: impl fmt::Display) -> Fault {
        Fault { place: place.to_string(), ..self }
    }

    /// Whether the same request may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        let error = self.cause.as_ref().and_then(|cause| cause.downcast_ref::<io::Error>());
        error.is_some_and(|error| {
            use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, TimedOut, WouldBlock};
            [ConnectionAborted, ConnectionReset, Interrupted, TimedOut, WouldBlock].contains(&error.kind())
        })
    }
}

/// Faults are equal when they say the same.
impl PartialEq for Fault {
    fn eq(&self, other: &Fault) -> bool {
        let said = |fault: &Fault| fault.to_string();
        self.class == other.class && said(self) == said(other)
    }
}

impl Eq for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.place.is_empty() { "" } else { ": " };
        write!(f, "{}: {}{separator}{}", self.class.name(), self.place, self.what)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_its_class_and_place_and_keeps_its_cause() {
        let fault = Fault::from_io("/a/b", io::Error::from(ErrorKind::NotFound));
        assert_eq!(fault.to_string(), "not_found: /a/b: entity not found");
        assert_eq!(fault.clone().at("/c").to_string(), "not_found: /c: entity not found");
        assert_eq!(fault.source().unwrap().to_string(), "entity not found");
        assert_eq!(Fault::new(FaultClass::Io, "/a/b: no").to_string(), "io: /a/b: no");
    }

    #[test]
    fn time_outs_are_transient_and_missing_files_are_not() {
        let fault = |kind| Fault::from_io("/a", io::Error::from(kind));
        assert!(fault(ErrorKind::TimedOut).is_transient());
        assert!(!fault(ErrorKind::NotFound).is_transient());
        assert!(!Fault::new(FaultClass::Io, "no").is_transient());
    }
}
