//! Counts the references of manifests by object, for all commands.
//!
//! Most locators repeat, so each text is looked up before it is parsed. All other rows are tallied:
//! those that need nothing, and those with no locator or an invalid one.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use xxhash_rust::xxh3::xxh3_128;

use crate::counting::Meaning;
use crate::counting::counter::{CountInserter, ObjectCounter};
use crate::counting::named::NamedCounts;
use crate::counting::names::{self, NameLog};
use crate::counting::texts::{Flushed, TextBatch, TextRead, Texts};
use crate::fault::{Fault, FaultClass};
use crate::locator::{Base, Locator};
use crate::manifest::rows::{Ask, Rows};
use crate::memory::MemoryBudget;
use crate::object::{ObjectId, ObjectName};

/// Bytes that a thread needs to decode pages; at most half of the memory in all.
const DECODING: u64 = 48 << 20;

/// Bytes for a thread at least: decoded pages of some tens of megabytes are common, and cannot be spilled.
const LEAST_FOR_A_THREAD: u64 = 48 << 20;

/// Context of errors of the temporary file.
pub const CANNOT_COUNT: &str = "cannot count the references";

/// The number of threads that read manifests: fewer than `jobs` if memory is short.
pub fn threads(memory: u64, jobs: usize) -> usize {
    let most = usize::try_from(memory / LEAST_FOR_A_THREAD).unwrap_or(usize::MAX);
    jobs.min(most).max(1)
}

/// Whether to keep the names of objects beside their counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    Keep,
    Drop,
}

/// Sets the name of the object that a locator refers to; fails if the command cannot use the object.
pub type Resolve = fn(&Locator, &Base, &mut ObjectName) -> Result<(), Fault>;

/// Counts references on several threads.
pub struct ReferenceCounter {
    texts: Texts,
    objects: ObjectCounter,
    pub budget: Arc<MemoryBudget>,
    /// Files that the run writes at its end, which must not be sources.
    outputs: Vec<PathBuf>,
    names: Names,
    resolve: Resolve,
    /// A number for each manifest, which is equal for manifests with the same base.
    bases: Vec<u128>,
}

/// The state of one thread.
pub struct ReferenceWorker<'a> {
    inserter: CountInserter<'a>,
    batch: TextBatch,
    flushed: Vec<Flushed>,
    name: ObjectName,
    names: NameLog,
    faults: Vec<(usize, Fault)>,
}

/// The origin of some rows.
#[derive(Clone, Copy)]
pub struct RowsOf<'a> {
    /// The number of the manifest.
    pub manifest: usize,
    pub base: &'a Base,
    /// Whether their references still need payloads.
    pub wanted: bool,
}

/// What a command says about an object that it counts.
pub struct Taken {
    /// The number of its source.
    pub source: u32,
    /// Whether to show the next reference with the same text to the command as well.
    pub again: bool,
}

