//! The tables of the report: histogram, budgets, sources, and workers that share a cache.

use onepull::commands::analyze::{Concurrency, OracleBudget, Replayed, Report};
use onepull::commands::format::{bytes, count, decimal, hit_rate, percent, printable, things};

use crate::cli::args::Detail;
use crate::cli::render::table::{First, Grid, lines};
use crate::cli::render::{MultiplicityClass, classes, part};

/// Marks what rests on a sample.
pub fn about(r: &Report, number: impl Into<String>) -> String {
    let number = number.into();
    if r.sample.is_some() { format!("~{number}") } else { number }
}

/// Objects by multiplicity in power-of-two classes, neighbours without objects as one. Bars are
/// logarithmic: one object in a million is still seen.
pub fn histogram(r: &Report, width: usize) -> Option<String> {
    let classes = classes(&r.histogram);
    let sum = |of: fn(&MultiplicityClass) -> u64| classes.iter().map(of).sum::<u64>();
    let (references, hits) = (sum(|class| class.references), sum(|class| class.hits));
    let most = classes.iter().map(|class| class.objects).max()?;
    let objects = about(r, "objects");
    let mut grid = Grid::new(First::Names, ["multiplicity", &objects, "references", "hits"]);
    let shown = without_gaps(&classes);
    for class in &shown {
        grid.row(vec![
            class.label(),
            count(class.objects),
            percent(part(class.references, references)),
            percent(part(class.hits, hits)),
        ]);
    }
    let bars = shown.iter().map(|class| log_length(class.objects, most)).collect();
    Some(grid.with_bars(&format!("{objects}, log scale"), bars).text(width))
}

/// The static oracle for caches of limited size; round sizes only, unless the detail is full.
/// Budgets below the smallest object worth caching are left out.
pub fn budgets(r: &Report, detail: Detail, width: usize) -> Option<String> {
    let budgets: Vec<_> = r.budgets.iter().filter(|budget| budget.objects > 0).collect();
    if budgets.is_empty() {
        return None;
    }
    let mark = |words| about(r, words);
    let header = [
        "cache size".into(),
        "of all bytes".into(),
        mark("hit rate"),
        mark("byte hit rate"),
        mark("objects"),
    ];
    let mut grid = Grid::new(First::Numbers, header);
    for budget in chosen(&budgets, detail) {
        grid.row(vec![
            bytes(budget.budget_bytes),
            percent(budget.byte_share),
            hit_rate(budget.hit_rate),
            hit_rate(budget.byte_hit_rate),
            count(budget.objects),
        ]);
    }
    let title = "What the best fixed choice of objects reaches, by value density (k-1)/size:";
    Some(lines(title, width) + &grid.text(width))
}

/// The largest sources.
pub fn sources(r: &Report, width: usize) -> Option<String> {
    if r.sources.is_empty() {
        return None;
    }
    let mark = |words| about(r, words);
    let sized = r.unique_bytes > 0;
    let header = ["source".into(), mark("references"), "share".into(), mark("objects"), mark("mean k")];
    let mut grid = Grid::new(First::Names, header.into_iter().chain(sized.then(|| mark("bytes"))));
    for of in &r.sources {
        // Sizes that no locator gives are not 0.
        let unknown = of.bytes == 0 && r.sized_share < 1.0;
        let size = sized.then(|| if unknown { "unknown".into() } else { bytes(of.bytes) });
        let cells = [
            printable(&of.prefix).into_owned(),
            count(of.references),
            percent(part(of.references, r.references)),
            count(of.objects),
            decimal(part(of.references, of.objects), 2),
        ];
        grid.row(cells.into_iter().chain(size).collect());
    }
    Some(grid.text(width))
}

/// What workers lose that share a cache but not their plans: one line for each number of workers,
/// as long as fewer of them than tasks; one for all others, and one for ways to share a cache that
/// lose nothing.
pub fn concurrency(r: &Report, width: usize) -> Option<String> {
    let first = r.concurrency.first().filter(|_| r.duplicates > 0)?;
    let replayed = r.concurrency.iter().any(|line| line.replayed.is_some());
    let mark = |words: &str| about(r, words);
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
    let columns = header.len();
    let mut grid = Grid::new(First::Numbers, header);
    let cells = |workers: String, line: &Concurrency| {
        let times = decimal(part(line.source_reads, r.objects), 2);
        let mut cells = vec![workers, hit_rate(line.hit_rate), count(line.source_reads), times];
        if let Some(Replayed { hit_rate: rate, source_reads, deduplicated_hit_rate, .. }) = line.replayed {
            cells.extend([hit_rate(rate), count(source_reads), hit_rate(deduplicated_hit_rate)]);
        }
        cells.resize(columns, String::new());
        cells
    };
    let (apart, together): (Vec<&Concurrency>, Vec<&Concurrency>) =
        r.concurrency.iter().partition(|line| line.workers < line.tasks);
    for line in apart {
        grid.row(cells(count(line.workers), line));
    }
    if let Some(line) = together.first() {
        grid.row(cells(fewest(&together), line));
    }
    let mut ideal = vec!["any".into(), hit_rate(r.oracle_hit_rate), count(r.objects), "1.00".into()];
    ideal.resize(columns, String::new());
    grid.row(ideal);
    let tasks = things(first.tasks, "task", "tasks");
    let title = format!("Workers sharing a cache, {tasks}, each looks up first and stores last:");
    let feet = feet(r, &together, replayed).into_iter().map(|foot| lines(&foot, width));
    Some(lines(&title, width) + &grid.text(width) + &feet.collect::<String>())
}

