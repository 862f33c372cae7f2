//! From counts to the report.

use std::collections::BTreeMap;

use super::options::{Options, Share};
use super::report::*;
use super::scan::Counts;
use super::trace::ReplayOutcome;
use crate::analysis::admission::{Admission, Policy, admit};
use crate::analysis::cache_sizes::round_sizes;
use crate::analysis::concurrency;
use crate::analysis::histogram::{Bucket, Histogram};
use crate::analysis::sampling::{Estimates, scaled};
use crate::analysis::table::MultiplicityTable;
use crate::commands::Unreadable;

/// Shares of the objects whose hits are reported.
const CONCENTRATIONS: [f64; 3] = [0.001, 0.01, 0.1];

/// All of the report that follows from counts; payloads, advice and times are the caller's.
pub fn build_report(
    counts: &Counts,
    manifests: u64,
    unreadable: Vec<Unreadable>,
    options: &Options,
) -> Report {
    let Counts { table, sources, found, replayed, .. } = counts;
    let tally = &found.tally;
    let summary = table.histogram();
    let mut errors = BTreeMap::new();
    tally.add_errors_to(&mut errors);
    let sample = options.sample.map(|share| SampleScale::new(&summary, share, tally.references));
    let scale = sample.as_ref().map_or(1.0, |sample| 1.0 / sample.share.share);
    let objects = match &sample {
        Some(sample) => sample.estimates.objects.value.round() as u64,
        None => summary.objects(),
    };
    let oracle_hit_rate = sample.as_ref().map_or(summary.ceiling(), |sample| sample.estimates.ceiling.value);
    let references = tally.references;
    let tasks = options.tasks.unwrap_or(manifests);
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    Report {
        manifests,
        rows: tally.rows,
        rows_by_modality: found.modalities.by_name(),
        references,
        no_locator: tally.no_locator,
        bad_locator: tally.bad_locator(),
        already_present: tally.already_present,
        objects,
        duplicates: references.saturating_sub(objects),
        spellings: scaled(counts.texts.into(), scale),
        mean_multiplicity: ratio(references as f64, objects as f64),
        median_multiplicity: summary.median_multiplicity(),
        max_multiplicity: summary.max_multiplicity(),
        singleton_share: ratio(summary.singletons() as f64, summary.objects() as f64),
        unique_bytes: scaled(summary.unique_bytes(), scale),
        reference_bytes: scaled(summary.reference_bytes(), scale),
        sized_share: ratio(summary.sized_objects() as f64, summary.objects() as f64),
        sized_reference_share: ratio(summary.sized_references() as f64, summary.references() as f64),
        oracle_hit_rate,
        oracle_byte_hit_rate: summary.byte_ceiling(),
        histogram: summary.buckets().iter().map(|bucket| multiplicity(bucket, scale)).collect(),
        concentration: concentrations(&summary, scale),
        budgets: budgets(table, scale, oracle_hit_rate),
        sources: sources.report(options.sources, scale),
        concurrency: concurrency_lines(summary.buckets(), references, tasks, options, replayed.as_ref()),
        in_task_duplicates: match replayed {
            Some(replayed) => references - replayed.pairs,
            None => (concurrency::in_task_duplicates(summary.buckets(), tasks) * scale).round() as u64,
        },
        sample: sample.map(|sample| sample.report(&summary)),
        errors,
        unreadable,
        unwritten: counts.unwritten.as_ref().map(|error| format!("{error:#}")),
        spilled_bytes: counts.spilled_bytes,
        ..Report::default()
    }
}

/// What is estimated of a sample.
struct SampleScale {
    share: Share,
    estimates: Estimates,
}

impl SampleScale {
    fn new(summary: &Histogram, share: Share, references: u64) -> SampleScale {
        SampleScale { share, estimates: Estimates::new(summary, share.share, references) }
    }

    fn report(&self, summary: &Histogram) -> Sample {
        let Estimates { objects, ceiling, singleton_share, unique_bytes } = &self.estimates;
        Sample {
            share: self.share.share,
            objects_counted: summary.objects(),
            references_counted: summary.references(),
            objects: [objects.low, objects.high],
            oracle_hit_rate: [ceiling.low, ceiling.high],
            singleton_share: [singleton_share.low, singleton_share.high],
            unique_bytes: [unique_bytes.low, unique_bytes.high],
        }
    }
}

