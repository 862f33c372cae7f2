//! Where the multiplicity table comes from: manifests that are counted now, or a saved table.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::options::{Options, Origin};
use super::report::Seconds;
use crate::analysis::objects::Objects;
use crate::commands::{Unreadable, analyze, table};
use crate::monitor::Monitor;

/// The objects of a corpus, and what was met on the way to them.
pub struct Table {
    pub objects: Objects,
    pub errors: BTreeMap<&'static str, u64>,
    pub unreadable: Vec<Unreadable>,
    pub seconds: Seconds,
}

/// Fails when an input does not exist, a temporary file cannot be written, or a saved table is
/// damaged.
pub fn table(options: &Options, monitor: &dyn Monitor) -> anyhow::Result<Table> {
    match &options.origin {
        Origin::Manifests(manifests) => {
            let root = options.root.as_deref();
            let counting = analyze::Options::counting(manifests, root, options.jobs, options.memory);
            let counted = analyze::count(&counting, monitor)?;
            let mut errors = BTreeMap::new();
            counted.tally.add_errors_to(&mut errors);
            let analyze::Seconds { scan, group, .. } = counted.seconds;
            let seconds = Seconds { scan, group, ..Seconds::default() };
            Ok(Table { objects: counted.objects, errors, unreadable: counted.unreadable, seconds })
        }
        Origin::Table(file) => saved(file),
    }
}

fn saved(file: &Path) -> anyhow::Result<Table> {
    let start = Instant::now();
    let mut objects = Objects::default();
    table::read(file, |row| objects.push(row.digest, row.count, row.size))?;
    let seconds = Seconds { read: start.elapsed().as_secs_f64(), ..Seconds::default() };
    Ok(Table { objects, errors: BTreeMap::new(), unreadable: Vec::new(), seconds })
}
