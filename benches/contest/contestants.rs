//! Who takes part: onepull with its cache in several states, a plain copy, the incumbent.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::incumbent::Incumbent;
use super::process;
use crate::corpus::Corpus;

/// One way to do the work.
pub struct Contestant {
    pub name: String,
    /// Read before each run, so that it starts with a warm page cache.
    inputs: Vec<PathBuf>,
    /// Removed before each run and after the last.
    leftovers: Vec<PathBuf>,
    /// A cache that each run fills anew, and where it is moved afterwards. It is not removed
    /// between runs: ext4 looks past each recently deleted inode when it makes a file, so the next
    /// run would pay for the removal.
    spent: Option<(PathBuf, PathBuf)>,
    program: PathBuf,
    arguments: Vec<String>,
}

impl Contestant {
    /// Brings everything into the state in which a run may be timed.
    pub fn prepare(&self) -> anyhow::Result<()> {
        self.clean()?;
        self.inputs.iter().try_for_each(|input| read_through(input))
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }

    pub fn clean(&self) -> anyhow::Result<()> {
        if let Some((cache, spent)) = self.spent.as_ref().filter(|(cache, _)| cache.exists()) {
            fs::create_dir_all(spent)?;
            let number = fs::read_dir(spent)?.count();
            fs::rename(cache, spent.join(number.to_string()))?;
        }
        self.leftovers.iter().try_for_each(|leftover| remove(leftover))
    }
}

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
            inputs: self.corpus_files(),
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

    pub fn incumbent(&self, incumbent: &Incumbent, processes: usize) -> Contestant {
        let output = self.folder.join(format!("incumbent-{processes}"));
        let mut arguments = vec![display(&incumbent.script), "-o".to_owned(), display(&output)];
        arguments.extend(["--jobs".to_owned(), processes.to_string()]);
        arguments.extend(self.corpus.manifests.iter().map(|manifest| display(manifest)));
        Contestant {
            name: format!("incumbent, {processes} proc."),
            inputs: self.corpus_files(),
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
            remove(&store)?;
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

    fn corpus_files(&self) -> Vec<PathBuf> {
        self.corpus.manifests.iter().chain(&self.corpus.archives).cloned().collect()
    }
}

/// The folder that a contestant writes its shards to.
pub fn output_of(contestant: &Contestant) -> &Path {
    &contestant.leftovers[0]
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

fn remove(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("removing {}", path.display()))?;
    }
    Ok(())
}

/// Reads a file, or everything in a folder, and throws it away.
fn read_through(path: &Path) -> anyhow::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    for entry in walkdir::WalkDir::new(path) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let mut file = fs::File::open(entry.path())?;
            while file.read(&mut buffer)? > 0 {}
        }
    }
    Ok(())
}
