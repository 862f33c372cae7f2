//! Reads the references of all manifests and groups them by object.

use anyhow::Context;
use parking_lot::Mutex;

use super::inputs::Input;
use super::wants::resolve;
use crate::commands::Unreadable;
use crate::commands::scan::{self, Collector};
use crate::commands::tally::Tally;
use crate::counting::objects::{Grouper, Groups, Inserter};
use crate::fault::Fault;
use crate::manifest::rows::{Need, Rows};
use crate::monitor::Monitor;
use crate::object::ObjectName;

/// The references of a run, not yet counted.
pub struct References {
    tallies: Vec<Option<Tally>>,
    unreadable: Vec<Unreadable>,
    grouper: Grouper,
}

/// The objects of a run.
pub struct Scanned {
    /// One for each input; `None` where reading failed.
    pub tallies: Vec<Option<Tally>>,
    pub unreadable: Vec<Unreadable>,
    pub groups: Groups,
}

/// How to scan.
pub struct Settings<'a> {
    pub jobs: usize,
    pub grouping_bytes: u64,
    /// Whether the references of an input are still to be served, by input.
    pub wanted: &'a [bool],
    /// Called with each row that has a fault and its place; an error ends the run.
    pub on_fault: &'a (dyn Fn(&Input, &str, &Fault) -> anyhow::Result<()> + Sync),
}

/// Scans all inputs. One that cannot be read to its end counts for nothing.
pub fn scan(inputs: &[Input], settings: &Settings, monitor: &dyn Monitor) -> anyhow::Result<References> {
    let manifests: Vec<_> = inputs.iter().map(|input| &input.manifest).collect();
    let scanned = scan::scan(&manifests, settings.jobs, monitor, |reading| Pass {
        inputs,
        settings,
        grouper: Grouper::new(settings.grouping_bytes),
        tallies: Mutex::new(vec![Tally::default(); inputs.len()]),
        reading,
    })?;
    let Pass { grouper, tallies, .. } = scanned.collector;
    let unreadable = scanned.unreadable;
    let tallies = tallies.into_inner().into_iter().enumerate();
    Ok(References {
        tallies: tallies.map(|(at, tally)| (!unreadable.contains_key(&at)).then_some(tally)).collect(),
        unreadable: unreadable.into_values().collect(),
        grouper,
    })
}

impl References {
    /// Counts the references of each object, on the threads of `pool`.
    pub fn group(self, pool: &rayon::ThreadPool, monitor: &dyn Monitor) -> anyhow::Result<Scanned> {
        monitor.check()?;
        let groups = pool.install(|| self.grouper.finish()).context(CANNOT_GROUP)?;
        Ok(Scanned { tallies: self.tallies, unreadable: self.unreadable, groups })
    }
}

const CANNOT_GROUP: &str = "cannot group the references";

/// One reading of all inputs.
struct Pass<'a> {
    inputs: &'a [Input],
    settings: &'a Settings<'a>,
    grouper: Grouper,
    tallies: Mutex<Vec<Tally>>,
    /// Faults are told in the first one.
    reading: usize,
}

impl Collector for Pass<'_> {
    type Worker<'a>
        = Inserter<'a>
    where
        Self: 'a;

    fn worker(&self) -> Inserter<'_> {
        self.grouper.inserter()
    }

    fn rows(&self, inserter: &mut Inserter<'_>, at: usize, rows: &Rows) -> anyhow::Result<()> {
        let input = &self.inputs[at];
        let wanted = self.settings.wanted[at];
        let told = |place: &str, fault: &Fault| {
            if self.reading > 0 { Ok(()) } else { (self.settings.on_fault)(input, place, fault) }
        };
        let mut tally = Tally::of(rows);
        for bad in &rows.bad {
            told(&format!("line {}", bad.line), &bad.fault)?;
        }
        let mut name = ObjectName::default();
        rows.needs(|row, need| {
            let fault = match need {
                Need::Nothing => return Ok(()),
                Need::Present => {
                    tally.already_present += 1;
                    return Ok(());
                }
                Need::NoLocator => {
                    tally.no_locator += 1;
                    return Ok(());
                }
                Need::BadLocator(fault) => fault,
                Need::Payload(locator) => match resolve(&locator, &input.manifest.base, &mut name) {
                    Ok(()) => {
                        tally.references += 1;
                        return inserter.add(&name, wanted).context(CANNOT_GROUP);
                    }
                    Err(fault) => fault,
                },
            };
            tally.add_bad_locator(fault.class);
            told(&rows.places.name(row), &fault)
        })?;
        self.tallies.lock()[at].add(&tally);
        Ok(())
    }

    fn finish(&self, inserter: Inserter<'_>) -> anyhow::Result<()> {
        inserter.finish().context(CANNOT_GROUP)
    }
}
