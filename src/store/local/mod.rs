//! Files on disks of this machine, and archives in them.
//!
//! A file is looked at once, by content; then every target becomes a whole file, a byte range
//! that shares a read with its neighbours, or a member of an archive that is read in one pass.
//! Descriptors are not kept: a plan of a million files needs none.

mod file;
mod measure;
mod perform;
mod prepare;

use std::path::PathBuf;

use bytes::Bytes;

use super::{Cost, Prepared, Request, Source};
use crate::fault::Fault;
use crate::locator::SourcePath;
use crate::locator::Target;
use crate::locator::allow::Allow;

pub use file::FileInfo;

/// The source of local files.
#[derive(Debug)]
pub struct Local {
    allow: Allow,
}

impl Local {
    /// Reads nothing outside the prefixes in `allow`; anything, when there are none.
    ///
    /// # Errors
    /// A prefix that cannot be resolved.
    pub fn new(allow: Vec<PathBuf>) -> std::io::Result<Local> {
        Ok(Local { allow: Allow::new(allow)? })
    }
}

impl Source for Local {
    fn prepare(&self, path: &SourcePath, targets: &[Target]) -> Prepared {
        prepare::prepare(&self.allow, path, targets).unwrap_or_else(|fault| Prepared {
            requests: Vec::new(),
            faults: (0..targets.len()).map(|target| (target, fault.clone())).collect(),
        })
    }

    fn perform(&self, request: &Request, deliver: &mut dyn FnMut(usize, Result<Bytes, Fault>)) -> Cost {
        perform::perform(&request.file, &request.read, deliver)
    }

    fn measure(&self, request: &Request, deliver: &mut dyn FnMut(usize, Result<u64, Fault>)) {
        measure::measure(&request.file, &request.read, deliver);
    }
}

#[cfg(test)]
mod tests;
