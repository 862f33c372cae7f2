//! The left panel: how many objects have how many references, both on log axes.

use onepull::commands::analyze::Report;
use plotters::prelude::*;

use crate::cli::render::classes::classes;
use crate::cli::render::plot::axis::Axis;
use crate::cli::render::plot::panel::{Paper, Words, panel, remark};
use crate::cli::render::plot::theme::FIRST;

/// Between the edge of a class and its bar, so that neighbours do not touch.
const GAP: f64 = 1.04;

/// Bars over power-of-two classes. They start at half an object, so that one object has a bar.
pub fn draw(paper: &Paper<'_>, report: &Report) -> anyhow::Result<()> {
    let classes = classes(&report.histogram);
    let most = classes.iter().map(|class| class.objects).max().unwrap_or(1);
    let last = classes.last().map_or(1, |class| class.high);
    let x = Axis::counts(last.saturating_add(1));
    let y = Axis::counts(most.saturating_mul(2));
    let objects = if report.sample.is_some() { "objects (estimated)" } else { "objects" };
    let words =
        Words { title: "Objects by multiplicity", x: "multiplicity (references per object)", y: objects };
    let floor = y.lowest();
    let mut panel = panel(paper, &words, x, y)?;
    panel.draw_series(classes.iter().filter(|class| class.objects > 0).map(|class| {
        // A gap by a factor: the same width at every bar.
        let (left, right) = ((class.low as f64 - 0.5) * GAP, (class.high as f64 + 0.5) / GAP);
        Rectangle::new([(left, class.objects as f64), (right, floor)], FIRST.filled())
    }))?;
    remark(paper, "a bar for 1, for 2-3, for 4-7, and so on")
}
