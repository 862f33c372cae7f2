//! Contestants that are Python scripts, each with a virtual environment of its own.
//!
//! An environment lies under `target/` and is made once. A script that is given no arguments does
//! its imports and nothing else: that tells whether it can run, and what starting it takes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::process::{self, Usage};
use crate::setup::target;

/// A script, and the Python that can run it.
pub struct Script {
    pub python: PathBuf,
    /// In `benches/`.
    pub path: PathBuf,
}

impl Script {
    /// Makes the environment `target/ENVIRONMENT` unless `script` starts in it. Each of `installs`
    /// holds the arguments of one `pip install`. Fails where there is no Python with `venv`, or no
    /// package index.
    pub fn install(environment: &str, script: &str, installs: &[&[&str]]) -> anyhow::Result<Script> {
        let environment = target().join(environment);
        let script = Script {
            python: environment.join("bin/python"),
            path: Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(script),
        };
        if script.start_up().is_ok() {
            return Ok(script);
        }
        eprintln!("making a virtual environment in {}", environment.display());
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))
            .context("making a virtual environment")?;
        for packages in installs {
            let pip = ["-m", "pip", "install", "-q"];
            process::run(Command::new(&script.python).args(pip).args(*packages))
                .with_context(|| format!("installing {}", packages.join(" ")))?;
        }
        script.start_up().with_context(|| format!("starting {}", script.path.display()))?;
        Ok(script)
    }

    /// What the interpreter takes to start and to import everything.
    pub fn start_up(&self) -> anyhow::Result<Usage> {
        process::run(Command::new(&self.python).arg(&self.path))
    }
}
