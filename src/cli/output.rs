//! Where a report goes: stdout, as text or JSON, and the files that the user names.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use onepull::commands::outputs::{self, NamedOutput, OutputKind};
use rustix::termios::tcgetwinsize;
use serde::Serialize;

use super::args::Shared;

/// Narrower is not readable, wider not either.
const NARROWEST: usize = 60;
const WIDEST: usize = 160;

/// Columns for text on stdout: those of the terminal, 80 where there is none, less a margin that
/// keeps lines from being broken at the very edge.
pub fn columns() -> usize {
    let columns = match tcgetwinsize(io::stdout()) {
        // Some pseudo-terminals say 0 for "unknown".
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => 80,
    };
    (columns - 2).clamp(NARROWEST, WIDEST)
}

/// The files that are named by the flags that were given.
pub fn named<'a>(shared: &'a Shared, plot: Option<&'a Path>, save: Option<&'a Path>) -> Vec<NamedOutput<'a>> {
    let report = shared.report.as_deref();
    let all = [
        ("--report", report, OutputKind::FileOrDevice),
        ("--plot", plot, OutputKind::FileOrDevice),
        ("--save", save, OutputKind::File),
    ];
    all.into_iter().filter_map(|(flag, file, kind)| Some(NamedOutput { flag, file: file?, kind })).collect()
}

/// Prints the report and writes the file of `--report`.
pub fn deliver(
    shared: &Shared,
    report: &impl Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    let json = || -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(report).context("writing the report as JSON")? + "\n")
    };
    let printed = print(if shared.json { json()? } else { text() }.as_bytes());
    if let Some(file) = &shared.report {
        outputs::write_text(file, &json()?)?;
    }
    printed
}

/// Prints on stdout. A reader that has seen enough (`| head`) is no error.
pub fn print(text: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("writing to stdout"),
        _ => Ok(()),
    }
}
