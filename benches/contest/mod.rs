//! Contests: two ways to do the same work, run alternately, compared round by round.
//!
//! Every contestant is a child process. Before each run its inputs are read once, so that the
//! page cache is warm for all alike, what it wrote last time is removed, and everything dirty is
//! flushed, so that nobody pays for the writes of the one before. Only the run itself is timed.

pub mod contestant;
pub mod pairs;
pub mod process;
pub mod python;