fn multiplicity(bucket: &Bucket, scale: f64) -> Multiplicity {
    Multiplicity {
        k: bucket.k,
        objects: scaled(bucket.objects.into(), scale),
        bytes: scaled(bucket.bytes, scale),
    }
}

fn concentrations(histogram: &Histogram, scale: f64) -> Vec<Concentration> {
    let hits = histogram.duplicates();
    let line = |object_share: f64| {
        let top = histogram.top(object_share);
        Concentration {
            object_share,
            objects: scaled(top.objects.into(), scale),
            hits: scaled(top.hits.into(), scale),
            hit_share: if hits == 0 { 0.0 } else { top.hits as f64 / hits as f64 },
        }
    };
    if histogram.buckets().is_empty() { Vec::new() } else { CONCENTRATIONS.map(line).to_vec() }
}

fn concurrency_lines(
    buckets: &[Bucket],
    references: u64,
    tasks: u64,
    options: &Options,
    replayed: Option<&ReplayOutcome>,
) -> Vec<Concurrency> {
    if references == 0 || tasks == 0 {
        return Vec::new();
    }
    let rate = |reads: u64| 1.0 - reads as f64 / references as f64;
    let line = |(nth, &workers): (usize, &u64)| {
        let share = options.sample.unwrap_or(Share::ALL).share;
        let expected = concurrency::expected(buckets, share, references, workers, tasks);
        let replayed = replayed.map(|replayed| replayed.reads[nth]).map(|reads| Replayed {
            hit_rate: rate(reads.source_reads),
            source_reads: reads.source_reads,
            deduplicated_hit_rate: rate(reads.deduplicated_source_reads),
            deduplicated_source_reads: reads.deduplicated_source_reads,
        });
        let (hit_rate, source_reads) = (expected.hit_rate, expected.source_reads);
        Concurrency { workers, tasks, hit_rate, source_reads, replayed }
    };
    options.workers.iter().enumerate().map(line).collect()
}

/// Cache sizes up to the smallest one that reaches `ceiling`, which is the last. Every object in
/// `table` stands for `scale` objects. Empty where no size is known, or nothing recurs.
fn budgets(table: &MultiplicityTable, scale: f64, ceiling: f64) -> Vec<OracleBudget> {
    let totals = table.totals();
    let (all, hits) = (totals.unique_bytes as f64 * scale, (totals.references - totals.objects) as f64);
    if all == 0.0 || hits == 0.0 {
        return Vec::new();
    }
    let enough = (totals.recurring.bytes as f64 * scale).max(1.0);
    let mut sizes = round_sizes(enough as u128, PARTS);
    sizes.retain(|size| (*size as f64) < enough);
    let mut counted: Vec<u64> = sizes.iter().map(|size| (*size as f64 / scale) as u64).collect();
    // Not by way of a float, lest the last object is missing.
    sizes.push(enough as u64);
    counted.push(u64::try_from(totals.recurring.bytes).unwrap_or(u64::MAX));
    let line = |(budget_bytes, admission): (u64, Admission)| OracleBudget {
        budget_bytes,
        byte_share: budget_bytes as f64 / all,
        // By way of the ceiling: in a sample that is a better estimate than the sample's own.
        hit_rate: ceiling * admission.admitted.hits as f64 / hits,
        byte_hit_rate: admission.admitted.hit_bytes as f64 / totals.reference_bytes as f64,
        objects: scaled(admission.admitted.objects.into(), scale),
    };
    let lines = sizes.into_iter().zip(admit(table, Policy::Density, &counted)).map(line);
    lines.skip_while(|line| line.hit_rate < FIRST_HITS * ceiling).collect()
}

/// The smallest size is about this part of the largest; much smaller caches hold hardly an object.
const PARTS: u32 = 10_000;

