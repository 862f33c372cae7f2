//! The sentence that says how far a phase is: pure, the same beside a bar and on a plain line.

use onepull::commands::format;
use onepull::monitor::Phase;

/// Every phase, in the order of its number.
pub const PHASES: [Phase; 4] = [Phase::Scan, Phase::Group, Phase::Fetch, Phase::Write];

/// How far a phase is.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    pub phase: Phase,
    /// In the unit of the phase.
    pub done: u64,
    pub total: u64,
    pub payload_bytes: u64,
    pub seconds: f64,
}

impl Snapshot {
    /// `6 s left, 1,204 of 1,963 objects, 4.9 MB/s, 48.7 MB`: the time first, since a narrow
    /// terminal cuts the end.
    pub fn underway(&self) -> String {
        let position = match self.phase {
            Phase::Scan => Some(format!("{} of {}", format::bytes(self.done), format::bytes(self.total))),
            // Parts of the tables: their percentage stands next to the sentence.
            Phase::Group => None,
            phase => Some(format!("{} of {}", format::count(self.done), amount(self.total, phase))),
        };
        let left = self.left().map(|left| format!("{} left", format::about(left)));
        join([left, position, self.rate(), self.moved()])
    }

    /// `1,963 objects, 48.7 MB, in 16.2 s, 3.0 MB/s`.
    pub fn finished(&self) -> String {
        let amount = match self.phase {
            Phase::Scan => Some(format::bytes(self.done)),
            Phase::Group => None,
            phase => Some(amount(self.done, phase)),
        };
        let time = format!("in {}", format::seconds(self.seconds));
        join([amount, self.moved(), Some(time), self.rate()])
    }

    /// 0 to 100; the end of an empty phase.
    pub fn percent(&self) -> u64 {
        let done = u128::from(self.done.min(self.total));
        (done * 100).checked_div(u128::from(self.total)).map_or(100, |percent| percent as u64)
    }

    fn moved(&self) -> Option<String> {
        (self.payload_bytes > 0).then(|| format::bytes(self.payload_bytes))
    }

    /// In bytes where bytes move, else in units of the phase.
    fn rate(&self) -> Option<String> {
        match self.phase {
            Phase::Scan => format::byte_rate(self.done, self.seconds),
            Phase::Group => None,
            _ if self.payload_bytes > 0 => format::byte_rate(self.payload_bytes, self.seconds),
            phase => format::rate(self.done, self.seconds, words(phase)[2]),
        }
    }

    /// Seconds to the end at the mean pace so far.
    fn left(&self) -> Option<f64> {
        let rest = self.total.saturating_sub(self.done);
        (self.done > 0 && rest > 0).then(|| self.seconds * rest as f64 / self.done as f64)
    }
}

fn join(parts: [Option<String>; 4]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The name of a phase on the terminal.
pub fn name(phase: Phase) -> &'static str {
    words(phase)[0]
}

fn amount(n: u64, phase: Phase) -> String {
    let [_, one, many] = words(phase);
    format::things(n, one, many)
}

/// The name of a phase, and what it counts: one, and many.
fn words(phase: Phase) -> [&'static str; 3] {
    match phase {
        Phase::Scan => ["scan", "byte", "bytes"],
        Phase::Group => ["group", "part", "parts"],
        Phase::Fetch => ["fetch", "object", "objects"],
        Phase::Write => ["write", "row", "rows"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FETCH: Snapshot =
        Snapshot { phase: Phase::Fetch, done: 1_000, total: 4_000, payload_bytes: 50_000_000, seconds: 10.0 };

    #[test]
    fn a_phase_underway_says_what_moved_and_what_is_left() {
        assert_eq!(FETCH.underway(), "30 s left, 1,000 of 4,000 objects, 5.0 MB/s, 50.0 MB");
        assert_eq!(FETCH.percent(), 25);
    }

    #[test]
    fn a_phase_finished_says_how_long_it_took() {
        assert_eq!(FETCH.finished(), "1,000 objects, 50.0 MB, in 10.0 s, 5.0 MB/s");
        let one = Snapshot { done: 1, total: 1, payload_bytes: 9, ..FETCH };
        assert_eq!(one.finished(), "1 object, 9 B, in 10.0 s, 1 B/s");
    }

    #[test]
    fn scanning_counts_bytes() {
        let scan = Snapshot {
            phase: Phase::Scan,
            payload_bytes: 0,
            done: 2_000_000,
            total: 2_000_000,
            seconds: 2.0,
        };
        assert_eq!(scan.underway(), "2.0 MB of 2.0 MB, 1.0 MB/s");
    }

    #[test]
    fn an_empty_phase_is_at_its_end() {
        let empty = Snapshot { done: 0, total: 0, payload_bytes: 0, seconds: 0.0, ..FETCH };
        assert_eq!(empty.percent(), 100);
        assert_eq!(empty.underway(), "0 of 0 objects");
        assert_eq!(empty.finished(), "0 objects, in 0.00 s");
    }
}
