//! Steps between fetch and write: payload in, payload out.

pub mod tiff;

use bytes::Bytes;

use crate::fault::Fault;

/// What is made of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// One page of a TIFF, counted from 0.
    TiffPage(u32),
}

impl Step {
    /// The step with its version and its parameters. Another output has another name, since the name
    /// enters the key of the output.
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
