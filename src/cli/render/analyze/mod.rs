//! The report of `analyze` as text: what the corpus holds, how often it repeats its images, what a
//! cache could make of that, and what else the run found.
//!
//! Numbers that rest on a sample carry a `~`. A section that has nothing to say is left out.

mod tables;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use onepull::commands::analyze::{ContentComparison, Report, Sample, Timings};
use onepull::commands::format::{
    byte_rate, bytes, count, decimal, hit_rate, latency, objects, percent, printable, rate, things,
};

use super::table::ReportText;
use super::{advice, and, image_rows, problems, time};
use crate::cli::args::Detail;
use tables::about;

/// The text, `width` columns wide; every budget has its line if the detail is full.
pub fn report(r: &Report, detail: Detail, width: usize) -> String {
    let mut page = ReportText::default();
    corpus(&mut page, r);
    if r.references > 0 {
        redundancy(&mut page, r);
        let tables = [
            tables::histogram(r, width),
            tables::budgets(r, detail, width),
            tables::concurrency(r, width),
            tables::sources(r, width),
        ];
        tables.into_iter().flatten().for_each(|table| page.table(table));
    }
    findings(&mut page, r);
    advice(&mut page, &r.advice);
    page.text(width)
}

/// What the manifests hold; all there is to say about a corpus without references.
fn corpus(page: &mut ReportText, r: &Report) {
    page.row("rows", count(r.rows), format!("in {}", things(r.manifests, "manifest", "manifests")));
    let mut modalities: Vec<_> = r.rows_by_modality.iter().filter(|(_, rows)| **rows > 0).collect();
    modalities.sort_by_key(|(_, rows)| Reverse(**rows));
    for (modality, rows) in modalities {
        page.row("", count(*rows), *modality);
    }
    image_rows(page, r.references, r.no_locator, r.bad_locator, r.already_present);
    if r.references == 0 {
        page.row("references", "0", "no row needs an image, so there is nothing to fetch");
    }
}

/// How the references share objects, and what that allows a cache at best.
fn redundancy(page: &mut ReportText, r: &Report) {
    let duplicates = about(r, things(r.duplicates, "duplicate", "duplicates"));
    page.row("references", count(r.references), format!("= {} + {duplicates}", about(r, objects(r.objects))));
    if let Some(sample) = &r.sample {
        counted(page, r, sample);
    }
    page.row("spellings", about(r, count(r.spellings)), "distinct locators as written");
    // The largest count of a sample is a lower bound, not an estimate.
    let more = if r.sample.is_some() { "+" } else { "" };
    let (median, largest) = (about(r, count(r.median_multiplicity)), count(r.max_multiplicity));
    page.row(
        "multiplicity",
        about(r, decimal(r.mean_multiplicity, 3)),
        format!("references per object; median {median}, largest {largest}{more}"),
    );
    page.row("", about(r, percent(r.singleton_share)), "of the objects are referenced once");
    sizes(page, r);
    page.row("ceiling", about(r, hit_rate(r.oracle_hit_rate)), "hit rate if every object is read once");
    if let Some(rate) = r.oracle_byte_hit_rate {
        let words = if r.sized_share < 1.0 { "of the bytes, where sizes are known" } else { "of the bytes" };
        page.row("", about(r, hit_rate(rate)), words);
    }
    concentration(page, r);
}

fn counted(page: &mut ReportText, r: &Report, sample: &Sample) {
    let references = things(sample.references_counted, "reference", "references");
    page.row(
        "sample",
        share(sample.share),
        format!("of the objects are counted: {}, {references}", objects(sample.objects_counted)),
    );
    let between = |[low, high]: [f64; 2], text: fn(f64) -> String| format!("{} to {}", text(low), text(high));
    page.more("~ marks estimates; with 95 % confidence:");
    page.more(format!("  objects  {}", between(sample.objects, |n| count(n.round() as u64))));
    page.more(format!("  ceiling  {}", between(sample.oracle_hit_rate, hit_rate)));
    page.more(format!("  once     {}", between(sample.singleton_share, percent)));
    if r.unique_bytes > 0 {
        page.more(format!("  bytes    {}", between(sample.unique_bytes, |n| bytes(n.round() as u64))));
    }
}

