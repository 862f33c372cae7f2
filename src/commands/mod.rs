//! The commands: options in, report out, no printing.

pub mod analyze;
pub mod materialize;
mod unreadable;

pub use unreadable::Unreadable;
