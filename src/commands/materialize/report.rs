//! What a materialization did, or would do: the numbers behind text and JSON.
//!
//! The identities hold in every report:
//! rows_in = rows_out + rows_dropped; references = materialized + failed = objects + duplicates;
//! objects = reused + cache hits + source reads + failed objects.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;

use super::Prepared;
use super::admission::{self, CacheAdmission, Route};
use super::jobs::ShardJob;
use super::options::{CacheMode, Options};
use super::output::ShardRecord;
use super::write::AllWritten;
use crate::commands::Unreadable;
use crate::commands::references::Tally;
use crate::fault::FaultClass;
use crate::payloads::{Counter, Payloads};
use crate::plan::PlanTotals;

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
    /// Objects read from their source for the first time.
    pub reads: u64,
    /// Objects read again, because the cache could not or should not keep them.
    pub rereads: u64,
    pub requests: u64,
    pub retries: u64,
    pub bytes: u64,
}

/// How the references of the shards that this run wrote got their payloads, without failed ones:
/// references = admitted hits + in-shard duplicates + held hits + source reads + rereads.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AdmissionReport {
    #[serde(flatten)]
    pub choice: CacheAdmission,
    /// References to admitted objects, without the source reads of these.
    pub admitted_hits: u64,
    /// References to other objects, beyond the first in each shard.
    pub in_shard_duplicates: u64,
    /// First references of shards to other objects that an earlier run left in the cache.
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
    /// Their known bytes, and how many of them have a known size.
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

/// The report of a dry run.
pub(super) fn planned(
    prepared: &Prepared,
    planned: PlanTotals,
    options: &Options,
    start: Instant,
) -> PlanReport {
    let totals = prepared.counts.totals;
    let (rows, errors) = rows(prepared);
    let mut fetch = planned.fetch;
    fetch += planned.apart;
    let requests = planned.fetch.requests + planned.apart_references;
    PlanReport {
        manifests: prepared.jobs.len() as u64,
        rows_in: rows.rows,
        references: totals.references,
        no_locator: rows.no_locator,
        bad_locator: rows.bad_locator(),
        already_present: rows.already_present,
        objects: totals.objects,
        duplicates: totals.references - totals.objects,
        oracle_hit_rate: rate(totals.objects, totals.references),
        held: planned.held,
        held_bytes: planned.held_bytes,
        reused_objects: planned.reused,
        fetch: fetch.objects,
        fetch_bytes: fetch.sized_bytes,
        fetch_sized: fetch.sized,
        requests: match options.cache_mode {
            CacheMode::Never => requests.max(totals.references),
            CacheMode::Always | CacheMode::Auto => requests,
        },
        source_files: planned.files,
        admission: prepared.choice.clone().map(|choice| AdmissionPlan {
            choice,
            left_out_objects: planned.apart.objects,
            left_out_references: planned.apart_references,
        }),
        errors,
        shards: prepared.jobs.iter().filter_map(ShardJob::pending).count() as u64,
        shards_reused: prepared.jobs.iter().filter(|job| job.finished.is_some()).count() as u64,
        unreadable: prepared.unreadable.clone(),
        seconds: Seconds { total: start.elapsed().as_secs_f64(), ..prepared.seconds },
    }
}

