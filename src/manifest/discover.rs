//! Which files are manifests, and the names of their shards.
//!
//! Folders are walked in the order of paths, and files in them are chosen by their names. A file that
//! the user names is a manifest whatever its name is.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use walkdir::{DirEntry, WalkDir};

/// A file to read as a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    pub path: PathBuf,
    /// Path below the input folder without extensions: `sub/part-00000`.
    pub name: PathBuf,
}

/// The endings of manifests in folders.
const ENDINGS: [&str; 5] = ["parquet", "jsonl", "ndjson", "jsonlines", "json"];
const PACKED: [&str; 3] = ["gz", "zst", "zstd"];

const BELOW_ROOT: &str = "the walk stays below its root";

/// All manifests among `inputs`, in order, without the folders in `exclude`.
///
/// Fails when an input does not exist or cannot be listed. A folder below an input that cannot be
/// listed is returned as a manifest, so that opening it reports why.
pub fn discover(inputs: &[PathBuf], exclude: &[PathBuf]) -> anyhow::Result<Vec<ManifestFile>> {
    let exclude: Vec<PathBuf> = exclude.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut manifests = Vec::new();
    for input in inputs {
        let metadata = input.metadata().with_context(|| format!("cannot read {}", input.display()))?;
        if metadata.is_dir() {
            walk(input, &exclude, &mut manifests)?;
        } else if metadata.is_file() {
            let name = stem(input).unwrap_or_else(|| input.file_stem().unwrap_or_default().into());
            manifests.push(ManifestFile { path: input.clone(), name: name.into() });
        } else {
            bail!("{} is neither a file nor a folder", input.display());
        }
    }
    Ok(manifests)
}

/// Adds the manifests in the folder `root`.
fn walk(root: &Path, exclude: &[PathBuf], manifests: &mut Vec<ManifestFile>) -> anyhow::Result<()> {
    let is_excluded = |entry: &DirEntry| {
        entry.file_type().is_dir() && entry.path().canonicalize().is_ok_and(|real| exclude.contains(&real))
    };
    let is_visible =
        |entry: &DirEntry| entry.depth() == 0 || !(is_hidden(entry.path()) || is_excluded(entry));
    let entries = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(is_visible) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let Some(stem) = stem(entry.path()) else { continue };
                let name = entry.path().strip_prefix(root).expect(BELOW_ROOT).with_file_name(stem);
                manifests.push(ManifestFile { path: entry.into_path(), name });
            }
            Ok(_) => {}
            // A link to a folder above itself: the walk visits that folder anyway.
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => match error.path().filter(|path| *path != root) {
                Some(path) => manifests.extend(unlisted(root, path)),
                None => return Err(error).with_context(|| format!("cannot list {}", root.display())),
            },
        }
    }
    Ok(())
}

/// A dangling link or an unreadable folder, as a manifest that cannot be opened: it may have held
/// rows, so it must be reported. `None` for a name that would have been ignored.
fn unlisted(root: &Path, path: &Path) -> Option<ManifestFile> {
    if is_hidden(path) || (path.extension().is_some() && stem(path).is_none()) {
        return None;
    }
    let name = path.strip_prefix(root).expect(BELOW_ROOT).to_owned();
    Some(ManifestFile { path: path.to_owned(), name })
}

/// `.git`, `_SUCCESS` and the like.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        name.as_encoded_bytes().starts_with(b".") || name.as_encoded_bytes().starts_with(b"_")
    })
}

/// The file name without the endings of a manifest; `None` if it has none.
fn stem(path: &Path) -> Option<std::ffi::OsString> {
    let mut path = unpacked(path)?;
    ending(&path).filter(|e| ENDINGS.contains(&e.as_str()))?;
    path.set_extension("");
    Some(path.into_os_string())
}

pub fn is_named_parquet(path: &Path) -> bool {
    unpacked(path).is_some_and(|path| ending(&path).is_some_and(|ending| ending == "parquet"))
}

pub fn is_named_packed(path: &Path) -> bool {
    ending(path).is_some_and(|ending| PACKED.contains(&ending.as_str()))
}

/// The file name without the ending of a compression.
fn unpacked(path: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::from(path.file_name()?);
    if ending(&path).is_some_and(|e| PACKED.contains(&e.as_str())) {
        path.set_extension("");
    }
    Some(path)
}

fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_are_walked_in_order_and_names_lose_their_endings() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            "b/p.1.jsonl.gz",
            "b/x.txt",
            "a.parquet",
            "c.JSONL",
            "out/a.parquet",
            ".h/a.jsonl",
            "_x.jsonl",
            "i.tar",
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "").unwrap();
        }
        let found = discover(&[root.to_owned()], &[root.join("out")]).unwrap();
        let names: Vec<_> = found.iter().map(|m| m.name.to_str().unwrap()).collect();
        assert_eq!(names, ["a", "b/p.1", "c"]);
        let named = discover(&[root.join("b/x.txt"), root.join("b/p.1.jsonl.gz")], &[]).unwrap();
        assert_eq!(named.iter().map(|m| m.name.to_str().unwrap()).collect::<Vec<_>>(), ["x", "p.1"]);
        assert!(discover(&[root.join("missing")], &[]).unwrap_err().to_string().contains("missing"));
    }
}
