//! Materializing: who takes part, whether what they wrote is right, and what cache entries cost.

pub mod contestants;
pub mod entries;
pub mod incumbent;
pub mod verify;