/// The report of a run that wrote its shards.
pub(super) fn done(
    prepared: &Prepared,
    payloads: &Payloads,
    route: Route,
    written: &AllWritten,
    options: &Options,
) -> Report {
    let (totals, planned) = (prepared.counts.totals, payloads.plan.totals);
    let (rows, errors) = rows(prepared);
    let get = |counter| payloads.counters.get(counter);
    let wanted = totals.objects - planned.reused.min(totals.objects);
    let reads = get(Counter::Reads);
    let failed_objects = match route {
        Route::Cache => payloads.failures.len().min(wanted),
        // What no row got was not read: the failed, and those of manifests that broke on the way.
        Route::Direct => wanted - reads.min(wanted),
    };
    let reads_once = reads.min(wanted - failed_objects);
    let rereads = get(Counter::Rereads) + (reads - reads_once);
    let mut hits = wanted - failed_objects - reads_once;
    if written.values().any(Result::is_err) {
        // Nobody asked for the rest of a manifest that broke on the way: a limited or full cache was not
        // given its objects.
        hits = hits.min(planned.held);
    }
    let failed_objects = wanted - hits - reads_once;
    let mut report = Report {
        rows_in: rows.rows,
        references: totals.references,
        no_locator: rows.no_locator,
        bad_locator: rows.bad_locator(),
        already_present: rows.already_present,
        objects: totals.objects,
        duplicates: totals.references - totals.objects,
        failed_objects,
        reused_objects: planned.reused,
        hit_rate: rate(reads_once + rereads, totals.references),
        oracle_hit_rate: rate(totals.objects, totals.references),
        cache: CacheReport {
            mode: mode(options.cache_mode, route),
            hits,
            misses: if route == Route::Cache { reads_once + failed_objects } else { 0 },
            puts: get(Counter::Puts),
            put_failures: get(Counter::PutFailures),
            bytes_read: get(Counter::LookupBytes),
            bytes_written: get(Counter::PutBytes),
        },
        source: SourceReport {
            reads: reads_once,
            rereads,
            requests: get(Counter::Requests),
            retries: 0,
            bytes: get(Counter::SourceBytes),
        },
        unique_bytes: get(Counter::UniqueBytes).saturating_sub(get(Counter::DamagedBytes))
            + planned.reused_bytes,
        errors,
        unreadable: prepared.unreadable.clone(),
        seconds: prepared.seconds,
        ..Report::default()
    };
    for (at, job) in prepared.jobs.iter().enumerate() {
        let Some(tally) = &job.tally else { continue };
        match (&job.finished, written.get(&at)) {
            (Some(record), _) | (None, Some(Ok(record))) => report.add_shard(job, tally, record),
            (None, Some(Err(error))) => {
                // No shard: its rows are not in the output, its references are not served.
                report.unreadable.push(Unreadable::new(&job.input.manifest.path, error));
                report.rows_dropped += tally.rows;
                report.add_failed(FaultClass::Changed, tally.references);
            }
            (None, None) => {}
        }
    }
    let measured = |choice| measured(choice, totals.references, payloads, written);
    report.admission = prepared.choice.clone().map(measured);
    let all = report.admission.is_none() && route == Route::Cache;
    report.advice.extend(all.then(|| admission::advice(payloads, totals)).flatten());
    report
}

impl Report {
    fn add_shard(&mut self, job: &ShardJob, tally: &Tally, record: &ShardRecord) {
        let counts = &record.counts;
        self.rows_out += counts.rows_out;
        self.rows_dropped += counts.rows_dropped;
        self.materialized += counts.materialized;
        self.reference_bytes += counts.materialized_bytes;
        counts.failed.iter().for_each(|(class, count)| self.add_failed(*class, *count));
        self.shards.push(ShardReport {
            path: job.input.shard.display().to_string(),
            rows: counts.rows_out,
            references: tally.references,
            bytes: record.bytes,
            blake3: record.blake3.clone(),
            reused: job.finished.is_some(),
        });
    }

    fn add_failed(&mut self, class: FaultClass, references: u64) {
        self.failed += references;
        *self.errors.entry(class.name()).or_default() += references;
    }
}

/// What the rows of all manifests are, and their faults by class.
fn rows(prepared: &Prepared) -> (Tally, BTreeMap<&'static str, u64>) {
    let (mut rows, mut errors) = (Tally::default(), BTreeMap::new());
    prepared.jobs.iter().filter_map(|job| job.tally.as_ref()).for_each(|tally| rows.add(tally));
    rows.add_errors_to(&mut errors);
    (rows, errors)
}

fn measured(
    choice: CacheAdmission,
    references: u64,
    payloads: &Payloads,
    written: &AllWritten,
) -> AdmissionReport {
    let get = |counter| payloads.counters.get(counter);
    let (mut through_cache, mut in_shard_duplicates) = (0u64, 0);
    for record in written.values().flatten() {
        through_cache += record.counts.through_cache;
        in_shard_duplicates += record.counts.in_shard_duplicates;
    }
    let reads = get(Counter::Reads) + get(Counter::Rereads) - get(Counter::ShardReads);
    // Less than nothing only where a manifest broke after its objects were read.
    let admitted_hits = through_cache.saturating_sub(reads);
    let held_hits = get(Counter::ShardFinds);
    let hits = admitted_hits + in_shard_duplicates + held_hits;
    let hit_rate = if references == 0 { 0.0 } else { hits as f64 / references as f64 };
    AdmissionReport { choice, admitted_hits, in_shard_duplicates, held_hits, hit_rate }
}

/// 1 - part / whole; 0 of nothing.
fn rate(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 1.0 - part as f64 / whole as f64 }
}

fn mode(mode: CacheMode, route: Route) -> &'static str {
    match (mode, route) {
        (CacheMode::Always, _) => "always",
        (CacheMode::Never, _) => "never",
        (CacheMode::Auto, Route::Cache) => "auto: through the cache",
        (CacheMode::Auto, Route::Direct) => "auto: direct",
    }
}
