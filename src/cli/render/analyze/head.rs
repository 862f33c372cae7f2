//! The first lines: rows, references, objects, multiplicities, bytes, the ceiling, the sample.

use std::cmp::Reverse;

use onepull::commands::analyze::{Report, Sample};

use super::about;
use crate::cli::bytes::show;
use crate::cli::human::{count, percent, things};
use crate::cli::render::table::Table;
use crate::cli::render::{decimal, hit_rate, image_rows, objects};

/// What the manifests hold; all there is to say about a corpus without references.
pub fn rows(t: &mut Table, r: &Report) {
    t.row("rows", count(r.rows), format!("in {}", things(r.manifests, "manifest", "manifests")));
    let mut modalities: Vec<_> = r.rows_by_modality.iter().collect();
    modalities.sort_by_key(|(_, rows)| Reverse(**rows));
    for (modality, rows) in modalities {
        t.row("", count(*rows), *modality);
    }
    image_rows(t, "", r.references, r.no_locator, r.bad_locator, r.already_present);
    if r.references == 0 {
        t.row("references", "0".into(), "no row needs a payload: nothing to fetch or to cache");
    }
}

/// How the references share objects, and what that allows a cache at best.
pub fn redundancy(t: &mut Table, r: &Report) {
    let duplicates = about(r, things(r.duplicates, "duplicate", "duplicates"));
    t.row("references", count(r.references), format!("= {} + {duplicates}", about(r, objects(r.objects))));
    if let Some(sample) = &r.sample {
        counted(t, r, sample);
    }
    t.row("spellings", about(r, count(r.spellings)), "distinct locator texts");
    t.row("multiplicity", about(r, decimal(r.mean_multiplicity, 3)), multiplicity(r));
    t.row("", about(r, percent(r.singleton_share)), "of the objects are referenced once");
    bytes(t, r);
    t.row("ceiling", about(r, hit_rate(r.oracle_hit_rate)), "hit rate if every object is read once");
    if let Some(rate) = r.oracle_byte_hit_rate {
        let words = if r.sized_share < 1.0 { "of the bytes, where sizes are known" } else { "of the bytes" };
        t.row("", about(r, hit_rate(rate)), words);
    }
    concentration(t, r);
}

fn counted(t: &mut Table, r: &Report, sample: &Sample) {
    t.row(
        "sample",
        share(sample.share),
        format!(
            "of the keys: {}, {}",
            objects(sample.objects_counted),
            things(sample.references_counted, "reference", "references"),
        ),
    );
    let between = |[low, high]: [f64; 2], text: fn(f64) -> String| format!("{} to {}", text(low), text(high));
    let whole = |n: f64| count(n.round() as u64);
    t.more("~ marks estimates; intervals of 95 %:");
    t.more(format!("  objects  {}", between(sample.objects, whole)));
    t.more(format!("  ceiling  {}", between(sample.oracle_hit_rate, hit_rate)));
    t.more(format!("  once     {}", between(sample.singleton_share, percent)));
    if r.unique_bytes > 0 {
        t.more(format!("  bytes    {}", between(sample.unique_bytes, |bytes| show(bytes.round() as u64))));
    }
}

/// `1/180`, or a percentage where the share is no such fraction.
fn share(share: f64) -> String {
    let parts = 1.0 / share;
    let whole = (parts - parts.round()).abs() < 1e-6 * parts;
    if whole { format!("1/{}", count(parts.round() as u64)) } else { percent(share) }
}

fn multiplicity(r: &Report) -> String {
    // The largest count of a sample is a lower bound, not an estimate.
    let more = if r.sample.is_some() { "+" } else { "" };
    let (median, largest) = (about(r, count(r.median_multiplicity)), count(r.max_multiplicity));
    format!("references per object; median {median}, largest {largest}{more}")
}

fn bytes(t: &mut Table, r: &Report) {
    if r.sized_share == 0.0 {
        t.row("bytes", "unknown".into(), "no locator says a size");
        return;
    }
    let references = about(r, show(r.reference_bytes));
    let known = if r.sized_share < 1.0 {
        format!(
            "; sizes known of {} of the objects, {} of the references",
            percent(r.sized_share),
            percent(r.sized_reference_share)
        )
    } else {
        String::new()
    };
    t.row("bytes", about(r, show(r.unique_bytes)), format!("in objects, {references} in references{known}"));
}

fn concentration(t: &mut Table, r: &Report) {
    if r.duplicates == 0 {
        return;
    }
    let mut label = "top objects";
    // In a small corpus the first shares are the same few objects.
    let mut shown = r.concentration.clone();
    shown.dedup_by_key(|of| of.objects);
    for of in &shown {
        let gives = if of.objects == 1 { "gives" } else { "give" };
        let hits = about(r, percent(of.hit_share));
        // Not the share that was asked for, which of a few objects is no whole number of them.
        let share = percent(of.objects as f64 / r.objects as f64);
        t.row(label, share, format!("{} {gives} {hits} of the hits", about(r, objects(of.objects))));
        label = "";
    }
}
