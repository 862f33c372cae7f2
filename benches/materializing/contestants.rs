//! Who takes part: onepull with its cache in several states, a plain copy, the incumbent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::contest::contestant::Contestant;
use crate::contest::process;
use crate::contest::python::Script;
use crate::corpus::Corpus;

/// The state of the cache that onepull meets.
#[derive(Clone, Copy)]
pub enum Cache {
    /// Empty, and filled by the run.
    Cold,
    /// Holds every object.
    Warm,
    /// `--cache-mode never`.
    Unused,
}

/// Where a contest takes place.
pub struct Arena<'a> {
    pub corpus: &'a Corpus,
    /// For outputs and caches.
    pub folder: PathBuf,
    pub jobs: usize,
}

impl Arena<'_> {
    pub fn onepull(&self, cache: Cache) -> anyhow::Result<Contestant> {
        let (name, mode) = match cache {
            Cache::Cold => ("cold cache", "always"),
            Cache::Warm => ("warm cache", "always"),
            Cache::Unused => ("no cache", "never"),
        };
        let output = self.folder.join(name.replace(' ', "-"));
        let store = self.folder.join(format!("{}-store", name.replace(' ', "-")));
        let mut contestant = Contestant {
            name: format!("onepull, {name}"),
            inputs: self.corpus.files.clone(),
            leftovers: vec![output.clone()],
            spent: Some((store.clone(), self.folder.join("spent"))),
            program: PathBuf::from(env!("CARGO_BIN_EXE_onepull")),
            arguments: self.onepull_arguments(&output, &store, mode),
        };
        if let Cache::Warm = cache {
            contestant.prepare()?;
            process::run(&mut contestant.command()).context("filling the cache")?;
            contestant.spent = None;
            contestant.inputs = vec![store];
            contestant.inputs.extend(self.corpus.manifests.iter().cloned());
        }
        Ok(contestant)
    }

    /// `cp -r` of what onepull writes. Free, and no measure, where the file system clones files.
    pub fn copy(&self) -> anyhow::Result<Contestant> {
        let original = self.reference_output()?;
        let copy = self.folder.join("copy");
        let arguments = ["-r".to_owned(), display(&original), display(&copy)].to_vec();
        Ok(Contestant {
            name: "cp -r".to_owned(),
            inputs: vec![original],
            leftovers: vec![copy],
            spent: None,
            program: PathBuf::from("cp"),
            arguments,
        })
    }

    pub fn incumbent(&self, incumbent: &Script, processes: usize) -> Contestant {
        let output = self.folder.join(format!("incumbent-{processes}"));
        let mut arguments = vec![display(&incumbent.path), "-o".to_owned(), display(&output)];
        arguments.extend(["--jobs".to_owned(), processes.to_string()]);
        arguments.extend(self.corpus.manifests.iter().map(|manifest| display(manifest)));
        Contestant {
            name: format!("incumbent, {processes} proc."),
            inputs: self.corpus.files.clone(),
            leftovers: vec![output],
            spent: None,
            program: incumbent.python.clone(),
            arguments,
        }
    }

    /// What onepull writes for this corpus, written now unless an earlier call did.
    pub fn reference_output(&self) -> anyhow::Result<PathBuf> {
        let output = self.folder.join("reference");
        if !output.exists() {
            let store = self.folder.join("reference-store");
            let mut command = Command::new(env!("CARGO_BIN_EXE_onepull"));
            command.args(self.onepull_arguments(&output, &store, "never"));
            process::run(&mut command).context("writing the output that is copied")?;
            if store.exists() {
                fs::remove_dir_all(&store)?;
            }
        }
        Ok(output)
    }

    fn onepull_arguments(&self, output: &Path, store: &Path, mode: &str) -> Vec<String> {
        let mut arguments = vec!["materialize".to_owned()];
        arguments.extend(self.corpus.manifests.iter().map(|manifest| display(manifest)));
        let jobs = self.jobs.to_string();
        let (output, store) = (display(output), display(store));
        let options = ["-o", &output, "--cache", &store, "--cache-mode", mode, "-j", &jobs];
        arguments.extend(options.map(str::to_owned));
        let fixed = ["--format", "parquet", "--progress", "none", "--json", "--overwrite"];
        arguments.extend(fixed.map(str::to_owned));
        arguments
    }
}

/// The folder that a contestant writes its shards to.
pub fn output_of(contestant: &Contestant) -> &Path {
    &contestant.leftovers[0]
}

fn display(path: &Path) -> String {
    path.display().to_string()
}
