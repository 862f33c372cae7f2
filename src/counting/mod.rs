//! References become objects with counts, in bounded memory: one engine for every command.
//!
//! A repeated locator is only looked up: [`texts`] knows what its text means. A new one is parsed, and its
//! object goes to one of the partitions of a [`counter`], 32 bytes each. A command that fetches also needs
//! the names of the objects ([`names`]): each is kept beside the counts when its text is first parsed.
//! Whatever exceeds the memory is moved to one unnamed temporary file, which ends with the process. The
//! result is the same either way.

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
