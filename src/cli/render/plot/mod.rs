//! The report of `analyze` as a picture: the histogram, and the hit rate over the size of the
//! cache.
//!
//! One SVG of two panels that stands alone: it has its own background, and follows a dark theme
//! where the viewer has one. As a page it is the same picture below the headline numbers.

mod axis;
mod curve;
mod histogram;
mod page;
mod panel;
mod theme;

use std::path::PathBuf;

use anyhow::Context as _;
use onepull::commands::analyze::Report;
use plotters::prelude::*;

use super::objects;
use crate::cli::human::{percent, things};
use theme::{INK, SCALE, font};

/// Told apart by this from files that a plot must not replace.
const MARK: &str = "<!-- drawn by onepull analyze -->";

/// CSS pixels.
const WIDTH: u32 = 800;
const HEIGHT: u32 = 380;
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
pub fn is_plot(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains(MARK)
}

/// The text of the file.
pub fn draw(report: &Report, form: Form) -> anyhow::Result<String> {
    let svg = svg(report).context("drawing the plot")?;
    Ok(match form {
        Form::Svg => svg,
        Form::Html => page::html(report, &svg),
    })
}

fn svg(report: &Report) -> anyhow::Result<String> {
    let mut drawn = String::new();
    {
        let root = SVGBackend::with_string(&mut drawn, (WIDTH * SCALE, HEIGHT * SCALE)).into_drawing_area();
        root.fill(&theme::BACKGROUND)?;
        let (top, panels) = root.split_vertically(HEADLINE * SCALE);
        panel::words(&top, &headline(report), &font(14, &INK))?;
        if report.references == 0 {
            panel::words(&panels, "no references, nothing to draw", &font(13, &theme::MUTED))?;
        } else {
            let (left, right) = panels.split_horizontally(WIDTH * SCALE / 2);
            histogram::draw(&left, report)?;
            curve::draw(&right, report)?;
        }
        root.present()?;
    }
    Ok(standalone(&drawn, &headline(report)))
}

fn headline(r: &Report) -> String {
    let about = if r.sample.is_some() { "~" } else { "" };
    match r.references {
        0 => "0 references".into(),
        n => {
            let bytes = r.oracle_byte_hit_rate.map(percent);
            format!(
                "{} to {about}{}, ceiling {about}{}{}",
                things(n, "reference", "references"),
                objects(r.objects),
                percent(r.oracle_hit_rate),
                bytes.map_or(String::new(), |rate| format!(", of the bytes {about}{rate}"))
            )
        }
    }
}

/// The drawing with a head of our own. It is drawn at a multiple of its size, since the backend
/// knows whole pixels only, and shown at its size.
fn standalone(drawn: &str, title: &str) -> String {
    // All up to the end of the backend's own head.
    let body = drawn.split_once('>').map_or("", |(_, body)| body);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {} {}\" role=\"img\">\n{MARK}\n<title>{}</title>\n<style>\n{}</style>{body}",
        WIDTH * SCALE,
        HEIGHT * SCALE,
        page::escaped(title),
        theme::style(),
    )
}

#[cfg(test)]
mod tests {
    use onepull::commands::analyze::{Budget, Multiplicity, Sample};

    use super::*;

    fn report() -> Report {
        let budget = |budget_bytes, hit_rate| Budget {
            budget_bytes,
            byte_share: 0.5,
            hit_rate,
            byte_hit_rate: hit_rate / 2.0,
            objects: 1,
        };
        Report {
            references: 10,
            objects: 5,
            duplicates: 5,
            unique_bytes: 5_000,
            sized_share: 1.0,
            oracle_hit_rate: 0.5,
            oracle_byte_hit_rate: Some(0.4),
            histogram: vec![
                Multiplicity { k: 1, objects: 4, bytes: 4_000 },
                Multiplicity { k: 6, objects: 1, bytes: 1_000 },
            ],
            budgets: vec![budget(10_000, 0.3), budget(1_000_000, 0.5)],
            ..Report::default()
        }
    }

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
    fn a_plot_says_its_numbers_with_units() {
        let svg = draw(&report(), Form::Svg).unwrap();
        for words in [
            "10 references to 5 objects, ceiling 50.0 %, of the bytes 40.0 %",
            "10 kB",
            "1 MB",
            "their ceilings",
        ] {
            assert!(svg.contains(words), "{words}\nis not in\n{svg}");
        }
        assert!(is_plot(svg.as_bytes()) && svg.ends_with("</svg>\n"));
        assert!(!is_plot(b"<svg></svg>"));
    }

    #[test]
    fn without_sizes_the_curve_is_over_objects() {
        let svg = draw(&Report { budgets: vec![], ..report() }, Form::Svg).unwrap();
        assert!(
            svg.contains("most referenced first") && svg.contains("ceiling 50.0 %") && !svg.contains("MB"),
            "{svg}"
        );
    }

    #[test]
    fn the_curve_over_objects_ends_at_the_ceiling_of_a_sample_too() {
        // The scaled references of the sampled objects are 10, those of the corpus 12.
        let report =
            Report { references: 12, oracle_hit_rate: 1.0 - 5.0 / 12.0, budgets: vec![], ..report() };
        let svg = draw(&report, Form::Svg).unwrap();
        let points = |width: u32| {
            let start = format!("stroke=\"#0969DA\" stroke-width=\"{width}\" points=\"");
            svg.split_once(&start).and_then(|(_, rest)| rest.split('"').next()).expect("a line").trim()
        };
        let (curve, dash) = (points(2 * SCALE), points(SCALE));
        let end = |points: &str| points.rsplit(',').next().map(str::to_owned);
        assert_eq!(end(curve), end(dash), "{curve}");
    }

    #[test]
    fn where_a_sample_holds_no_duplicate_there_is_no_curve() {
        let once = Multiplicity { k: 1, objects: 5, bytes: 0 };
        let svg = draw(&Report { histogram: vec![once], budgets: vec![], ..report() }, Form::Svg).unwrap();
        assert!(svg.contains("no object recurs") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn a_page_holds_the_picture_and_the_numbers() {
        let html = draw(&report(), Form::Html).unwrap();
        assert!(html.starts_with("<!doctype html>") && html.contains("<svg") && is_plot(html.as_bytes()));
        assert!(html.contains("<th>references</th><td>10</td>"), "{html}");
    }

    #[test]
    fn the_smallest_corpora_can_be_drawn() {
        let one = Multiplicity { k: 1, objects: 1, bytes: 0 };
        let one = Report { references: 1, objects: 1, histogram: vec![one], ..Report::default() };
        let sample = Sample { share: 0.01, ..Sample::default() };
        let nothing_counted = Report { references: 7, sample: Some(sample), ..Report::default() };
        for report in [&one, &Report::default(), &nothing_counted] {
            let svg = draw(report, Form::Svg).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
