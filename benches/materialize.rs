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

use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, bail, ensure};

use contest::contestants::{Arena, Cache, output_of};
use contest::{entries, incumbent, pairs};
use corpus::{Corpus, Payloads, Sizes, Spec};

fn main() -> anyhow::Result<()> {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    // `cargo bench` says so; `cargo test --all-targets` starts this program, too, and must not measure.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    arguments.retain(|argument| argument != "--bench");
    let settings = Settings::from_env()?;
    if let [command, folder] = arguments.as_slice() {
        let folder = Path::new(folder);
        match command.as_str() {
            "generate" => return corpus::generate(folder, &settings.spec),
            "verify" => return corpus::verify::check(folder, settings.spec.references),
            _ => {}
        }
    }
    if let Some(unknown) = arguments.iter().find(|argument| !PARTS.contains(&argument.as_str())) {
        bail!("{unknown}: no such part, there are: {}", PARTS.join(" "));
    }
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);

    if PARTS[..4].iter().any(|part| wanted(part)) {
        compare(&settings, wanted)?;
    }
    if wanted("entries") {
        println!();
        entries::run(&scratch("entries"), settings.rounds)?;
    }
    Ok(())
}

const PARTS: [&str; 5] = ["copy", "never", "warm", "incumbent", "entries"];

/// The goals of the ratio of times, cold cache to contestant.
const COPY_GOAL: f64 = 2.5;
const INCUMBENT_GOAL: f64 = 1.0 / 6.0;

fn compare(settings: &Settings, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let Settings { spec, rounds, jobs } = settings;
    let corpus = prepare_corpus(spec)?;
    let arena = Arena { corpus: &corpus, folder: scratch("arena"), jobs: *jobs };
    std::fs::create_dir_all(&arena.folder)?;
    let cold = arena.onepull(Cache::Cold)?;
    println!("{}\n{jobs} jobs, {rounds} rounds, local archives, Parquet out\n", describe(spec));
    pairs::one(&cold)?;
    in_own_process("verify", output_of(&cold))?;

    pairs::print_header();
    if wanted("copy") {
        pairs::run(&cold, &arena.copy()?, *rounds, Some(COPY_GOAL))?;
    }
    if wanted("never") {
        pairs::run(&cold, &arena.onepull(Cache::Unused)?, *rounds, None)?;
    }
    if wanted("warm") {
        pairs::run(&cold, &arena.onepull(Cache::Warm)?, *rounds, None)?;
    }
    if wanted("incumbent") {
        match incumbent::install(&target().join("bench-venv")) {
            Ok(incumbent) => {
                let mut processes = vec![1, *jobs];
                processes.dedup();
                for processes in processes {
                    let contestant = arena.incumbent(&incumbent, processes);
                    pairs::one(&contestant)?;
                    in_own_process("verify", output_of(&contestant))?;
                    pairs::run(&cold, &contestant, *rounds, Some(INCUMBENT_GOAL))?;
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

/// The corpus for `spec`, made now unless an earlier run did.
fn prepare_corpus(spec: &Spec) -> anyhow::Result<Corpus> {
    ensure!(matches!(spec.payloads, Payloads::Written), "a corpus without payloads cannot be materialized");
    let folder = target().join("bench-data/corpus");
    if let Some(corpus) = corpus::open(&folder, spec) {
        return Ok(corpus);
    }
    eprintln!("making the corpus in {}", folder.display());
    in_own_process("generate", &folder)?;
    corpus::open(&folder, spec).context("the corpus is not the one that was asked for")
}

/// Does what `-- COMMAND FOLDER` does. The memory that takes would otherwise count as that of
/// every contestant started afterwards.
fn in_own_process(command: &str, folder: &Path) -> anyhow::Result<()> {
    let status = Command::new(env::current_exe()?).args(["--bench", command]).arg(folder).status()?;
    ensure!(status.success(), "{command} {}: failed", folder.display());
    Ok(())
}

struct Settings {
    spec: Spec,
    rounds: usize,
    jobs: usize,
}

impl Settings {
    fn from_env() -> anyhow::Result<Settings> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let sizes = match env::var("ONEPULL_BENCH_BYTES").as_deref() {
            Ok("law") => Sizes::Law,
            _ => Sizes::Fixed(setting("BYTES", 110_000)?),
        };
        let payloads = match env::var("ONEPULL_BENCH_PAYLOADS").as_deref() {
            Ok("absent") => Payloads::Absent,
            Ok("written") | Err(_) => Payloads::Written,
            Ok(other) => bail!("ONEPULL_BENCH_PAYLOADS={other}: written or absent"),
        };
        Ok(Settings {
            spec: Spec {
                objects: setting("OBJECTS", 8000)?,
                references: setting("REFERENCES", 36_000)?,
                sizes,
                manifests: setting("MANIFESTS", 16)?,
                payloads,
            },
            rounds: setting("ROUNDS", 5)?,
            jobs: setting("JOBS", cores)?,
        })
    }
}

fn setting<T: FromStr<Err: Display>>(name: &str, default: T) -> anyhow::Result<T> {
    let name = format!("ONEPULL_BENCH_{name}");
    match env::var(&name) {
        Ok(value) => value.parse().map_err(|error| anyhow::anyhow!("{name}={value}: {error}")),
        Err(_) => Ok(default),
    }
}

fn describe(spec: &Spec) -> String {
    let Spec { objects, references, manifests, .. } = spec;
    let size = match spec.sizes {
        Sizes::Fixed(bytes) => format!("{bytes} bytes each"),
        Sizes::Law => "144 kB on average".to_owned(),
    };
    format!("{objects} objects of {size}, {references} references in {manifests} manifests")
}

/// A folder of the benchmark that does not exist.
fn scratch(name: &str) -> PathBuf {
    let folder = target().join("bench-data").join(name);
    // Left by a run that was interrupted. If it cannot be removed, its next user says why.
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Cargo's target folder.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder for temporary files lies in target/")
}
