//! Runs, and what is true of every one that ends.

use std::ffi::OsStr;
use std::path::Path;

use assert_cmd::Command;
use onepull::commands::materialize::*;
use onepull::monitor::Silent;
use onepull::store::Store;

/// The defaults of the command line, with two jobs.
pub fn options(manifests: &Path, output: &Path, cache: &Path) -> Options {
    Options {
        manifests: vec![manifests.to_owned()],
        output: Some(output.to_owned()),
        format: None,
        cache_dir: cache.to_owned(),
        cache_mode: CacheMode::Always,
        cache_limit: None,
        on_error: OnError::Keep,
        max_errors: MaxErrors::Count(0),
        root: None,
        outputs: Vec::new(),
        allow: Vec::new(),
        stop_after: StopAfter::Shards,
        existing: Existing::Keep,
        compression: Compression::Zstd,
        row_group_bytes: 100_000_000,
        image_tokens: ImageTokens::Member,
        jobs: 2,
        memory: 1 << 30,
    }
}

/// Runs to the end; the laws hold.
pub fn materialize(options: &Options) -> Report {
    done(run(options, &Silent).unwrap())
}

/// [`materialize`] from `store`.
pub fn materialize_from(store: &dyn Store, options: &Options) -> Report {
    done(run_from(store, options, &Silent).unwrap())
}

/// Runs `options` as far as the plan.
pub fn dry_run(options: &Options) -> PlanReport {
    match run(&Options { stop_after: StopAfter::Plan, ..options.clone() }, &Silent).unwrap() {
        Outcome::Planned(plan) => plan,
        Outcome::Done(_) => panic!("a dry run ends with the plan"),
    }
}

fn done(outcome: Outcome) -> Report {
    let Outcome::Done(report) = outcome else { panic!("the run was to write shards") };
    assert_laws(&report);
    report
}

/// The identities that hold in every report.
pub fn assert_laws(report: &Report) {
    let Report { cache, source, .. } = report;
    assert_eq!(report.rows_in, report.rows_out + report.rows_dropped, "rows: {report:#?}");
    assert_eq!(report.references, report.objects + report.duplicates, "references: {report:#?}");
    assert_eq!(report.references, report.materialized + report.failed, "references: {report:#?}");
    assert_eq!(
        report.objects,
        report.reused_objects + cache.hits + source.reads + report.failed_objects,
        "objects: {report:#?}"
    );
    if report.references > 0 {
        let read = (source.reads + source.rereads) as f64;
        assert!((report.hit_rate - (1.0 - read / report.references as f64)).abs() < 1e-12, "{report:#?}");
    }
}

/// The binary, without anything of the caller's environment that it reads.
pub fn onepull() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("onepull"));
    command.env_remove("ONEPULL_CACHE").env_remove("XDG_CACHE_HOME").env("NO_COLOR", "1");
    command
}

/// The command line that says the folders and the jobs of `options`. Not of [`assert_cmd`], so
/// that it can be spawned.
pub fn command(options: &Options) -> std::process::Command {
    let mut command = std::process::Command::new(onepull().get_program());
    command.env_remove("ONEPULL_CACHE").env("NO_COLOR", "1");
    command.arg("materialize").args(&options.manifests).arg("--cache").arg(&options.cache_dir);
    command.args(options.output.iter().flat_map(|folder| [OsStr::new("--output"), folder.as_os_str()]));
    command.args(["--jobs", &options.jobs.to_string()]);
    command
}
