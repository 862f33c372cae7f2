//! References become objects with counts, in bounded memory.
//!
//! What a run fetches it needs by name: [`objects`] keeps the canonical bytes of each object. What
//! an analysis counts it needs as numbers: [`multiplicity`] keeps 32 bytes of each object, and
//! [`spellings`] stands before it, so that a text that recurs is read once. Both scatter the
//! references over partitions that are counted one by one, and move what exceeds the memory to one
//! unnamed temporary file, which vanishes with the process. The result is the same either way.

pub mod multiplicity;
pub mod objects;
#[cfg(test)]
mod samples;
pub mod spellings;
mod spill;
