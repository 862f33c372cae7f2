//! What the benchmarks ask of their surroundings: arguments, settings, the target folder.

use std::env;
use std::fmt::Display;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use anyhow::{bail, ensure};

/// The arguments, if this is to be a benchmark. `cargo bench` says so; `cargo test --all-targets`
/// starts these programs, too, and they must not measure then.
pub fn arguments() -> Option<Vec<String>> {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let before = arguments.len();
    arguments.retain(|argument| argument != BENCH);
    (arguments.len() < before).then_some(arguments)
}

const BENCH: &str = "--bench";

/// The parts of a benchmark that are wanted.
pub struct Parts(Vec<String>);

impl Parts {
    /// Those of `known` that are named, or all if none is.
    pub fn new(named: Vec<String>, known: &[&str]) -> anyhow::Result<Parts> {
        if let Some(unknown) = named.iter().find(|name| !known.contains(&name.as_str())) {
            bail!("{unknown}: no such part, there are: {}", known.join(" "));
        }
        Ok(Parts(if named.is_empty() { known.iter().map(|&part| part.to_owned()).collect() } else { named }))
    }

    pub fn contains(&self, part: &str) -> bool {
        self.0.iter().any(|wanted| wanted == part)
    }
}

/// The value of `ONEPULL_BENCH_NAME`.
pub fn setting<T: FromStr<Err: Display>>(name: &str, default: T) -> anyhow::Result<T> {
    let name = variable(name);
    match env::var(&name) {
        Ok(value) => value.parse().map_err(|error| anyhow::anyhow!("{name}={value}: {error}")),
        Err(_) => Ok(default),
    }
}

/// `ONEPULL_BENCH_NAME`.
pub fn variable(name: &str) -> String {
    format!("ONEPULL_BENCH_{name}")
}

/// Threads that every contestant may use.
pub fn jobs() -> anyhow::Result<usize> {
    setting("JOBS", std::thread::available_parallelism().map_or(1, |cores| cores.get()))
}

/// Cargo's target folder.
pub fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder for temporary files lies in target/")
}

/// Does what `-- COMMAND FOLDER` does. The memory that takes would otherwise count as that of
/// every contestant started afterwards.
pub fn in_own_process(command: &str, folder: &Path, settings: &[(&str, String)]) -> anyhow::Result<()> {
    let mut child = Command::new(env::current_exe()?);
    child.args([BENCH, command]).arg(folder);
    child.envs(settings.iter().map(|(name, value)| (variable(name), value)));
    ensure!(child.status()?.success(), "{command} {}: failed", folder.display());
    Ok(())
}
