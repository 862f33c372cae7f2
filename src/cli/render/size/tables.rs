//! The tables of the report: hit rates by size of the cache, their certificates, and savings.

use onepull::commands::format::{bytes, count, days, dollars, hit_rate, percent, short_count};
use onepull::commands::size::{Budget, Objective, OrderKind, Reached, Report};

use crate::cli::render::part;
use crate::cli::render::table::{First, Grid, lines};

/// So many files are more than most file systems hold as they are made, or list in good time.
const MANY_FILES: u64 = 10_000_000;

/// One line per budget.
pub fn hit_rates(r: &Report, width: usize) -> Option<String> {
    if r.budgets.is_empty() {
        return None;
    }
    let header = [
        "cache\nsize",
        "of all\nbytes",
        "hits",
        "bytes",
        "objects",
        "hits",
        "bytes",
        "objects",
        "LRU",
        "any\npolicy",
    ];
    let groups = [(2, ""), (3, "by count"), (3, "by density"), (2, "")];
    let mut grid = Grid::new(First::Numbers, header).with_groups(&groups);
    for budget in &r.budgets {
        let reached =
            |of: &Reached| [rate(of.hit_rate), rate(of.byte_hit_rate), short_count(of.objects)].to_vec();
        // Beyond all bytes a budget is no share of them.
        let share = bare(&percent(part(budget.budget, r.unique_bytes).min(1.0)));
        let cells = [
            vec![bytes(budget.budget), share],
            reached(&budget.policies.count),
            reached(&budget.policies.density),
            vec![rate(budget.lru), rate(budget.any_policy_bound)],
        ];
        grid.row(cells.concat());
    }
    let feet = [
        Some("by count: most references first; by density: most hits per byte first".into()),
        Some(format!("LRU, any policy: all objects compete, {}", order(r))),
        certificate(r),
    ];
    let feet = feet.into_iter().flatten().map(|foot| lines(&foot, width));
    let title = "Hit rate in % for each cache size, by references (hits) and by bytes:";
    Some(lines(title, width) + &grid.text(width) + &feet.collect::<String>())
}

/// In which order references come, and what that is known from.
fn order(r: &Report) -> String {
    match r.order.of {
        OrderKind::Random => "references come in random order".into(),
        OrderKind::Manifests if r.order.share == 1.0 => "references come as in the manifests".into(),
        OrderKind::Manifests => {
            let objects = (1.0 / r.order.share).round() as u64;
            format!("references come as in the manifests; known from 1 in {} objects", count(objects))
        }
    }
}

/// Bound and gap of every budget and order.
pub fn certificates(r: &Report, width: usize) -> Option<String> {
    let first = r.budgets.first()?;
    let orders_shown = orders(first).count();
    let header = ["cache size"].into_iter().chain(["bound", "gap\npoints"].repeat(orders_shown));
    let own = format!("by {}, saved", r.objective);
    let groups = [(1, ""), (2, "by count, bytes"), (2, "by density, hits"), (2, &own)];
    let mut grid = Grid::new(First::Numbers, header).with_groups(&groups[..=orders_shown]);
    for budget in &r.budgets {
        let bounds = orders(budget).flat_map(|of| [format!("{:.4} %", of.bound * 100.0), points(of.gap)]);
        let mut cells: Vec<String> = [bytes(budget.budget)].into_iter().chain(bounds).collect();
        cells.resize(1 + 2 * orders_shown, String::new());
        grid.row(cells);
    }
    let title = "What no choice of objects can pass, and how far below it each order stays:";
    Some(lines(title, width) + &grid.text(width))
}

/// What a cache saves in seconds or dollars: the order that saves the most of them, beside the two
/// that know no costs. Nothing where the objective has no costs.
pub fn savings(r: &Report, objective: &Objective, width: usize) -> Option<String> {
    let rows: Vec<_> = r.budgets.iter().filter_map(|b| Some((b, b.policies.objective?))).collect();
    let cost = r.cost_without_cache.filter(|_| !rows.is_empty())?;
    let header =
        ["cache\nsize", "by count", "by density", "hits\n%", "bytes\n%", "objects", "saved", "of cost\n%"];
    let own = format!("by {}", r.objective);
    let mut grid = Grid::new(First::Numbers, header).with_groups(&[(1, ""), (2, "saved"), (5, &own)]);
    let saved = |of: &Reached| of.saved.map_or(String::new(), |saved| amount(objective, saved));
    for (budget, of) in rows {
        // Where reads cost nothing, what a cache costs is no share of it.
        let share = of.saved.filter(|_| cost > 0.0).map_or(String::new(), |saved| {
            let sign = if saved < 0.0 { "-" } else { "" };
            format!("{sign}{}", bare(&percent(saved.abs() / cost)))
        });
        grid.row(vec![
            bytes(budget.budget),
            saved(&budget.policies.count),
            saved(&budget.policies.density),
            rate(of.hit_rate),
            rate(of.byte_hit_rate),
            short_count(of.objects),
            saved(&of),
            share,
        ]);
    }
    let all = amount(objective, cost);
    let title = format!("What a cache saves of the {all} of all reads, after its own costs:");
    Some(lines(&title, width) + &grid.text(width))
}

/// The largest numbers of files, where they are a matter of their own.
pub fn files(r: &Report) -> Option<String> {
    let most = |budget: &Budget| orders(budget).map(|of| of.objects).max().unwrap_or(0);
    let mut many = r.budgets.iter().filter(|budget| most(budget) > MANY_FILES);
    let first = many.next()?;
    let place = "put it on a file system that can hold them";
    Some(match many.next_back() {
        None => {
            let by = if first.policies.density.objects == most(first) { " by density" } else { "" };
            format!("a cache of {} holds {} files{by}; {place}", bytes(first.budget), count(most(first)))
        }
        Some(last) => format!(
            "from {} on, a cache holds more than 10 million files ({} at {}); {place}",
            bytes(first.budget),
            count(most(last)),
            bytes(last.budget)
        ),
    })
}

/// `949 days`, `$12,345`.
pub fn amount(objective: &Objective, amount: f64) -> String {
    match objective {
        Objective::Dollars { .. } => dollars(amount),
        _ => days(amount),
    }
}

/// A hit rate without the sign that the heading has.
fn rate(rate: f64) -> String {
    bare(&hit_rate(rate))
}

fn bare(percentage: &str) -> String {
    percentage.trim_end_matches(" %").to_owned()
}

fn orders(budget: &Budget) -> impl Iterator<Item = &Reached> {
    let policies = &budget.policies;
    [&policies.count, &policies.density].into_iter().chain(&policies.objective)
}

/// How little is lost by admitting greedily.
fn certificate(r: &Report) -> Option<String> {
    let gaps = r.budgets.iter().flat_map(|b| [b.policies.count.gap, b.policies.density.gap]);
    let largest = gaps.reduce(f64::max)?;
    let more = if largest > 0.0 { format!("over {} points more", points(largest)) } else { "more".into() };
    Some(format!("bound: no choice of objects gives {more} (bytes by count, hits by density)"))
}

/// Percentage points, rounded up: a bound is never passed.
fn points(share: f64) -> String {
    format!("{:.4}", (share * 1e6).ceil() / 1e4)
}
