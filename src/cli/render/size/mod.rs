//! The report of `size` as text: the answers first (what a cache can reach, the smallest one that
//! reaches it, where a larger one stops paying), then hit rates and savings by size of the cache.
//!
//! A section that has nothing to say is left out.

#[cfg(test)]
pub mod samples;
mod tables;
#[cfg(test)]
mod tests;

use onepull::commands::format::{bytes, count, decimal, hit_rate, latency, objects, percent, rate, things};
use onepull::commands::size::{Equivalent, HitRateTarget, Objective, Report};

use super::table::ReportText;
use super::{advice, part, problems, time};
use crate::cli::args::Detail;

/// The text, `width` columns wide. `objective` is the one that was asked for.
pub fn report(r: &Report, objective: &Objective, detail: Detail, width: usize) -> String {
    let mut page = ReportText::default();
    corpus(&mut page, r);
    if has_duplicates(r) && has_sizes(r) {
        answers(&mut page, r, objective, detail);
        let tables = [
            tables::hit_rates(r, width),
            tables::savings(r, objective, width),
            (detail == Detail::Full).then(|| tables::certificates(r, width)).flatten(),
        ];
        tables.into_iter().flatten().for_each(|table| page.table(table));
        tables::files(r).into_iter().for_each(|note| page.note(note));
    }
    if !r.errors.is_empty() || !r.unreadable.is_empty() {
        page.gap();
    }
    problems(&mut page, &r.errors, &r.unreadable);
    page.gap();
    phases(&mut page, r);
    advice(&mut page, &r.advice);
    page.text(width)
}

fn phases(page: &mut ReportText, r: &Report) {
    let s = &r.seconds;
    let mut phases = match from_table(r) {
        true => vec![("read", s.read, rate(r.objects, s.read, "objects"), None)],
        false => vec![
            ("scan", s.scan, None, None),
            ("group", s.group, rate(r.references, s.group, "references"), None),
        ],
    };
    if let Some(of) = r.probed_sizes.filter(|of| of.asked > 0) {
        phases.push(("fetch", s.fetch, rate(of.asked, s.fetch, "sizes"), None));
    }
    phases.push(("size", s.size, None, None));
    time(page, s.total, &phases);
}

/// Whether counts come from a saved table, not from manifests.
fn from_table(r: &Report) -> bool {
    r.seconds.read > 0.0
}

fn has_duplicates(r: &Report) -> bool {
    r.references > r.objects
}

/// Whether any object has a size, known or assumed.
fn has_sizes(r: &Report) -> bool {
    r.sized_share + r.assumed_share > 0.0
}

/// The share of the objects without any size.
fn unsized_share(r: &Report) -> f64 {
    // The two shares may add up to a hair less than all.
    let share = 1.0 - r.sized_share - r.assumed_share;
    if share < 1e-12 { 0.0 } else { share }
}

/// What the corpus holds; all there is to say where no cache gives a hit or no size is known.
fn corpus(page: &mut ReportText, r: &Report) {
    if r.references == 0 {
        page.row("references", "0", "no row needs an image, so there is nothing to cache");
        return without_locator(page, r);
    }
    let duplicates = things(r.references.saturating_sub(r.objects), "duplicate", "duplicates");
    page.row("references", count(r.references), format!("= {} + {duplicates}", objects(r.objects)));
    without_locator(page, r);
    if !has_duplicates(r) {
        sizes(page, r);
        return page.row("ceiling", hit_rate(0.0), "no object repeats: no cache gives a hit");
    }
    let once = percent(part(r.singletons, r.objects));
    page.row("", once, "of objects are referenced once and never admitted");
    sizes(page, r);
    page.row("ceiling", hit_rate(r.ceiling), "hit rate of an unlimited cache");
    let all_sized = unsized_share(r) == 0.0;
    if let Some(rate) = r.byte_ceiling {
        let words = if all_sized { "of the bytes" } else { "of the bytes, where sizes are known" };
        page.row("", hit_rate(rate), words);
    }
    if has_sizes(r) {
        let words = match all_sized {
            true => "is the smallest such cache",
            false => "holds all that repeats and has a known size",
        };
        page.row("", bytes(r.ceiling_bytes), format!("{words}: {}", objects(r.ceiling_objects)));
    }
}

fn without_locator(page: &mut ReportText, r: &Report) {
    if r.no_locator > 0 {
        page.row("", count(r.no_locator), "image rows have no locator");
    }
}

fn sizes(page: &mut ReportText, r: &Report) {
    let has_asked = r.probed_sizes.is_some_and(|of| of.asked > 0);
    if !has_sizes(r) {
        let words = match from_table(r) || has_asked {
            true => "no size is known; try --assume-size SIZE",
            false => "no size is known; try --probe-sizes N or --assume-size SIZE",
        };
        page.row("bytes", "unknown", words);
        return asked(page, r);
    }
    page.row(
        "bytes",
        bytes(r.unique_bytes),
        format!("in objects, {} in references", bytes(r.reference_bytes)),
    );
    asked(page, r);
    if r.assumed_share > 0.0 && r.probed_sizes.is_none() {
        page.row("", percent(r.assumed_share), "of the objects have an assumed size");
    }
    if unsized_share(r) > 0.0 {
        let words = "of the objects have no known size and are left out; --assume-size SIZE includes them";
        page.row("", percent(unsized_share(r)), words);
    }
}

