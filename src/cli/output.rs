//! Where a report goes: stdout as text or JSON, and a file if asked for.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, ensure};
use onepull::publish::Draft;
use serde::Serialize;

use super::args::Shared;

/// Prints the report and writes the file of `--report`.
pub fn deliver(
    shared: &Shared,
    report: &impl Serialize,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    let json = || -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(report).context("writing the report as JSON")? + "\n")
    };
    let printed = print(&if shared.json { json()? } else { text() });
    if let Some(file) = &shared.report {
        write_whole(file, json()?.as_bytes()).with_context(|| format!("writing {}", file.display()))?;
    }
    printed
}

/// Fails now if the file of `--report` could not be written hours later.
pub fn check_report_path(shared: &Shared) -> anyhow::Result<()> {
    let Some(file) = &shared.report else { return Ok(()) };
    let folder = folder_of(file);
    ensure!(folder.is_dir(), "--report {}: there is no folder {}", file.display(), folder.display());
    ensure!(!file.is_dir(), "--report {}: it is a folder", file.display());
    Ok(())
}

/// A reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("printing the report"),
        _ => Ok(()),
    }
}

fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::create(folder_of(file), ".onepull-report-")?;
    draft.file().write_all(bytes)?;
    draft.commit(file)
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
