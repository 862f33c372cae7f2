//! `onepull size` on the command line: its flags, what they mean, and the run.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{ArgGroup, Args};
use onepull::commands::size::{self, Options, Origin};

use super::args::usage;
use super::console::Console;
use super::exit::{self, Exit};
use super::objective::ObjectiveFlags;
use super::render::plot::{self, PlotFile};
use super::render::size as text;
use super::shared::{CountErrors, Shared};
use super::{bytes, machine, output, quantity};

/// The command, as it is typed.
const NAME: &str = "size";

/// What an interrupted run leaves behind.
pub const INTERRUPTED: &str = "there is no report, the same command starts again";

pub const EXAMPLES: &str = "\
Examples:
  What caches of 1 % to 100 % of the bytes would reach:
    onepull size manifests/

  Count once, then compare sizes at once, as often as you like:
    onepull analyze manifests/ --save counts.parquet
    onepull size --from counts.parquet --budget 500GB,1TB,2TB

  The smallest cache that serves 40 % or 60 % of the references:
    onepull size --from counts.parquet --target 40%,60%

  How much time a cache saves, and how slow the source must be for it to pay:
    onepull size manifests/ --objective seconds --latency 80ms --bandwidth 50MB/s

  When the disk costs more than it saves, over three months:
    onepull size manifests/ --objective dollars --egress 0.02 --price-storage 0.08 --months 3

  A cache of 2 TB that keeps what is worth most for its bytes, and nothing else:
    onepull materialize manifests/ -o shards/ --cache-limit 2TB

  Locators that say no size: ask for those of 1,000 objects, or assume one; and a plot:
    onepull size manifests/ --probe-sizes 1000
    onepull size manifests/ --assume-size 150kB --plot curve.svg";

/// Tell how large a cache is worth buying: the hit rate over its size
///
/// Counts the references of all manifests by object, as `onepull analyze` does, or takes the counts
/// that it kept, and tells for each size of cache what a fixed choice of objects reaches: by
/// reference count, and by value density, which needs a much smaller cache for the same hit rate.
/// Beside them stand LRU, the bound that no policy passes, the smallest cache for a hit rate, and
/// where a larger cache stops paying.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("origin").args(["manifests", "from"]).required(true),
    override_usage = "onepull size [OPTIONS] <MANIFEST>...\n       onepull size [OPTIONS] --from <FILE>"
)]
pub struct Flags {
    /// Manifests: Parquet or JSONL files, or folders of them
    ///
    /// Folders are walked, files in them are taken in the order of their paths.
    #[arg(value_name = "MANIFEST")]
    manifests: Vec<PathBuf>,

    /// Take the counts from FILE, which `onepull analyze --save FILE` wrote, instead of manifests
    ///
    /// Any Parquet file with the columns references, bytes and objects will do.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,

    /// Sizes of cache to tell the hit rates for: 2TB or 500GB,64GiB [default: up to all bytes]
    ///
    /// May be repeated. The default is a ladder of round sizes from 1 % to 100 % of the bytes of
    /// all objects.
    #[arg(long, help_heading = "Sizes", value_name = "SIZE,...", value_delimiter = ',', value_parser = bytes::parse)]
    budget: Vec<u64>,

    /// Hit rates to find the smallest cache for: 40% or 40%,60%; may be repeated
    #[arg(long, help_heading = "Sizes", value_name = "P%,...", value_delimiter = ',', value_parser = quantity::share)]
    target: Vec<f64>,

    /// Bytes to count an object with whose size nobody says [default: such objects are left out]
    #[arg(long, help_heading = "Sizes", value_name = "SIZE", value_parser = parse_assumed)]
    assume_size: Option<u64>,

    /// Ask the sources of N objects whose size nobody says for it; 0: none
    ///
    /// All objects of unknown size then count with the mean of the answers: those that recur with the
    /// mean of such objects, the others with theirs. The report says how far each may be off. The
    /// objects are chosen by a hash, half of them among those that recur. No payload is read, but
    /// compressed archives are unpacked once. Needs manifests, since saved counts have no locators.
    #[arg(
        long,
        help_heading = "Sizes",
        value_name = "N",
        default_value_t = 0,
        conflicts_with = "assume_size"
    )]
    probe_sizes: usize,

    /// Ask no source outside PREFIX; may be repeated [default: no limit]
    #[arg(long, help_heading = "Sizes", value_name = "PREFIX", requires = "probe_sizes")]
    allow: Vec<PathBuf>,

    /// Folder that relative paths in locators start from [default: the folder of their manifest]
    #[arg(long, help_heading = "Sizes", value_name = "DIR", conflicts_with = "from")]
    root: Option<PathBuf>,

    #[command(flatten)]
    objective: ObjectiveFlags,

    /// Draw the hit rate over the size of the cache: FILE.svg or FILE.html
    ///
    /// The folder of FILE must exist. The file appears complete or not at all, and replaces
    /// nothing but an earlier plot.
    #[arg(long, help_heading = "Plot", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(plot::parse_file))]
    plot: Option<PlotFile>,

    #[command(flatten)]
    errors: CountErrors,

    #[command(flatten)]
    shared: Shared,
}

