//! What a cache is to save, as flags: the objective, and what hits, source reads and storage cost.

use clap::Args;
use onepull::commands::size::Objective;

use super::args::{Choice, Usage, choice};
use super::quantity;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Requests,
    Bytes,
    Seconds,
    Dollars,
}

const GOALS: &[Choice<Goal>] = &[
    ("requests", "Source reads", Goal::Requests),
    ("bytes", "Bytes read from the source", Goal::Bytes),
    ("seconds", "Time; see --latency, --bandwidth, --hit-cost, --put-cost", Goal::Seconds),
    ("dollars", "Money; see --price-get, --egress, --price-storage, --months", Goal::Dollars),
];

#[derive(Debug, Args)]
#[command(next_help_heading = "Objective")]
pub struct ObjectiveFlags {
    /// What the cache is to save
    ///
    /// Every report compares two orders of admission: by count (most references first, which saves
    /// the most bytes) and by value density (most hits per byte first, which saves the most
    /// requests). `seconds` and `dollars` add the order that saves the most of these.
    #[arg(long, value_name = "WHAT", default_value = "requests", value_parser = choice(GOALS))]
    objective: Goal,

    /// For seconds: time to the first byte of a source read [default: 50ms]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    latency: Option<f64>,

    /// For seconds: bytes per second of a source read [default: 100MB/s]
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    bandwidth: Option<f64>,

    /// For seconds: time of a cache hit [default: 2ms]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    hit_cost: Option<f64>,

    /// For seconds: time to store an object in the cache [default: 10ms]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    put_cost: Option<f64>,

    /// For dollars: price of 1000 GET requests to the source [default: 0.0004]
    #[arg(long, value_name = "PRICE", value_parser = quantity::price)]
    price_get: Option<f64>,

    /// For dollars: price of a GB read from the source [default: 0.09]
    #[arg(long, value_name = "PRICE", value_parser = quantity::price)]
    egress: Option<f64>,

    /// For dollars: price of a GB in the cache per month [default: 0.08]
    #[arg(long, value_name = "PRICE", value_parser = quantity::price)]
    price_storage: Option<f64>,

    /// For dollars: how many months the cache is kept [default: 1]
    #[arg(long, value_name = "N", value_parser = quantity::months)]
    months: Option<f64>,
}

impl ObjectiveFlags {
    /// Fails where a flag belongs to another objective than the one that was asked for.
    pub fn resolve(&self) -> Result<Objective, Usage> {
        let costs = [
            (Goal::Seconds, "--latency", self.latency),
            (Goal::Seconds, "--bandwidth", self.bandwidth),
            (Goal::Seconds, "--hit-cost", self.hit_cost),
            (Goal::Seconds, "--put-cost", self.put_cost),
            (Goal::Dollars, "--price-get", self.price_get),
            (Goal::Dollars, "--egress", self.egress),
            (Goal::Dollars, "--price-storage", self.price_storage),
            (Goal::Dollars, "--months", self.months),
        ];
        let stray = costs.iter().find(|(goal, _, cost)| cost.is_some() && *goal != self.objective);
        if let Some((goal, flag, _)) = stray {
            let word = |goal| GOALS.iter().find(|(.., value)| *value == goal).map_or("", |(word, ..)| word);
            let (needed, given) = (word(*goal), word(self.objective));
            return Err(Usage(format!("{flag} needs --objective {needed}, and the objective is {given}")));
        }
        Ok(match self.objective {
            Goal::Requests => Objective::Requests,
            Goal::Bytes => Objective::Bytes,
            Goal::Seconds => Objective::Seconds {
                latency: self.latency.unwrap_or(0.05),
                bandwidth: self.bandwidth.unwrap_or(100e6),
                hit_cost: self.hit_cost.unwrap_or(0.002),
                put_cost: self.put_cost.unwrap_or(0.01),
            },
            Goal::Dollars => Objective::Dollars {
                price_get: self.price_get.unwrap_or(0.0004),
                egress: self.egress.unwrap_or(0.09),
                price_storage: self.price_storage.unwrap_or(0.08),
                months: self.months.unwrap_or(1.0),
            },
        })
    }
}
