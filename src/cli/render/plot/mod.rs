//! Reports as pictures: one SVG that stands alone and follows the viewer's light or dark theme.

mod axis;
#[cfg(test)]
mod tests;

use std::ops::Range;

use onepull::commands::analyze::{OracleBudget, Report as Analysis};
use onepull::commands::format::{objects, percent, things};
use onepull::commands::size::{OrderKind, Point, Report as Sizing};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::classes;
use axis::{Axis, Label, count_label, share_label, size_label};

/// CSS pixels, and units of drawing in one of them: the backend knows whole units only.
const WIDTH: u32 = 800;
const HEIGHT: u32 = 420;
const HEADLINE: u32 = 36;
const LEFT: u32 = 66;
const SCALE: u32 = 4;

/// A colour, and what it becomes in a dark theme.
type Colour = (RGBColor, &'static str);

const BACKGROUND: Colour = (RGBColor(0xFF, 0xFF, 0xFF), "#0D1117");
const INK: Colour = (RGBColor(0x1F, 0x23, 0x28), "#E6EDF3");
const MUTED: Colour = (RGBColor(0x57, 0x60, 0x6A), "#9DA7B3");
const FAINT: Colour = (RGBColor(0xD8, 0xDE, 0xE4), "#30363D");
const BLUE: Colour = (RGBColor(0x09, 0x69, 0xDA), "#539BF5");
const ORANGE: Colour = (RGBColor(0xBC, 0x4C, 0x00), "#E0823D");
const GREEN: Colour = (RGBColor(0x1A, 0x7F, 0x37), "#3FB950");
const VIOLET: Colour = (RGBColor(0x82, 0x50, 0xDF), "#A371F7");
const COLOURS: [Colour; 8] = [BACKGROUND, INK, MUTED, FAINT, BLUE, ORANGE, GREEN, VIOLET];

/// The histogram of an analysis, and the hit rate for each cache size; where no locator gives a
/// size, for each share of the objects.
pub fn analyze(r: &Analysis) -> anyhow::Result<String> {
    // A sample may hold no object that repeats, although the corpus does.
    let repeats = r.histogram.iter().any(|of| of.k > 1);
    let panels = match r.references {
        0 => vec![Err("no references: nothing to draw")],
        _ if !repeats => vec![Ok(histogram(r)), Err("no object repeats: a cache gives no hits")],
        _ => vec![Ok(histogram(r)), Ok(if r.budgets.is_empty() { by_objects(r) } else { by_bytes(r) })],
    };
    let about = if r.sample.is_some() { "~" } else { "" };
    picture(&headline(r.references, r.objects, r.oracle_hit_rate, about), &panels)
}

/// The hit rate for each cache size, by count and by value density, with LRU and what no policy
/// can pass.
pub fn size(r: &Sizing) -> anyhow::Result<String> {
    // A logarithm has no place for an empty cache.
    let points: Vec<&Point> = r.curve.iter().filter(|point| point.bytes > 0).collect();
    let panel = match r.references {
        0 => Err("no references: nothing to draw"),
        n if n == r.objects => Err("no object repeats: a cache gives no hits"),
        _ if points.is_empty() => Err("no size is known: there is no curve over sizes"),
        _ => Ok(by_policy(r, &points)),
    };
    picture(&headline(r.references, r.objects, r.ceiling, ""), &[panel])
}

fn headline(references: u64, n: u64, ceiling: f64, about: &str) -> String {
    let references = things(references, "reference", "references");
    format!("{references} to {about}{}, ceiling {about}{}", objects(n), percent(ceiling))
}

/// Objects by multiplicity, in power-of-two classes; one object has a bar, too.
fn histogram(r: &Analysis) -> Panel {
    let classes = classes(&r.histogram);
    let most = classes.iter().map(|class| class.objects).max().unwrap_or(1) as f64;
    let last = classes.last().map_or(1.0, |class| class.high as f64 + 1.0);
    // Edges are apart by a factor: the same gap at every bar.
    let bars = classes.iter().filter(|class| class.objects > 0).map(|class| {
        ((class.low as f64 - 0.5) * 1.04..(class.high as f64 + 0.5) / 1.04, class.objects as f64)
    });
    let objects = if r.sample.is_some() { "objects (estimated)" } else { "objects" };
    let x = Axis::log("references per object", 0.51..last.max(12.0), count_label);
    let y = Axis::log(objects, 0.51..(most * 2.0).max(12.0), count_label);
    Panel { title: "Objects by multiplicity", x, y, bars: bars.collect(), curves: Vec::new() }
}

fn by_bytes(r: &Analysis) -> Panel {
    let curve = |name, colour, rate: fn(&OracleBudget) -> f64| {
        let point = |of: &OracleBudget| (f64::max(1.0, of.budget_bytes as f64), rate(of));
        Curve::new(name, colour, r.budgets.iter().map(point))
    };
    let words = if r.sized_share < 1.0 { "cache size (objects of known size)" } else { "cache size" };
    let ceilings = [Some((r.oracle_hit_rate, BLUE)), r.oracle_byte_hit_rate.map(|rate| (rate, ORANGE))];
    let curves = vec![
        curve("of bytes", ORANGE, |of| of.byte_hit_rate),
        curve("of references", BLUE, |of| of.hit_rate),
    ];
    Panel::of_rates((words, size_label), curves, ceilings.into_iter().flatten())
}

fn by_objects(r: &Analysis) -> Panel {
    let sum = |of: fn(u64) -> u64| r.histogram.iter().map(|line| line.objects * of(line.k)).sum::<u64>();
    let (all, all_hits) = (sum(|_| 1) as f64, sum(|k| k - 1) as f64);
    // Shares of all hits, times the ceiling: so the curve ends there for a sample, too.
    let (mut taken, mut hits) = (0, 0);
    let points = r.histogram.iter().rev().map(|of| {
        (taken, hits) = (taken + of.objects, hits + of.objects * (of.k - 1));
        (taken as f64 / all, hits as f64 / all_hits * r.oracle_hit_rate)
    });
    let curve = Curve::new("of references", BLUE, points);
    let words = "cached share of the objects, most referenced first";
    Panel::of_rates((words, share_label), vec![curve], [(r.oracle_hit_rate, BLUE)].into_iter())
}

fn by_policy(r: &Sizing, points: &[&Point]) -> Panel {
    let order = match r.order.of {
        OrderKind::Manifests => "manifest order",
        OrderKind::Random => "random order",
    };
    let curve = |name: &str, colour, rate: fn(&Point) -> f64| {
        Curve::new(name, colour, points.iter().map(|of| (of.bytes as f64, rate(of))))
    };
    // What decides is drawn last, above the others.
    let curves = vec![
        curve(&format!("bound of any policy, {order}"), VIOLET, |of| of.any_policy_bound),
        curve(&format!("LRU, {order}"), GREEN, |of| of.lru),
        curve("by count", ORANGE, |of| of.count),
        curve("by value density", BLUE, |of| of.density),
    ];
    Panel::of_rates(("cache size", size_label), curves, [(r.ceiling, MUTED)].into_iter())
}

/// A chart: its axes, and what it shows.
struct Panel {
    title: &'static str,
    x: Axis,
    y: Axis,
    /// From where to where, and how high.
    bars: Vec<(Range<f64>, f64)>,
    curves: Vec<Curve>,
}

struct Curve {
    name: String,
    colour: Colour,
    dashed: bool,
    points: Vec<(f64, f64)>,
}

impl Curve {
    fn new(name: &str, colour: Colour, points: impl Iterator<Item = (f64, f64)>) -> Curve {
        Curve { name: name.into(), colour, dashed: false, points: points.collect() }
    }
}

impl Panel {
    /// Curves of hit rates over a logarithmic axis, below dashed ceilings.
    fn of_rates(
        (words, label): (&'static str, Label),
        mut curves: Vec<Curve>,
        ceilings: impl Iterator<Item = (f64, Colour)>,
    ) -> Panel {
        let sizes = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.0);
        let x = Axis::log(words, sizes().fold(f64::MAX, f64::min)..sizes().fold(0.0, f64::max), label);
        let level = |(rate, colour)| {
            let points = [(x.range.start, rate), (x.range.end, rate)].into_iter();
            Curve { dashed: true, ..Curve::new("ceiling", colour, points) }
        };
        curves.splice(0..0, ceilings.map(level));
        let rates = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
        let y = Axis::share("hit rate", rates.fold(0.0, f64::max));
        Panel { title: "Hit rate for each cache size", x, y, bars: Vec::new(), curves }
    }
}

type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Panels side by side below a headline; a sentence where there is nothing to show.
fn picture(headline: &str, panels: &[Result<Panel, &str>]) -> anyhow::Result<String> {
    let mut drawn = String::new();
    {
        let root = SVGBackend::with_string(&mut drawn, (WIDTH * SCALE, HEIGHT * SCALE)).into_drawing_area();
        root.fill(&BACKGROUND.0)?;
        let (top, below) = root.split_vertically(HEADLINE * SCALE);
        let middle = |paper: &Paper<'_>, words: &str, colour: &Colour| {
            let (width, height) = paper.dim_in_pixel();
            let style = font(14, colour).pos(Pos::new(HPos::Center, VPos::Center));
            paper.draw_text(words, &style, (width as i32 / 2, height as i32 / 2))
        };
        middle(&top, headline, &INK)?;
        for (paper, panel) in below.split_evenly((1, panels.len())).iter().zip(panels) {
            match panel {
                Ok(panel) => draw(paper, panel)?,
                Err(sentence) => middle(paper, sentence, &MUTED)?,
            }
        }
        root.present()?;
    }
    // A head of our own shows the drawing at its size and holds the dark colours.
    let rules = COLOURS.map(|(RGBColor(r, g, b), dark)| {
        let light = format!("#{r:02X}{g:02X}{b:02X}");
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}\n")
    });
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{headline}</title>\n<style>\n\
         @media (prefers-color-scheme:dark){{\n{}}}\n</style>{}",
        WIDTH * SCALE,
        HEIGHT * SCALE,
        rules.concat(),
        drawn.split_once('>').map_or("", |(_, body)| body)
    ))
}

