//! The commands: options in, report out, no printing.

pub mod analyze;
mod break_even;
mod manifests;
pub mod materialize;
mod scan;
pub mod sealed;
pub mod size;
pub mod table;
mod tally;
mod unreadable;
pub mod wording;

pub use unreadable::Unreadable;
