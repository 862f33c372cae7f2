//! What the library tells the outside while it works: phases, progress, problems.
//!
//! The library never prints. Whoever calls a command passes a [`Monitor`]; the console is one,
//! tests are another. A monitor also carries the one message that goes the other way: stop.

use std::fmt;

/// The stages of a run that take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Reading manifests; progress in bytes of manifest.
    Scan,
    /// Joining what was counted; progress in parts of it.
    Group,
    /// Reading payloads from their sources, or asking for their sizes; progress in objects.
    Fetch,
    /// Writing shards; progress in rows.
    Write,
}

/// Observes a run. Called from several threads at once.
pub trait Monitor: Sync {
    /// A phase begins; `total` is in the unit of the phase and is exact.
    fn start(&self, phase: Phase, total: u64);

    /// `done` more units of the phase, which moved `payload_bytes`.
    fn advance(&self, phase: Phase, done: u64, payload_bytes: u64);

    fn finish(&self, phase: Phase);

    /// Something the user should read: it names the file and says what follows from it.
    fn problem(&self, message: &str);

    /// True once the run should end as soon as nothing is half-done.
    fn interrupted(&self) -> bool;

    /// The way a command leaves its loops: an [`Interrupted`] error once asked to stop.
    fn check(&self) -> anyhow::Result<()> {
        if self.interrupted() { Err(Interrupted.into()) } else { Ok(()) }
    }
}

/// The error of a run that was asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Observes nothing and never stops a run.
pub struct Silent;

impl Monitor for Silent {
    fn start(&self, _: Phase, _: u64) {}
    fn advance(&self, _: Phase, _: u64, _: u64) {}
    fn finish(&self, _: Phase) {}
    fn problem(&self, _: &str) {}
    fn interrupted(&self) -> bool {
        false
    }
}
