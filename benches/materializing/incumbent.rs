//! The incumbent: NeMo Curator's materialization, from its published wheel.
//!
//! The wheel is installed without its dependencies; `incumbent.py` does with those that reading,
//! fetching and writing need.

use crate::contest::python::Script;

const WHEEL: &str = "nemo-curator==1.4.0";
const BESIDE_IT: [&str; 6] = ["pandas", "pyarrow", "fsspec", "loguru", "Pillow", "attrs"];

/// Fails where there is no Python with `venv`, or no package index.
pub fn install() -> anyhow::Result<Script> {
    Script::install("bench-venv", "incumbent.py", &[&BESIDE_IT, &["--no-deps", WHEEL]])
}
