//! `onepull size` on the command line: its flags, what they mean, and the run.

use std::cmp::Ordering;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use onepull::commands::outputs::{self, Folders};
use onepull::commands::size::{self, Options, Origin};

use super::args::{Inputs, Shared, Tolerance, Usage, parse_plot};
use super::exit::{self, Exit};
use super::objective::ObjectiveFlags;
use super::{console, output, quantity, render, system};

/// What an interrupted run leaves behind.
pub const INTERRUPTED: &str = "there is no report; run the same command to start again";

pub const EXAMPLES: &str = "\
Examples:
  See what caches of 1% to 100% of the bytes reach:
    onepull size manifests/

  Count once, then compare sizes and find the smallest cache for a hit rate:
    onepull analyze manifests/ --save counts.parquet
    onepull size --from counts.parquet --budget 500GB,1TB,2TB --target 40%,60%

  See how much time a cache saves, and how slow the source must be for it to pay:
    onepull size manifests/ --objective seconds --latency 80ms \\
        --bandwidth 50MB/s --plot curve.svg";

/// Show the hit rate for each cache size
///
/// Counts the references of all manifests by object, or takes the counts that `onepull analyze
/// --save` wrote. For each size of cache it shows the hit rate of a fixed choice of objects: by
/// reference count, and by value density, which needs a much smaller cache for the same hit rate.
/// Next to them it shows LRU and a bound that no policy can pass, the smallest cache for a hit
/// rate, and the size beyond which a larger cache stops paying.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("origin").args(["manifests", "from"]).required(true),
    override_usage = "onepull size [OPTIONS] <MANIFEST>...\n       onepull size [OPTIONS] --from <FILE>",
    mut_arg("manifests", |argument| argument.required(false))
)]
pub struct SizeFlags {
    /// Take the counts from FILE, written by `onepull analyze --save FILE`
    ///
    /// Any Parquet file with the columns references, bytes and objects will do.
    #[arg(long, value_name = "FILE", conflicts_with = "root")]
    from: Option<PathBuf>,

    /// Cache sizes to show: 2TB or 500GB,64GiB [default: up to all bytes]
    ///
    /// May be repeated. The default is a series of round sizes from 1% to 100% of the bytes of all
    /// objects.
    #[arg(long, help_heading = "Sizes", value_name = "SIZE,...", value_delimiter = ',', value_parser = quantity::bytes)]
    budget: Vec<u64>,

    /// Hit rates to find the smallest cache for: 40% or 40%,60%; may be repeated
    #[arg(long, help_heading = "Sizes", value_name = "P%,...", value_delimiter = ',', value_parser = quantity::share)]
    target: Vec<f64>,

    /// Size to assume for objects of unknown size [default: they are left out]
    #[arg(long, help_heading = "Sizes", value_name = "SIZE", value_parser = parse_assumed)]
    assume_size: Option<u64>,

    /// Ask the sources for the sizes of N objects of unknown size; 0 for none
    ///
    /// All objects of unknown size are then assumed to have the mean of the answers. The report
    /// says how far off it may be. The N objects are chosen by a hash. No image is read, but
    /// compressed archives are unpacked once. Saved counts hold no locators, so this needs
    /// manifests.
    #[arg(
        long,
        help_heading = "Sizes",
        value_name = "N",
        default_value_t = 0,
        conflicts_with = "assume_size"
    )]
    probe_sizes: usize,

    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    objective: ObjectiveFlags,

    /// Draw the hit rate for each cache size as FILE.svg
    ///
    /// The folder of FILE must exist. FILE is replaced whole or not at all.
    #[arg(long, help_heading = "Plot", value_name = "FILE", value_parser = parse_plot)]
    plot: Option<PathBuf>,

    #[command(flatten)]
    tolerance: Tolerance,

    #[command(flatten)]
    shared: Shared,
}

/// Runs the command; an error means that there is no report, or not all of what was asked for.
pub fn run(flags: &SizeFlags) -> anyhow::Result<Exit> {
    let (jobs, remark) = flags.shared.jobs(system::raise_open_files());
    let named = output::named(&flags.shared, flags.plot.as_deref(), None);
    let options = Options { outputs: outputs::places(&named), ..flags.options(jobs)? };
    let inputs: Vec<PathBuf> = flags.inputs.manifests.iter().chain(&flags.from).cloned().collect();
    outputs::check(&named, &inputs, Folders::default())?;

    let report = console::watch(&flags.shared, remark, |screen| size::run(&options, screen))?;
    output::deliver(&flags.shared, &report, || {
        render::size::report(&report, &options.objective, flags.shared.detail(), output::columns())
    })?;
    if let Some(file) = &flags.plot {
        outputs::write_text(file, &render::plot::size(&report)?)?;
    }
    Ok(exit::judge(&report.errors, report.references, &report.unreadable, flags.tolerance.max_errors))
}

