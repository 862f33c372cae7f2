//! Runs two contestants alternately and prints one line about them.

use super::contestant::Contestant;
use super::process::{self, Usage};

/// Prints the heads of the columns that [`run`] fills.
pub fn print_header() {
    println!(
        "{:<22} {:<22} {:>9} {:>9} {:>6} {:>15} {:>7} {:>8} {:>8}",
        "A", "B", "A, s", "B, s", "A/B", "(min to max)", "goal", "A, peak", "B, peak"
    );
}

/// Runs `a` and `b` once without counting, then `rounds` times, each going first in every other
/// round; prints medians of the times, the median of the ratios of each round and its range, and
/// the largest peak of memory. `goal` is the ratio to stay under.
pub fn run(a: &Contestant, b: &Contestant, rounds: usize, goal: Option<f64>) -> anyhow::Result<()> {
    warm_up(a)?;
    warm_up(b)?;
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            of_a.push(one(a)?);
            of_b.push(one(b)?);
        } else {
            of_b.push(one(b)?);
            of_a.push(one(a)?);
        }
    }
    a.clean()?;
    b.clean()?;
    print(a, b, &of_a, &of_b, goal);
    Ok(())
}

fn warm_up(contestant: &Contestant) -> anyhow::Result<()> {
    eprintln!("  warming up: {}", contestant.name);
    one(contestant).map(drop)
}

/// One run. What a contestant wrote is left until it is prepared again or cleaned up.
pub fn one(contestant: &Contestant) -> anyhow::Result<Usage> {
    contestant.prepare()?;
    rustix::fs::sync();
    process::run(&mut contestant.command())
}

fn print(a: &Contestant, b: &Contestant, of_a: &[Usage], of_b: &[Usage], goal: Option<f64>) {
    let seconds = |usages: &[Usage]| usages.iter().map(|usage| usage.wall.as_secs_f64()).collect::<Vec<_>>();
    let peak = |usages: &[Usage]| usages.iter().map(|usage| usage.peak_rss_bytes).max().unwrap_or(0);
    let megabytes = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
    let (a_seconds, b_seconds) = (seconds(of_a), seconds(of_b));
    let ratios: Vec<f64> = a_seconds.iter().zip(&b_seconds).map(|(a, b)| a / b).collect();
    let ratio = Spread::of(ratios);
    let goal = match goal {
        Some(goal) if ratio.median <= goal => format!("{goal:.2} ok"),
        Some(goal) => format!("{goal:.2} no"),
        None => String::new(),
    };
    println!(
        "{:<22} {:<22} {:>9.2} {:>9.2} {:>6.2} {:>15} {:>7} {:>8} {:>8}",
        a.name,
        b.name,
        Spread::of(a_seconds).median,
        Spread::of(b_seconds).median,
        ratio.median,
        format!("({:.2} to {:.2})", ratio.min, ratio.max),
        goal,
        megabytes(peak(of_a)),
        megabytes(peak(of_b)),
    );
}

/// Median and range of a few measurements.
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Of an empty sample: zeros.
    pub fn of(mut sample: Vec<f64>) -> Spread {
        sample.sort_by(f64::total_cmp);
        let at = |index: usize| sample.get(index).copied().unwrap_or(0.0);
        let half = sample.len() / 2;
        let median =
            if sample.len() % 2 == 1 { at(half) } else { (at(half.saturating_sub(1)) + at(half)) / 2.0 };
        Spread { median, min: at(0), max: at(sample.len().saturating_sub(1)) }
    }
}
