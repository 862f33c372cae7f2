//! Rows and what they refer to: manifests in, locators, keys, shards out.

mod json;
pub mod key;
pub mod locator;
pub mod manifest;
pub mod object;
pub mod read;
pub mod remote;
pub mod resolve;
pub mod rows;
pub mod shard;

pub use key::Key;
pub use locator::{Locator, SourcePath, Target};
pub use object::Object;
pub use resolve::Base;
