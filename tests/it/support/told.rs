//! A monitor that remembers the problems it is told of.

use onepull::monitor::{Monitor, Phase};
use parking_lot::Mutex;

#[derive(Default)]
pub struct Told(pub Mutex<Vec<String>>);

impl Monitor for Told {
    fn start(&self, _: Phase, _: u64) {}
    fn advance(&self, _: Phase, _: u64, _: u64) {}
    fn finish(&self, _: Phase) {}
    fn problem(&self, message: &str) {
        self.0.lock().push(message.to_owned());
    }
    fn interrupted(&self) -> bool {
        false
    }
}
