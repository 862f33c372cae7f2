//! The incumbent: NeMo Curator's materialization, from its published wheel.
//!
//! It gets a virtual environment of its own under `target/`, made once. The wheel is installed
//! without its dependencies; `incumbent.py` does with those that reading, fetching and writing
//! need.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::process::{self, Usage};

const WHEEL: &str = "nemo-curator==1.4.0";
const BESIDE_IT: [&str; 6] = ["pandas", "pyarrow", "fsspec", "loguru", "Pillow", "attrs"];

/// A Python that can run it, and the script that does.
pub struct Incumbent {
    pub python: PathBuf,
    pub script: PathBuf,
}

impl Incumbent {
    /// What its interpreter takes to start and to import everything.
    pub fn start_up(&self) -> anyhow::Result<Usage> {
        let nothing = tempfile::tempdir()?;
        process::run(Command::new(&self.python).arg(&self.script).arg("-o").arg(nothing.path()))
    }
}

/// Installs the incumbent in `environment` unless it is there. Fails where there is no Python
/// with `venv`, or no package index.
pub fn install(environment: &Path) -> anyhow::Result<Incumbent> {
    let python = environment.join("bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/incumbent.py");
    let incumbent = Incumbent { python, script };
    if incumbent.start_up().is_err() {
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment))
            .context("making a virtual environment")?;
        let pip = |packages: &[&str]| {
            process::run(Command::new(&incumbent.python).args(["-m", "pip", "install", "-q"]).args(packages))
        };
        pip(&BESIDE_IT).context("installing what the incumbent needs")?;
        pip(&["--no-deps", WHEEL]).context("installing the incumbent")?;
        incumbent.start_up().context("starting the incumbent")?;
    }
    Ok(incumbent)
}
