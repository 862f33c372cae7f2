//! Where the counts come from: manifests that are counted now, or a file of saved counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::options::{Options, Origin};
use super::probe;
use super::report::{ProbedSizes, Seconds};
use crate::analysis::table::MultiplicityTable;
use crate::commands::Unreadable;
use crate::commands::analyze::{self, FollowedReferences};
use crate::commands::saved_counts;
use crate::monitor::Monitor;

/// The counts of a corpus, and what was met on the way to them.
pub struct Loaded {
    pub table: MultiplicityTable,
    /// In which order objects are named; saved counts do not say that.
    pub followed: Option<FollowedReferences>,
    pub probed: Option<ProbedSizes>,
    pub no_locator: u64,
    pub errors: BTreeMap<&'static str, u64>,
    pub unreadable: Vec<Unreadable>,
    pub seconds: Seconds,
}

/// Fails when an input does not exist, a temporary file cannot be written, or saved counts are
/// damaged.
pub fn load(options: &Options, pool: &rayon::ThreadPool, monitor: &dyn Monitor) -> anyhow::Result<Loaded> {
    match &options.origin {
        Origin::Manifests(manifests) => {
            let root = options.root.as_deref();
            let counting = analyze::Options {
                ordered: ordered(options),
                unsized_sample: options.probe_sizes,
                allow: options.allow.clone(),
                outputs: options.outputs.clone(),
                ..analyze::Options::counting(manifests, root, options.jobs, options.memory)
            };
            let counted = analyze::count(&counting, monitor)?;
            let unknown = counted.table.totals().unsized_objects;
            let probed =
                (options.probe_sizes > 0).then(|| probe::estimate(unknown, counted.asked, &counted.answers));
            let mut errors = BTreeMap::new();
            counted.tally.add_errors_to(&mut errors);
            let analyze::Seconds { scan, group, fetch, .. } = counted.seconds;
            let seconds = Seconds { scan, group, fetch, ..Seconds::default() };
            let analyze::Counted { table, followed, unreadable, tally, .. } = counted;
            let no_locator = tally.no_locator;
            Ok(Loaded { table, followed, probed, no_locator, errors, unreadable, seconds })
        }
        Origin::Table(file) => saved(file, pool),
    }
}

fn saved(file: &Path, pool: &rayon::ThreadPool) -> anyhow::Result<Loaded> {
    let start = Instant::now();
    let table = pool.install(|| saved_counts::read(file))?;
    let seconds = Seconds { read: start.elapsed().as_secs_f64(), ..Seconds::default() };
    let (errors, unreadable) = (BTreeMap::new(), Vec::new());
    Ok(Loaded { table, followed: None, probed: None, no_locator: 0, errors, unreadable, seconds })
}

/// References that are followed in their order at most: what follows from them takes a second or two.
const FOLLOWED: usize = 1 << 21;

/// Bytes that a reference takes that is followed, until all caches are compared.
const FOLLOWED_BYTES: u64 = 64;

/// References to follow: all where there are no more, else those to a sample of the objects.
fn ordered(options: &Options) -> usize {
    usize::try_from(options.memory / FOLLOWED_BYTES).map_or(FOLLOWED, |most| most.min(FOLLOWED))
}