impl SizeFlags {
    fn options(&self, jobs: usize) -> Result<Options, Usage> {
        if self.from.is_some() && self.probe_sizes > 0 {
            return Err(Usage(
                "--probe-sizes needs manifests: saved counts hold no locators, so there is no source to ask; \
                 give manifests instead of --from, or use --assume-size SIZE"
                    .into(),
            ));
        }
        if self.probe_sizes == 0 && !self.inputs.allow.is_empty() {
            return Err(Usage("--allow needs --probe-sizes N: without it no source is asked".into()));
        }
        Ok(Options {
            origin: match &self.from {
                Some(file) => Origin::Table(file.clone()),
                None => Origin::Manifests(self.inputs.manifests.clone()),
            },
            budgets: ascending(&self.budget, u64::cmp),
            objective: self.objective.resolve()?,
            targets: ascending(&self.target, f64::total_cmp),
            assumed_size: self.assume_size,
            probe_sizes: self.probe_sizes,
            allow: self.inputs.allow.clone(),
            root: self.inputs.root.clone(),
            outputs: Vec::new(),
            jobs,
            memory: self.shared.memory(),
        })
    }
}

/// Each value once.
fn ascending<T: Copy + PartialEq>(given: &[T], order: fn(&T, &T) -> Ordering) -> Vec<T> {
    let mut sorted = given.to_vec();
    sorted.sort_by(order);
    sorted.dedup();
    sorted
}

fn parse_assumed(text: &str) -> Result<u64, String> {
    match quantity::bytes(text)? {
        0 => Err("an object has at least 1 byte".into()),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use onepull::commands::size::Objective;

    use super::*;
    use crate::cli::args::parsed;

    fn all(line: &[&str]) -> anyhow::Result<Options> {
        Ok(parsed::<SizeFlags>(line)?.options(3)?)
    }

    fn options(flags: &[&str]) -> anyhow::Result<Options> {
        all(&[&["in"], flags].concat())
    }

    fn assert_usage(result: anyhow::Result<Options>, words: &str) {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = options(&[]).unwrap();
        assert!(matches!(&options.origin, Origin::Manifests(paths) if *paths == [PathBuf::from("in")]));
        assert_eq!(options.budgets, [0u64; 0]);
        assert_eq!(options.objective, Objective::Requests);
        assert_eq!(options.targets, [0.0f64; 0]);
        assert_eq!(options.assumed_size, None);
        assert_eq!(options.probe_sizes, 0);
        assert_eq!(options.jobs, 3);
    }

    #[test]
    fn counts_come_from_manifests_or_from_a_table() {
        assert!(matches!(all(&["--from", "t"]).unwrap().origin, Origin::Table(file) if file == *"t"));
        assert_usage(all(&[]), "<MANIFEST|--from <FILE>>");
        assert_usage(options(&["--from", "t"]), "cannot be used with");
        assert_usage(all(&["--from", "t", "--root", "/"]), "cannot be used with");
    }

    #[test]
    fn sizes_are_asked_for_where_there_are_sources_to_ask() {
        let asking = options(&["--probe-sizes", "200", "--allow", "/data", "--allow", "x"]).unwrap();
        assert_eq!((asking.probe_sizes, asking.allow), (200, vec!["/data".into(), "x".into()]));
        assert_eq!(all(&["--from", "t", "--probe-sizes", "0"]).unwrap().probe_sizes, 0);
        assert_usage(all(&["--from", "t", "--probe-sizes", "9"]), "hold no locators");
        assert_usage(options(&["--probe-sizes", "9", "--assume-size", "1kB"]), "cannot be used with");
        assert_usage(options(&["--allow", "/data"]), "--probe-sizes");
    }

    #[test]
    fn budgets_and_targets_are_lists_in_any_order() {
        let of = options(&["--budget", "2TB,0", "--budget=1GiB,2T", "--target", "60%,40%"]).unwrap();
        assert_eq!(of.budgets, [0, 1 << 30, 2_000_000_000_000]);
        assert_eq!(of.targets, [0.4, 0.6]);
        assert_usage(options(&["--budget", "10x"]), "64GiB");
        assert_usage(options(&["--target", "0.4"]), "40%");
        assert_usage(options(&["--assume-size", "0B"]), "at least 1 byte");
    }

    #[test]
    fn costs_have_defaults_in_the_objective_they_belong_to() {
        let seconds =
            |latency, put_cost| Objective::Seconds { latency, bandwidth: 100e6, hit_cost: 0.002, put_cost };
        assert_eq!(options(&["--objective", "bytes"]).unwrap().objective, Objective::Bytes);
        let of = |flags: &[&str]| options(flags).unwrap().objective;
        assert_eq!(of(&["--objective", "seconds"]), seconds(0.05, 0.01));
        assert_eq!(of(&["--objective=seconds", "--latency=1.5s", "--put-cost=0ms"]), seconds(1.5, 0.0));
        let dollars =
            |egress, months| Objective::Dollars { price_get: 0.0004, egress, price_storage: 0.08, months };
        assert_eq!(of(&["--objective", "dollars"]), dollars(0.09, 1.0));
        assert_eq!(of(&["--objective=dollars", "--egress=0", "--months=3"]), dollars(0.0, 3.0));
    }

    #[test]
    fn a_cost_of_another_objective_is_refused() {
        assert_usage(
            options(&["--latency", "50ms"]),
            "--latency needs --objective seconds, and the objective is requests",
        );
        assert_usage(
            options(&["--objective", "seconds", "--months", "2"]),
            "--months needs --objective dollars, and the objective is seconds",
        );
        assert_usage(options(&["--objective", "dollars", "--hit-cost", "2ms"]), "--hit-cost needs");
        assert_usage(options(&["--objective", "seconds", "--latency", "50"]), "50ms");
    }
}
