//! How large a cache is worth buying: the numbers behind text, JSON and plots.
//!
//! Everything follows from the multiplicity table: how often each object is referenced, and how
//! large it is. Objects of unknown size are in `references` and `objects` and are never admitted.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::commands::Unreadable;

/// The result of a sizing. Field names are stable; more may be added. Rates are between 0 and 1,
/// sizes in bytes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// `requests`, `bytes`, `seconds` or `dollars`.
    pub objective: &'static str,
    /// What the whole pass costs without a cache, in the unit of the objective; `None` for requests
    /// and bytes.
    pub cost_without_cache: Option<f64>,
    pub references: u64,
    pub objects: u64,
    /// Image rows without payload that name none; a saved table does not say.
    pub no_locator: u64,
    /// Objects that are referenced once: no cache pays for them.
    pub singletons: u64,
    pub unique_bytes: u64,
    pub reference_bytes: u64,
    /// Share of the objects whose size is known, and of those whose size was assumed.
    pub sized_share: f64,
    pub assumed_share: f64,
    /// The source of the assumed size, if sizes were probed.
    pub probed_sizes: Option<ProbedSizes>,
    /// The hit rate of a cache without bound: 1 - objects / references; by bytes: of known sizes.
    pub ceiling: f64,
    pub byte_ceiling: Option<f64>,
    /// The smallest cache that reaches the ceiling: all objects with two references or more.
    pub ceiling_bytes: u64,
    pub ceiling_objects: u64,
    /// In which order references come where objects compete for the place: for `lru` and
    /// `any_policy_bound`.
    pub order: ReferenceOrder,
    /// Ascending by budget.
    pub budgets: Vec<Budget>,
    /// Request hit rates over the size of the cache, ascending, up to the bytes of all objects at
    /// least: what a plot draws, whatever budgets were asked for.
    pub curve: Vec<Point>,
    /// For some budgets, the cache that reaches the same request hit rate by count.
    pub equivalents: Vec<Equivalent>,
    /// For each target hit rate the smallest cache by policy.
    pub targets: Vec<HitRateTarget>,
    /// The cache by density beyond which one more byte gives less than a byte does on average, up to
    /// the smallest cache that reaches the ceiling; `None` when nothing recurs.
    pub knee_bytes: Option<u64>,
    /// The largest budget at which one more gigabyte still saves more than it costs; `None` where
    /// the objective knows no cost, or where none does.
    pub worthwhile_bytes: Option<u64>,
    /// How slow a source must be for a cache to pay, seconds an object; `None` where hits and puts
    /// have no cost.
    pub break_even: Option<BreakEven>,
    /// Bad rows and bad locators by class.
    pub errors: BTreeMap<&'static str, u64>,
    pub unreadable: Vec<Unreadable>,
    pub advice: Vec<String>,
    pub seconds: Seconds,
}

/// The probe of some objects of unknown size. `asked` = `answered` + `failed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ProbedSizes {
    /// Objects of unknown size, and how many of them were asked.
    pub unknown: u64,
    pub asked: u64,
    pub answered: u64,
    pub failed: u64,
    /// Of the answers, in whole bytes: every object of unknown size is assumed to be this large.
    /// `None` without an answer.
    pub mean: Option<u64>,
    /// Of the mean, bytes; 0 where all objects answered. `None` where only one of several did.
    pub standard_error: Option<f64>,
}

/// What each policy reaches within one size of cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Budget {
    pub budget: u64,
    pub policies: Policies,
    /// LRU, by requests.
    pub lru: f64,
    /// No policy of any kind passes this request hit rate.
    pub any_policy_bound: f64,
}

/// An order of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ReferenceOrder {
    pub of: OrderKind,
    /// Share of the objects that are followed, an unbiased sample by key where it is below 1.
    pub share: f64,
    /// References that are followed.
    pub references: u64,
    /// How far a sample may be off: the standard error of the hits that it has, as a share of all
    /// hits. 0 without a sample.
    pub error: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OrderKind {
    /// That of the manifests, and of the rows in each.
    Manifests,
    #[default]
    Random,
}

/// One place of the curve: request hit rates within `bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    pub bytes: u64,
    pub count: f64,
    pub density: f64,
    pub lru: f64,
    pub any_policy_bound: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Policies {
    /// Most references first.
    pub count: Reached,
    /// Most references beyond the first per byte first.
    pub density: Reached,
    /// Most of the objective per byte first, where the objective is seconds or dollars.
    pub objective: Option<Reached>,
}

/// What a policy admits and reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Reached {
    /// Of requests, and of bytes.
    pub hit_rate: f64,
    pub byte_hit_rate: f64,
    pub objects: u64,
    pub bytes: u64,
    /// No choice of objects passes this, in what the policy is greedy for: bytes for `count`,
    /// requests for `density`, else the objective as a share of its value without bound.
    pub bound: f64,
    /// `bound` minus the value reached.
    pub gap: f64,
    /// What it saves in the unit of the objective, its costs taken off; `None` for requests and
    /// bytes.
    pub saved: Option<f64>,
}

/// Two caches of the same request hit rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Equivalent {
    pub density_bytes: u64,
    pub hit_rate: f64,
    pub count_bytes: u64,
    /// `count_bytes` / `density_bytes`.
    pub times: f64,
}

/// The smallest caches that reach a request hit rate; `None` above the ceiling, or where the sizes
/// of too many objects are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HitRateTarget {
    pub hit_rate: f64,
    pub count_bytes: Option<u64>,
    pub density_bytes: Option<u64>,
    /// Where the objective is seconds or dollars; `None` also below the ceiling where too few
    /// objects are worth more than they cost.
    pub objective_bytes: Option<u64>,
}

/// Seconds an object from its source, from which on a cache pays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BreakEven {
    /// When every object is stored.
    pub storing_all: f64,
    /// When only objects with two references or more are stored.
    pub storing_repeated: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    pub scan: f64,
    pub group: f64,
    /// Asking for sizes.
    pub fetch: f64,
    /// Reading a saved table.
    pub read: f64,
    pub size: f64,
    pub total: f64,
}
