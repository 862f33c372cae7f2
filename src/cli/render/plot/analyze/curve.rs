//! The right panel: the hit rate of the best fixed choice of objects, over the size of the cache.
//!
//! Where no locator says a size, over the share of the objects that the cache holds.

use onepull::commands::analyze::{Multiplicity, Report};
use plotters::prelude::*;

use crate::cli::human::percent;
use crate::cli::render::plot::axis::{self, Axis};
use crate::cli::render::plot::panel::{DASH, GAP, Key, Paper, Stroke, Words, legend, panel, words};
use crate::cli::render::plot::theme::{FIRST, MUTED, SCALE, SECOND, font, line};

/// Points of a curve that is computed here.
const POINTS: u32 = 160;

/// A curve with so few points shows where they are.
const FEW: usize = 12;

type Point = (f64, f64);

pub fn draw(paper: &Paper<'_>, r: &Report) -> anyhow::Result<()> {
    // Also where a sample has only such objects: there is no curve to scale then.
    if r.histogram.iter().all(|of| of.k <= 1) {
        return words(paper, "no object recurs: a cache gives no hits", &font(13, &MUTED));
    }
    if r.budgets.is_empty() { over_objects(paper, r) } else { over_bytes(paper, r) }
}

fn over_bytes(paper: &Paper<'_>, r: &Report) -> anyhow::Result<()> {
    let sizes = || r.budgets.iter().map(|budget| budget.budget_bytes.max(1) as f64);
    let x = Axis::log(sizes().fold(f64::MAX, f64::min), sizes().fold(1.0, f64::max), axis::bytes);
    let requests: Vec<Point> = sizes().zip(r.budgets.iter().map(|budget| budget.hit_rate)).collect();
    let bytes: Vec<Point> = sizes().zip(r.budgets.iter().map(|budget| budget.byte_hit_rate)).collect();
    let x_words = if r.sized_share < 1.0 { "cache size (for objects of known size)" } else { "cache size" };
    let title = Words { title: "Hit rate by size of the cache", x: x_words, y: "hit rate" };
    let curves = [
        Curve { name: "of references", colour: &FIRST, points: &requests, ceiling: Some(r.oracle_hit_rate) },
        Curve { name: "of bytes", colour: &SECOND, points: &bytes, ceiling: r.oracle_byte_hit_rate },
    ];
    draw_curves(paper, &title, x, &curves, r)
}

fn over_objects(paper: &Paper<'_>, r: &Report) -> anyhow::Result<()> {
    let objects = r.histogram.iter().map(|of| of.objects).sum::<u64>() as f64;
    // Shares of all hits, times the ceiling: also where a sample was counted, whose references are
    // not exactly its share of all of them, the curve ends at the ceiling.
    let all_hits = hits_of_top(&r.histogram, objects);
    let rate = |share: f64| hits_of_top(&r.histogram, share * objects) / all_hits * r.oracle_hit_rate;
    // Further left there is nothing to see.
    let decades = (1..).map(|exponent| 10f64.powi(-exponent));
    let first = decades.take_while(|share| share * objects > 1.0).find(|share| rate(*share) < 0.01);
    let x = Axis::log(first.unwrap_or(1.0 / objects), 1.0, axis::share);
    let points: Vec<Point> = (0..=POINTS)
        .map(|n| x.at(f64::from(n) / f64::from(POINTS)))
        .map(|share| (share, rate(share)))
        .collect();
    let title = Words {
        title: "Hit rate by objects in the cache",
        x: "share of the objects, most referenced first",
        y: "hit rate",
    };
    let ceiling = Some(r.oracle_hit_rate);
    let curve = Curve { name: "of references", colour: &FIRST, points: &points, ceiling };
    draw_curves(paper, &title, x, &[curve], r)
}

/// The hits of the `objects` most referenced objects.
fn hits_of_top(histogram: &[Multiplicity], objects: f64) -> f64 {
    let (mut left, mut hits) = (objects, 0.0);
    for of in histogram.iter().rev() {
        let taken = left.min(of.objects as f64);
        hits += taken * (of.k - 1) as f64;
        left -= taken;
    }
    hits
}

struct Curve<'c> {
    name: &'static str,
    colour: &'static RGBColor,
    points: &'c [Point],
    /// What it cannot pass; `None` where that is not known.
    ceiling: Option<f64>,
}

fn draw_curves(
    paper: &Paper<'_>,
    title: &Words<'_>,
    x: Axis,
    curves: &[Curve<'_>],
    r: &Report,
) -> anyhow::Result<()> {
    let rates = curves.iter().flat_map(|curve| curve.points.iter().map(|(_, rate)| *rate));
    let ceilings = curves.iter().filter_map(|curve| curve.ceiling);
    let y = Axis::share(rates.chain(ceilings).fold(0.0, f64::max));
    let (left, right) = (x.lowest(), x.highest());
    let mut panel = panel(paper, title, x, y)?;
    for curve in curves {
        let ceiling = curve.ceiling.iter().flat_map(|rate| [(left, *rate), (right, *rate)]);
        panel.draw_series(DashedLineSeries::new(ceiling, DASH, GAP, line(curve.colour, 1)))?;
        let points = curve.points.iter().copied();
        if points.len() <= FEW {
            let dot = |point| Circle::new(point, 3 * SCALE, curve.colour.filled());
            panel.draw_series(points.clone().map(dot))?;
        }
        panel.draw_series(LineSeries::new(points, line(curve.colour, 2)))?;
    }
    legend(paper, &keys(curves, r))
}

fn keys(curves: &[Curve<'_>], r: &Report) -> Vec<Key> {
    let key = |of: &Curve<'_>| Key { name: of.name.into(), colour: of.colour, stroke: Stroke::Whole };
    let mut keys: Vec<Key> = curves.iter().map(key).collect();
    let about = if r.sample.is_some() { "~" } else { "" };
    let name = match curves {
        [_] => format!("ceiling {about}{}", percent(r.oracle_hit_rate)),
        _ => "their ceilings".into(),
    };
    keys.push(Key { name, colour: &MUTED, stroke: Stroke::Dashed });
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_referenced_come_first() {
        let of = |k, objects| Multiplicity { k, objects, bytes: 0 };
        let histogram = [of(1, 10), of(3, 2), of(11, 1)];
        let hits: Vec<f64> = [0.5, 1.0, 2.0, 3.0, 13.0].map(|n| hits_of_top(&histogram, n)).to_vec();
        assert_eq!(hits, [5.0, 10.0, 12.0, 14.0, 14.0]);
    }
}
