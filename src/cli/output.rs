//! Where a report goes: stdout as text or JSON, and a file if asked for; and which files a command
//! may replace: those of the same kind that an earlier run wrote.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use onepull::commands::saved_counts;
use onepull::publish::Draft;
use rustix::termios::tcgetwinsize;
use serde::{Deserialize, Serialize};

use super::shared::Shared;

/// Files that a later run may replace.
pub struct Kind {
    pub name: &'static str,
    /// A file is told by so many bytes at its start.
    pub telling_bytes: u64,
    pub is_ours: fn(&[u8]) -> bool,
    /// Whether a device takes it, too; else it is renamed into place, which would replace a device.
    pub to_device: bool,
}

const REPORT: Kind = Kind { name: "report", telling_bytes: u64::MAX, is_ours: is_report, to_device: true };

/// Saved counts, of any version.
pub const TABLE: Kind = Kind {
    name: "file of saved counts",
    telling_bytes: u64::MAX,
    is_ours: saved_counts::is_saved,
    to_device: false,
};

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

/// Fails now if a file that flags name could not be written hours later, is there and is not one of
/// its kind, or is named twice: that of `--report`, and `others`, flag, file and kind.
pub fn check(shared: &Shared, others: &[(&str, Option<&Path>, &Kind)]) -> anyhow::Result<()> {
    let report = [("--report", shared.report.as_deref(), &REPORT)];
    let all = report.iter().chain(others);
    let named: Vec<_> = all.filter_map(|(flag, file, kind)| Some((*flag, (*file)?, *kind))).collect();
    named.iter().try_for_each(|(flag, file, kind)| check_path(flag, file, kind))?;
    check_apart(&named.iter().map(|(flag, file, _)| (*flag, *file)).collect::<Vec<_>>())
}

fn check_path(flag: &str, file: &Path, kind: &Kind) -> anyhow::Result<()> {
    let fits = kind.to_device || !is_device(file) || file.is_dir();
    ensure!(fits, "{flag} {}: it is no regular file", file.display());
    let folder = folder_of(file);
    ensure!(folder.is_dir(), "{flag} {}: there is no folder {}", file.display(), folder.display());
    ensure!(!file.is_dir(), "{flag} {}: it is a folder", file.display());
    let replaceable = |bytes: Vec<u8>| bytes.is_empty() || (kind.is_ours)(&bytes);
    ensure!(
        !file.is_file() || beginning(file, kind.telling_bytes).is_ok_and(replaceable),
        "{flag} {}: it is there and is no {}; choose another name, or remove it",
        file.display(),
        kind.name
    );
    Ok(())
}

/// Of two that are one, the last to be written would be all there is.
fn check_apart(named: &[(&str, &Path)]) -> anyhow::Result<()> {
    for (nth, (flag, file)) in named.iter().enumerate() {
        let same = named[..nth].iter().find(|(_, other)| place(other) == place(file) && !is_device(file));
        if let Some((other, _)) = same {
            bail!("{other} and {flag} are both {}; give each a file of its own", file.display());
        }
    }
    Ok(())
}

/// Where a file is or would be, however it is named.
fn place(file: &Path) -> PathBuf {
    fs::canonicalize(file).unwrap_or_else(|_| {
        let folder = folder_of(file).canonicalize().unwrap_or_else(|_| folder_of(file).to_owned());
        file.file_name().map_or(folder.clone(), |name| folder.join(name))
    })
}

/// Takes all that is written to it, as `/dev/stderr`.
fn is_device(file: &Path) -> bool {
    file.exists() && !file.is_file()
}

/// Writes a file that appears complete or not at all.
pub fn write_whole(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    publish(file, bytes).with_context(|| format!("writing {}", file.display()))
}

fn is_report(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Earlier>(bytes).is_ok_and(|of| of.rows.is_some() || of.singletons.is_some())
}

/// What every report has: references, and rows or what a report on multiplicities has instead.
#[derive(Deserialize)]
struct Earlier {
    #[serde(rename = "references")]
    _references: u64,
    #[serde(alias = "rows_in")]
    rows: Option<u64>,
    singletons: Option<u64>,
}

/// The first `most` bytes of a file, or all of it.
fn beginning(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
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
        assert!(is_report(br#"{"objective": "bytes", "references": 2, "objects": 1, "singletons": 0}"#));
        assert!(!is_report(br#"{"rows": "a corpus of its own"}"#));
        assert!(!is_report(b"{}"));
    }

    #[test]
    fn two_outputs_are_not_one_file_however_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        let check = |plot: &Path| check_apart(&[("--report", &one), ("--plot", plot)]);
        assert!(check(&two).is_ok());
        let error = check(&folder.path().join("./one")).unwrap_err().to_string();
        assert!(error.starts_with("--report and --plot are both ") && error.contains("one"), "{error}");
        fs::write(&one, "").unwrap();
        std::os::unix::fs::symlink(&one, &two).unwrap();
        assert!(check(&two).is_err());
        let null = Path::new("/dev/null");
        assert!(check_apart(&[("--report", null), ("--plot", null)]).is_ok());
    }

    #[test]
    fn saved_counts_replace_nothing_but_saved_counts_or_an_empty_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts");
        let check = |file: &Path| check_path("--save", file, &TABLE);
        assert!(check(&file).is_ok());
        for (bytes, replaceable) in [
            (&b""[..], true),
            (b"onepull counts\0\x01 and more", true),
            (b"PAR1 rows onepull.references PAR1", true),
            (b"PAR1 rows of a manifest PAR1", false),
            (b"onepull counts", false),
            (b"{\"references\": 1}", false),
        ] {
            fs::write(&file, bytes).unwrap();
            assert_eq!(check(&file).is_ok(), replaceable, "{bytes:?}");
        }
        let device = check(Path::new("/dev/null")).unwrap_err().to_string();
        assert_eq!(device, "--save /dev/null: it is no regular file");
        let nowhere = check(Path::new("/nowhere/counts")).unwrap_err().to_string();
        assert!(nowhere.contains("there is no folder /nowhere"), "{nowhere}");
    }
}
