//! The report of `analyze` as text: what the corpus holds, how its references recur, what a cache
//! could make of that, and what the run found out beside.
//!
//! Numbers that rest on a sample carry a `~`. A section that has nothing to say is left out.

mod concurrency;
mod found;
mod head;
mod tables;
#[cfg(test)]
mod tests;

use onepull::commands::analyze::Report;

use super::grid::Grid;
use super::table::Table;
use super::wrap::wrap;
use super::{MARGIN, NARROWEST, WIDEST};
use crate::cli::human::printable;
use crate::cli::shared::Detail;

/// The text for a terminal of `columns` columns; every budget has its line if the detail is full.
pub fn report(r: &Report, detail: Detail, columns: usize) -> String {
    let width = columns.saturating_sub(MARGIN).clamp(NARROWEST, WIDEST);
    let mut t = Table::default();
    head::rows(&mut t, r);
    if r.references > 0 {
        head::redundancy(&mut t, r);
        for table in [
            tables::histogram(r, width),
            tables::budgets(r, detail, width),
            concurrency::table(r, width),
            tables::sources(r, width),
        ]
        .into_iter()
        .flatten()
        {
            t.gap();
            t.block(table);
        }
    }
    found::all(&mut t, r);
    for advice in &r.advice {
        t.note(format!("note: {}", printable(advice)));
    }
    t.text_within(width)
}

/// Marks what rests on a sample.
fn about(r: &Report, number: String) -> String {
    if r.sample.is_some() { format!("~{number}") } else { number }
}

/// A table below its title.
fn titled(title: &str, grid: &Grid, width: usize) -> String {
    lines(title, width) + &grid.text(width)
}

/// The lines of a text that is wrapped, each with its end.
fn lines(text: &str, width: usize) -> String {
    wrap(text, width).into_iter().map(|line| line + "\n").collect()
}

/// 0 of nothing.
fn part(n: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { n as f64 / all as f64 }
}
