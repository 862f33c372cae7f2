//! Grouping references by object, side by side with a database and with decoding alone.
//!
//!     cargo bench --bench analyze                              everything
//!     cargo bench --bench analyze -- duckdb bounded            some of: duckdb bounded floor
//!     cargo bench --bench analyze -- generate FOLDER           makes a corpus, set as for `materialize`
//!
//! `duckdb` pairs `onepull analyze` with DuckDB's `GROUP BY` on the same snappy Parquet manifests,
//! `bounded` does with `--memory 512MB` on our side only, `floor` pairs it with decoding the same
//! columns with the same reader. Nothing is timed before all have come to the same histogram.
//!
//! `ONEPULL_BENCH_SCALE` (20,100) names the corpora, in millions of references; `_JOBS` (cores),
//! `_ROUNDS` (5, from 100 millions on 3). The corpora are kept in `target/bench-data`; 100 million
//! references are 3.6 GB, and making them takes some minutes and 0.8 GB of memory, once.

mod contest;
mod corpus;
mod grouping;
mod setup;

use std::path::PathBuf;

use anyhow::Context;

use contest::pairs;
use contest::python::Script;
use corpus::{Payloads, Sizes, Spec};
use grouping::answer::{Answer, ensure_counts};
use grouping::contestants::{Arena, install_duckdb};
use grouping::decode;
use setup::{Parts, setting};

fn main() -> anyhow::Result<()> {
    let Some(arguments) = setup::arguments() else { return Ok(()) };
    match arguments.as_slice() {
        [command, folder] if command == "generate" => {
            return corpus::generate(folder.as_ref(), &Spec::from_env(scaled(20)?)?);
        }
        [command, jobs, manifests @ ..] if command == "decode" => {
            let manifests: Vec<_> = manifests.iter().map(PathBuf::from).collect();
            println!("{}", decode::run(&manifests, jobs.parse()?)?);
            return Ok(());
        }
        _ => {}
    }
    let parts = Parts::new(arguments, &["duckdb", "bounded", "floor"])?;
    let duckdb = if parts.contains("duckdb") || parts.contains("bounded") {
        install_duckdb().inspect_err(|error| println!("DuckDB: left out, {error:#}")).ok()
    } else {
        None
    };
    for millions in scales()? {
        compare(millions, &parts, duckdb.as_ref())?;
    }
    if let Some(duckdb) = &duckdb {
        let seconds = duckdb.start_up()?.wall.as_secs_f64();
        println!("DuckDB's times include {seconds:.2} s for Python to start and import");
    }
    Ok(())
}

/// The goals of the ratio of times, onepull to DuckDB, which may take what memory it wants.
const GOAL: f64 = 0.35;
const BOUNDED_GOAL: f64 = 1.0;
const BOUND: &str = "512MB";

fn compare(millions: u32, parts: &Parts, duckdb: Option<&Script>) -> anyhow::Result<()> {
    let spec = scaled(millions)?;
    let rounds = setting("ROUNDS", if millions < 100 { 5 } else { 3 })?;
    let folder = setup::target().join(format!("bench-data/references-{millions}m"));
    let arena = Arena { corpus: &corpus::prepare(&folder, &spec)?, jobs: setup::jobs()? };
    println!("{spec}\n{} jobs, {rounds} rounds, snappy Parquet, locators as JSON\n", arena.jobs);

    let (onepull, bounded, floor) = (arena.onepull(None), arena.onepull(Some(BOUND)), arena.decode()?);
    let duckdb = duckdb.map(|script| arena.duckdb(script));
    let answer = Answer::of(&onepull, &spec)?;
    answer.ensure_equals(&Answer::of(&bounded, &spec)?).context("with and without a bound on memory")?;
    if let Some(duckdb) = &duckdb {
        answer.ensure_equals(&Answer::of(duckdb, &spec)?).context("onepull and DuckDB")?;
    }
    ensure_counts(&floor, &spec)?;

    pairs::print_header();
    if let Some(duckdb) = duckdb.as_ref().filter(|_| parts.contains("duckdb")) {
        pairs::run(&onepull, duckdb, rounds, Some(GOAL))?;
    }
    if let Some(duckdb) = duckdb.as_ref().filter(|_| parts.contains("bounded")) {
        pairs::run(&bounded, duckdb, rounds, Some(BOUNDED_GOAL))?;
    }
    if parts.contains("floor") {
        pairs::run(&onepull, &floor, rounds, None)?;
    }
    println!();
    Ok(())
}

fn scales() -> anyhow::Result<Vec<u32>> {
    let scales = setting("SCALE", "20,100".to_owned())?;
    let numbers =
        scales.split(',').map(|scale| scale.trim().parse().with_context(|| format!("scale `{scale}`")));
    numbers.collect()
}

/// References by the million, 4.4 to an object, as in the corpus that the law describes.
fn scaled(millions: u32) -> anyhow::Result<Spec> {
    let references = millions.checked_mul(1_000_000).context("at most 4,294 million references")?;
    Ok(Spec {
        objects: references / 40 * 9,
        references,
        sizes: Sizes::Law,
        manifests: if millions < 100 { 64 } else { 128 },
        payloads: Payloads::Absent,
    })
}
