//! Hit rates by size of the cache, their certificates, and the number of files.

use onepull::commands::size::{Budget, OrderKind, Reached, Report};

use crate::cli::bytes::show;
use crate::cli::human::{count, percent, short_count};
use crate::cli::render::grid::{First, Grid, titled};
use crate::cli::render::wrap::lines;
use crate::cli::render::{hit_rate, part};

/// So many files are more than a file system holds as it is usually made, or lists in good time.
const MANY_FILES: u64 = 10_000_000;

/// One line per budget; full words and digits where they fit.
pub fn hit_rates(r: &Report, width: usize) -> Option<String> {
    if r.budgets.is_empty() {
        return None;
    }
    let full = full(r);
    let grid = if full.natural_width() <= width { full } else { short(r) };
    let mut text = titled("Hit rates by size of the cache, for two orders of admission:", &grid, width);
    let feet = [
        Some("by count: most references first; by density: most hits per byte first".into()),
        Some(format!("LRU, any policy: all objects compete, {}", order(r))),
        certificate(r),
    ];
    for foot in feet.into_iter().flatten() {
        text += &lines(&foot, width);
    }
    Some(text)
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
    let own = first.policies.objective.is_some();
    let header = ["cache size", "bound", "gap\npoints", "bound", "gap\npoints", "bound", "gap\npoints"];
    let columns = if own { 7 } else { 5 };
    let name = format!("by {}, saved", r.objective);
    let groups = [(1, ""), (2, "by count, bytes"), (2, "by density, hits"), (2, &name)];
    let mut grid = Grid::new(First::Numbers, header.into_iter().take(columns))
        .with_groups(groups.into_iter().take(columns / 2 + 1));
    for budget in &r.budgets {
        let mut cells = vec![show(budget.budget)];
        for of in orders(budget).take(columns / 2) {
            cells.extend([format!("{:.4} %", of.bound * 100.0), points(of.gap)]);
        }
        cells.resize(columns, String::new());
        grid.row(cells);
    }
    Some(titled("What no choice of objects passes, and how far below each order stays:", &grid, width))
}

/// The largest numbers of files, where they are a matter of their own.
pub fn files(r: &Report) -> Option<String> {
    let most = |budget: &Budget| orders(budget).map(|of| of.objects).max().unwrap_or(0);
    let mut many = r.budgets.iter().filter(|budget| most(budget) > MANY_FILES);
    let first = many.next()?;
    let place = "make the cache on a file system that can hold them";
    Some(match many.next_back() {
        None => {
            let by = if first.policies.density.objects == most(first) { " by density" } else { "" };
            format!("note: a cache of {} holds {} files{by}; {place}", show(first.budget), count(most(first)))
        }
        Some(last) => format!(
            "note: from {} on a cache holds more than 10 million files, {} at {}; {place}",
            show(first.budget),
            count(most(last)),
            show(last.budget)
        ),
    })
}

/// A percentage without its sign, where the heading has it.
pub fn bare(percentage: &str) -> String {
    percentage.trim_end_matches(" %").to_owned()
}

fn full(r: &Report) -> Grid {
    let order = ["hit rate", "byte hit rate", "objects"];
    let header = [&["cache size", "of all bytes"], &order[..], &order, &["LRU", "any policy"]].concat();
    let mut grid = Grid::new(First::Numbers, header).with_groups(GROUPS);
    for budget in &r.budgets {
        let order = |of: &Reached| [hit_rate(of.hit_rate), hit_rate(of.byte_hit_rate), count(of.objects)];
        let sizes = [show(budget.budget), share(budget, r)];
        let bounds = [hit_rate(budget.lru), hit_rate(budget.any_policy_bound)];
        grid.row(row(sizes, order(&budget.policies.count), order(&budget.policies.density), bounds));
    }
    grid
}

/// For 80 columns: percent signs in the heading, rounded numbers of objects.
fn short(r: &Report) -> Grid {
    let order = ["hits\n%", "bytes\n%", "objects"];
    let header =
        [&["cache\nsize", "of all\nbytes\n%"], &order[..], &order, &["LRU\n%", "any\npolicy\n%"]].concat();
    let mut grid = Grid::new(First::Numbers, header).with_groups(GROUPS);
    for budget in &r.budgets {
        let rate = |rate| bare(&hit_rate(rate));
        let order = |of: &Reached| [rate(of.hit_rate), rate(of.byte_hit_rate), short_count(of.objects)];
        let sizes = [show(budget.budget), bare(&share(budget, r))];
        let bounds = [rate(budget.lru), rate(budget.any_policy_bound)];
        grid.row(row(sizes, order(&budget.policies.count), order(&budget.policies.density), bounds));
    }
    grid
}

const GROUPS: [(usize, &str); 4] = [(2, ""), (3, "by count"), (3, "by density"), (2, "")];

fn row(sizes: [String; 2], count: [String; 3], density: [String; 3], bounds: [String; 2]) -> Vec<String> {
    sizes.into_iter().chain(count).chain(density).chain(bounds).collect()
}

/// What the cache is of the bytes of all objects; beyond all of them it is no share.
fn share(budget: &Budget, r: &Report) -> String {
    percent(part(budget.budget, r.unique_bytes).min(1.0))
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

/// Percentage points, rounded up: what is claimed never to be passed.
fn points(share: f64) -> String {
    format!("{:.4}", (share * 1e6).ceil() / 1e4)
}
