//! What a cache is to save, as flags: the objective, and what hits, source reads and storage cost.

use clap::Args;
use onepull::commands::size::Objective;

use super::args::usage;
use super::choices::{self, Goal};
use super::quantity;

const LATENCY: f64 = 0.05;
const BANDWIDTH: f64 = 100e6;
const HIT_COST: f64 = 0.002;
const PUT_COST: f64 = 0.01;
const PRICE_GET: f64 = 0.0004;
const EGRESS: f64 = 0.09;
const PRICE_STORAGE: f64 = 0.08;
const MONTHS: f64 = 1.0;

#[derive(Debug, Args)]
pub struct ObjectiveFlags {
    /// What the cache is to save
    ///
    /// Every report has the two simple orders of admission: by count (most references first, which
    /// saves most bytes) and by value density (most references beyond the first per byte first,
    /// which saves most requests). `seconds` and `dollars` add the order that saves most of these.
    #[arg(
        long,
        help_heading = "Objective",
        value_name = "WHAT",
        default_value = "requests",
        value_parser = choices::parser(choices::OBJECTIVES)
    )]
    objective: Goal,

    /// Time to the first byte of a source read; for seconds [default: 50ms]
    #[arg(long, help_heading = "Objective", value_name = "TIME", value_parser = quantity::duration)]
    latency: Option<f64>,

    /// Bytes a second of a source read; for seconds [default: 100MB/s]
    #[arg(long, help_heading = "Objective", value_name = "RATE", value_parser = quantity::rate)]
    bandwidth: Option<f64>,

    /// Time of a hit in the cache; for seconds [default: 2ms]
    #[arg(long, help_heading = "Objective", value_name = "TIME", value_parser = quantity::duration)]
    hit_cost: Option<f64>,

    /// Time to store an object in the cache; for seconds [default: 10ms]
    #[arg(long, help_heading = "Objective", value_name = "TIME", value_parser = quantity::duration)]
    put_cost: Option<f64>,

    /// Dollars per 1000 GET requests to the source; for dollars [default: 0.0004]
    #[arg(long, help_heading = "Objective", value_name = "PRICE", value_parser = quantity::price)]
    price_get: Option<f64>,

    /// Dollars per GB read from the source; for dollars [default: 0.09]
    #[arg(long, help_heading = "Objective", value_name = "PRICE", value_parser = quantity::price)]
    egress: Option<f64>,

    /// Dollars per GB and month in the cache; for dollars [default: 0.08]
    #[arg(long, help_heading = "Objective", value_name = "PRICE", value_parser = quantity::price)]
    price_storage: Option<f64>,

    /// Months that the cache is kept; for dollars [default: 1]
    #[arg(long, help_heading = "Objective", value_name = "N", value_parser = quantity::months)]
    months: Option<f64>,
}

impl ObjectiveFlags {
    /// The objective; a usage error of `command` where a flag belongs to another one.
    pub fn resolve(&self, command: &str) -> Result<Objective, clap::Error> {
        self.check(command, Goal::Seconds, &self.of_seconds())?;
        self.check(command, Goal::Dollars, &self.of_dollars())?;
        Ok(match self.objective {
            Goal::Requests => Objective::Requests,
            Goal::Bytes => Objective::Bytes,
            Goal::Seconds => Objective::Seconds {
                latency: self.latency.unwrap_or(LATENCY),
                bandwidth: self.bandwidth.unwrap_or(BANDWIDTH),
                hit_cost: self.hit_cost.unwrap_or(HIT_COST),
                put_cost: self.put_cost.unwrap_or(PUT_COST),
            },
            Goal::Dollars => Objective::Dollars {
                price_get: self.price_get.unwrap_or(PRICE_GET),
                egress: self.egress.unwrap_or(EGRESS),
                price_storage: self.price_storage.unwrap_or(PRICE_STORAGE),
                months: self.months.unwrap_or(MONTHS),
            },
        })
    }

    fn of_seconds(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("--latency", self.latency),
            ("--bandwidth", self.bandwidth),
            ("--hit-cost", self.hit_cost),
            ("--put-cost", self.put_cost),
        ]
    }

    fn of_dollars(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("--price-get", self.price_get),
            ("--egress", self.egress),
            ("--price-storage", self.price_storage),
            ("--months", self.months),
        ]
    }

    fn check(
        &self,
        command: &str,
        owner: Goal,
        flags: &[(&'static str, Option<f64>)],
    ) -> Result<(), clap::Error> {
        let given = flags.iter().find(|(_, value)| value.is_some()).filter(|_| self.objective != owner);
        given.map_or(Ok(()), |(flag, _)| {
            let (owner, asked) = (choices::word(choices::OBJECTIVES, owner), self.objective);
            let asked = choices::word(choices::OBJECTIVES, asked);
            Err(usage(
                command,
                &format!("{flag} belongs to --objective {owner}, and the objective is {asked}"),
            ))
        })
    }
}
