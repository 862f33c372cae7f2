//! One panel: a title, two axes with their names, a grid, and words where there is no curve.

use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::theme::{FAINT, INK, MUTED, SCALE, font, line};

pub type Paper<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub type Panel<'p, 'a> = ChartContext<'p, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

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
    let mut panel = ChartBuilder::on(paper)
        .caption(words.title, font(13, &INK))
        .margin(8 * SCALE)
        .margin_right(24 * SCALE)
        .x_label_area_size(44 * SCALE)
        .y_label_area_size(58 * SCALE)
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

/// A sentence in the middle of the paper.
pub fn words(paper: &Paper<'_>, words: &str, style: &TextStyle<'_>) -> anyhow::Result<()> {
    let (width, height) = paper.dim_in_pixel();
    let middle = style.pos(Pos::new(HPos::Center, VPos::Center));
    paper.draw_text(words, &middle, (width as i32 / 2, height as i32 / 2))?;
    Ok(())
}
