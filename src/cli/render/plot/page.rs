//! A page that holds the picture and the numbers one looks for first.

use super::Frame;

/// A page without anything from elsewhere.
pub fn html(frame: &Frame, svg: &str) -> String {
    let Frame { command, heading, .. } = frame;
    let rows: String = frame
        .numbers
        .iter()
        .map(|(name, value)| format!("<tr><th>{name}</th><td>{}</td></tr>\n", escaped(value)))
        .collect();
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>onepull {command}</title>
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
<h1>{heading}</h1>
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
