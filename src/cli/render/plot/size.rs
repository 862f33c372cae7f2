//! The report of `size` as a picture: the hit rate over the size of the cache, by count and by value
//! density, between LRU and what no policy passes.
//!
//! The budgets of the report are dots. Two caches of the same hit rate are joined by a line that
//! says how much larger one is.

use onepull::commands::size::{Equivalent, OrderKind, Point, Report};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{self, Axis};
use super::panel::{DASH, GAP, Key, Panel, Paper, Stroke, Words, legend, panel, words};
use super::theme::{BACKGROUND, FIRST, FOURTH, INK, MUTED, SCALE, SECOND, THIRD, font, line};
use super::{Form, Frame};
use crate::cli::bytes::show;
use crate::cli::human::{count, percent, things};
use crate::cli::render::{decimal, hit_rate, objects};

/// CSS pixels.
const HEIGHT: u32 = 460;

/// The text of the file.
pub fn draw(report: &Report, form: Form) -> anyhow::Result<String> {
    let frame = Frame {
        command: "size",
        heading: "How large a cache is worth buying",
        headline: headline(report),
        height: HEIGHT,
        numbers: numbers(report),
    };
    frame.around(form, |paper| curves(paper, report))
}

fn headline(r: &Report) -> String {
    match r.references {
        0 => "0 references".into(),
        n => {
            let corpus = format!("{} to {}", things(n, "reference", "references"), objects(r.objects));
            let reached = if r.ceiling_bytes > 0 {
                format!(", reached by {}", show(r.ceiling_bytes))
            } else {
                String::new()
            };
            format!("{corpus}, ceiling {}{reached}", percent(r.ceiling))
        }
    }
}

/// The numbers one looks for first.
fn numbers(r: &Report) -> Vec<(&'static str, String)> {
    let mut numbers = vec![("references", count(r.references)), ("objects", count(r.objects))];
    if r.references == 0 {
        return numbers;
    }
    if r.unique_bytes > 0 {
        numbers.push(("bytes in objects", show(r.unique_bytes)));
        numbers.push(("bytes in references", show(r.reference_bytes)));
    }
    numbers.push(("ceiling of the hit rate", percent(r.ceiling)));
    if r.ceiling_bytes > 0 {
        numbers.push(("smallest cache that reaches it", show(r.ceiling_bytes)));
    }
    if let Some(of) = told(r) {
        numbers.push(("hit rate compared", hit_rate(of.hit_rate)));
        numbers.push(("cache for it, by value density", show(of.density_bytes)));
        numbers.push(("cache for it, by count", show(of.count_bytes)));
    }
    numbers
}

fn curves(paper: &Paper<'_>, r: &Report) -> anyhow::Result<()> {
    // A logarithm has no place for an empty cache.
    let points: Vec<&Point> = r.curve.iter().filter(|point| point.bytes > 0).collect();
    let nothing = match r.references {
        0 => Some("no references, nothing to draw"),
        n if n == r.objects => Some("no object recurs: a cache gives no hits"),
        _ if points.is_empty() => Some("no size is known: there is no curve over sizes"),
        _ => None,
    };
    if let Some(sentence) = nothing {
        return words(paper, sentence, &font(13, &MUTED));
    }
    let (lru, any_policy) = match r.order.of {
        OrderKind::Manifests => ("LRU, manifest order", "any policy, bound, manifest order"),
        OrderKind::Random => ("LRU, random order", "any policy, bound, random order"),
    };
    let all = [
        Curve { name: "by value density", colour: &FIRST, stroke: Stroke::Whole, rate: |of| of.density },
        Curve { name: "by count", colour: &SECOND, stroke: Stroke::Whole, rate: |of| of.count },
        Curve { name: lru, colour: &THIRD, stroke: Stroke::Whole, rate: |of| of.lru },
        Curve { name: any_policy, colour: &FOURTH, stroke: Stroke::Dashed, rate: |of| of.any_policy_bound },
    ];
    let (x, y) = axes(&points, &all, r);
    let (left, right) = (x.lowest(), x.highest());
    let title = Words { title: "Hit rate by size of the cache", x: "cache size", y: "hit rate" };
    let mut panel = panel(paper, &title, x, y)?;
    let ceiling = [(left, r.ceiling), (right, r.ceiling)];
    panel.draw_series(DashedLineSeries::new(ceiling, DASH, GAP, line(&MUTED, 1)))?;
    // The curves that decide are drawn last, above the others.
    for curve in all.iter().rev() {
        let points = points.iter().map(|point| (point.bytes as f64, (curve.rate)(point)));
        match curve.stroke {
            Stroke::Whole => {
                panel.draw_series(LineSeries::new(points, line(curve.colour, 2)))?;
            }
            Stroke::Dashed => {
                panel.draw_series(DashedLineSeries::new(points, DASH, GAP, line(curve.colour, 1)))?;
            }
        }
    }
    budgets(&mut panel, r)?;
    if let Some(pair) = told(r) {
        equal(&mut panel, pair, (left, right))?;
    }
    legend(paper, &keys(&all, r))
}

