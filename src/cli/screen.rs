//! What stderr shows while a command runs: a bar per phase or plain lines, and problems in between.
//!
//! Workers only add to counters; drawing happens in [`Screen::tick`].

use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use onepull::commands::format::printable;
use onepull::monitor::{Monitor, Phase};
use parking_lot::Mutex;

use super::args::{Detail, Progress, Shared};
use super::progress::{self, PHASES, Snapshot};

/// Between two plain lines of one phase.
const PLAIN_PACE: Duration = Duration::from_secs(10);

/// Problems printed before they are only counted, unless `--verbose`.
const PROBLEMS_SHOWN: u64 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Bars,
    Lines,
    Nothing,
}

impl Style {
    pub fn new(shared: &Shared) -> Style {
        let terminal = io::stderr().is_terminal();
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match shared.progress {
            _ if shared.quiet => Style::Nothing,
            Progress::None => Style::Nothing,
            Progress::Bar if terminal => Style::Bars,
            Progress::Auto if terminal && !dumb => Style::Bars,
            Progress::Auto | Progress::Bar | Progress::Plain => Style::Lines,
        }
    }
}

/// The terminal of a run, and whether the run is to stop.
pub struct Screen {
    pub style: Style,
    interrupted: Arc<AtomicBool>,
    /// In the order of [`PHASES`].
    gauges: [Gauge; PHASES.len()],
    bars: MultiProgress,
    problems: AtomicU64,
    problems_shown: u64,
    out: Mutex<Box<dyn Write + Send>>,
}

impl Screen {
    pub fn new(
        style: Style,
        detail: Detail,
        interrupted: Arc<AtomicBool>,
        out: Box<dyn Write + Send>,
    ) -> Screen {
        let target = match style {
            Style::Bars => ProgressDrawTarget::stderr(),
            Style::Lines | Style::Nothing => ProgressDrawTarget::hidden(),
        };
        Screen {
            style,
            interrupted,
            gauges: PHASES.map(|_| Gauge::default()),
            bars: MultiProgress::with_draw_target(target),
            problems: AtomicU64::new(0),
            problems_shown: match detail {
                Detail::Usual => PROBLEMS_SHOWN,
                Detail::Full => u64::MAX,
            },
            out: Mutex::new(out),
        }
    }

    /// Brings the bars up to date, and prints the plain lines that are due.
    pub fn tick(&self) {
        for phase in PHASES {
            // The gauge is let go before a line is written: writing may block, workers may not.
            let line = self.gauge(phase).run.lock().as_mut().and_then(|run| self.look(phase, run));
            if let Some(line) = line {
                self.say(&line);
            }
        }
    }

    /// Prints a line above the bars.
    pub fn say(&self, line: &str) {
        self.bars.suspend(|| {
            // A stderr that is gone must not end the run.
            let _ = writeln!(self.out.lock(), "{line}");
        });
    }

    /// Takes the bars away.
    pub fn clear(&self) {
        // Nothing to do about a terminal that is gone.
        let _ = self.bars.clear();
    }

    /// Moves the bar, or yields the plain line that is due.
    fn look(&self, phase: Phase, run: &mut Run) -> Option<String> {
        let snapshot = self.snapshot(phase, run);
        match self.style {
            Style::Bars => {
                run.bar.set_position(snapshot.done);
                run.bar.set_message(snapshot.underway());
                None
            }
            Style::Lines if run.last_line.elapsed() >= PLAIN_PACE => {
                run.last_line = Instant::now();
                let (name, percent) = (progress::name(phase), snapshot.percent());
                Some(format!("{name:<7}{percent}%: {}", snapshot.underway()))
            }
            Style::Lines | Style::Nothing => None,
        }
    }

    fn gauge(&self, phase: Phase) -> &Gauge {
        &self.gauges[phase as usize]
    }

    fn snapshot(&self, phase: Phase, run: &Run) -> Snapshot {
        let gauge = self.gauge(phase);
        Snapshot {
            phase,
            done: gauge.done.load(Relaxed),
            total: run.total,
            payload_bytes: gauge.payload_bytes.load(Relaxed),
            seconds: run.started.elapsed().as_secs_f64(),
        }
    }
}

impl Monitor for Screen {
    fn start(&self, phase: Phase, total: u64) {
        let gauge = self.gauge(phase);
        let mut run = gauge.run.lock();
        gauge.done.store(0, Relaxed);
        gauge.payload_bytes.store(0, Relaxed);
        let bar = match self.style {
            Style::Bars => self.bars.add(ProgressBar::new(total).with_style(bar_style())),
            Style::Lines | Style::Nothing => ProgressBar::hidden(),
        };
        bar.set_prefix(progress::name(phase));
        let now = Instant::now();
        *run = Some(Run { total, started: now, last_line: now, bar });
    }

    fn advance(&self, phase: Phase, done: u64, payload_bytes: u64) {
        let gauge = self.gauge(phase);
        gauge.done.fetch_add(done, Relaxed);
        gauge.payload_bytes.fetch_add(payload_bytes, Relaxed);
    }

    fn finish(&self, phase: Phase) {
        let Some(run) = self.gauge(phase).run.lock().take() else { return };
        run.bar.finish_and_clear();
        self.bars.remove(&run.bar);
        if self.style != Style::Nothing {
            let finished = self.snapshot(phase, &run).finished();
            self.say(&format!("{:<7}{finished}", progress::name(phase)));
        }
    }

    fn problem(&self, message: &str) {
        let nth = self.problems.fetch_add(1, Relaxed) + 1;
        if nth <= self.problems_shown {
            self.say(&format!("warning: {}", printable(message)));
        } else if nth - 1 == self.problems_shown {
            self.say("warning: further problems are only counted in the report; -v prints them all");
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Relaxed)
    }
}

#[derive(Default)]
struct Gauge {
    done: AtomicU64,
    payload_bytes: AtomicU64,
    /// `None` while the phase does not run.
    run: Mutex<Option<Run>>,
}

struct Run {
    total: u64,
    started: Instant,
    last_line: Instant,
    bar: ProgressBar,
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{prefix:<6} [{bar:16}] {percent:>3}%  {wide_msg}")
        .expect("the template is constant and well-formed")
        .progress_chars("=> ")
}
