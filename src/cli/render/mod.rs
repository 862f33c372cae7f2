//! Reports as text: aligned columns, human units, and the identities that the numbers keep.
//!
//! One module per command, and one for plots; here is what their reports share. The same numbers as
//! in the JSON, and pure, so that a layout is tested as a string.

pub mod analyze;
mod classes;
mod grid;
pub mod materialize;
pub mod plot;
pub mod size;
mod table;
mod wrap;

use std::collections::BTreeMap;

use onepull::commands::Unreadable;

use super::human::{count, printable, seconds, things};
use table::Table;

/// Left free at the right edge: some terminals break a line that fills them.
const MARGIN: usize = 2;

/// Narrower is not readable, wider not either.
const NARROWEST: usize = 60;
const WIDEST: usize = 160;

/// Says nothing where every image row without payload is a reference. The sum starts below that of
/// the other lines, `indent` away from the numbers.
fn image_rows(t: &mut Table, indent: &str, references: u64, no_locator: u64, bad_locator: u64, present: u64) {
    if no_locator + bad_locator + present > 0 {
        t.row(
            "image rows",
            count(references + no_locator + bad_locator + present),
            format!(
                "{indent}= {}{}{}{}",
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

/// `71.07 %`: a hit rate; what is almost none or almost all is not rounded to it.
fn hit_rate(value: f64) -> String {
    match value * 100.0 {
        p if p > 0.0 && p < 0.005 => "<0.01 %".into(),
        p if (99.995..100.0).contains(&p) => ">99.99 %".into(),
        p => format!("{p:.2} %"),
    }
}

/// `4.43`, `1,668.00`: a factor or a mean.
fn decimal(value: f64, decimals: usize) -> String {
    let digits = format!("{value:.decimals$}");
    match digits.split_once('.') {
        Some((whole, rest)) => whole.parse().map_or(digits.clone(), |n| format!("{}.{rest}", count(n))),
        None => digits,
    }
}

fn part(n: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { n as f64 / all as f64 }
}

/// ` + 12 what`, or nothing for zero: a summand that is usually absent.
fn term(n: u64, what: &str) -> String {
    if n == 0 { String::new() } else { format!(" + {} {what}", count(n)) }
}

/// `, 12 what`, or nothing for zero.
fn and(n: u64, what: &str) -> String {
    if n == 0 { String::new() } else { format!(", {} {what}", count(n)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_rates_are_not_rounded_to_nothing_or_all() {
        for (value, text) in [
            (0.0, "0.00 %"),
            (0.000_04, "<0.01 %"),
            (0.710_685, "71.07 %"),
            (0.999_94, "99.99 %"),
            (0.999_96, ">99.99 %"),
            (1.0, "100.00 %"),
        ] {
            assert_eq!(hit_rate(value), text);
        }
    }

    #[test]
    fn factors_have_thousands_separators() {
        assert_eq!(decimal(1.998_002, 3), "1.998");
        assert_eq!(decimal(1_668.0, 2), "1,668.00");
    }
}
