//! The commands: options in, report out, no printing.

pub mod analyze;
mod cache_timing;
pub mod format;
mod manifests;
pub mod materialize;
pub mod outputs;
mod references;
pub mod saved_counts;
mod scan;
pub mod size;

pub use manifests::Unreadable;