/// `16+`: the fewest of lines that differ in nothing else.
fn fewest(lines: &[&Concurrency]) -> String {
    let fewest = count(lines.iter().map(|line| line.workers).min().unwrap_or(0));
    if lines.len() > 1 { fewest + "+" } else { fewest }
}

/// What the names of lines and columns mean. `together`: the lines with as many workers as tasks.
fn feet(r: &Report, together: &[&Concurrency], replayed: bool) -> Vec<String> {
    let mut feet = Vec::new();
    if let Some(line) = together.first() {
        let what = match line.tasks {
            1 => "one task, which looks up before anything is stored",
            _ => "all tasks run at once, and none finds what another one reads",
        };
        feet.push(format!("{}: {what}", fewest(together)));
    }
    feet.push("any: with key affinity, single flight, or counting before fetching".into());
    if replayed {
        feet.push("once a task: if each task reads an object only once".into());
    }
    if r.in_task_duplicates > 0 {
        let how = if replayed { "counted" } else { "expected" };
        let duplicates = about(r, things(r.in_task_duplicates, "duplicate", "duplicates"));
        feet.push(format!("in-task: {duplicates} ({how}) within one task; some tools skip them"));
    }
    feet
}

/// Each run of classes without objects as one class.
fn without_gaps(classes: &[MultiplicityClass]) -> Vec<MultiplicityClass> {
    let runs = classes.chunk_by(|a, b| a.objects == 0 && b.objects == 0);
    runs.map(|run| MultiplicityClass { high: run[run.len() - 1].high, ..run[0] }).collect()
}

/// At most so many budgets are printed unless all are asked for.
const BUDGETS: usize = 9;

/// All of a few; of many those of a round size, the largest, and the last, which ends the curve.
fn chosen<'a>(budgets: &[&'a OracleBudget], detail: Detail) -> Vec<&'a OracleBudget> {
    if detail == Detail::Full || budgets.len() <= BUDGETS {
        return budgets.to_vec();
    }
    let (last, others) = budgets.split_last().expect("there are more than a few");
    let mut chosen: Vec<_> = others.iter().filter(|budget| is_round(budget.budget_bytes)).copied().collect();
    if chosen.len() < BUDGETS / 2 {
        chosen = others.iter().step_by(others.len().div_ceil(BUDGETS - 1)).copied().collect();
    }
    chosen.drain(..chosen.len().saturating_sub(BUDGETS - 1));
    chosen.push(last);
    chosen
}

/// 1, 2 or 5 times a power of ten.
fn is_round(bytes: u64) -> bool {
    let zeros = bytes.checked_ilog10().map_or(1, |digits| 10u64.pow(digits));
    bytes.is_multiple_of(zeros) && matches!(bytes / zeros, 1 | 2 | 5)
}

/// The length of a bar of `n` where `most` has the longest: equal factors are equal steps, and 1
/// is one step above nothing.
fn log_length(n: u64, most: u64) -> f64 {
    let steps = |n: u64| 1.0 + (n as f64).log2();
    if n == 0 { 0.0 } else { steps(n) / steps(most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(budget_bytes: u64) -> OracleBudget {
        OracleBudget { budget_bytes, byte_share: 0.1, hit_rate: 0.1, byte_hit_rate: 0.1, objects: 1 }
    }

    fn sizes(budgets: &[u64], detail: Detail) -> Vec<u64> {
        let budgets: Vec<_> = budgets.iter().map(|bytes| budget(*bytes)).collect();
        chosen(&budgets.iter().collect::<Vec<_>>(), detail).iter().map(|budget| budget.budget_bytes).collect()
    }

    #[test]
    fn of_many_budgets_the_round_ones_and_the_last_are_shown() {
        let ladder: Vec<u64> =
            [1, 10, 100].iter().flat_map(|scale| (1..=9).map(move |n| n * scale)).chain([1_234]).collect();
        assert_eq!(sizes(&ladder, Detail::Usual), [2, 5, 10, 20, 50, 100, 200, 500, 1_234]);
        assert_eq!(sizes(&ladder, Detail::Full), ladder);
        assert_eq!(sizes(&[3, 7], Detail::Usual), [3, 7]);
    }

    #[test]
    fn budgets_without_round_ones_are_thinned_out() {
        let odd: Vec<u64> = (0..40).map(|n| 1_003 + n * 2).collect();
        let shown = sizes(&odd, Detail::Usual);
        assert!(shown.len() <= BUDGETS && shown.len() >= 5, "{shown:?}");
        assert_eq!(shown.last(), odd.last());
    }

    #[test]
    fn classes_without_objects_are_one_line() {
        let of = |k, objects| onepull::commands::analyze::Multiplicity { k, objects, bytes: 0 };
        let labels = |histogram: &[_]| -> Vec<String> {
            without_gaps(&classes(histogram)).iter().map(MultiplicityClass::label).collect()
        };
        assert_eq!(labels(&[of(1, 3), of(20, 1)]), ["1", "2-15", "16-31"]);
        assert_eq!(labels(&[of(9, 1), of(40, 2)]), ["1-7", "8-15", "16-31", "32-63"]);
    }

    #[test]
    fn one_object_in_a_million_has_a_bar() {
        assert_eq!(log_length(0, 1_000_000), 0.0);
        assert!(log_length(1, 1_000_000) > 0.04);
        assert_eq!(log_length(7, 7), 1.0);
    }
}
