//! What a cache saves in seconds or dollars: the order that saves most of them, beside the two that
//! know no costs.

use onepull::commands::size::{Budget, Objective, Reached, Report};

use super::tables::bare;
use crate::cli::bytes::show;
use crate::cli::human::{count, dollars, long, moment, percent, short_count};
use crate::cli::render::grid::{First, Grid, titled};
use crate::cli::render::hit_rate;

/// One line per budget; nothing where the objective has no costs.
pub fn table(r: &Report, objective: &Objective, width: usize) -> Option<String> {
    let lines: Vec<_> = r.budgets.iter().filter_map(|b| Some((b, b.policies.objective?))).collect();
    let cost = r.cost_without_cache.filter(|_| !lines.is_empty())?;
    let group = format!("by {}", r.objective);
    let full = Layout::Full.grid(&lines, objective, cost, &group);
    let grid = if full.natural_width() <= width {
        full
    } else {
        Layout::Short.grid(&lines, objective, cost, &group)
    };
    let title = format!(
        "What a cache saves of the {} of all reads, its own costs taken off:",
        amount(objective, cost)
    );
    Some(titled(&title, &grid, width))
}

/// `949 days`, `$12,345`.
pub fn amount(objective: &Objective, amount: f64) -> String {
    match objective {
        Objective::Dollars { .. } => dollars(amount),
        _ => long(amount),
    }
}

/// The costs that were counted with.
pub fn costs(objective: &Objective) -> String {
    match *objective {
        Objective::Requests | Objective::Bytes => String::new(),
        Objective::Seconds { latency, bandwidth, hit_cost, put_cost } => format!(
            "latency {}, bandwidth {}/s, hit {}, put {}",
            moment(latency),
            show(bandwidth.round() as u64),
            moment(hit_cost),
            moment(put_cost)
        ),
        Objective::Dollars { price_get, egress, price_storage, months } => format!(
            "${price_get} per 1000 GETs, ${egress} per GB read; cache ${price_storage} per GB-month for \
             {months} {}",
            if months == 1.0 { "month" } else { "months" }
        ),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Full,
    /// For 80 columns: percent signs in the heading, rounded numbers of objects.
    Short,
}

impl Layout {
    fn grid(self, lines: &[(&Budget, Reached)], objective: &Objective, cost: f64, group: &str) -> Grid {
        let header = match self {
            Layout::Full => [
                "cache size",
                "by count",
                "by density",
                "hit rate",
                "byte hit rate",
                "objects",
                "saved",
                "of the cost",
            ],
            Layout::Short => [
                "cache\nsize",
                "by count",
                "by density",
                "hits\n%",
                "bytes\n%",
                "objects",
                "saved",
                "of cost\n%",
            ],
        };
        let mut grid = Grid::new(First::Numbers, header).with_groups([(1, ""), (2, "saved"), (5, group)]);
        let saved = |of: &Reached| of.saved.map_or(String::new(), |saved| amount(objective, saved));
        for (budget, of) in lines {
            // Where reads cost nothing, what a cache costs is no share of it.
            let share = of.saved.filter(|_| cost > 0.0);
            let share = share.map_or(String::new(), |saved| percent_signed(saved / cost));
            let (share, objects) = match self {
                Layout::Full => (share, count(of.objects)),
                Layout::Short => (bare(&share), short_count(of.objects)),
            };
            let rate = |rate| if self == Layout::Full { hit_rate(rate) } else { bare(&hit_rate(rate)) };
            grid.row(vec![
                show(budget.budget),
                saved(&budget.policies.count),
                saved(&budget.policies.density),
                rate(of.hit_rate),
                rate(of.byte_hit_rate),
                objects,
                saved(of),
                share,
            ]);
        }
        grid
    }
}

/// A share that may be lost instead.
fn percent_signed(share: f64) -> String {
    if share < 0.0 { format!("-{}", percent(-share)) } else { percent(share) }
}
