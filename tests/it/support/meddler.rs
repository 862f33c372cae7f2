//! A monitor that does something when a phase begins: what another process might do just then.

use onepull::monitor::{Monitor, Phase};

pub struct Meddler<F> {
    pub phase: Phase,
    pub act: F,
}

impl<F: Fn() + Sync> Monitor for Meddler<F> {
    fn start(&self, phase: Phase, _: u64) {
        if phase == self.phase {
            (self.act)();
        }
    }
    fn advance(&self, _: Phase, _: u64, _: u64) {}
    fn finish(&self, _: Phase) {}
    fn problem(&self, _: &str) {}
    fn interrupted(&self) -> bool {
        false
    }
}
