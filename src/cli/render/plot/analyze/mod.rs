//! The report of `analyze` as a picture: the histogram, and the hit rate over the size of the
//! cache.

mod curve;
mod histogram;

use onepull::commands::analyze::Report;

use super::panel::{Paper, words};
use super::theme::{MUTED, font};
use super::{Form, Frame};
use crate::cli::bytes::show;
use crate::cli::human::{count, percent, things};
use crate::cli::render::objects;

/// CSS pixels.
const HEIGHT: u32 = 380;

/// The text of the file.
pub fn draw(report: &Report, form: Form) -> anyhow::Result<String> {
    let frame = Frame {
        command: "analyze",
        heading: "How redundant the corpus is",
        headline: headline(report),
        height: HEIGHT,
        numbers: numbers(report),
    };
    frame.around(form, |paper| panels(paper, report))
}

fn panels(paper: &Paper<'_>, report: &Report) -> anyhow::Result<()> {
    if report.references == 0 {
        return words(paper, "no references, nothing to draw", &font(13, &MUTED));
    }
    let (width, _) = paper.dim_in_pixel();
    let (left, right) = paper.split_horizontally(width / 2);
    histogram::draw(&left, report)?;
    curve::draw(&right, report)
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

/// The numbers one looks for first.
fn numbers(r: &Report) -> Vec<(&'static str, String)> {
    let about = |text: String| if r.sample.is_some() { format!("~{text}") } else { text };
    let mut numbers =
        vec![("manifests", count(r.manifests)), ("rows", count(r.rows)), ("references", count(r.references))];
    if r.references == 0 {
        return numbers;
    }
    numbers.extend([
        ("objects", about(count(r.objects))),
        ("duplicates", about(count(r.duplicates))),
        ("references per object", about(format!("{:.3}", r.mean_multiplicity))),
        ("objects referenced once", about(percent(r.singleton_share))),
    ]);
    if r.unique_bytes > 0 {
        numbers.push(("bytes in objects", about(show(r.unique_bytes))));
        numbers.push(("bytes in references", about(show(r.reference_bytes))));
    }
    numbers.push(("ceiling of the hit rate", about(percent(r.oracle_hit_rate))));
    numbers.extend(r.oracle_byte_hit_rate.map(|rate| ("ceiling, of the bytes", about(percent(rate)))));
    numbers
}

#[cfg(test)]
mod tests {
    use onepull::commands::analyze::{Budget, Multiplicity, Sample};

    use super::*;
    use crate::cli::render::plot::is_plot;
    use crate::cli::render::plot::theme::SCALE;

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
        let sample = Sample {
            share: 0.01,
            objects_counted: 0,
            references_counted: 0,
            objects: [0.0; 2],
            oracle_hit_rate: [0.0; 2],
            singleton_share: [0.0; 2],
            unique_bytes: [0.0; 2],
        };
        let nothing_counted = Report { references: 7, sample: Some(sample), ..Report::default() };
        for report in [&one, &Report::default(), &nothing_counted] {
            let svg = draw(report, Form::Svg).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
