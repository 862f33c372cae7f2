//! Stores: the bytes of the files at locations.
//!
//! [`Store::stat`] returns the length and validator of a file, [`Store::read`] ranges of its bytes. If
//! the file is not the same when it is read, the read fails as `changed`, so bytes of two versions are
//! never mixed. Stores know no archives, targets or objects, and nothing above them knows a scheme.
//! Futures of the local store are ready at once, so blocking on them needs no runtime. A store that
//! limits, records or fails wraps another store.

mod local;

use std::any::Any;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::OnceLock;

use crate::fault::Fault;
use crate::locator::Location;

pub use local::Local;

/// The result of a store, or the fault.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

/// Serves the files at some kind of location.
pub trait Store: Send + Sync {
    /// Looks at the file at `location` without opening it.
    fn stat<'a>(&'a self, location: &'a Location) -> Answer<'a, Stat>;

    /// The files below `prefix`, sorted.
    fn list<'a>(&'a self, prefix: &'a Location) -> Answer<'a, Vec<Location>>;

    /// The bytes `range` of `file`. Fails as [`FaultClass::Changed`](crate::fault::FaultClass) when
    /// the file is not what [`Store::stat`] saw, now or when the body ends.
    fn read<'a>(&'a self, file: &'a Opened, range: Range<u64>) -> Answer<'a, Box<dyn Body + 'a>>;
}

/// The bytes of a range, as they come.
pub trait Body: Send {
    /// Appends the next bytes to `into`, some MiB at most; returns how many, none at the end.
    ///
    /// A body that ends early is complete otherwise: its bytes are those of the file. After an error
    /// so are the bytes that came before it, unless the error says that the file changed.
    fn chunk<'a>(&'a mut self, into: &'a mut Vec<u8>) -> Answer<'a, usize>;
}

/// What a store saw at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub length: u64,
    pub validator: Validator,
}

/// Distinguishes versions of a file of the same length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validator {
    /// Of a local file. Not its device: those of network file systems differ from mount to mount.
    File { inode: u64, modified: Time, changed: Time },
}

/// Seconds since 1970, and nanoseconds.
pub type Time = (i64, i64);

/// A file that is being read.
pub struct Opened {
    pub location: Location,
    pub stat: Stat,
    kept: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Opened {
    /// The file at `location`, where `stat` was seen.
    pub fn new(location: Location, stat: Stat) -> Opened {
        Opened { location, stat, kept: OnceLock::new() }
    }

    /// What the store keeps from one read of the file to the next, made when there is none yet.
    pub fn keep<T: Any + Send + Sync>(&self, make: impl FnOnce() -> Result<T, Fault>) -> Result<&T, Fault> {
        if self.kept.get().is_none() {
            // Of two threads that make one, either may win.
            let _ = self.kept.set(Box::new(make()?));
        }
        let kept = self.kept.get().and_then(|kept| kept.downcast_ref());
        Ok(kept.expect("one store reads a file, and it keeps one kind of value"))
    }
}
