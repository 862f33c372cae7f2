//! How redundant a corpus is: the numbers behind text, JSON and plots.
//!
//! The identities hold in every report:
//! references = objects + duplicates; image rows = references + no_locator + bad_locator +
//! already_present; the histogram adds up to objects, references and unique_bytes.
//! With `sample`, `references` and the rows are still exact; what depends on objects is an
//! estimate, and the histogram and the sources hold the sampled objects, scaled up.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::commands::Unreadable;

/// The result of an analysis. Field names are stable; more may be added. Shares and rates are
/// between 0 and 1.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    pub manifests: u64,
    /// Rows of all manifests, lines that are no rows included.
    pub rows: u64,
    /// `image`, `metadata` and `text`; rows of any other modality, or none, are `other`.
    pub rows_by_modality: BTreeMap<&'static str, u64>,
    pub references: u64,
    pub no_locator: u64,
    pub bad_locator: u64,
    /// Image rows that have their payload already.
    pub already_present: u64,
    pub objects: u64,
    pub duplicates: u64,
    /// Distinct texts of locators; more than `objects` when some object is written in several ways,
    /// or when locators name pages of one object.
    pub spellings: u64,
    pub mean_multiplicity: f64,
    pub median_multiplicity: u64,
    pub max_multiplicity: u64,
    /// Share of the objects that are referenced once.
    pub singleton_share: f64,
    /// Bytes of the objects, and of the references, of known size.
    pub unique_bytes: u64,
    pub reference_bytes: u64,
    /// Share of the objects, and of the references, whose locator has a size.
    pub sized_share: f64,
    pub sized_reference_share: f64,
    /// The ceiling by requests: 1 - objects / references.
    pub oracle_hit_rate: f64,
    /// The ceiling by bytes; `None` when no size is known.
    pub oracle_byte_hit_rate: Option<f64>,
    /// By multiplicity, ascending.
    pub histogram: Vec<Multiplicity>,
    /// The hits of the most referenced objects.
    pub concentration: Vec<Concentration>,
    /// What the best fixed choice of objects reaches in a cache of limited size; empty when no
    /// size is known.
    pub budgets: Vec<OracleBudget>,
    /// The largest sources, most references first.
    pub sources: Vec<SourceShare>,
    /// What a cache shared by several tasks loses.
    pub concurrency: Vec<Concurrency>,
    /// References to an object that the same task has already; expected, or counted if replayed.
    pub in_task_duplicates: u64,
    pub sample: Option<Sample>,
    pub content: Option<ContentComparison>,
    pub timing: Option<Timings>,
    /// Bad rows and bad locators by class.
    pub errors: BTreeMap<&'static str, u64>,
    /// Manifests that could not be read: nothing of them is counted above.
    pub unreadable: Vec<Unreadable>,
    /// Why there is no table of the counts, although one was asked for.
    pub unwritten: Option<String>,
    pub advice: Vec<String>,
    /// Bytes that went through temporary files.
    pub spilled_bytes: u64,
    pub seconds: Seconds,
}

/// The objects with `k` references each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Multiplicity {
    pub k: u64,
    pub objects: u64,
    /// Of those of known size.
    pub bytes: u64,
}

/// The most referenced objects: a share of all objects, and the hits they give.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Concentration {
    pub object_share: f64,
    pub objects: u64,
    /// References to them beyond the first of each.
    pub hits: u64,
    pub hit_share: f64,
}

/// The static oracle by value density, (k-1)/size, for one size of cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OracleBudget {
    pub budget_bytes: u64,
    /// The budget as a share of the bytes of all objects.
    pub byte_share: f64,
    pub hit_rate: f64,
    pub byte_hit_rate: f64,
    /// Objects admitted.
    pub objects: u64,
}

/// The objects of one host, bucket or folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceShare {
    pub prefix: String,
    pub references: u64,
    pub objects: u64,
    /// Of those of known size.
    pub bytes: u64,
}

/// One pass by tasks that share a cache, look up when they start and publish when they end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Concurrency {
    pub workers: u64,
    pub tasks: u64,
    /// Expected, with references placed at random.
    pub hit_rate: f64,
    pub source_reads: u64,
    pub replayed: Option<Replayed>,
}

/// The same pass over the manifests as they are: one task each, in order of their paths, each as
/// long as it has references.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Replayed {
    pub hit_rate: f64,
    pub source_reads: u64,
    /// When every task reads an object once, however often it names it.
    pub deduplicated_hit_rate: f64,
    pub deduplicated_source_reads: u64,
}

/// How much was counted, and how far the estimates may be off: 95 % intervals, low and high.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Share of the keys.
    pub share: f64,
    /// Objects and references that were counted.
    pub objects_counted: u64,
    pub references_counted: u64,
    pub objects: [f64; 2],
    pub oracle_hit_rate: [f64; 2],
    pub singleton_share: [f64; 2],
    pub unique_bytes: [f64; 2],
}

/// Payloads that were read and compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContentComparison {
    pub objects: u64,
    pub failed: u64,
    /// Different payloads among those that could be read.
    pub payloads: u64,
    /// Objects whose payload another one has, too.
    pub equal: u64,
    pub bytes: u64,
    /// Some pairs of locators with equal payloads.
    pub examples: Vec<[String; 2]>,
}

/// What one object costs: means over the probed objects, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    pub objects: u64,
    pub failed: u64,
    pub bytes: u64,
    pub source: f64,
    pub put: f64,
    pub hit: f64,
    /// Whether R - U source reads cost more than U puts and R hits.
    pub cache_pays: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    pub scan: f64,
    pub group: f64,
    /// Reading payloads, where asked for.
    pub fetch: f64,
    pub total: f64,
}
