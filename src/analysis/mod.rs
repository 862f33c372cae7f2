//! The mathematics of redundancy: multiplicities, oracle hit rates, concurrency, samples.
//!
//! Everything here is pure: a function of how often each object is referenced and how large it
//! is, never of a file. [`table::MultiplicityTable`] is filled once; all else reads it or its
//! histogram, and what depends on the order of the references reads a [`trace::Trace`].

pub mod admission;
pub mod cache_sizes;
pub mod concurrency;
pub mod cost;
pub mod histogram;
pub mod lru;
pub mod offline_bound;
pub mod sampling;
pub mod table;
pub mod trace;

#[cfg(test)]
#[path = "../../tests/support/law.rs"]
mod law;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