impl ReferenceCounter {
    /// `bases` has the base of relative paths for each manifest; `memory` bounds the bytes that `jobs`
    /// threads hold while they read and count.
    pub fn new<'b>(
        bases: impl Iterator<Item = &'b Base>,
        names: Names,
        resolve: Resolve,
        memory: u64,
        jobs: usize,
    ) -> ReferenceCounter {
        let decoding = (DECODING * threads(memory, jobs) as u64).min(memory / 2);
        // Tables get seven eighths of the rest: the few of them that grow or spill at the same time
        // briefly take their memory twice.
        let budget = Arc::new(MemoryBudget::new((memory - decoding) / 8 * 7));
        let (texts, objects) = (Texts::new(budget.clone()), ObjectCounter::new(budget.clone()));
        let (bases, outputs) = (number_bases(bases), Vec::new());
        ReferenceCounter { texts, objects, budget, outputs, names, resolve, bases }
    }

    /// Makes [`ReferenceCounter::count`] fail at a reference to one of `outputs`.
    pub fn with_outputs(self, outputs: &[PathBuf]) -> ReferenceCounter {
        ReferenceCounter { outputs: outputs.to_vec(), ..self }
    }

    pub fn worker(&self) -> ReferenceWorker<'_> {
        ReferenceWorker {
            inserter: self.objects.inserter(),
            batch: TextBatch::default(),
            flushed: Vec::new(),
            name: ObjectName::default(),
            names: NameLog::default(),
            faults: Vec::new(),
        }
    }

    /// Counts the references of `rows` and returns a tally of the rows. `take` gets the row, id and name
    /// of the object of each parsed text; if it returns `None`, the reference is tallied but not
    /// counted. `on_fault` gets the place of each row with a fault, in order; its error is returned.
    ///
    /// Fails if a temporary file cannot be written, or if a locator names an output of the run.
    pub fn count(
        &self,
        worker: &mut ReferenceWorker,
        of: RowsOf,
        rows: &Rows,
        mut take: impl FnMut(usize, ObjectId, &ObjectName) -> Option<Taken>,
        mut on_fault: impl FnMut(&str, &Fault) -> anyhow::Result<()>,
    ) -> anyhow::Result<Tally> {
        for bad in &rows.bad {
            on_fault(&format!("line {}", bad.line), &bad.fault)?;
        }
        let mut tally = Tally::new(rows);
        let ReferenceWorker { inserter, batch, flushed, name, names, faults } = worker;
        self.collect(batch, of, rows, &mut tally);
        let (mut left_out, mut replaced) = (0, None);
        let read = |row: u32, hash: u128| {
            let row = row as usize;
            let locator = match Locator::parse(rows.locator(row)) {
                Ok(Some(locator)) => locator,
                Ok(None) => {
                    tally.no_locator += 1;
                    return None;
                }
                Err(fault) => {
                    faults.push((row, fault));
                    return None;
                }
            };
            if let Err(fault) = (self.resolve)(&locator, of.base, name) {
                faults.push((row, fault));
                return None;
            }
            let is_source = |output: &&PathBuf| output.as_os_str().as_bytes() == name.location_bytes();
            replaced = replaced.or(self.outputs.iter().find(is_source));
            let id = match self.names {
                Names::Keep => names::id(name),
                Names::Drop => name.id(),
            };
            let Some(Taken { source, again }) = take(row, id, name) else {
                left_out += 1;
                return None;
            };
            if self.names == Names::Keep {
                names.push(id, name);
            }
            let (text, wanted) = (hash as u64, of.wanted);
            let meaning = Meaning { id, source, size: locator.target.size(), text, wanted };
            Some(TextRead { meaning, again })
        };
        tally.references = self.texts.count(batch, read, flushed);
        if let Some(output) = replaced {
            bail!("{}: a manifest names this file as a source; choose another output", output.display());
        }
        tally.references += left_out;
        for (meaning, count) in flushed.drain(..) {
            inserter.add(&meaning, count).context(CANNOT_COUNT)?;
        }
        inserter.add_names(names).context(CANNOT_COUNT)?;
        faults.sort_unstable_by_key(|(row, _)| *row);
        for (row, fault) in faults.drain(..) {
            *tally.bad_locators.entry(fault.class).or_default() += 1;
            on_fault(&rows.places.name(row), &fault)?;
        }
        Ok(tally)
    }

    /// The counter of the objects, with all their references. `done` is called after each table of
    /// texts; its error ends the work.
    ///
    /// Fails if the temporary file cannot be written.
    pub fn into_objects(
        self,
        jobs: usize,
        done: impl Fn() -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<ObjectCounter> {
        let ReferenceCounter { texts, objects, .. } = self;
        texts.drain(jobs, &objects, done).context(CANNOT_COUNT)?;
        Ok(objects)
    }

    /// The objects with their names, which must have been kept; at most `memory` bytes of them stay in
    /// memory.
    ///
    /// Fails when the temporary file cannot be written or read, and with an error of `done`.
    pub fn named(
        self,
        jobs: usize,
        memory: u64,
        done: impl Fn() -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<NamedCounts> {
        let objects = self.into_objects(jobs, &done)?;
        NamedCounts::new(objects, jobs, memory, done).context(CANNOT_COUNT)
    }

    /// Puts the texts of all references into the batch and tallies the other rows.
    fn collect(&self, batch: &mut TextBatch, of: RowsOf, rows: &Rows, tally: &mut Tally) {
        // The same text is another object with another base, and is counted apart if the reference
        // is not wanted.
        let apart = self.bases[of.manifest] ^ if of.wanted { 0 } else { UNWANTED };
        for (row, ask) in rows.asks().enumerate() {
            match ask {
                Ask::Nothing => {}
                Ask::Present => tally.already_present += 1,
                Ask::NoLocator => tally.no_locator += 1,
                Ask::Payload(text) => batch.push(xxh3_128(text.as_bytes()) ^ apart, row as u32),
            }
        }
    }
}

impl ReferenceWorker<'_> {
    /// Adds what is left to the counter. Fails if the temporary file cannot be written.
    pub fn finish(self) -> anyhow::Result<()> {
        self.inserter.finish().context(CANNOT_COUNT)
    }
}

