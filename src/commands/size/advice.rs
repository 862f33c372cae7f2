//! What the numbers mean for somebody who thinks of buying a cache, in plain sentences.

use super::report::Report;

/// The sentences that apply.
pub fn advice(report: &Report) -> Vec<String> {
    let mut advice = Vec::new();
    if report.references == 0 {
        return advice;
    }
    if report.ceiling == 0.0 {
        advice.push("no object is referenced twice: no cache of any size can help this corpus".into());
        return advice;
    }
    let unknown = 1.0 - report.sized_share - report.assumed_share;
    if unknown > 1e-9 {
        advice.push(format!(
            "{:.2} % of the objects do not say their size and are never admitted; --assume-size SIZE takes them for \
             objects of that size",
            100.0 * unknown
        ));
    }
    advice
}
