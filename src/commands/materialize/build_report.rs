//! From what was counted to the report.

use std::collections::BTreeMap;
use std::time::Instant;

use super::Prepared;
use super::options::{CacheMode, Options};
use super::probe::Route;
use super::report::*;
use super::write::AllWritten;
use crate::analysis::cost::{AccessCosts, CacheWork};
use crate::commands::Unreadable;
use crate::fault::FaultClass;
use crate::payloads::{Counter, Payloads};
use crate::plan::PlanTotals;

/// What a finished run leaves to report.
pub struct Done<'a> {
    pub planned: PlanTotals,
    pub route: Route,
    pub payloads: &'a Payloads<'a>,
    pub written: AllWritten,
    pub seconds: Seconds,
}

/// The report of a dry run.
pub fn plan(prepared: &Prepared, planned: PlanTotals, options: &Options, start: Instant) -> PlanReport {
    let totals = prepared.scanned.counts.totals;
    let mut fetch = planned.fetch;
    fetch += planned.apart;
    let mut report = PlanReport {
        manifests: prepared.inputs.len() as u64,
        references: totals.references,
        objects: totals.objects,
        duplicates: totals.references - totals.objects,
        oracle_hit_rate: rate(totals.objects, totals.references),
        held: planned.held,
        held_bytes: planned.held_bytes,
        reused_objects: planned.reused,
        fetch: fetch.objects,
        fetch_bytes: fetch.sized_bytes,
        fetch_sized: fetch.sized,
        requests: planned.fetch.requests + planned.apart_references,
        source_files: planned.files,
        admission: prepared.choice.clone().map(|choice| AdmissionPlan {
            choice,
            left_out_objects: planned.apart.objects,
            left_out_references: planned.apart_references,
        }),
        shards: prepared.pending().len() as u64,
        shards_reused: prepared.finished.iter().flatten().count() as u64,
        unreadable: unreadable(prepared),
        seconds: Seconds { total: start.elapsed().as_secs_f64(), ..prepared.seconds },
        ..PlanReport::default()
    };
    if options.cache_mode == CacheMode::Never {
        report.requests = report.requests.max(report.references);
    }
    for tally in prepared.scanned.tallies.iter().flatten() {
        report.rows_in += tally.rows;
        report.no_locator += tally.no_locator;
        report.bad_locator += tally.bad_locator();
        report.already_present += tally.already_present;
        tally.add_errors_to(&mut report.errors);
    }
    report
}

/// The report of a run that wrote its shards.
pub fn report(prepared: &Prepared, done: Done, options: &Options) -> Report {
    let totals = prepared.scanned.counts.totals;
    let counters = &done.payloads.counters;
    let wanted = totals.objects - done.planned.reused.min(totals.objects);
    let (reads, rereads) = (counters.get(Counter::Reads), counters.get(Counter::Rereads));
    let failed_objects = match done.route {
        Route::Cache => done.payloads.failures.len().min(wanted),
        // What no row got was not read: the failed, and those of manifests that broke on the way.
        Route::Direct => wanted - reads.min(wanted),
    };
    let reads_once = reads.min(wanted - failed_objects);
    let rereads = rereads + (reads - reads_once);
    let mut hits = wanted - failed_objects - reads_once;
    if options.cache_limit.is_some() && done.written.iter().any(|(_, written)| written.is_err()) {
        // A manifest that broke on the way asked for nothing more of what the cache is not to hold.
        hits = hits.min(done.planned.held);
    }
    let failed_objects = wanted - hits - reads_once;
    let mut report = Report {
        references: totals.references,
        objects: totals.objects,
        duplicates: totals.references - totals.objects,
        failed_objects,
        reused_objects: done.planned.reused,
        hit_rate: rate(reads_once + rereads, totals.references),
        oracle_hit_rate: rate(totals.objects, totals.references),
        cache: CacheReport {
            mode: mode(options.cache_mode, done.route),
            hits,
            misses: if done.route == Route::Cache { reads_once + failed_objects } else { 0 },
            puts: counters.get(Counter::Puts),
            put_failures: counters.get(Counter::PutFailures),
            bytes_read: counters.get(Counter::LookupBytes),
            bytes_written: counters.get(Counter::PutBytes),
        },
        source: SourceReport {
            reads: reads_once,
            rereads,
            requests: counters.get(Counter::Requests),
            retries: 0,
            bytes: counters.get(Counter::SourceBytes),
        },
        unique_bytes: counters.get(Counter::UniqueBytes).saturating_sub(counters.get(Counter::DamagedBytes))
            + done.planned.reused_bytes,
        unreadable: unreadable(prepared),
        seconds: done.seconds,
        ..Report::default()
    };
    add_manifests(&mut report, prepared, &done.written);
    report.admission = prepared.choice.clone().map(|choice| measured(choice, report.references, &done));
    report.advice = advice(&report, &done);
    report
}