/// Letters of `pixels` CSS pixels. The backend divides sizes by 1.24.
fn font(pixels: u32, colour: &Colour) -> TextStyle<'_> {
    ("sans-serif", f64::from(pixels * SCALE) * 1.24).into_font().color(&colour.0)
}

fn line(colour: Colour, pixels: u32) -> ShapeStyle {
    colour.0.stroke_width(pixels * SCALE)
}

fn draw(paper: &Paper<'_>, panel: &Panel) -> anyhow::Result<()> {
    let at = |x: u32, y: u32| ((x * SCALE) as i32, (y * SCALE) as i32);
    let left = Pos::new(HPos::Left, VPos::Center);
    paper.draw_text(panel.title, &font(13, &INK).pos(left), at(LEFT, 14))?;
    let mut chart = ChartBuilder::on(paper)
        .margin(8 * SCALE)
        .margin_top(50 * SCALE)
        .margin_right(24 * SCALE)
        .x_label_area_size(44 * SCALE)
        .y_label_area_size((LEFT - 8) * SCALE)
        .build_cartesian_2d(panel.x.clone(), panel.y.clone())?;
    chart
        .configure_mesh()
        .bold_line_style(line(FAINT, 1))
        .axis_style(line(MUTED, 1))
        .set_all_tick_mark_size(4 * SCALE)
        .label_style(font(11, &MUTED))
        .axis_desc_style(font(12, &INK))
        .x_desc(panel.x.words)
        .y_desc(panel.y.words)
        .draw()?;
    let floor = panel.y.range.start;
    let bar = |(edges, height): &(Range<f64>, f64)| {
        Rectangle::new([(edges.start, *height), (edges.end, floor)], BLUE.0.filled())
    };
    chart.draw_series(panel.bars.iter().map(bar))?;
    // The legend is one line between title and chart, where no curve runs.
    let mut x = LEFT;
    for (nth, Curve { name, colour, dashed, points }) in panel.curves.iter().enumerate() {
        let (sample, points) = ([at(x, 34), at(x + 18, 34)], points.iter().copied());
        if *dashed {
            chart.draw_series(DashedLineSeries::new(points, 6 * SCALE, 4 * SCALE, line(*colour, 1)))?;
            paper.draw(&DashedPathElement::new(sample, 6 * SCALE, 4 * SCALE, line(*colour, 1)))?;
        } else {
            chart.draw_series(LineSeries::new(points, line(*colour, 2)))?;
            paper.draw(&PathElement::new(sample, line(*colour, 2)))?;
        }
        // One name for neighbours that share it.
        let last = panel.curves.get(nth + 1).is_none_or(|next| next.name != *name);
        x += 23;
        if last {
            paper.draw_text(name, &font(11, &INK).pos(left), at(x, 34))?;
            // The viewer chooses the letters: this leaves room for wide ones.
            x += name.chars().count() as u32 * 6 + 12;
        }
    }
    Ok(())
}