struct Curve {
    name: &'static str,
    colour: &'static RGBColor,
    stroke: Stroke,
    rate: fn(&Point) -> f64,
}

fn axes(points: &[&Point], curves: &[Curve], r: &Report) -> (Axis, Axis) {
    let marked = r.budgets.iter().map(|budget| budget.budget);
    let compared = told(r).into_iter().flat_map(|of| [of.density_bytes, of.count_bytes]);
    let sizes = points.iter().map(|point| point.bytes).chain(marked).chain(compared);
    let sizes: Vec<f64> = sizes.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64).collect();
    let x = Axis::wide_log(
        sizes.iter().copied().fold(f64::MAX, f64::min),
        sizes.iter().copied().fold(1.0, f64::max),
        axis::bytes,
    );
    let rates = points.iter().flat_map(|point| curves.iter().map(|curve| (curve.rate)(point)));
    (x, Axis::share(rates.fold(r.ceiling, f64::max)))
}

/// What the budgets reach, as dots.
fn budgets(panel: &mut Panel<'_, '_>, r: &Report) -> anyhow::Result<()> {
    for budget in r.budgets.iter().filter(|budget| budget.budget > 0) {
        let of = &budget.policies;
        for (rate, colour) in [(of.count.hit_rate, &SECOND), (of.density.hit_rate, &FIRST)] {
            let dot = Circle::new((budget.budget as f64, rate), 3 * SCALE, colour.filled());
            panel.draw_series([dot])?;
        }
    }
    Ok(())
}

/// Two caches of one hit rate, and how much larger the one by count is. `ends` are those of the
/// axis.
fn equal(panel: &mut Panel<'_, '_>, of: &Equivalent, ends: (f64, f64)) -> anyhow::Result<()> {
    let [small, large] = [of.density_bytes, of.count_bytes].map(|bytes| (bytes as f64, of.hit_rate));
    panel.draw_series(LineSeries::new([small, large], line(&INK, 1)))?;
    for end in [small, large] {
        panel.draw_series([Circle::new(end, 5 * SCALE, BACKGROUND.filled())])?;
        panel.draw_series([Circle::new(end, 5 * SCALE, line(&INK, 1))])?;
    }
    let words = format!("{} times as large", decimal(of.times, 2));
    let (x, y) = (10 * SCALE as i32, 6 * SCALE as i32);
    // Curves rise: there is room below the right end, and where that is at the edge, above the left.
    let at_edge = (large.0 / ends.0).ln() > 0.75 * (ends.1 / ends.0).ln();
    let (end, offset, side) =
        if at_edge { (small, (-x, -y), HPos::Right) } else { (large, (x, y), HPos::Left) };
    let style = font(12, &INK).pos(Pos::new(side, VPos::Center));
    panel.draw_series([EmptyElement::at(end) + Text::new(words, offset, style)])?;
    Ok(())
}

/// The pair that is drawn: the one closest to the knee, or else in the middle. A pair of a size
/// tells nothing.
fn told(r: &Report) -> Option<&Equivalent> {
    let pairs: Vec<&Equivalent> =
        r.equivalents.iter().filter(|of| of.density_bytes > 0 && of.count_bytes > of.density_bytes).collect();
    let distance = |of: &Equivalent, bytes: u64| (of.density_bytes as f64 / bytes as f64).ln().abs();
    match r.knee_bytes.filter(|bytes| *bytes > 0) {
        Some(knee) => pairs.into_iter().min_by(|a, b| distance(a, knee).total_cmp(&distance(b, knee))),
        None => pairs.get(pairs.len() / 2).copied(),
    }
}

