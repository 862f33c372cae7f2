//! The mathematics of redundancy: multiplicities, oracle hit rates, concurrency, samples.
//!
//! Everything here is pure: a function of how often each object is referenced and how large it
//! is, never of a file. [`Summary`] is folded over the objects once; the rest reads it or its
//! histogram.

pub mod budget;
pub mod concentration;
pub mod concurrency;
pub mod estimate;
pub mod law;
pub mod replay;
pub mod sampling;
pub mod summary;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use summary::{Class, Summary};
