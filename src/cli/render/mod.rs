//! Reports as text: aligned columns, human units, and the identities that the numbers keep.
//!
//! One module per command, and one for plots; here is what their reports share. The same numbers as
//! in the JSON, and pure, so that a layout is tested as a string.

pub mod analyze;
mod classes;
mod grid;
pub mod materialize;
pub mod plot;
mod table;
mod wrap;

use std::collections::BTreeMap;

use onepull::commands::Unreadable;

use super::human::{count, printable, seconds, things};
use table::Table;

/// Says nothing where every image row without payload is a reference.
fn image_rows(t: &mut Table, references: u64, no_locator: u64, bad_locator: u64, present: u64) {
    if no_locator + bad_locator + present > 0 {
        t.row(
            "image rows",
            count(references + no_locator + bad_locator + present),
            format!(
                "   = {}{}{}{}",
                things(references, "reference", "references"),
                term(no_locator, "without locator"),
                term(bad_locator, "with a bad locator"),
                term(present, "with their payload already"),
            ),
        );
    }
}

fn errors(t: &mut Table, errors: &BTreeMap<&'static str, u64>) {
    let mut classes: Vec<_> = errors.iter().filter(|(_, n)| **n > 0).collect();
    classes.sort_by_key(|(class, n)| (std::cmp::Reverse(**n), **class));
    let total: u64 = errors.values().sum();
    t.list("errors", count(total), classes.iter().map(|(class, n)| format!("{} {class}", count(**n))));
}

fn unreadable(t: &mut Table, manifests: &[Unreadable]) {
    let lines = manifests.iter().map(|m| printable(&format!("{}: {}", m.path, m.error)).into_owned());
    t.list("unreadable", count(manifests.len() as u64), lines);
}

/// A phase's name, its seconds, and up to two rates.
type PhaseTime = (&'static str, f64, Option<String>, Option<String>);

fn time(t: &mut Table, total: f64, phases: &[PhaseTime]) {
    let width = phases.iter().map(|(_, s, ..)| seconds(*s).len()).max().unwrap_or(0);
    let lines = phases.iter().map(|(name, s, first, second)| {
        let mut line = format!("{name:<5}  {:>width$}", seconds(*s));
        for rate in [first, second].into_iter().flatten() {
            line += &format!("  {rate}");
        }
        line
    });
    t.list("time", seconds(total), lines);
}

fn objects(n: u64) -> String {
    things(n, "object", "objects")
}

fn ratio(value: f64) -> String {
    format!("{value:.6}")
}

/// ` + 12 what`, or nothing for zero: a summand that is usually absent.
fn term(n: u64, what: &str) -> String {
    if n == 0 { String::new() } else { format!(" + {} {what}", count(n)) }
}

/// `, 12 what`, or nothing for zero.
fn and(n: u64, what: &str) -> String {
    if n == 0 { String::new() } else { format!(", {} {what}", count(n)) }
}
