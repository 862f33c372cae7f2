//! Who takes part: `onepull analyze`, DuckDB, and decoding without grouping.

use std::env;
use std::path::Path;

use crate::contest::contestant::Contestant;
use crate::contest::python::Script;
use crate::corpus::Corpus;

const DUCKDB: &str = "2.0.1";

/// Where a contest takes place.
pub struct Arena<'a> {
    pub corpus: &'a Corpus,
    /// Threads of every contestant.
    pub jobs: usize,
}

impl Arena<'_> {
    /// `memory`: the bound, as it is written on the command line; `None`: the default.
    pub fn onepull(&self, memory: Option<&str>) -> Contestant {
        let jobs = self.jobs.to_string();
        let mut arguments = vec!["analyze", "-j", &jobs, "--json", "--progress", "none"];
        arguments.extend(memory.iter().flat_map(|memory| ["--memory", memory]));
        let name = memory.map_or("onepull".to_owned(), |memory| format!("onepull, {memory}"));
        self.contestant(name, Path::new(env!("CARGO_BIN_EXE_onepull")), &arguments)
    }

    /// `script` is the one of [`install_duckdb`].
    pub fn duckdb(&self, script: &Script) -> Contestant {
        let (path, jobs) = (script.path.display().to_string(), self.jobs.to_string());
        self.contestant(format!("DuckDB {DUCKDB}"), &script.python, &[&path, "--threads", &jobs])
    }

    /// This program, told to do what `decode` does.
    pub fn decode(&self) -> anyhow::Result<Contestant> {
        let jobs = self.jobs.to_string();
        let program = env::current_exe()?;
        Ok(self.contestant("decoding alone".to_owned(), &program, &["--bench", "decode", &jobs]))
    }

    /// All are given the same manifests, last on the command line, and write nothing.
    fn contestant(&self, name: String, program: &Path, arguments: &[&str]) -> Contestant {
        let manifests = self.corpus.manifests.iter().map(|manifest| manifest.display().to_string());
        Contestant {
            name,
            inputs: self.corpus.files.clone(),
            leftovers: Vec::new(),
            spent: None,
            program: program.to_owned(),
            arguments: arguments.iter().map(|&argument| argument.to_owned()).chain(manifests).collect(),
        }
    }
}

/// DuckDB from the package index; the version is part of the environment's name, so that another
/// one is installed when it changes.
pub fn install_duckdb() -> anyhow::Result<Script> {
    let package = format!("duckdb=={DUCKDB}");
    Script::install(&format!("bench-venv-duckdb-{DUCKDB}"), "group_by.py", &[&[&package]])
}
