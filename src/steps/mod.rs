//! Steps between fetching and writing: payload in, payload out.

mod tiff;

use bytes::Bytes;

use crate::fault::Fault;

/// What to do with a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// One page of a TIFF, counted from 0.
    TiffPage(u32),
}

impl Step {
    /// The step with its version and parameters. The name is part of the key of the output, so it must
    /// change whenever the output does.
    pub fn name(&self) -> String {
        match self {
            Step::TiffPage(index) => format!("tiff page v1 {index}"),
        }
    }

    /// The output of the step for `payload`.
    pub fn apply(&self, payload: &Bytes) -> Result<Bytes, Fault> {
        match self {
            Step::TiffPage(index) => tiff::extract(payload, *index),
        }
    }
}
