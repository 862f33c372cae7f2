//! The first lines: references, objects, bytes, the ceiling.

use onepull::commands::size::Report;

use crate::cli::bytes::show;
use crate::cli::human::{count, percent, things};
use crate::cli::render::table::Table;
use crate::cli::render::{hit_rate, objects, part};

/// What the corpus holds; all there is to say where no cache gives a hit or no size is known.
pub fn corpus(t: &mut Table, r: &Report) {
    if r.references == 0 {
        t.row("references", "0".into(), "no row needs a payload: nothing to cache");
        without_locator(t, r);
        return;
    }
    let duplicates = things(r.references.saturating_sub(r.objects), "duplicate", "duplicates");
    t.row("references", count(r.references), format!("= {} + {duplicates}", objects(r.objects)));
    without_locator(t, r);
    if !has_duplicates(r) {
        bytes(t, r);
        t.row("ceiling", hit_rate(0.0), "no object recurs: no cache gives a hit");
        return;
    }
    let once = percent(part(r.singletons, r.objects));
    t.row("", once, "of the objects are referenced once, never admitted");
    bytes(t, r);
    t.row("ceiling", hit_rate(r.ceiling), "hit rate of a cache without bound");
    let all_sized = unsized_share(r) == 0.0;
    if let Some(rate) = r.byte_ceiling {
        t.row(
            "",
            hit_rate(rate),
            if all_sized { "of the bytes" } else { "of the bytes, where sizes are known" },
        );
    }
    if has_sizes(r) {
        let words =
            if all_sized { "is the smallest cache for it" } else { "hold all that recurs and has a size" };
        t.row("", show(r.ceiling_bytes), format!("{words}: {}", objects(r.ceiling_objects)));
    }
}

fn without_locator(t: &mut Table, r: &Report) {
    if r.no_locator > 0 {
        t.row("", count(r.no_locator), "image rows name no payload");
    }
}

pub fn has_duplicates(r: &Report) -> bool {
    r.references > r.objects
}

/// Whether any object has a size, known or assumed.
pub fn has_sizes(r: &Report) -> bool {
    r.sized_share + r.assumed_share > 0.0
}

/// The share of the objects without any size.
pub fn unsized_share(r: &Report) -> f64 {
    // The two shares may add up to a hair less than all.
    let share = 1.0 - r.sized_share - r.assumed_share;
    if share < 1e-12 { 0.0 } else { share }
}

fn bytes(t: &mut Table, r: &Report) {
    if !has_sizes(r) {
        let words = match super::from_table(r) || has_asked(r) {
            true => "no size is known; --assume-size SIZE gives one",
            false => "no size is known; --probe-sizes N asks for some, --assume-size SIZE gives one",
        };
        t.row("bytes", "unknown".into(), words);
        asked(t, r);
        return;
    }
    t.row("bytes", show(r.unique_bytes), format!("in objects, {} in references", show(r.reference_bytes)));
    asked(t, r);
    if r.assumed_share > 0.0 && r.probed_sizes.is_none() {
        t.row("", percent(r.assumed_share), "of the objects have an assumed size");
    }
    if unsized_share(r) > 0.0 {
        t.row(
            "",
            percent(unsized_share(r)),
            "of the objects have no known size and are left out; --assume-size SIZE counts them in",
        );
    }
}

/// What asking for sizes came to, if there were any to ask for.
fn asked(t: &mut Table, r: &Report) {
    let Some(of) = r.probed_sizes.filter(|of| of.asked > 0) else { return };
    let mut words = format!("of {}: ", things(of.unknown, "object without a size", "objects without a size"));
    let error = match of.standard_error {
        Some(error) => format!(" ± {}", show(error.round() as u64)),
        None => " (one answer)".to_owned(),
    };
    words += &match of.mean {
        None => "no source knows it".to_owned(),
        Some(mean) => format!(
            "the mean is {}{error}, assumed for {} of all objects",
            show(mean),
            percent(r.assumed_share)
        ),
    };
    if of.answered > 0 && of.failed > 0 {
        words += &format!("; {} did not answer", count(of.failed));
    }
    t.row("asked", count(of.asked), words);
}

fn has_asked(r: &Report) -> bool {
    r.probed_sizes.is_some_and(|of| of.asked > 0)
}
