//! A corpus in a folder of its own: sources beside `in`, which holds the manifests.
//!
//! ```text
//! FOLDER/<sources>
//! FOLDER/in/<manifests>     locators start with `../`
//! FOLDER/out, FOLDER/cache  where `Corpus::options` points
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use onepull::commands::materialize::Options;
use tempfile::TempDir;

use super::manifests::{self, Row};
use super::{files, run};

pub struct Corpus {
    folder: TempDir,
}

/// Where a tar keeps the payload of a member.
#[derive(Clone, Debug)]
pub struct Member {
    /// As seen from the manifests.
    pub archive: String,
    pub name: String,
    pub offset: u64,
    pub size: u64,
}

impl Corpus {
    pub fn new() -> Corpus {
        let folder = files::scratch();
        fs::create_dir(folder.path().join("in")).unwrap();
        Corpus { folder }
    }

    /// A path below the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A source that is a file of its own; returns its locator.
    pub fn file(&self, name: &str, payload: &[u8]) -> String {
        fs::write(self.path(name), payload).unwrap();
        whole(&format!("../{name}"))
    }

    /// A source that is a tar; returns where its members are.
    pub fn tar<P: AsRef<[u8]>>(&self, name: &str, members: &[(String, P)]) -> Vec<Member> {
        let path = self.path(name);
        write_tar(&path, members);
        find_members(&path, &format!("../{name}"))
    }

    pub fn jsonl(&self, name: &str, rows: &[Row]) -> PathBuf {
        self.manifest(name, manifests::jsonl(rows).as_bytes())
    }

    pub fn parquet(&self, name: &str, rows: &[Row]) -> PathBuf {
        self.manifest(name, &manifests::parquet(rows, 64))
    }

    pub fn manifest(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path("in").join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// All manifests, into `out`, through `cache`.
    pub fn options(&self) -> Options {
        self.options_into("out")
    }

    pub fn options_into(&self, output: &str) -> Options {
        run::options(&self.path("in"), &self.path(output), &self.path("cache"))
    }
}

/// The locator of a whole file.
pub fn whole(path: &str) -> String {
    serde_json::json!({ "path": path }).to_string()
}

impl Member {
    /// The locator by name.
    pub fn by_name(&self) -> String {
        serde_json::json!({ "path": self.archive, "member": self.name }).to_string()
    }

    /// The locator by name and range, as writers of such corpora give it.
    pub fn by_range(&self) -> String {
        let Member { archive, name, offset, size } = self;
        serde_json::json!({ "path": archive, "member": name, "byte_offset": offset, "byte_size": size })
            .to_string()
    }
}

pub fn write_tar<P: AsRef<[u8]>>(path: &Path, members: &[(String, P)]) {
    let mut tar = tar::Builder::new(fs::File::create(path).unwrap());
    for (name, payload) in members {
        let payload = payload.as_ref();
        let mut header = tar::Header::new_gnu();
        header.set_size(payload.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, payload).unwrap();
    }
    tar.finish().unwrap();
}

fn find_members(path: &Path, archive: &str) -> Vec<Member> {
    let mut tar = tar::Archive::new(fs::File::open(path).unwrap());
    let entries = tar.entries_with_seek().unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            Member {
                archive: archive.into(),
                name: String::from_utf8(entry.path_bytes().into_owned()).unwrap(),
                offset: entry.raw_file_position(),
                size: entry.size(),
            }
        })
        .collect()
}
