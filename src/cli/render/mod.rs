//! Reports as text: aligned columns, human units, and the identities that the numbers keep.
//!
//! One file per command, and one for plots; here is what their reports share. The numbers are those
//! of the JSON, and everything is pure, so that a layout is tested as a string.

pub mod analyze;
pub mod materialize;
pub mod plot;
pub mod size;
mod table;

use std::collections::BTreeMap;

use onepull::commands::Unreadable;
use onepull::commands::analyze::Multiplicity;
use onepull::commands::format::{count, printable, seconds, things};

use table::ReportText;

/// How image rows without bytes come about; nothing where all of them are references.
fn image_rows(page: &mut ReportText, references: u64, no_locator: u64, bad_locator: u64, present: u64) {
    if no_locator + bad_locator + present > 0 {
        page.row(
            "image rows",
            count(references + no_locator + bad_locator + present),
            format!(
                "= {}{}{}{}",
                things(references, "reference", "references"),
                term(no_locator, "without a locator"),
                term(bad_locator, "with a bad locator"),
                term(present, "with their image already"),
            ),
        );
    }
}

/// What went wrong: errors by class, and manifests that could not be read.
fn problems(page: &mut ReportText, errors: &BTreeMap<&'static str, u64>, unreadable: &[Unreadable]) {
    let mut classes: Vec<_> = errors.iter().filter(|(_, n)| **n > 0).collect();
    classes.sort_by_key(|(class, n)| (std::cmp::Reverse(**n), **class));
    let total: u64 = errors.values().sum();
    page.list("errors", count(total), classes.iter().map(|(class, n)| format!("{} {class}", count(**n))));
    let lines = unreadable.iter().map(|m| printable(&format!("{}: {}", m.path, m.error)).into_owned());
    page.list("unreadable", count(unreadable.len() as u64), lines);
}

/// A phase: its name, its seconds, and up to two rates.
type PhaseTime = (&'static str, f64, Option<String>, Option<String>);

fn time(page: &mut ReportText, total: f64, phases: &[PhaseTime]) {
    let width = phases.iter().map(|(_, s, ..)| seconds(*s).len()).max().unwrap_or(0);
    let lines = phases.iter().map(|(name, s, first, second)| {
        let rates = [first, second].into_iter().flatten().map(|rate| format!("  {rate}"));
        format!("{name:<5}  {:>width$}{}", seconds(*s), rates.collect::<String>())
    });
    page.list("time", seconds(total), lines);
}

fn advice(page: &mut ReportText, advice: &[String]) {
    advice.iter().for_each(|sentence| page.note(printable(sentence)));
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

/// The objects with `low` to `high` references each: a power of two, up to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MultiplicityClass {
    low: u64,
    high: u64,
    objects: u64,
    references: u64,
    /// References beyond the first of each object.
    hits: u64,
}

impl MultiplicityClass {
    /// `1`, `2-3`, `1,024-2,047`.
    fn label(&self) -> String {
        if self.low == self.high {
            count(self.low)
        } else {
            format!("{}-{}", count(self.low), count(self.high))
        }
    }
}

/// All classes from 1 to the last that holds an object, empty ones included.
fn classes(histogram: &[Multiplicity]) -> Vec<MultiplicityClass> {
    let mut classes: Vec<MultiplicityClass> = Vec::new();
    for of in histogram.iter().filter(|of| of.k > 0 && of.objects > 0) {
        let class = of.k.ilog2() as usize;
        while classes.len() <= class {
            let low = 1 << classes.len();
            let high = low + (low - 1);
            classes.push(MultiplicityClass { low, high, objects: 0, references: 0, hits: 0 });
        }
        classes[class].objects += of.objects;
        classes[class].references += of.objects * of.k;
        classes[class].hits += of.objects * (of.k - 1);
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_add_up_and_keep_their_gaps() {
        let of = |k, objects| Multiplicity { k, objects, bytes: 0 };
        let classes = classes(&[of(1, 5), of(2, 2), of(3, 1), of(9, 1)]);
        let labels: Vec<_> = classes.iter().map(MultiplicityClass::label).collect();
        assert_eq!(labels, ["1", "2-3", "4-7", "8-15"]);
        let numbers: Vec<_> = classes.iter().map(|c| (c.objects, c.references, c.hits)).collect();
        assert_eq!(numbers, [(5, 5, 0), (3, 7, 4), (0, 0, 0), (1, 9, 8)]);
        assert_eq!(super::classes(&[]), []);
    }
}
