//! References become objects with counts, in bounded memory: one engine for every command.
//!
//! A locator that recurs is only looked up: [`texts`] knows what its text means. What it does not
//! know is read, and the object it means goes to one of the partitions of a [`counter`], 32 bytes
//! each. A command that fetches asks for the names of the objects, too ([`names`]): then the name is
//! written down once, beside the counts, where its text is read first. What exceeds the memory is
//! moved to one unnamed temporary file, which vanishes with the process. The result is the same
//! either way.

pub mod counter;
pub mod named;
pub mod names;
mod partition;
mod record;
#[cfg(test)]
mod samples;
mod spill;
pub mod texts;

pub use record::{CountedObject, Meaning};
