//! The objects that could not be had, and why.

use std::collections::HashMap;
use std::fmt;

use parking_lot::RwLock;

use super::options::OnError;
use crate::fault::Fault;
use crate::monitor::Monitor;
use crate::object::Key;

/// The failed objects of a run. A run that must not fail ends at the first one.
pub struct Failures {
    faults: RwLock<HashMap<Key, Fault>>,
    on_error: OnError,
}

/// The error of a run that was told to fail on the first fault.
#[derive(Debug)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (--on-error fail)", self.0)
    }
}

impl std::error::Error for Refused {}

impl Failures {
    pub fn new(on_error: OnError) -> Failures {
        Failures { faults: RwLock::default(), on_error }
    }

    /// Notes that the object cannot be had; the first time, the monitor is told.
    pub fn insert(&self, key: Key, fault: Fault, monitor: &dyn Monitor) {
        let message = fault.to_string();
        if self.faults.write().insert(key, fault).is_none() {
            monitor.problem(&message);
        }
    }

    /// Tells of a payload that was read but does not hold what a row wants; an error once the run
    /// must end because of it.
    pub fn tell(&self, fault: &Fault, monitor: &dyn Monitor) -> anyhow::Result<()> {
        if self.on_error == OnError::Fail {
            return Err(Refused(fault.to_string()).into());
        }
        monitor.problem(&fault.to_string());
        Ok(())
    }

    pub fn get(&self, key: &Key) -> Option<Fault> {
        self.faults.read().get(key).cloned()
    }

    pub fn len(&self) -> u64 {
        self.faults.read().len() as u64
    }

    /// An error once the run must end because of a fault.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.on_error != OnError::Fail {
            return Ok(());
        }
        match self.faults.read().values().next() {
            Some(fault) => Err(Refused(fault.to_string()).into()),
            None => Ok(()),
        }
    }
}
