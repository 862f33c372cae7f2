//! What the tests of whole runs share: small corpora, a source that counts, shards read back.

pub mod corpus;
pub mod files;
pub mod manifests;
pub mod meddler;
pub mod random;
pub mod run;
pub mod shards;
pub mod stores;
pub mod told;
