//! The right panel: the hit rate of the best fixed choice of objects, over the size of the cache.
//!
//! Where no locator says a size, over the share of the objects that the cache holds.

use onepull::commands::analyze::{Multiplicity, Report};
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axis::{self, Axis};
use super::panel::{Paper, Words, panel, words};
use super::theme::{BACKGROUND, FIRST, INK, MUTED, SCALE, SECOND, font, line};
use crate::cli::human::percent;

/// Points of a curve that is computed here.
const POINTS: u32 = 160;

/// A curve with so few points shows where they are.
const FEW: usize = 12;

/// What the legend covers in the upper left corner, from the left and from the top.
const LEGEND_WIDTH: f64 = 0.5;
const LEGEND_DEPTH: f64 = 0.45;

type Point = (f64, f64);

pub fn draw(paper: &Paper<'_>, r: &Report) -> anyhow::Result<()> {
    if r.duplicates == 0 || r.histogram.is_empty() {
        return words(paper, "no object recurs: a cache gives no hits", &font(13, &MUTED));
    }
    if r.budgets.is_empty() { over_objects(paper, r) } else { over_bytes(paper, r) }
}

fn over_bytes(paper: &Paper<'_>, r: &Report) -> anyhow::Result<()> {
    let sizes = || r.budgets.iter().map(|budget| budget.budget_bytes.max(1) as f64);
    let x = Axis::log(sizes().fold(f64::MAX, f64::min), sizes().fold(1.0, f64::max), axis::bytes);
    let requests: Vec<Point> = sizes().zip(r.budgets.iter().map(|budget| budget.hit_rate)).collect();
    let bytes: Vec<Point> = sizes().zip(r.budgets.iter().map(|budget| budget.byte_hit_rate)).collect();
    let title = Words { title: "Hit rate by size of the cache", x: "cache size", y: "hit rate" };
    let curves = [(&requests[..], &FIRST, "of the references"), (&bytes[..], &SECOND, "of the bytes")];
    draw_curves(paper, &title, x, &curves, r.oracle_hit_rate)
}

fn over_objects(paper: &Paper<'_>, r: &Report) -> anyhow::Result<()> {
    let objects = r.histogram.iter().map(|of| of.objects).sum::<u64>() as f64;
    let references = r.histogram.iter().map(|of| of.objects * of.k).sum::<u64>() as f64;
    let rate = |share: f64| hits_of_top(&r.histogram, share * objects) / references;
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
    draw_curves(paper, &title, x, &[(&points, &FIRST, "of the references")], r.oracle_hit_rate)
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

type Curve<'c> = (&'c [Point], &'static RGBColor, &'static str);

fn draw_curves(
    paper: &Paper<'_>,
    title: &Words<'_>,
    x: Axis,
    curves: &[Curve<'_>],
    ceiling: f64,
) -> anyhow::Result<()> {
    let rates = curves.iter().flat_map(|(points, ..)| points.iter().map(|(_, rate)| *rate));
    let y = Axis::share(rates.fold(ceiling, f64::max));
    let ends = [(x.lowest(), ceiling), (x.highest(), ceiling)];
    let (dash, gap) = (6 * SCALE, 4 * SCALE);
    let corner = free_corner(&x, &y, curves);
    let mut panel = panel(paper, title, x, y)?;
    panel
        .draw_series(DashedLineSeries::new(ends, dash, gap, line(&MUTED, 1)))?
        .label(format!("ceiling {}", percent(ceiling)))
        .legend(move |at| DashedPathElement::new(sample_of_line(at), dash, gap, line(&MUTED, 1)));
    for (points, colour, name) in curves.iter().copied() {
        if points.len() <= FEW {
            panel.draw_series(points.iter().map(|point| Circle::new(*point, 3 * SCALE, colour.filled())))?;
        }
        panel
            .draw_series(LineSeries::new(points.iter().copied(), line(colour, 2)))?
            .label(name)
            .legend(move |at| PathElement::new(sample_of_line(at), line(colour, 2)));
    }
    panel
        .configure_series_labels()
        .position(corner)
        .legend_area_size(24 * SCALE)
        .margin(6 * SCALE)
        .background_style(BACKGROUND.mix(0.8).filled())
        .label_font(font(11, &INK))
        .draw()?;
    Ok(())
}

/// Curves only rise: above them at the left, below the ceiling, where they start low, else below
/// them at the right.
fn free_corner(x: &Axis, y: &Axis, curves: &[Curve<'_>]) -> SeriesLabelPosition {
    let left = |point: &&Point| point.0 <= x.at(LEGEND_WIDTH);
    let mut on_the_left = curves.iter().flat_map(|(points, ..)| points.iter().filter(left));
    if on_the_left.all(|(_, rate)| *rate < y.at(1.0 - LEGEND_DEPTH)) {
        SeriesLabelPosition::Coordinate(8 * SCALE as i32, 40 * SCALE as i32)
    } else {
        SeriesLabelPosition::LowerRight
    }
}

fn sample_of_line((x, y): (i32, i32)) -> Vec<(i32, i32)> {
    vec![(x, y), (x + 18 * SCALE as i32, y)]
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
