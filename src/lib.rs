//! onepull turns a training corpus that holds *references* to images into one that holds the
//! images, and reads every distinct payload from its source exactly once.
//!
//! Many documents name the same image. Fetching row by row reads an image once for each of them,
//! and a cache shared by many workers helps little, since a worker cannot see what a peer has not
//! written yet. So references are grouped first and fetched afterwards:
//!
//! ```text
//! manifests ──scan──► references ──group──► objects + counts ──plan──► fetches, in source order,
//!                                                                      coalesced
//!                                                                           │
//!     shards ◄──write, in manifest order──  cache  ◄──verify, store──  fetch ┘
//! ```
//!
//! `analyze` stops after the counts: how often objects recur, what a cache could make of that, and
//! what is lost when several workers share one. It reads payloads only where it is asked to compare
//! or to time some. `size` goes on from the same counts, or from those that `analyze` saved: what a
//! cache of each size reaches. `materialize` makes the same choice for a cache of limited size.
//!
//! # Words
//!
//! A *manifest* is a file of *rows*: text blocks and images of *samples*. A row's *locator* says
//! where its payload is. A row that needs a payload is a *reference*; one distinct payload is an
//! *object*, named by its *key*; the number of its references is its *multiplicity*. An object in
//! the cache is an *entry*. Output files are *shards*. An *admission* is the set of objects that a
//! cache of limited size is to keep; a *policy* is the order in which they are chosen.
//!
//! # Where things are
//!
//! | module | noun |
//! |---|---|
//! | [`commands`] | what a user asks for: options in, report out, no printing |
//! | [`analysis`] | what multiplicities and sizes mean for caches, costs, workers and samples; pure |
//! | [`manifest`] | rows in: Parquet and JSONL files |
//! | [`shard`] | rows out: Parquet and WebDataset files |
//! | [`locator`] | what a `source_ref` says, and what may be read |
//! | [`object`] | the identity of one distinct payload |
//! | [`counting`] | references become objects with counts, in bounded memory |
//! | [`plan`] | what to fetch, in which order, in how many requests; pure |
//! | [`fetch`] | drives a plan over a store |
//! | [`store`] | bytes at a location |
//! | [`archive`] | members of tars, plain and compressed |
//! | `payloads` | the one place where a want is met: memory, cache, single flight, source, steps |
//! | [`cache`] | payloads kept on disk by key, verified |
//! | [`steps`] | payload in, payload out: one page of a multi-page TIFF |
//! | [`memory`] | one budget of bytes, shared by several owners |
//! | `scratch` | a folder of drafts, and what dead processes left there |
//! | [`publish`] | temporary file, then rename: the one place that does it |
//! | [`monitor`] | what the library tells the outside while it works |
//! | [`fault`] | why one reference has no bytes |
//! | `threads` | several threads that take pieces of work in turns |
//!
//! The binary (`src/cli`) turns flags into options and reports into text. Data flows one way,
//! manifest → references → objects → plan → cache → shard, and a module uses only those further
//! down in the table; a test keeps it so. What the text of a locator means is known to `locator`
//! alone: from there on an object is its name.
//!
//! # Laws
//!
//! * Rows in = rows written + rows dropped.
//! * Image rows without bytes = references + rows without locator + rows with a bad one.
//!   References = materialized + failed = objects + duplicates.
//! * Objects = cache hits + source reads + failed objects (+ those only finished shards need).
//! * Bytes handed out equal the bytes at the source, or the reference fails.
//! * Nothing half-written has a final name. Failures are never cached.
//! * A cache problem is never a reference's problem: a failed read is a miss, a failed write is
//!   skipped.
//! * Names inside manifests and archives are never used as paths to write to.
//! * The output depends on the manifests, the payloads and the options alone: not on the number
//!   of threads, not on what was in the cache, not on how often a run was interrupted.

pub mod analysis;
pub mod archive;
pub mod cache;
pub mod commands;
pub mod counting;
pub mod fault;
pub mod fetch;
pub mod locator;
pub mod manifest;
pub mod memory;
pub mod monitor;
pub mod object;
mod payloads;
pub mod plan;
pub mod publish;
mod scratch;
pub mod shard;
pub mod steps;
pub mod store;
mod threads;
