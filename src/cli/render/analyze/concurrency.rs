//! The table of what several workers lose that share a cache but not their plans.

use onepull::commands::analyze::{Concurrency, Replayed, Report};

use super::{about, lines, part, titled};
use crate::cli::human::{count, things};
use crate::cli::render::grid::{First, Grid};
use crate::cli::render::{decimal, hit_rate};

/// One line for each number of workers, as long as fewer of them than tasks; one for all others,
/// and one for ways to share a cache that lose nothing.
pub fn table(r: &Report, width: usize) -> Option<String> {
    let first = r.concurrency.first().filter(|_| r.duplicates > 0)?;
    let replayed = r.concurrency.iter().any(|line| line.replayed.is_some());
    let header = header(r, replayed);
    let mut grid = Grid::new(First::Numbers, header.iter().map(String::as_str));
    let (apart, together): (Vec<&Concurrency>, Vec<&Concurrency>) =
        r.concurrency.iter().partition(|line| line.workers < line.tasks);
    for line in apart {
        grid.row(cells(count(line.workers), line, r, replayed));
    }
    if let Some(line) = together.first() {
        grid.row(cells(workers(&together), line, r, replayed));
    }
    let mut ideal = vec!["any".into(), hit_rate(r.oracle_hit_rate), count(r.objects), "1.00".into()];
    ideal.resize(header.len(), String::new());
    grid.row(ideal);

    let tasks = things(first.tasks, "task", "tasks");
    let title = format!("Workers sharing a cache, {tasks}, each looks up first and stores last:");
    let feet = feet(r, &together, replayed);
    Some(titled(&title, &grid, width) + &feet.iter().map(|foot| lines(foot, width)).collect::<String>())
}

fn header(r: &Report, replayed: bool) -> Vec<String> {
    let mark = |words: &str| about(r, words.into());
    let (expected, reads) = (mark("expected"), mark("source"));
    let mut header = vec![
        "workers".to_owned(),
        format!("{expected}\nhit rate"),
        format!("{reads}\nreads"),
        "times\nideal".into(),
    ];
    if replayed {
        let replayed = mark("replayed");
        header.extend([format!("{replayed}\nhit rate"), format!("{reads}\nreads")]);
        header.push("once a task\nhit rate".into());
    }
    header
}

fn cells(workers: String, line: &Concurrency, r: &Report, replayed: bool) -> Vec<String> {
    let times = decimal(part(line.source_reads, r.objects), 2);
    let mut cells = vec![workers, hit_rate(line.hit_rate), count(line.source_reads), times];
    if replayed {
        cells.extend(line.replayed.map_or_else(|| vec![String::new(); 3], |of| replayed_cells(&of)));
    }
    cells
}

fn replayed_cells(of: &Replayed) -> Vec<String> {
    vec![hit_rate(of.hit_rate), count(of.source_reads), hit_rate(of.deduplicated_hit_rate)]
}

/// `16+`: the fewest of lines that differ in nothing else.
fn workers(lines: &[&Concurrency]) -> String {
    let fewest = count(lines.iter().map(|line| line.workers).min().unwrap_or(0));
    if lines.len() > 1 { fewest + "+" } else { fewest }
}

/// What the names of lines and columns mean. `together`: the lines with as many workers as tasks.
fn feet(r: &Report, together: &[&Concurrency], replayed: bool) -> Vec<String> {
    let mut feet = Vec::new();
    if let Some(line) = together.first() {
        let what = match line.tasks {
            1 => "one task, which looks up before anything is stored",
            _ => "all tasks at once, none finds what another one reads",
        };
        feet.push(format!("{}: {what}", workers(together)));
    }
    feet.push("any: with key affinity, single flight, or grouping before fetching".into());
    if replayed {
        feet.push("once a task: when every task reads an object once, however often it names it".into());
    }
    if r.in_task_duplicates > 0 {
        let how = if replayed { "counted" } else { "expected" };
        let duplicates = about(r, things(r.in_task_duplicates, "duplicate", "duplicates"));
        feet.push(format!("in-task: {duplicates} ({how}) in one task; some tools skip them"));
    }
    feet
}
