//! Where a report goes: stdout as text or JSON, and a file if asked for.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, ensure};
use onepull::publish::Draft;
use serde::{Deserialize, Serialize};

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
    ensure!(
        !file.is_file() || is_report(file),
        "--report {}: it is there and is no report; choose another name, or remove it",
        file.display()
    );
    Ok(())
}

/// Whether a file may be replaced by a report: it is one, or it is empty.
fn is_report(file: &Path) -> bool {
    let parsed =
        fs::read(file).map(|bytes| bytes.is_empty() || serde_json::from_slice::<Earlier>(&bytes).is_ok());
    parsed.unwrap_or(false)
}

/// What every report has.
#[derive(Deserialize)]
struct Earlier {
    #[serde(rename = "rows_in")]
    _rows_in: u64,
    #[serde(rename = "references")]
    _references: u64,
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
    // A device or a pipe is written to, not replaced.
    if file.exists() && !file.is_file() {
        return fs::OpenOptions::new().write(true).open(file)?.write_all(bytes);
    }
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
