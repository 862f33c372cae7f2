//! A page that holds the picture and the numbers one looks for first.

use onepull::commands::analyze::Report;

use crate::cli::human::{count, percent};
use crate::cli::size::show;

/// A page without anything from elsewhere.
pub fn html(r: &Report, svg: &str) -> String {
    let rows: String = numbers(r)
        .into_iter()
        .map(|(name, value)| format!("<tr><th>{name}</th><td>{}</td></tr>\n", escaped(&value)))
        .collect();
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>onepull analyze</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.5 sans-serif; color: #1F2328; background: #FFFFFF; max-width: 800px; margin: 2em auto; padding: 0 1em }}
th {{ font-weight: normal; text-align: left; padding-right: 2em }}
td {{ text-align: right; font-variant-numeric: tabular-nums }}
svg {{ max-width: 100%; height: auto; margin-top: 1.5em }}
@media (prefers-color-scheme: dark) {{ body {{ color: #E6EDF3; background: #0D1117 }} }}
</style>
</head>
<body>
<h1>How redundant the corpus is</h1>
<table>
{rows}</table>
{svg}</body>
</html>
"
    )
}

/// Text that is safe between tags.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

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
