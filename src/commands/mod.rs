//! The commands: options in, report out, no printing.

pub mod analyze;
mod manifests;
pub mod materialize;
mod references;
pub mod saved_counts;
mod scan;
pub mod size;
mod tally;
mod unreadable;
pub mod wording;

pub use unreadable::Unreadable;
