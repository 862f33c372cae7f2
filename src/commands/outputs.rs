//! Files that the user names for a command to write: reports, plots, saved counts.
//!
//! Each is written whole or not at all. It may replace anything but a manifest, a source that the
//! manifests name, another output of the run, or a file that belongs to the cache or to an output
//! folder. That is checked here and nowhere else, before anything is fetched. Files are compared
//! by what they are, so that no link hides one.

use std::collections::HashMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use crate::locator::allow::real_path;
use crate::manifest::discover::discover;
use crate::publish::Draft;

/// A file to write, and the flag that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedOutput<'a> {
    pub flag: &'static str,
    pub file: &'a Path,
    pub kind: OutputKind,
}

/// What may be at the name of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A file, or a device or pipe, which is written to and not replaced.
    FileOrDevice,
    File,
}

/// Folders that a run writes to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Folders<'a> {
    pub cache: Option<&'a Path>,
    pub output: Option<&'a Path>,
}

/// Endings of shards; in an output folder no other file may have them.
const SHARDS: [&str; 2] = ["parquet", "tar"];

/// Fails if an output could not be written, or must not be. `inputs`: manifests, folders of them,
/// and other files that the run reads.
///
/// Sources are not known before references are counted; [`places`] is for them.
pub fn check(outputs: &[NamedOutput<'_>], inputs: &[PathBuf], folders: Folders<'_>) -> anyhow::Result<()> {
    for (nth, output) in outputs.iter().enumerate() {
        let refuse = |why: String| anyhow::anyhow!("{} {}: {why}", output.flag, output.file.display());
        let folder = folder_of(output.file);
        ensure!(folder.is_dir(), refuse(format!("the folder {} does not exist", folder.display())));
        ensure!(!output.file.is_dir(), refuse("it is a folder; name a file".into()));
        ensure!(
            output.kind == OutputKind::FileOrDevice || !is_device(output.file),
            refuse("it is not a regular file".into())
        );
        if let Some(other) = outputs[..nth].iter().find(|other| output.is(other.file)) {
            let (flag, other) = (output.flag, other.flag);
            bail!("{other} and {flag} both name {}; use two files", output.file.display());
        }
        if let Some(whose) = owner(output.file, folders) {
            bail!(refuse(format!("it is in a folder of the {whose}; choose another name")));
        }
    }
    check_inputs(outputs, inputs)
}

/// The paths of outputs that exist already, with and without links. The options of a command take them,
/// and its scan fails at a reference to one.
pub fn places(outputs: &[NamedOutput<'_>]) -> Vec<PathBuf> {
    let there = outputs.iter().filter(|output| output.file.is_file());
    let mut places: Vec<PathBuf> = there
        .flat_map(|output| [Some(real_path(output.file)), std::path::absolute(output.file).ok()])
        .flatten()
        .collect();
    places.dedup();
    places
}

/// Writes a file that appears complete or not at all: `fill` writes its contents.
pub fn write(file: &Path, fill: impl FnOnce(&mut File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let write = || {
        // A device or a pipe is written to, not replaced.
        if is_device(file) {
            return fill(&mut OpenOptions::new().write(true).open(file)?);
        }
        let mut draft = Draft::create(folder_of(file), ".onepull-")?;
        fill(draft.file())?;
        Ok(draft.commit(file)?)
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}

/// [`write()`] with this text.
pub fn write_text(file: &Path, text: &str) -> anyhow::Result<()> {
    write(file, |file| Ok(file.write_all(text.as_bytes())?))
}

impl NamedOutput<'_> {
    /// Whether `other` is the same file, or would be.
    fn is(&self, other: &Path) -> bool {
        match (identity(self.file), identity(other)) {
            (Some(this), Some(other)) => this == other && !is_device(self.file),
            (None, None) => real_path(self.file) == real_path(other),
            _ => false,
        }
    }
}

/// Only an existing output can be a manifest: without one, no folder is walked.
fn check_inputs(outputs: &[NamedOutput<'_>], inputs: &[PathBuf]) -> anyhow::Result<()> {
    let mut there: HashMap<(u64, u64), &NamedOutput<'_>> = HashMap::new();
    for output in outputs.iter().filter(|output| !is_device(output.file)) {
        there.extend(identity(output.file).map(|identity| (identity, output)));
    }
    if there.is_empty() {
        return Ok(());
    }
    for manifest in discover(inputs, &[])? {
        if let Some(NamedOutput { flag, file, .. }) = identity(&manifest.path).and_then(|at| there.get(&at)) {
            bail!("{flag} {}: it is an input of this run; choose another name", file.display());
        }
    }
    Ok(())
}

/// What owns the folder that `file` is in, if it is owned.
fn owner(file: &Path, folders: Folders<'_>) -> Option<&'static str> {
    let place = real_path(file);
    let within = |folder: Option<PathBuf>| folder.is_some_and(|folder| place.starts_with(real_path(&folder)));
    if within(folders.cache.map(Path::to_owned)) {
        return Some("cache");
    }
    let output = folders.output?;
    let is_shard = place.extension().is_some_and(|ending| SHARDS.iter().any(|shard| ending == *shard));
    let owned = within(Some(output.join(".onepull"))) || (is_shard && within(Some(output.to_owned())));
    owned.then_some("output folder")
}

/// Tells files apart, whatever their names are.
fn identity(file: &Path) -> Option<(u64, u64)> {
    fs::metadata(file).ok().map(|metadata: Metadata| (metadata.dev(), metadata.ino()))
}

/// Whether what is written goes elsewhere, as with `/dev/stderr`.
fn is_device(file: &Path) -> bool {
    file.exists() && !file.is_file() && !file.is_dir()
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn report(file: &Path) -> NamedOutput<'_> {
        NamedOutput { flag: "--report", file, kind: OutputKind::FileOrDevice }
    }

    fn save(file: &Path) -> NamedOutput<'_> {
        NamedOutput { flag: "--save", file, kind: OutputKind::File }
    }

    fn refusal(outputs: &[NamedOutput<'_>], inputs: &[PathBuf], folders: Folders<'_>) -> String {
        check(outputs, inputs, folders).unwrap_err().to_string()
    }

    #[test]
    fn two_outputs_are_not_one_file_however_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        let check = |other: &Path| check(&[report(&one), save(other)], &[], Folders::default());
        assert!(check(&two).is_ok());
        let error = check(&folder.path().join("./one")).unwrap_err().to_string();
        assert!(error.starts_with("--report and --save both name ") && error.contains("one"), "{error}");
        fs::write(&one, "").unwrap();
        symlink(&one, &two).unwrap();
        assert!(check(&two).is_err());
    }

    #[test]
    fn anything_else_is_replaced_but_no_folder_and_no_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let [manifests, notes, link, linked] =
            ["in", "notes", "link", "linked"].map(|name| folder.path().join(name));
        let manifest = manifests.join("a.jsonl");
        fs::create_dir(&manifests).unwrap();
        fs::write(&manifest, "{}").unwrap();
        fs::write(&notes, "mine").unwrap();
        symlink(&manifest, &link).unwrap();
        fs::hard_link(&manifest, &linked).unwrap();
        assert!(check(&[report(&notes)], std::slice::from_ref(&manifests), Folders::default()).is_ok());
        for file in [&manifest, &link, &linked] {
            for inputs in [&manifests, &manifest] {
                let error = refusal(&[report(file)], std::slice::from_ref(inputs), Folders::default());
                assert!(error.contains("an input of this run"), "{error}");
            }
        }
        assert!(refusal(&[save(&manifests)], &[], Folders::default()).contains("it is a folder"));
        let nowhere = refusal(&[save(Path::new("/nowhere/counts"))], &[], Folders::default());
        assert_eq!(nowhere, "--save /nowhere/counts: the folder /nowhere does not exist");
    }

    #[test]
    fn the_files_of_the_cache_and_of_an_output_folder_are_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let [cache, output] = ["cache", "out"].map(|name| folder.path().join(name));
        fs::create_dir_all(output.join(".onepull")).unwrap();
        fs::create_dir(&cache).unwrap();
        let folders = Folders { cache: Some(&cache), output: Some(&output) };
        for file in [cache.join("a.json"), output.join(".onepull/lock"), output.join("a.tar")] {
            assert!(refusal(&[report(&file)], &[], folders).contains("it is in a folder of the"), "{file:?}");
        }
        assert!(check(&[report(&output.join("report.json"))], &[], folders).is_ok());
        let none_yet = Folders { cache: Some(Path::new("/nowhere/x")), output: None };
        assert!(check(&[report(&cache.join("a.json"))], &[], none_yet).is_ok());
    }

    #[test]
    fn a_device_takes_a_report_and_no_counts() {
        let null = Path::new("/dev/null");
        let plot = NamedOutput { flag: "--plot", ..report(null) };
        assert!(check(&[report(null), plot], &[], Folders::default()).is_ok());
        let error = refusal(&[save(null)], &[], Folders::default());
        assert_eq!(error, "--save /dev/null: it is not a regular file");
    }

    #[test]
    fn an_output_that_is_there_has_its_places_with_and_without_links() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["a.tar", "b.tar"].map(|name| folder.path().join(name));
        assert_eq!(places(&[report(&file)]), [""; 0].map(PathBuf::from));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(places(&[report(&file)]), [file.canonicalize().unwrap()]);
        assert_eq!(places(&[report(&link)]), [file.canonicalize().unwrap(), link]);
    }
}