/// The first line is that of a cache that gives this share of the hits.
const FIRST_HITS: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::super::scan_summary::ScanSummary;
    use super::super::sources::SourceSums;
    use super::*;
    use crate::commands::references::Tally;
    use crate::fault;

    fn options(sample: Option<f64>) -> Options {
        Options {
            sample: sample.map(|share| Share { share }),
            sources: 10,
            workers: vec![1, 2, 100],
            tasks: Some(10),
            ..Options::counting(&[], None, 1, 1 << 30)
        }
    }

    /// What a scan leaves of objects with these references and sizes.
    fn counts(objects: &[(u64, Option<u64>)]) -> Counts {
        let mut table = MultiplicityTable::default();
        objects.iter().for_each(|(k, size)| table.push(*k, *size));
        table.settle();
        let mut found = ScanSummary::new(&options(None));
        found.tally = Tally { rows: 900, no_locator: 3, bad_rows: 2, ..Tally::default() };
        found.tally.bad_locators.insert(fault::FaultClass::BadLocator, 4);
        let tally = Tally { references: table.totals().references, ..Tally::default() };
        found.add_rows_of(0, &tally);
        Counts {
            table,
            sources: SourceSums::default(),
            texts: objects.len() as u64,
            spilled_bytes: 0,
            found,
            followed: None,
            replayed: None,
            unwritten: None,
        }
    }

    /// 1,200 objects; the n-th has n % 6 + 1 references.
    fn many() -> Counts {
        let objects: Vec<_> = (0..1_200).map(|n| (n % 6 + 1, (n % 4 > 0).then_some(1_000 + n))).collect();
        counts(&objects)
    }

    #[test]
    fn the_identities_hold_and_errors_have_their_classes() {
        let report = build_report(&many(), 7, Vec::new(), &options(None));
        assert_eq!((report.references, report.objects, report.duplicates), (4_200, 1_200, 3_000));
        assert_eq!((report.manifests, report.rows, report.no_locator, report.bad_locator), (7, 900, 3, 4));
        assert_eq!(report.errors, [("bad_row", 2), ("bad_locator", 4)].into());
        let lines = report.histogram.iter();
        assert_eq!(lines.clone().map(|line| line.objects).sum::<u64>(), report.objects);
        assert_eq!(lines.clone().map(|line| line.objects * line.k).sum::<u64>(), report.references);
        assert_eq!(lines.map(|line| line.bytes).sum::<u64>(), report.unique_bytes);
        assert_eq!(report.oracle_hit_rate, 1.0 - 1_200.0 / 4_200.0);
        assert_eq!((report.mean_multiplicity, report.max_multiplicity), (3.5, 6));
        assert_eq!((report.sized_share, report.singleton_share), (0.75, 1.0 / 6.0));
    }

    #[test]
    fn an_estimate_from_all_keys_is_the_exact_report() {
        let json = |sample: Option<f64>| {
            let mut report = build_report(&many(), 7, Vec::new(), &options(sample));
            let interval = report.sample.take();
            (serde_json::to_value(&report).unwrap(), interval)
        };
        let ((exact, none), (estimated, sample)) = (json(None), json(Some(1.0)));
        assert_eq!(none, None);
        assert_eq!(estimated, exact);
        let sample = sample.unwrap();
        assert_eq!((sample.objects, sample.objects_counted), ([1_200.0; 2], 1_200));
        assert_eq!((sample.share, sample.references_counted), (1.0, 4_200));
    }

    #[test]
    fn a_sample_is_scaled_up_and_its_intervals_hold_the_estimates() {
        let mut counts = many();
        // In all there are references to objects that the sample does not hold.
        counts.found.add_rows_of(1, &Tally { references: 12_600, ..Tally::default() });
        let report = build_report(&counts, 7, Vec::new(), &options(Some(0.25)));
        assert_eq!((report.references, report.objects, report.duplicates), (16_800, 4_800, 12_000));
        assert_eq!(report.histogram[0].objects, 800);
        assert_eq!(report.spellings, 4_800);
        assert!((report.oracle_hit_rate - (1.0 - 4_800.0 / 16_800.0)).abs() < 1e-12);
        let sample = report.sample.unwrap();
        for ([low, high], value) in [
            (sample.objects, report.objects as f64),
            (sample.oracle_hit_rate, report.oracle_hit_rate),
            (sample.singleton_share, report.singleton_share),
            (sample.unique_bytes, report.unique_bytes as f64),
        ] {
            assert!(low < value && value < high, "{low} {value} {high}");
        }
        // A quarter of the bytes was counted, and a budget is one of the whole corpus.
        let last = report.budgets.last().unwrap();
        assert_eq!(last.objects, 4 * 800);
        assert!(last.byte_share < 1.0 && last.byte_share > 0.8, "{last:?}");
    }

    #[test]
    fn without_references_nothing_is_divided_by_nothing() {
        for sample in [None, Some(0.5)] {
            let report = build_report(&counts(&[]), 0, Vec::new(), &options(sample));
            assert_eq!((report.objects, report.concurrency.len(), report.histogram.len()), (0, 0, 0));
            assert_eq!((report.oracle_hit_rate, report.mean_multiplicity), (0.0, 0.0));
            assert_eq!((report.singleton_share, report.oracle_byte_hit_rate), (0.0, None));
            let text = serde_json::to_string(&report).unwrap();
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }

    #[test]
    fn all_workers_at_once_reach_nothing_and_one_almost_the_ceiling() {
        let report = build_report(&many(), 3, Vec::new(), &options(None));
        let lines: Vec<_> = report.concurrency.iter().map(|line| (line.workers, line.tasks)).collect();
        assert_eq!(lines, [(1, 10), (2, 10), (100, 10)]);
        let rates: Vec<f64> = report.concurrency.iter().map(|line| line.hit_rate).collect();
        assert!(rates.is_sorted_by(|a, b| a > b) && rates[0] < report.oracle_hit_rate, "{rates:?}");
        assert_eq!((rates[2], report.concurrency[2].source_reads), (0.0, 4_200));
    }

    fn table_of(objects: impl IntoIterator<Item = (u64, Option<u64>)>) -> MultiplicityTable {
        let mut table = MultiplicityTable::default();
        objects.into_iter().for_each(|(k, size)| table.push(k, size));
        table.settle();
        table
    }

    #[test]
    fn sizes_ascend_to_the_smallest_cache_that_reaches_the_ceiling() {
        // The n-th object has n % 6 + 1 references; every fourth has no known size.
        let counted = table_of((0..1_200).map(|n| (n % 6 + 1, (n % 4 > 0).then_some(1_000 + n))));
        let ceiling = counted.histogram().ceiling();
        let found = budgets(&counted, 1.0, ceiling);
        assert!(found.len() > 8, "{found:?}");
        assert!(found.is_sorted_by(|a, b| a.budget_bytes < b.budget_bytes && a.hit_rate <= b.hit_rate));
        let recurring = |n: &u64| !n.is_multiple_of(6) && !n.is_multiple_of(4);
        let bytes: u64 = (0..1_200).filter(recurring).map(|n| 1_000 + n).sum();
        let hits: u64 = (0..1_200).filter(recurring).map(|n| n % 6).sum();
        let last = found.last().unwrap();
        assert_eq!((last.budget_bytes, last.objects), (bytes, (0..1_200).filter(recurring).count() as u64));
        assert_eq!(last.hit_rate, hits as f64 / 4_200.0);
        assert!((last.byte_hit_rate - counted.histogram().byte_ceiling().unwrap()).abs() < 1e-12);
        let least = FIRST_HITS * ceiling;
        assert!((least..2.0 * least).contains(&found[0].hit_rate), "{:?}", found[0]);
    }

    #[test]
    fn without_sizes_or_duplicates_there_are_no_budgets() {
        let none = |objects: &[(u64, Option<u64>)]| {
            let counted = table_of(objects.iter().copied());
            budgets(&counted, 1.0, counted.histogram().ceiling()).is_empty()
        };
        assert!(none(&[(3, None), (1, None)]));
        assert!(none(&[(1, Some(5)), (1, Some(7))]));
        assert!(none(&[(9, Some(0))]));
        assert!(none(&[]));
        assert!(!none(&[(2, Some(1))]));
    }
}
