//! Where a report goes: stdout as text or JSON, and a file if asked for.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, ensure};
use onepull::publish::Draft;
use rustix::termios::tcgetwinsize;
use serde::{Deserialize, Serialize};

use super::shared::Shared;

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
        write_whole(file, json()?.as_bytes())?;
    }
    printed
}

/// Columns for a report on stdout: those of the terminal, 80 where there is none.
pub fn columns() -> usize {
    match tcgetwinsize(io::stdout()) {
        // Some pseudo-terminals say 0 for "unknown".
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => 80,
    }
}

/// Fails now if the file of `--report` could not be written hours later.
pub fn check_report_path(shared: &Shared) -> anyhow::Result<()> {
    shared.report.as_deref().map_or(Ok(()), |file| check_path("--report", file, "report", is_report))
}

/// Fails now if a file that `flag` names could not be written hours later, or is there and is not
/// one of ours.
pub fn check_path(flag: &str, file: &Path, what: &str, is_ours: fn(&[u8]) -> bool) -> anyhow::Result<()> {
    let folder = folder_of(file);
    ensure!(folder.is_dir(), "{flag} {}: there is no folder {}", file.display(), folder.display());
    ensure!(!file.is_dir(), "{flag} {}: it is a folder", file.display());
    let replaceable = |bytes: Vec<u8>| bytes.is_empty() || is_ours(&bytes);
    ensure!(
        !file.is_file() || fs::read(file).is_ok_and(replaceable),
        "{flag} {}: it is there and is no {what}; choose another name, or remove it",
        file.display()
    );
    Ok(())
}

/// Writes a file that appears complete or not at all.
pub fn write_whole(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    publish(file, bytes).with_context(|| format!("writing {}", file.display()))
}

fn is_report(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Earlier>(bytes).is_ok()
}

/// What every report has.
#[derive(Deserialize)]
struct Earlier {
    #[serde(rename = "rows_in", alias = "rows")]
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

fn publish(file: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or a pipe is written to, not replaced.
    if file.exists() && !file.is_file() {
        return fs::OpenOptions::new().write(true).open(file)?.write_all(bytes);
    }
    let mut draft = Draft::create(folder_of(file), ".onepull-")?;
    draft.file().write_all(bytes)?;
    draft.commit(file)
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_every_command_are_known_as_reports() {
        assert!(is_report(br#"{"rows_in": 3, "references": 2, "more": []}"#));
        assert!(is_report(br#"{"rows": 3, "references": 2, "more": []}"#));
        assert!(!is_report(br#"{"rows": "a corpus of its own"}"#));
        assert!(!is_report(b"{}"));
    }
}
