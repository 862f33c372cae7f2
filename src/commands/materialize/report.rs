//! What a materialization did, or would do: the numbers behind text and JSON.
//!
//! The identities hold in every report:
//! rows_in = rows_out + rows_dropped; references = materialized + failed = objects + duplicates;
//! objects = reused + cache hits + source reads + failed objects.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::commands::Unreadable;

/// The result of a run. Field names are stable; more may be added.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    pub rows_in: u64,
    pub rows_out: u64,
    pub rows_dropped: u64,
    pub references: u64,
    pub no_locator: u64,
    pub bad_locator: u64,
    /// Image rows that had their payload already.
    pub already_present: u64,
    pub objects: u64,
    pub duplicates: u64,
    pub materialized: u64,
    /// References without payload at the end.
    pub failed: u64,
    pub failed_objects: u64,
    /// Objects that only finished shards of an earlier run needed.
    pub reused_objects: u64,
    /// 1 - (source reads + rereads) / references.
    pub hit_rate: f64,
    /// 1 - objects / references.
    pub oracle_hit_rate: f64,
    pub cache: CacheReport,
    pub source: SourceReport,
    /// Only with a limit of the cache.
    pub admission: Option<AdmissionReport>,
    /// Bytes of the distinct payloads written, and of all payloads written.
    pub unique_bytes: u64,
    pub reference_bytes: u64,
    /// Failed references, bad locators and bad rows by class.
    pub errors: BTreeMap<&'static str, u64>,
    pub shards: Vec<ShardReport>,
    /// Manifests that could not be read: nothing of them is counted above.
    pub unreadable: Vec<Unreadable>,
    pub advice: Vec<String>,
    pub seconds: Seconds,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct CacheReport {
    pub mode: &'static str,
    pub hits: u64,
    pub misses: u64,
    pub puts: u64,
    pub put_failures: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct SourceReport {
    /// Objects obtained from their source for the first time.
    pub reads: u64,
    /// Objects obtained again because no cache could keep them, or was to.
    pub rereads: u64,
    pub requests: u64,
    pub retries: u64,
    pub bytes: u64,
}

/// What a cache of limited size takes, and what that predicts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CacheAdmission {
    /// `count` or `density`.
    pub policy: &'static str,
    /// What the entries of the admitted objects fit in, bytes.
    pub budget: u64,
    /// Admitted objects, and the bytes of their payloads, assumed ones included.
    pub admitted_objects: u64,
    pub admitted_bytes: u64,
    /// What a cache that holds these, and nothing at first, gives.
    pub predicted_hit_rate: f64,
}

/// What became of the references of the shards that this run wrote, failed ones left out:
/// references = admitted hits + in-shard duplicates + held hits + source reads + rereads.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AdmissionReport {
    #[serde(flatten)]
    pub choice: CacheAdmission,
    /// References to admitted objects, without the source reads of these.
    pub admitted_hits: u64,
    /// References to other objects, beyond the first in each shard.
    pub in_shard_duplicates: u64,
    /// First references of shards to other objects that the cache held all the same.
    pub held_hits: u64,
    /// The sum of the three / all references.
    pub hit_rate: f64,
}

/// What a cache of limited size leaves to be read for each shard that needs it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AdmissionPlan {
    #[serde(flatten)]
    pub choice: CacheAdmission,
    /// Objects that are neither admitted nor in the cache, and the references to them: the least
    /// and the most reads.
    pub left_out_objects: u64,
    pub left_out_references: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ShardReport {
    pub path: String,
    pub rows: u64,
    pub references: u64,
    pub bytes: u64,
    pub blake3: String,
    pub reused: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    pub scan: f64,
    pub group: f64,
    pub fetch: f64,
    pub write: f64,
    pub total: f64,
}

/// What `--dry-run` reports: the plan, and what stands behind it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PlanReport {
    pub manifests: u64,
    pub rows_in: u64,
    pub references: u64,
    pub no_locator: u64,
    pub bad_locator: u64,
    pub already_present: u64,
    pub objects: u64,
    pub duplicates: u64,
    pub oracle_hit_rate: f64,
    /// Objects that the cache holds already, and their bytes.
    pub held: u64,
    pub held_bytes: u64,
    pub reused_objects: u64,
    /// Objects that would be read from their sources, whether the cache is to hold them or not.
    pub fetch: u64,
    /// Their bytes as far as the locators say, and how many of them say.
    pub fetch_bytes: u64,
    pub fetch_sized: u64,
    /// At most this many read calls, over this many source files.
    pub requests: u64,
    pub source_files: u64,
    /// Only with a limit of the cache.
    pub admission: Option<AdmissionPlan>,
    pub errors: BTreeMap<&'static str, u64>,
    /// Shards that would be written, and finished ones that would be reused.
    pub shards: u64,
    pub shards_reused: u64,
    pub unreadable: Vec<Unreadable>,
    pub seconds: Seconds,
}

/// Either form of answer.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    Planned(PlanReport),
    Done(Report),
}
