//! The mathematics of redundancy: multiplicities, oracle hit rates, concurrency, samples.
//!
//! Everything here is pure: a function of how often each object is referenced and how large it
//! is, never of a file.

pub mod law;
pub mod sampling;