/// `1/180`, or a percentage where the share is no such fraction.
fn share(share: f64) -> String {
    let parts = 1.0 / share;
    let whole = (parts - parts.round()).abs() < 1e-6 * parts;
    if whole { format!("1/{}", count(parts.round() as u64)) } else { percent(share) }
}

fn sizes(page: &mut ReportText, r: &Report) {
    if r.sized_share == 0.0 {
        return page.row("bytes", "unknown", "no locator gives a size");
    }
    let known = match r.sized_share < 1.0 {
        true => format!(
            "; sizes are known for {} of the objects, {} of the references",
            percent(r.sized_share),
            percent(r.sized_reference_share)
        ),
        false => String::new(),
    };
    let references = about(r, bytes(r.reference_bytes));
    let words = format!("in objects, {references} in references{known}");
    page.row("bytes", about(r, bytes(r.unique_bytes)), words);
}

fn concentration(page: &mut ReportText, r: &Report) {
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
        // Not the share that was asked for, which is no whole number of a few objects.
        let share = percent(of.objects as f64 / r.objects as f64);
        page.row(label, share, format!("{} {gives} {hits} of the hits", about(r, objects(of.objects))));
        label = "";
    }
}

/// Images that were compared or timed, what could not be read, and the time.
fn findings(page: &mut ReportText, r: &Report) {
    let has_images = r.content.is_some() || r.timing.is_some();
    if has_images || !r.errors.is_empty() || !r.unreadable.is_empty() {
        page.gap();
    }
    if let Some(of) = &r.content {
        content(page, of);
    }
    if let Some(of) = &r.timing {
        timing(page, of);
    }
    problems(page, &r.errors, &r.unreadable);
    page.gap();
    if r.spilled_bytes > 0 {
        page.row("spilled", bytes(r.spilled_bytes), "went through temporary files");
    }
    let s = &r.seconds;
    let grouped = r.sample.as_ref().map_or(r.references, |sample| sample.references_counted);
    let mut phases = vec![
        ("scan", s.scan, rate(r.rows, s.scan, "rows"), None),
        ("group", s.group, rate(grouped, s.group, "references"), None),
    ];
    if has_images {
        let read = r.content.as_ref().map_or(0, |of| of.bytes) + r.timing.as_ref().map_or(0, |of| of.bytes);
        phases.push(("fetch", s.fetch, byte_rate(read, s.fetch), None));
    }
    time(page, s.total, &phases);
}

fn content(page: &mut ReportText, of: &ContentComparison) {
    let compared = of.objects.saturating_sub(of.failed);
    let unread = and(of.failed, "could not be read");
    let equal = match of.equal {
        0 => "none has".into(),
        n => format!("{} have", count(n)),
    };
    let words = match compared {
        0 => format!("objects compared{unread}"),
        1 => format!("object, {}: nothing to compare it with{unread}", bytes(of.bytes)),
        _ => format!("objects compared, {}: {equal} the bytes of another one{unread}", bytes(of.bytes)),
    };
    page.row("content", count(compared), words);
    for [one, other] in &of.examples {
        page.more(printable(one));
        page.more(format!("= {}", printable(other)));
    }
}

fn timing(page: &mut ReportText, of: &Timings) {
    let unread = and(of.failed, "could not be read");
    if of.objects == 0 {
        return page.row("timing", "0", format!("objects timed{unread}"));
    }
    let words = format!(
        "{}, {}: source {}, put {}, hit {} each; {}{unread}",
        if of.objects == 1 { "object" } else { "objects" },
        bytes(of.bytes),
        latency(of.source),
        latency(of.put),
        latency(of.hit),
        if of.cache_pays { "a cache pays" } else { "a cache costs more than it saves" },
    );
    page.row("timing", count(of.objects), words);
}
