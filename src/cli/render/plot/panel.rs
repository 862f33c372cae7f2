//! One panel: a title, a legend below it, two axes with their names, a grid, and words where there
//! is no curve.

use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::theme::{FAINT, INK, MUTED, SCALE, font, line};

pub type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub type Panel<'p, 'a> = ChartContext<'p, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// CSS pixels: from the left edge to the vertical axis, from the top to title, legend and plot.
const LEFT: u32 = 66;
const TITLE: u32 = 14;
const LEGEND: u32 = 34;
const TOP: u32 = 50;

/// Dashes and the gaps between them.
pub const DASH: u32 = 6 * SCALE;
pub const GAP: u32 = 4 * SCALE;

/// One line of a panel, for its legend.
pub struct Key {
    pub name: String,
    pub colour: &'static RGBColor,
    pub stroke: Stroke,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    Whole,
    Dashed,
}

/// What a panel says about itself.
pub struct Words<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
}

/// The grid and everything around it.
pub fn panel<'p, 'a>(
    paper: &'p Paper<'a>,
    words: &Words<'_>,
    x: Axis,
    y: Axis,
) -> anyhow::Result<Panel<'p, 'a>> {
    let title = font(13, &INK).pos(Pos::new(HPos::Left, VPos::Center));
    paper.draw_text(words.title, &title, ((LEFT * SCALE) as i32, (TITLE * SCALE) as i32))?;
    let mut panel = ChartBuilder::on(paper)
        .margin(8 * SCALE)
        .margin_top(TOP * SCALE)
        .margin_right(24 * SCALE)
        .x_label_area_size(44 * SCALE)
        .y_label_area_size((LEFT - 8) * SCALE)
        .build_cartesian_2d(x, y)?;
    panel
        .configure_mesh()
        .bold_line_style(line(&FAINT, 1))
        .axis_style(line(&MUTED, 1))
        .set_all_tick_mark_size(4 * SCALE)
        .label_style(font(11, &MUTED))
        .axis_desc_style(font(12, &INK))
        .x_desc(words.x)
        .y_desc(words.y)
        .draw()?;
    Ok(panel)
}

/// All keys in one line between title and plot, where no curve can be below them.
pub fn legend(paper: &Paper<'_>, keys: &[Key]) -> anyhow::Result<()> {
    let style = font(11, &INK).pos(Pos::new(HPos::Left, VPos::Center));
    let (mut x, y) = ((LEFT * SCALE) as i32, (LEGEND * SCALE) as i32);
    for key in keys {
        let sample = [(x, y), (x + 18 * SCALE as i32, y)];
        match key.stroke {
            Stroke::Whole => paper.draw(&PathElement::new(sample, line(key.colour, 2)))?,
            Stroke::Dashed => {
                paper.draw(&DashedPathElement::new(sample, DASH, GAP, line(key.colour, 1)))?;
            }
        }
        x += 24 * SCALE as i32;
        paper.draw_text(&key.name, &style, (x, y))?;
        // The viewer chooses the letters: room for wide ones.
        x += (key.name.chars().count() as i32 * 6 + 14) * SCALE as i32;
    }
    Ok(())
}

/// Words in place of a legend.
pub fn remark(paper: &Paper<'_>, words: &str) -> anyhow::Result<()> {
    let style = font(11, &MUTED).pos(Pos::new(HPos::Left, VPos::Center));
    paper.draw_text(words, &style, ((LEFT * SCALE) as i32, (LEGEND * SCALE) as i32))?;
    Ok(())
}

/// A sentence in the middle of the paper.
pub fn words(paper: &Paper<'_>, words: &str, style: &TextStyle<'_>) -> anyhow::Result<()> {
    let (width, height) = paper.dim_in_pixel();
    let middle = style.pos(Pos::new(HPos::Center, VPos::Center));
    paper.draw_text(words, &middle, (width as i32 / 2, height as i32 / 2))?;
    Ok(())
}
