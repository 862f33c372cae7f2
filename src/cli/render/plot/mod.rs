//! Reports as pictures: what the plots of all commands share. One module per command.
//!
//! One SVG that stands alone: it has its own background, and follows a dark theme where the viewer
//! has one. As a page it is the same picture below the headline numbers.

pub mod analyze;
mod axis;
mod page;
mod panel;
pub mod size;
mod theme;

use std::path::PathBuf;

use anyhow::Context as _;
use plotters::prelude::*;

use crate::cli::output::Kind;
use panel::Paper;
use theme::{INK, SCALE, font};

/// Told apart by this from files that a plot must not replace; the name of the command follows.
const MARK: &str = "<!-- drawn by onepull ";

/// Files that a plot may replace.
pub const KIND: Kind = Kind { name: "plot", telling_bytes: u64::MAX, is_ours: is_plot, to_device: true };

/// CSS pixels.
const WIDTH: u32 = 800;
const HEADLINE: u32 = 36;

/// Where a plot goes, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotFile {
    pub path: PathBuf,
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Svg,
    /// A page that holds the SVG.
    Html,
}

/// The ending says the form.
pub fn parse_file(path: PathBuf) -> Result<PlotFile, &'static str> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    match ending.as_deref() {
        Some("svg") => Ok(PlotFile { path, form: Form::Svg }),
        Some("html") => Ok(PlotFile { path, form: Form::Html }),
        _ => Err("a name that ends in .svg or .html is needed"),
    }
}

/// Whether a file is a plot.
fn is_plot(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains(MARK)
}

/// What stands around the curves of a report.
struct Frame {
    command: &'static str,
    /// Of the page.
    heading: &'static str,
    /// In the picture, above the panels.
    headline: String,
    /// CSS pixels.
    height: u32,
    /// Of the page: name and value.
    numbers: Vec<(&'static str, String)>,
}

impl Frame {
    /// The text of the file; `panels` draws what is below the headline.
    fn around(
        &self,
        form: Form,
        panels: impl FnOnce(&Paper<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<String> {
        let svg = self.svg(panels).context("drawing the plot")?;
        Ok(match form {
            Form::Svg => svg,
            Form::Html => page::html(self, &svg),
        })
    }

    fn svg(&self, panels: impl FnOnce(&Paper<'_>) -> anyhow::Result<()>) -> anyhow::Result<String> {
        let mut drawn = String::new();
        {
            let size = (WIDTH * SCALE, self.height * SCALE);
            let root = SVGBackend::with_string(&mut drawn, size).into_drawing_area();
            root.fill(&theme::BACKGROUND)?;
            let (top, below) = root.split_vertically(HEADLINE * SCALE);
            panel::words(&top, &self.headline, &font(14, &INK))?;
            panels(&below)?;
            root.present()?;
        }
        Ok(self.standalone(&drawn))
    }

    /// The drawing with a head of our own. It is drawn at a multiple of its size, since the backend
    /// knows whole pixels only, and shown at its size.
    fn standalone(&self, drawn: &str) -> String {
        // All up to the end of the backend's own head.
        let body = drawn.split_once('>').map_or("", |(_, body)| body);
        let Frame { command, height, .. } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {} {}\" role=\"img\">\n{MARK}{command} -->\n<title>{}</title>\n\
             <style>\n{}</style>{body}",
            WIDTH * SCALE,
            height * SCALE,
            page::escaped(&self.headline),
            theme::style(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_form() {
        let form = |path: &str| parse_file(path.into()).map(|file| file.form);
        assert_eq!(form("a/b.svg"), Ok(Form::Svg));
        assert_eq!(form("b.HTML"), Ok(Form::Html));
        for path in ["b.png", "svg", ".svg", "b.svg.gz"] {
            assert!(form(path).is_err(), "{path}");
        }
    }

    #[test]
    fn plots_of_every_command_are_known_as_plots() {
        assert!(is_plot(b"<svg>\n<!-- drawn by onepull analyze -->\n</svg>"));
        assert!(is_plot(b"<html><svg>\n<!-- drawn by onepull size -->\n</svg></html>"));
        assert!(!is_plot(b"<svg></svg>"));
    }
}
