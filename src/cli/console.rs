//! Runs a command under the eyes of the user: what happens is on stderr, and signals stop it.
//!
//! Workers only add to counters of the screen. One thread looks at them and draws, so a phase that
//! stands still is seen to stand still, and a fast one costs nothing. The first SIGINT or SIGTERM
//! asks the run to stop, the second ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
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
    let screen = Screen::new(Style::new(shared), shared.detail(), interruption()?, Box::new(io::stderr()));
    remark.iter().for_each(|remark| screen.problem(remark));
    let result = drawing(&screen, || run(&screen));
    screen.clear();
    result
}

/// What `run` comes to, while another thread draws the screen.
fn drawing<T>(screen: &Screen, run: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        // The thread ends when this is dropped, also by a panic of `run`.
        let (running, ended) = mpsc::channel::<()>();
        let ticker = (screen.style != Style::Nothing).then(|| scope.spawn(move || tick(screen, &ended)));
        let result = run();
        drop(running);
        // It has nothing to hand over, and a panic in it was printed already.
        let _ = ticker.map(|ticker| ticker.join());
        result
    })
}

fn tick(screen: &Screen, ended: &Receiver<()>) {
    let mut announced = false;
    while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        if screen.interrupted() && !announced {
            screen.say("stopping; interrupt again to stop at once");
            announced = true;
        }
        screen.tick();
    }
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

    fn screen(style: Style) -> (Screen, Paper, Arc<AtomicBool>) {
        let (paper, flag) = (Paper::default(), Arc::new(AtomicBool::new(false)));
        let screen = Screen::new(style, Detail::Usual, Arc::clone(&flag), Box::new(paper.clone()));
        (screen, paper, flag)
    }

    #[test]
    fn a_phase_ends_with_one_plain_line() {
        let (screen, paper, _) = screen(Style::Lines);
        screen.start(Phase::Fetch, 3);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| screen.advance(Phase::Fetch, 1, 1_000));
            }
        });
        screen.finish(Phase::Fetch);
        let lines = paper.lines();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("fetch  3 objects, 3.0 kB, in "), "{lines:?}");
    }

    #[test]
    fn no_progress_still_prints_problems() {
        let (screen, paper, _) = screen(Style::Nothing);
        screen.start(Phase::Scan, 3);
        screen.problem("a.jsonl: bad\u{1b}[31m line");
        screen.finish(Phase::Scan);
        assert_eq!(paper.lines(), ["warning: a.jsonl: bad\\u{1b}[31m line"]);
    }

    #[test]
    fn a_flood_of_problems_is_cut_off_once() {
        let (screen, paper, _) = screen(Style::Nothing);
        (0..20).for_each(|n| screen.problem(&format!("number {n}")));
        assert_eq!(paper.lines().len(), 20);
        (20..100).for_each(|n| screen.problem(&format!("number {n}")));
        let lines = paper.lines();
        assert_eq!(lines.len(), 21);
        assert!(lines[20].contains("only counted in the report"), "{lines:?}");
    }

    #[test]
    fn an_interruption_stops_the_run_and_is_announced_once() {
        let (screen, paper, flag) = screen(Style::Lines);
        assert!(screen.check().is_ok());
        flag.store(true, Relaxed);
        assert!(screen.check().is_err());
        drawing(&screen, || thread::sleep(4 * TICK));
        assert_eq!(paper.lines().len(), 1, "{:?}", paper.lines());
    }
}