fn add_manifests(report: &mut Report, prepared: &Prepared, written: &AllWritten) {
    let mut written: BTreeMap<usize, _> = written.iter().map(|(at, result)| (*at, result)).collect();
    for (at, input) in prepared.inputs.iter().enumerate() {
        let Some(tally) = &prepared.scanned.tallies[at] else { continue };
        report.rows_in += tally.rows;
        report.no_locator += tally.no_locator;
        report.bad_locator += tally.bad_locator();
        report.already_present += tally.already_present;
        tally.add_errors_to(&mut report.errors);
        let (outcome, bytes, blake3, reused) = match (&prepared.finished[at], written.remove(&at)) {
            (Some(record), _) => (record.outcome(), record.bytes, record.blake3.clone(), true),
            (None, Some(Ok(written))) => {
                (written.outcome.clone(), written.bytes, written.blake3.clone(), false)
            }
            (None, Some(Err(error))) => {
                // No shard: its rows are not in the output, its references are not served.
                report.unreadable.push(Unreadable::new(&input.manifest.path, error));
                report.rows_dropped += tally.rows;
                report.failed += tally.references;
                *report.errors.entry(FaultClass::Changed.name()).or_default() += tally.references;
                continue;
            }
            (None, None) => continue,
        };
        report.rows_out += outcome.rows_out;
        report.rows_dropped += outcome.rows_dropped;
        report.materialized += outcome.materialized;
        report.reference_bytes += outcome.materialized_bytes;
        for (class, count) in &outcome.failed {
            report.failed += count;
            *report.errors.entry(class.name()).or_default() += count;
        }
        report.shards.push(ShardReport {
            path: input.shard.display().to_string(),
            rows: outcome.rows_out,
            references: tally.references,
            bytes,
            blake3,
            reused,
        });
    }
}

fn unreadable(prepared: &Prepared) -> Vec<Unreadable> {
    prepared.unreadable.iter().chain(&prepared.scanned.unreadable).cloned().collect()
}

fn measured(choice: CacheAdmission, references: u64, done: &Done) -> AdmissionReport {
    let get = |counter| done.payloads.counters.get(counter);
    let written = done.written.iter().filter_map(|(_, written)| written.as_ref().ok());
    let (mut through_cache, mut in_shard_duplicates) = (0u64, 0);
    for written in written {
        through_cache += written.outcome.through_cache;
        in_shard_duplicates += written.outcome.in_shard_duplicates;
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

/// What the measured times say about the cache.
fn advice(report: &Report, done: &Done) -> Vec<String> {
    let counters = &done.payloads.counters;
    let each = |nanos, count| counters.get(nanos) as f64 / counters.get(count).max(1) as f64 / 1e9;
    let mut advice = Vec::new();
    // In a limited cache most of what is read is not put.
    let all = report.admission.is_none() && done.route == Route::Cache;
    if all && counters.get(Counter::Reads) > 0 && counters.get(Counter::Lookups) > 0 {
        let costs = AccessCosts {
            source: each(Counter::SourceNanos, Counter::Reads),
            put: each(Counter::PutNanos, Counter::Puts),
            hit: each(Counter::LookupNanos, Counter::Lookups),
        };
        if !costs.cache_pays(&CacheWork::fetching_first(report.references, report.objects)) {
            let [source, put, hit] = [costs.source, costs.put, costs.hit].map(|seconds| seconds * 1e6);
            advice.push(format!(
                "the source is faster than the cache here: {source:.0} us an object, against {put:.0} us to put it \
                 and {hit:.0} us a hit; --cache-mode auto would leave the cache out"
            ));
        }
    }
    advice
}
