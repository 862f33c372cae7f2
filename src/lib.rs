//! onepull fills in the image references of a training corpus, and reads each distinct image from its
//! source exactly once.
//!
//! Many rows name the same image. A tool that fetches row by row reads it once for each of them. A cache
//! shared by many workers helps little, because a worker cannot see what another is still reading. So
//! onepull counts the references first and fetches afterwards:
//!
//! ```text
//! manifests ──rows──► references ──count──► objects ──plan──► reads
//!                                                               │ fetch, in source order, coalesced
//!     shards ◄──write, in manifest order──  payloads  ◄─────────┘
//!                                           memory, cache
//! ```
//!
//! `materialize` goes all the way. `analyze` stops at the counts, and shows how often objects repeat and
//! what a cache or several workers make of that. `size` goes on from the counts, or from saved ones, to
//! the hit rate of each cache size.
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | manifest, row, sample | a file of rows; one text block or image; the rows of one document |
//! | locator | what a `source_ref` says: location, member, byte range, frame |
//! | reference | a row that needs a payload: an image without bytes, with a locator |
//! | object | one distinct payload to fetch; its *name* is location and target, its *id* (128 bits) is for counting, its *key* (256 bits) for the cache |
//! | multiplicity | references per object |
//! | hit rate | 1 - source reads / references |
//! | admission, policy | the objects that a limited cache takes; the rule that chooses them |
//! | entry | a payload in the cache |
//! | step | payload in, payload out |
//! | shard | an output file |
//!
//! # Code map
//!
//! | module | holds |
//! |---|---|
//! | `commands` | one room a command: options in, report out, no printing |
//! | `manifest` | rows in, one file a format |
//! | `shard` | rows out, one room a format |
//! | `locator` | what a `source_ref` says, and the allow-list |
//! | `object` | the name, id and key of an object |
//! | `counting` | references to objects with counts, in bounded memory; the engine of every command |
//! | `analysis` | histogram, admission, bounds, concurrency; pure |
//! | `plan` | what to fetch, in which order, in how many requests; pure |
//! | `payloads` | the one place where a want is met: memory, cache, single flight, source, steps |
//! | `cache` | payloads on disk by key, checked whenever they are read |
//! | `fetch` | drives a plan over a store |
//! | `store` | bytes at a location; local files for now |
//! | `archive` | members of tars, plain and compressed |
//! | `steps` | payload to payload: one page of a TIFF |
//! | `memory`, `threads`, `scratch`, `publish` | a byte budget; work shared by threads; drafts of files; the rename that names an output |
//! | `monitor`, `fault`, `catch_panic` | what the library tells the outside; why a reference has no bytes; panics of decoders |
//!
//! ```text
//! cli ──► commands ──► manifest, shard, counting, payloads, analysis
//!                      payloads ──► cache, fetch, steps
//!                                   fetch ──► plan, store, archive
//! ```
//!
//! `tests/it/tidy.rs` keeps the layers. The binary (`src/cli`) turns flags into options and reports into text. Only
//! `locator` parses locators, and only `manifest` and `shard` know formats.
//!
//! # Laws
//!
//! * Rows in = rows out + rows dropped.
//! * Image rows = references + no locator + bad locator + already present.
//! * References = materialized + failed = objects + duplicates.
//! * Objects = cache hits + source reads + failed objects + objects that only finished shards need.
//! * The bytes handed out are those at the source, or what a step makes of them, or the reference fails.
//! * A source that changes while it is read fails as `changed`; bytes of two versions are never mixed.
//! * Nothing half-written has a final name. Failures are never cached.
//! * A cache problem never fails a reference: a failed read is a miss, a failed write is skipped.
//! * Names in manifests and archives are never used as paths to write to.
//! * The output depends on the manifests, the payloads and the options alone. Threads, the cache and
//!   interruptions do not change it.

pub(crate) mod analysis;
pub mod archive;
pub mod cache;
pub mod catch_panic;
pub mod commands;
pub mod counting;
pub mod fault;
pub mod fetch;
pub mod locator;
mod manifest;
pub mod memory;
pub mod monitor;
pub mod object;
mod payloads;
pub mod plan;
pub mod publish;
mod scratch;
mod shard;
pub mod steps;
pub mod store;
mod threads;