/// Counts of rows by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All rows, and lines that are not valid rows.
    pub rows: u64,
    pub references: u64,
    pub no_locator: u64,
    pub already_present: u64,
    /// Lines that are not valid rows.
    pub bad_rows: u64,
    /// Rows with an invalid locator, by class.
    pub bad_locators: BTreeMap<FaultClass, u64>,
}

impl Tally {
    /// The number of these rows and bad rows; the other counts are 0.
    pub fn new(rows: &Rows) -> Tally {
        let bad_rows = rows.bad.len() as u64;
        Tally { rows: rows.len() as u64 + bad_rows, bad_rows, ..Tally::default() }
    }

    pub fn add(&mut self, other: &Tally) {
        self.rows += other.rows;
        self.references += other.references;
        self.no_locator += other.no_locator;
        self.already_present += other.already_present;
        self.bad_rows += other.bad_rows;
        for (class, count) in &other.bad_locators {
            *self.bad_locators.entry(*class).or_default() += count;
        }
    }

    pub fn bad_locator(&self) -> u64 {
        self.bad_locators.values().sum()
    }

    /// Adds the faults of the rows to the `errors` of a report, by class name.
    pub fn add_errors_to(&self, errors: &mut BTreeMap<&'static str, u64>) {
        if self.bad_rows > 0 {
            *errors.entry(FaultClass::BadRow.name()).or_default() += self.bad_rows;
        }
        for (class, count) in &self.bad_locators {
            *errors.entry(class.name()).or_default() += count;
        }
    }
}

/// Mixed with the hash of a text, like the numbers of [`number_bases`].
const UNWANTED: u128 = 0xD1B5_4A32_D192_ED03 << 40;

/// A distinct number for each base, to mix with the hash of a text. It leaves the lowest bits alone: they
/// distinguish the texts of one object, and an absolute path is the same text in every manifest.
fn number_bases<'b>(bases: impl Iterator<Item = &'b Base>) -> Vec<u128> {
    let mut known: HashMap<&Base, u64> = HashMap::new();
    let number = |base| {
        let next = known.len() as u64;
        let number = *known.entry(base).or_insert(next);
        // Spread over many bits, as a hash is.
        u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 32
    };
    bases.map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_memory_is_short_fewer_threads_read() {
        for (memory, jobs, expected) in
            [(16 << 20, 8, 1), (64 << 20, 2, 1), (96 << 20, 8, 2), (1 << 40, 8, 8)]
        {
            assert_eq!(threads(memory, jobs), expected, "{memory} bytes, {jobs} jobs");
        }
    }
}
