//! The report of `size` as text: the answers first (what a cache can reach, the smallest one that
//! reaches it, where a larger one stops paying), then hit rates and savings by size of the cache.
//!
//! A section that has nothing to say is left out.

mod answers;
mod head;
#[cfg(test)]
pub mod samples;
mod savings;
mod tables;
#[cfg(test)]
mod tests;

use onepull::commands::size::{Objective, Report};

use super::table::Table;
use super::{MARGIN, NARROWEST, WIDEST, errors, time, unreadable};
use crate::cli::human::{printable, rate};
use crate::cli::shared::Detail;

/// The text for a terminal of `columns` columns. `objective` is the one that was asked for.
pub fn report(r: &Report, objective: &Objective, detail: Detail, columns: usize) -> String {
    let width = columns.saturating_sub(MARGIN).clamp(NARROWEST, WIDEST);
    let mut t = Table::default();
    head::corpus(&mut t, r);
    if head::has_duplicates(r) && head::has_sizes(r) {
        answers::all(&mut t, r, objective, detail);
        let tables = [
            tables::hit_rates(r, width),
            savings::table(r, objective, width),
            (detail == Detail::Full).then(|| tables::certificates(r, width)).flatten(),
        ];
        for table in tables.into_iter().flatten() {
            t.gap();
            t.block(table);
        }
        if let Some(note) = tables::files(r) {
            t.note(note);
        }
    }
    run(&mut t, r);
    for advice in &r.advice {
        t.note(format!("note: {}", printable(advice)));
    }
    t.text_within(width)
}

/// What could not be read, and the time.
fn run(t: &mut Table, r: &Report) {
    if !r.errors.is_empty() || !r.unreadable.is_empty() {
        t.gap();
    }
    errors(t, &r.errors);
    unreadable(t, &r.unreadable);
    t.gap();
    let s = &r.seconds;
    let speed = |n, seconds, unit| rate(n, seconds, unit).filter(|_| n > 0);
    let mut phases = match from_table(r) {
        true => vec![("read", s.read, speed(r.objects, s.read, "objects"), None)],
        false => vec![
            ("scan", s.scan, None, None),
            ("group", s.group, speed(r.references, s.group, "references"), None),
        ],
    };
    if let Some(of) = r.probed_sizes.filter(|of| of.asked > 0) {
        phases.push(("fetch", s.fetch, speed(of.asked, s.fetch, "sizes"), None));
    }
    phases.push(("size", s.size, None, None));
    time(t, s.total, &phases);
}

/// Whether counts come from a saved table, not from manifests.
fn from_table(r: &Report) -> bool {
    r.seconds.read > 0.0
}

/// Whether the objective counts costs: only then there are savings in its unit.
fn has_costs(objective: &Objective) -> bool {
    matches!(objective, Objective::Seconds { .. } | Objective::Dollars { .. })
}
