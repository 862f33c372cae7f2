//! From counts to the report.

use std::collections::BTreeMap;

use super::options::{Options, Share};
use super::report::*;
use super::scan::Found;
use super::tally::Tally;
use super::{Counts, placement};
use crate::analysis::estimate::Estimates;
use crate::analysis::{Class, Summary, concentration, concurrency};
use crate::commands::Unreadable;
use crate::fault::Class as FaultClass;

/// Shares of the objects whose hits are reported.
const CONCENTRATIONS: [f64; 3] = [0.001, 0.01, 0.1];

/// All of the report that counts can tell; payloads, advice and times are the caller's.
pub fn report(counts: &Counts, manifests: u64, unreadable: Vec<Unreadable>, options: &Options) -> Report {
    let Counts { summary, sources, totals, found, placed } = counts;
    let Found { tally, framed, .. } = found;
    let sample = options.sample.map(|share| Scale::of(summary, share, tally.references));
    let scale = sample.as_ref().map_or(1.0, |sample| 1.0 / sample.share.share);
    let objects = match &sample {
        Some(sample) => sample.estimates.objects.value.round() as u64,
        None => summary.objects(),
    };
    let oracle_hit_rate = sample.as_ref().map_or(summary.ceiling(), |sample| sample.estimates.ceiling.value);
    let references = tally.references;
    let classes = summary.histogram();
    let tasks = options.tasks.unwrap_or(manifests);
    let (listed_sources, other_sources) = sources.report(options.sources, scale);
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    Report {
        manifests,
        rows: tally.rows,
        rows_by_modality: tally.modalities.clone().into_map(),
        references,
        no_locator: tally.no_locator,
        bad_locator: tally.bad_locator(),
        already_present: tally.already_present,
        objects,
        duplicates: references.saturating_sub(objects),
        spellings: scaled(totals.spellings.into(), scale),
        framed_references: *framed,
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
        histogram: classes.iter().map(|class| multiplicity(class, scale)).collect(),
        concentration: concentrations(&classes, summary.duplicates(), scale),
        budgets: budgets(summary, scale, oracle_hit_rate),
        sources: listed_sources,
        other_sources,
        concurrency: concurrency_lines(&classes, references, tasks, options, placed.as_ref()),
        in_task_duplicates: match placed {
            Some(placed) => references - placed.pairs,
            None => (concurrency::in_task_duplicates(&classes, tasks) * scale).round() as u64,
        },
        sample: sample.map(|sample| sample.report(summary)),
        errors: errors(tally),
        unreadable,
        spilled_bytes: totals.spilled_bytes,
        ..Report::default()
    }
}

/// What is estimated of a sample.
struct Scale {
    share: Share,
    estimates: Estimates,
}

impl Scale {
    fn of(summary: &Summary, share: Share, references: u64) -> Scale {
        Scale { share, estimates: Estimates::new(summary, share.share, references) }
    }

    fn report(&self, summary: &Summary) -> Sample {
        let Estimates { objects, ceiling, singleton_share, unique_bytes } = &self.estimates;
        Sample {
            share: self.share.share,
            seed: self.share.seed,
            objects_counted: summary.objects(),
            references_counted: summary.references(),
            objects: [objects.low, objects.high],
            oracle_hit_rate: [ceiling.low, ceiling.high],
            singleton_share: [singleton_share.low, singleton_share.high],
            unique_bytes: [unique_bytes.low, unique_bytes.high],
        }
    }
}

fn scaled(n: u128, scale: f64) -> u64 {
    if scale == 1.0 { u64::try_from(n).unwrap_or(u64::MAX) } else { (n as f64 * scale).round() as u64 }
}

fn multiplicity(class: &Class, scale: f64) -> Multiplicity {
    Multiplicity {
        k: class.k,
        objects: scaled(class.objects.into(), scale),
        bytes: scaled(class.bytes, scale),
    }
}

fn concentrations(classes: &[Class], hits: u64, scale: f64) -> Vec<Concentration> {
    let line = |object_share: f64| {
        let top = concentration::top(classes, object_share);
        Concentration {
            object_share,
            objects: scaled(top.objects.into(), scale),
            hits: scaled(top.hits.into(), scale),
            hit_share: if hits == 0 { 0.0 } else { top.hits as f64 / hits as f64 },
        }
    };
    if classes.is_empty() { Vec::new() } else { CONCENTRATIONS.map(line).to_vec() }
}

/// Steps of a ladder of round sizes; the finer ones make a curve.
const STEPS: [f64; 10] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// The ladder begins where a cache gives this share of the hits.
const FIRST_HITS: f64 = 0.02;

/// A ladder of cache sizes up to the smallest one that reaches `ceiling`, which ends it.
fn budgets(summary: &Summary, scale: f64, ceiling: f64) -> Vec<Budget> {
    let (all, hits) = (summary.unique_bytes() as f64 * scale, summary.duplicates() as f64);
    if all == 0.0 || hits == 0.0 {
        return Vec::new();
    }
    let line = |budget: f64| {
        let counted = (budget / scale).min(u64::MAX as f64) as u64;
        let admitted = summary.admitted(counted);
        Budget {
            budget_bytes: budget as u64,
            byte_share: budget / all,
            // By way of the ceiling: in a sample that is a better estimate than the sample's own.
            hit_rate: ceiling * admitted.hits as f64 / hits,
            byte_hit_rate: admitted.hit_bytes as f64 / summary.reference_bytes() as f64,
            objects: scaled(admitted.objects.into(), scale),
        }
    };
    let enough = (summary.admitted(u64::MAX).bytes as f64 * scale).max(1.0);
    let steps =
        (0..=enough.log10().ceil() as i32).flat_map(|decade| STEPS.map(|step| step * 10f64.powi(decade)));
    let lines = steps.filter(|budget| *budget < enough).map(line);
    let lines = lines.skip_while(|line| line.hit_rate < FIRST_HITS * ceiling);
    lines.chain([line(enough)]).collect()
}

fn concurrency_lines(
    classes: &[Class],
    references: u64,
    tasks: u64,
    options: &Options,
    placed: Option<&placement::Outcome>,
) -> Vec<Concurrency> {
    if references == 0 || tasks == 0 {
        return Vec::new();
    }
    let rate = |reads: u64| 1.0 - reads as f64 / references as f64;
    let line = |(nth, &workers): (usize, &u64)| {
        let expected = match options.sample {
            Some(share) => concurrency::estimated(classes, share.share, references, workers, tasks),
            None => concurrency::expected(classes, workers, tasks),
        };
        let replayed = placed.map(|placed| placed.reads[nth]).map(|reads| Replayed {
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

fn errors(tally: &Tally) -> BTreeMap<&'static str, u64> {
    let bad_rows = (FaultClass::BadRow, tally.bad_rows);
    let locators = tally.bad_locators.iter().map(|(class, count)| (*class, *count));
    locators
        .chain([bad_rows])
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| (class.name(), count))
        .collect()
}
