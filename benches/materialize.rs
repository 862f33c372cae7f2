//! Materializing local archives, side by side with other ways to get the same bytes.
//!
//!     cargo bench --bench materialize                          everything
//!     cargo bench --bench materialize -- copy entries          some of: copy never warm incumbent entries
//!     cargo bench --bench materialize -- generate FOLDER       makes a corpus
//!     cargo bench --bench materialize -- verify FOLDER         compares shards with their corpus
//!
//! `ONEPULL_BENCH_OBJECTS` (8000), `_REFERENCES` (36000), `_BYTES` (110000 an object, or `law` for
//! sizes as on the web), `_MANIFESTS` (16), `_ROUNDS` (5), `_JOBS` (cores), `_PAYLOADS` (`absent`
//! writes manifests only, to plan with). Everything is kept under `target/`; a corpus is made once.

mod contest;
mod corpus;
mod materializing;
mod setup;

use std::path::{Path, PathBuf};

use anyhow::ensure;

use contest::pairs;
use corpus::{Payloads, Sizes, Spec};
use materializing::contestants::{Arena, Cache, output_of};
use materializing::{entries, incumbent, verify};
use setup::{Parts, in_own_process, jobs, setting, target};

fn main() -> anyhow::Result<()> {
    let Some(arguments) = setup::arguments() else { return Ok(()) };
    let spec = Spec::from_env(DEFAULT)?;
    if let [command, folder] = arguments.as_slice() {
        let folder = Path::new(folder);
        match command.as_str() {
            "generate" => return corpus::generate(folder, &spec),
            "verify" => return verify::check(folder, spec.references),
            _ => {}
        }
    }
    let parts = Parts::new(arguments, &["copy", "never", "warm", "incumbent", "entries"])?;
    let rounds = setting("ROUNDS", 5)?;
    if ["copy", "never", "warm", "incumbent"].iter().any(|part| parts.contains(part)) {
        compare(&spec, rounds, &parts)?;
    }
    if parts.contains("entries") {
        println!();
        entries::run(&scratch("entries"), rounds)?;
    }
    Ok(())
}

const DEFAULT: Spec = Spec {
    objects: 8000,
    references: 36_000,
    sizes: Sizes::Fixed(110_000),
    manifests: 16,
    payloads: Payloads::Written,
};

/// The goals of the ratio of times, cold cache to contestant.
const COPY_GOAL: f64 = 2.5;
const INCUMBENT_GOAL: f64 = 1.0 / 6.0;

fn compare(spec: &Spec, rounds: usize, parts: &Parts) -> anyhow::Result<()> {
    ensure!(spec.payloads == Payloads::Written, "a corpus without payloads cannot be materialized");
    let corpus = corpus::prepare(&target().join("bench-data/corpus"), spec)?;
    let arena = Arena { corpus: &corpus, folder: scratch("arena"), jobs: jobs()? };
    std::fs::create_dir_all(&arena.folder)?;
    let cold = arena.onepull(Cache::Cold)?;
    println!("{spec}\n{} jobs, {rounds} rounds, local archives, Parquet out\n", arena.jobs);
    pairs::one(&cold)?;
    in_own_process("verify", output_of(&cold), &spec.settings())?;

    pairs::print_header();
    if parts.contains("copy") {
        pairs::run(&cold, &arena.copy()?, rounds, Some(COPY_GOAL))?;
    }
    if parts.contains("never") {
        pairs::run(&cold, &arena.onepull(Cache::Unused)?, rounds, None)?;
    }
    if parts.contains("warm") {
        pairs::run(&cold, &arena.onepull(Cache::Warm)?, rounds, None)?;
    }
    if parts.contains("incumbent") {
        match incumbent::install() {
            Ok(incumbent) => {
                let mut processes = vec![1, arena.jobs];
                processes.dedup();
                for processes in processes {
                    let contestant = arena.incumbent(&incumbent, processes);
                    pairs::one(&contestant)?;
                    in_own_process("verify", output_of(&contestant), &spec.settings())?;
                    pairs::run(&cold, &contestant, rounds, Some(INCUMBENT_GOAL))?;
                }
                let seconds = incumbent.start_up()?.wall.as_secs_f64();
                println!("the incumbent's times include {seconds:.2} s for Python to start and import");
            }
            Err(error) => println!("incumbent: left out, {error:#}"),
        }
    }
    std::fs::remove_dir_all(&arena.folder)?;
    Ok(())
}

/// A folder of the benchmark that does not exist.
fn scratch(name: &str) -> PathBuf {
    let folder = target().join("bench-data").join(name);
    // Left by a run that was interrupted. If it cannot be removed, its next user says why.
    let _ = std::fs::remove_dir_all(&folder);
    folder
}
