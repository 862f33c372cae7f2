//! onepull

pub mod cache;
pub mod commands;
pub mod corpus;
pub mod fault;
pub mod frame;
pub mod grouping;
pub mod monitor;
pub mod plan;
pub mod publish;
pub mod source;