/// Runs the command; an error means that there is no report, or not all of what was asked for.
pub fn run(flags: &Flags) -> anyhow::Result<Exit> {
    let (jobs, remark) = flags.shared.jobs(machine::raise_open_files());
    let options = flags.options(jobs)?;
    output::check(&flags.shared, &[("--plot", flags.plot.as_ref().map(|plot| &*plot.path), &plot::KIND)])?;

    let report = Console::watch(&flags.shared, remark, |console| size::run(&options, console))?;
    output::deliver(&flags.shared, &report, || {
        text::report(&report, &options.objective, flags.shared.detail(), output::columns())
    })?;
    if let Some(file) = &flags.plot {
        output::write_whole(&file.path, plot::size::draw(&report, file.form)?.as_bytes())?;
    }
    Ok(exit::judge(&report.errors, report.references, &report.unreadable, flags.errors.max_errors))
}

impl Flags {
    fn options(&self, jobs: usize) -> Result<Options, clap::Error> {
        Ok(Options {
            origin: match &self.from {
                Some(file) => Origin::Table(file.clone()),
                None => Origin::Manifests(self.manifests.clone()),
            },
            budgets: ascending(&self.budget, u64::cmp),
            objective: self.objective.resolve(NAME)?,
            targets: ascending(&self.target, f64::total_cmp),
            assumed_size: self.assume_size,
            probe_sizes: self.probe_sizes()?,
            allow: self.allow.clone(),
            root: self.root.clone(),
            jobs,
            memory: self.shared.memory(),
        })
    }

    fn probe_sizes(&self) -> Result<usize, clap::Error> {
        match &self.from {
            Some(_) if self.probe_sizes > 0 => Err(usage(
                NAME,
                "--probe-sizes needs the manifests: the counts that --from reads hold no locators, so there is \
                 nothing to ask; give manifests in place of --from, or --assume-size SIZE",
            )),
            _ => Ok(self.probe_sizes),
        }
    }
}

/// Each once.
fn ascending<T: Copy + PartialEq>(given: &[T], order: fn(&T, &T) -> std::cmp::Ordering) -> Vec<T> {
    let mut sorted = given.to_vec();
    sorted.sort_by(order);
    sorted.dedup();
    sorted
}

fn parse_assumed(text: &str) -> Result<u64, String> {
    match bytes::parse(text)? {
        0 => Err("an object of no bytes needs no cache; at least 1B is needed".into()),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use onepull::commands::size::Objective;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn parsed(line: &[&str]) -> Result<Options, clap::Error> {
        let line = ["onepull", "size"].iter().chain(line);
        let Command::Size(flags) = Cli::try_parse_from(line)?.command else { unreachable!() };
        flags.options(3)
    }

    fn options(flags: &[&str]) -> Result<Options, clap::Error> {
        parsed(&[&["in"], flags].concat())
    }

    fn assert_usage(result: Result<Options, clap::Error>, words: &str) {
        let error = result.unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(words), "{error}");
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
        assert!(matches!(parsed(&["--from", "t"]).unwrap().origin, Origin::Table(file) if file == *"t"));
        assert_usage(parsed(&[]), "<MANIFEST|--from <FILE>>");
        assert_usage(options(&["--from", "t"]), "cannot be used with");
        assert_usage(parsed(&["--from", "t", "--root", "/"]), "cannot be used with");
    }

    #[test]
    fn sizes_are_asked_for_where_there_are_sources_to_ask() {
        let asking = options(&["--probe-sizes", "200", "--allow", "/data", "--allow", "x"]).unwrap();
        assert_eq!((asking.probe_sizes, asking.allow), (200, vec!["/data".into(), "x".into()]));
        assert_eq!(parsed(&["--from", "t", "--probe-sizes", "0"]).unwrap().probe_sizes, 0);
        assert_usage(parsed(&["--from", "t", "--probe-sizes", "9"]), "hold no locators");
        assert_usage(options(&["--probe-sizes", "9", "--assume-size", "1kB"]), "cannot be used with");
        assert_usage(options(&["--allow", "/data"]), "--probe-sizes");
    }

    #[test]
    fn budgets_and_targets_are_lists_in_any_order() {
        let of = options(&["--budget", "2TB,0B", "--budget=1GiB,2TB", "--target", "60%,40%"]).unwrap();
        assert_eq!(of.budgets, [0, 1 << 30, 2_000_000_000_000]);
        assert_eq!(of.targets, [0.4, 0.6]);
        assert_usage(options(&["--budget", "10"]), "64MiB");
        assert_usage(options(&["--target", "0.4"]), "40%");
        assert_usage(options(&["--assume-size", "0B"]), "at least 1B");
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
            "--latency belongs to --objective seconds, and the objective is requests",
        );
        assert_usage(
            options(&["--objective", "seconds", "--months", "2"]),
            "--months belongs to --objective dollars, and the objective is seconds",
        );
        assert_usage(options(&["--objective", "dollars", "--hit-cost", "2ms"]), "--hit-cost belongs");
        assert_usage(options(&["--objective", "seconds", "--latency", "50"]), "50ms");
    }
}
