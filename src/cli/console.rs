//! Runs a command under the eyes of the user: what happens is on stderr, and signals stop it.
//!
//! Workers only add to counters of the screen. One thread looks at them and draws, so a phase that
//! stands still is seen to stand still, and a fast one costs nothing. The first SIGINT or SIGTERM
//! asks the run to stop, the second ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context as _;
use onepull::monitor::Monitor as _;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use super::args::Shared;
use super::exit::Exit;
use super::screen::{Screen, Style};

const TICK: Duration = Duration::from_millis(100);

/// What `run` comes to, with `remark` printed before it and stderr given back after it.
pub fn watch<T>(
    shared: &Shared,
    remark: Option<String>,
    run: impl FnOnce(&Screen) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let style = Style::new(shared);
    let screen = Screen::new(style, shared.detail(), interruption()?, Box::new(io::stderr()));
    let console = Console::new(screen, style);
    remark.iter().for_each(|remark| console.screen.problem(remark));
    run(&console.screen)
}

/// A flag that the first signal sets; the second one ends the process.
fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    // A file too large is an error of the write, not the end of the process.
    flag::register(SIGXFSZ, Arc::default()).context("listening for signals")?;
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset and passes by the exit.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&interrupted))
            .and_then(|_| flag::register(signal, Arc::clone(&interrupted)))
            .context("listening for signals")?;
    }
    Ok(interrupted)
}

/// A screen, and what draws on it; both are gone when this is dropped.
struct Console {
    screen: Arc<Screen>,
    ticker: Option<Ticker>,
}

impl Console {
    fn new(screen: Screen, style: Style) -> Console {
        let screen = Arc::new(screen);
        let ticker = (style != Style::Nothing).then(|| Ticker::start(Arc::clone(&screen)));
        Console { screen, ticker }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.ticker.take();
        self.screen.clear();
    }
}

/// The thread that draws; it ends when this is dropped.
struct Ticker {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(screen: Arc<Screen>) -> Ticker {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut announced = false;
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if screen.interrupted() && !announced {
                    screen.say("stopping; interrupt again to stop at once");
                    announced = true;
                }
                screen.tick();
            }
        });
        Ticker { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It has nothing to hand over, and a panic in it was printed already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;
    use std::sync::atomic::Ordering::Relaxed;

    use onepull::monitor::Phase;

    use super::*;
    use crate::cli::args::Detail;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Paper {
        fn lines(&self) -> Vec<String> {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap().lines().map(String::from).collect()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn console(style: Style) -> (Console, Paper, Arc<AtomicBool>) {
        let (paper, flag) = (Paper::default(), Arc::new(AtomicBool::new(false)));
        let screen = Screen::new(style, Detail::Usual, Arc::clone(&flag), Box::new(paper.clone()));
        (Console::new(screen, style), paper, flag)
    }

    #[test]
    fn a_phase_ends_with_one_plain_line() {
        let (console, paper, _) = console(Style::Lines);
        console.screen.start(Phase::Fetch, 3);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| console.screen.advance(Phase::Fetch, 1, 1_000));
            }
        });
        console.screen.finish(Phase::Fetch);
        let lines = paper.lines();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("fetch  3 objects, 3.0 kB, in "), "{lines:?}");
    }

    #[test]
    fn no_progress_still_prints_problems() {
        let (console, paper, _) = console(Style::Nothing);
        console.screen.start(Phase::Scan, 3);
        console.screen.problem("a.jsonl: bad\u{1b}[31m line");
        console.screen.finish(Phase::Scan);
        assert_eq!(paper.lines(), ["warning: a.jsonl: bad\\u{1b}[31m line"]);
    }

    #[test]
    fn a_flood_of_problems_is_cut_off_once() {
        let (console, paper, _) = console(Style::Nothing);
        (0..20).for_each(|n| console.screen.problem(&format!("number {n}")));
        assert_eq!(paper.lines().len(), 20);
        (20..100).for_each(|n| console.screen.problem(&format!("number {n}")));
        let lines = paper.lines();
        assert_eq!(lines.len(), 21);
        assert!(lines[20].contains("only counted in the report"), "{lines:?}");
    }

    #[test]
    fn an_interruption_stops_the_run_and_is_announced_once() {
        let (console, paper, flag) = console(Style::Lines);
        assert!(console.screen.check().is_ok());
        flag.store(true, Relaxed);
        assert!(console.screen.check().is_err());
        thread::sleep(4 * TICK);
        assert_eq!(paper.lines().len(), 1, "{:?}", paper.lines());
    }
}
