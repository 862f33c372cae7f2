//! The commands: options in, report out, no printing.

pub mod materialize;