/// What asking for sizes came to, if there were any to ask for.
fn asked(page: &mut ReportText, r: &Report) {
    let Some(of) = r.probed_sizes.filter(|of| of.asked > 0) else { return };
    let mut words =
        format!("of {}: ", things(of.unknown, "object of unknown size", "objects of unknown size"));
    let error = match of.standard_error {
        Some(error) => format!(" +/- {}", bytes(error.round() as u64)),
        None => " (one answer)".to_owned(),
    };
    words += &match of.mean {
        None => "no source knows it".to_owned(),
        Some(mean) => {
            let assumed = percent(r.assumed_share);
            format!("the mean is {}{error}, assumed for {assumed} of all objects", bytes(mean))
        }
    };
    if of.answered > 0 && of.failed > 0 {
        words += &format!("; {} did not answer", count(of.failed));
    }
    page.row("asked", count(of.asked), words);
}

/// What one asks before buying: which cache for which hit rate, and where a larger one stops paying.
fn answers(page: &mut ReportText, r: &Report, objective: &Objective, detail: Detail) {
    page.gap();
    let mut label = "target";
    for of in &r.targets {
        page.row(label, hit_rate(of.hit_rate), target(of, r));
        label = "";
    }
    let mut label = "equal";
    for of in chosen(&r.equivalents, detail) {
        let Equivalent { density_bytes, hit_rate: rate, count_bytes, times } = *of;
        let words = format!(
            "by density reaches {}; by count that takes {}, {} times as much",
            hit_rate(rate),
            bytes(count_bytes),
            decimal(times, 2)
        );
        page.row(label, bytes(density_bytes), words);
        label = "";
    }
    if let Some(knee) = r.knee_bytes {
        page.row(
            "knee",
            bytes(knee),
            "by density; beyond it, one more byte gives less than the average byte",
        );
    }
    if let Some(cost) = r.cost_without_cache {
        page.row(
            "cost",
            tables::amount(objective, cost),
            format!("without a cache, at {}", costs(objective)),
        );
    }
    match r.worthwhile_bytes {
        Some(size) => {
            page.row("worthwhile", bytes(size), "up to here, one more GB saves more than it costs");
        }
        // Without a cost every object that repeats is worth its place.
        None if storing_costs(objective) => {
            page.row("worthwhile", "none", "a cache of any size costs more than it saves");
        }
        None => {}
    }
    if let Some(of) = &r.break_even {
        page.row("break-even", latency(of.storing_all), "per object: a cache pays if the source is slower");
        page.row("", latency(of.storing_repeated), "per object, if only objects that repeat are stored");
    }
}

fn target(of: &HitRateTarget, r: &Report) -> String {
    match (of.density_bytes, of.count_bytes) {
        (Some(density), Some(count)) => {
            let simple = format!("hit rate takes {} by density, {} by count", bytes(density), bytes(count));
            match of.objective_bytes {
                _ if r.cost_without_cache.is_none() => simple,
                Some(own) => format!("{simple}, {} by {}", bytes(own), r.objective),
                None => format!(
                    "{simple}; by {} it is out of reach: too few objects are worth more than they cost",
                    r.objective
                ),
            }
        }
        _ if of.hit_rate <= r.ceiling && unsized_share(r) > 0.0 => {
            "hit rate is out of reach without the objects of unknown size".into()
        }
        _ => "hit rate is above the ceiling".into(),
    }
}

/// So many sentences of one kind are enough, unless all are asked for.
const EQUIVALENTS: usize = 3;

/// All of a few; of many some that lie evenly between the first and the last.
fn chosen(all: &[Equivalent], detail: Detail) -> Vec<&Equivalent> {
    if detail == Detail::Full || all.len() <= EQUIVALENTS {
        return all.iter().collect();
    }
    (0..EQUIVALENTS).map(|nth| &all[nth * (all.len() - 1) / (EQUIVALENTS - 1)]).collect()
}

/// The costs that were counted with.
fn costs(objective: &Objective) -> String {
    match *objective {
        Objective::Requests | Objective::Bytes => String::new(),
        Objective::Seconds { latency: first_byte, bandwidth, hit_cost, put_cost } => format!(
            "latency {}, bandwidth {}/s, hit {}, put {}",
            latency(first_byte),
            bytes(bandwidth.round() as u64),
            latency(hit_cost),
            latency(put_cost)
        ),
        Objective::Dollars { price_get, egress, price_storage, months } => format!(
            "${price_get} per 1000 GETs, ${egress} per GB read; cache ${price_storage} per GB-month for \
             {months} {}",
            if months == 1.0 { "month" } else { "months" }
        ),
    }
}

fn storing_costs(objective: &Objective) -> bool {
    match *objective {
        Objective::Requests | Objective::Bytes => false,
        Objective::Seconds { put_cost, hit_cost, .. } => put_cost + hit_cost > 0.0,
        Objective::Dollars { price_storage, .. } => price_storage > 0.0,
    }
}
