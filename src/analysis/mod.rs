//! The mathematics of redundancy: multiplicities, oracle hit rates, concurrency, samples.
//!
//! Everything here is pure: a function of how often each object is referenced and how large it
//! is, never of a file. [`Summary`] is folded over the objects once; most of the rest reads it or
//! its histogram. Sizing a cache needs every object: [`objects::Objects`] is the table in memory.

pub mod admission;
pub mod break_even;
pub mod budget;
pub mod concentration;
pub mod concurrency;
pub mod estimate;
pub mod foreknowledge;
pub mod law;
pub mod lru;
pub mod objective;
pub mod objects;
pub mod replay;
pub mod sampling;
pub mod summary;
pub mod trace;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use summary::{Class, Summary};