fn keys(curves: &[Curve], r: &Report) -> Vec<Key> {
    let key = |of: &Curve| Key { name: of.name.into(), colour: of.colour, stroke: of.stroke };
    let ceiling =
        Key { name: format!("ceiling {}", percent(r.ceiling)), colour: &MUTED, stroke: Stroke::Dashed };
    curves.iter().map(key).chain([ceiling]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::plot::is_plot;
    use crate::cli::render::size::samples::report;

    #[test]
    fn every_curve_has_its_name_and_the_equal_pair_its_factor() {
        let svg = draw(&report(), Form::Svg).unwrap();
        for words in [
            "1,582,193,028 references to 355,970,000 objects, ceiling 77.5 %, reached by 30.3 TB",
            "by value density",
            "by count",
            "LRU",
            "any policy, bound",
            "ceiling 77.5 %",
            "2.21 times as large",
            "10 TB",
        ] {
            assert!(svg.contains(words), "{words}\nis not in\n{svg}");
        }
        assert!(is_plot(svg.as_bytes()) && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn dots_are_the_budgets_that_were_asked_for() {
        let dots = |r: &Report| draw(r, Form::Svg).unwrap().matches("<circle").count();
        let all = report();
        let without = Report { equivalents: vec![], ..all.clone() };
        assert_eq!(dots(&without), 2 * all.budgets.len());
        assert_eq!(dots(&Report { budgets: vec![], ..without }), 0);
        // Each end of the pair is a disk and its edge.
        assert_eq!(dots(&all), 2 * all.budgets.len() + 4);
    }

    #[test]
    fn a_page_holds_the_picture_and_the_numbers() {
        let html = draw(&report(), Form::Html).unwrap();
        assert!(html.contains("<title>onepull size</title>") && is_plot(html.as_bytes()));
        assert!(html.contains("<th>cache for it, by count</th><td>4.4 TB</td>"), "{html}");
    }

    #[test]
    fn the_pair_closest_to_the_knee_is_told() {
        let pair =
            |density_bytes, count_bytes| Equivalent { density_bytes, hit_rate: 0.1, count_bytes, times: 1.0 };
        let mut report = Report {
            equivalents: vec![
                pair(0, 5),
                pair(10, 30),
                pair(100, 300),
                pair(1_000, 3_000),
                pair(9_000, 9_000),
            ],
            knee_bytes: Some(60),
            ..report()
        };
        assert_eq!(told(&report).unwrap().density_bytes, 100);
        report.knee_bytes = Some(9_000);
        assert_eq!(told(&report).unwrap().density_bytes, 1_000);
        report.knee_bytes = None;
        assert_eq!(told(&report).unwrap().density_bytes, 100);
    }

    #[test]
    fn the_factor_stands_where_there_is_room() {
        let mut report = report();
        let anchor = |r: &Report| {
            let svg = draw(r, Form::Svg).unwrap();
            let (before, _) = svg.split_once("times as large").expect("the factor is there");
            let text = &before[before.rfind("<text").expect("it is a text")..];
            text.contains("text-anchor=\"start\"")
        };
        assert!(anchor(&report));
        report.equivalents[0].count_bytes = 30_000_000_000_000;
        assert!(!anchor(&report));
    }

    #[test]
    fn where_there_is_no_curve_a_sentence_says_why() {
        for (report, sentence) in [
            (Report::default(), "nothing to draw"),
            (Report { references: 5, objects: 5, ..Report::default() }, "no object recurs"),
            (Report { references: 5, objects: 4, ..Report::default() }, "no size is known"),
        ] {
            let svg = draw(&report, Form::Svg).unwrap();
            assert!(svg.contains(sentence) && !svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn an_empty_cache_and_a_single_point_can_be_drawn() {
        let mut report = report();
        let point =
            |bytes, rate| Point { bytes, count: rate, density: rate, lru: rate, any_policy_bound: rate };
        report.budgets.truncate(1);
        report.budgets[0].budget = 0;
        report.equivalents.clear();
        report.curve = vec![point(0, 0.0), point(7, 0.2)];
        let svg = draw(&report, Form::Svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("<circle"), "{svg}");
    }
}
