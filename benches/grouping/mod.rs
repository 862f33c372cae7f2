//! Grouping references by object: who takes part, and whether they come to the same answer.

pub mod answer;
pub mod contestants;
pub mod decode;
