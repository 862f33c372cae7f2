//! Rows and what they refer to: manifests in, locators, keys, shards out.

pub mod key;
pub mod locator;
pub mod manifest;
pub mod read;
pub mod resolve;
pub mod rows;
pub mod shard;

pub use key::Key;
pub use locator::{Locator, SourcePath, Target};
pub use resolve::Base;
