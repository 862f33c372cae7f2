//! `analyze`: manifests in, a report of their redundancy out.

mod options;
mod report;

pub use options::*;
pub use report::*;
