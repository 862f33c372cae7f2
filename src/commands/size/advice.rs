//! What the numbers mean for somebody who thinks of buying a cache, in plain sentences.

use super::options::Origin;
use super::report::Report;
use crate::commands::format::count;

/// From here on the error of a sample is worth a sentence.
const NOTABLE_ERROR: f64 = 0.02;

/// The sentences that apply.
pub fn advice(report: &Report, origin: &Origin) -> Vec<String> {
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
        let percent = 100.0 * unknown;
        let asked = report.probed_sizes.map_or(0, |probed| probed.asked);
        // Saved counts hold no locators to ask.
        let ask = match origin {
            Origin::Manifests(_) => ", --probe-sizes N asks the sources of N of them",
            Origin::Table(_) => "",
        };
        advice.push(match asked {
            0 => format!(
                "{percent:.2} % of the objects have no known size and are never admitted; --assume-size SIZE \
                 gives them one{ask}"
            ),
            _ => format!(
                "no source knows a size ({} were asked), so the {percent:.2} % of the objects without one are never \
                 admitted; --assume-size SIZE gives them one",
                count(asked)
            ),
        });
    }
    if report.order.error > NOTABLE_ERROR {
        advice.push(format!(
            "a few objects have so many of the references that LRU and any policy, estimated from 1 in {:.0} \
             objects, may be off by {:.0} % of what they say",
            1.0 / report.order.share,
            100.0 * report.order.error
        ));
    }
    advice
}
