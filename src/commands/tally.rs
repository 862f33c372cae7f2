//! What rows are: references, or not, and why not.

use std::collections::BTreeMap;

use crate::fault::FaultClass;
use crate::manifest::rows::Rows;

/// Counts of rows; those of several threads and manifests add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rows and lines that should have been rows.
    pub rows: u64,
    pub references: u64,
    pub no_locator: u64,
    pub already_present: u64,
    /// Lines that should have been rows.
    pub bad_rows: u64,
    /// Rows whose locator means nothing, by class.
    pub bad_locators: BTreeMap<FaultClass, u64>,
}

impl Tally {
    /// Of these rows, only how many there are.
    pub fn of(rows: &Rows) -> Tally {
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

    pub fn add_bad_locator(&mut self, class: FaultClass) {
        *self.bad_locators.entry(class).or_default() += 1;
    }

    pub fn bad_locator(&self) -> u64 {
        self.bad_locators.values().sum()
    }

    /// Adds the faults of the rows to those of a report, which are by the name of their class.
    pub fn add_errors_to(&self, errors: &mut BTreeMap<&'static str, u64>) {
        let locators = self.bad_locators.iter().map(|(class, count)| (*class, *count));
        for (class, count) in
            locators.chain([(FaultClass::BadRow, self.bad_rows)]).filter(|(_, count)| *count > 0)
        {
            *errors.entry(class.name()).or_default() += count;
        }
    }
}
