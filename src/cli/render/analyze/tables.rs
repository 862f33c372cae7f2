//! The tables of the report that are plain lists: histogram, budgets, sources.

use onepull::commands::analyze::{Budget, Report};

use super::about;
use crate::cli::bytes::show;
use crate::cli::human::{count, percent, printable};
use crate::cli::render::classes::{Class, classes};
use crate::cli::render::grid::{First, Grid, titled};
use crate::cli::render::{decimal, hit_rate, part};
use crate::cli::shared::Detail;

/// Objects by multiplicity in power-of-two classes, neighbours without objects as one. Bars are
/// logarithmic: one object in a million is still seen.
pub fn histogram(r: &Report, width: usize) -> Option<String> {
    let classes = classes(&r.histogram);
    let sum = |of: fn(&Class) -> u64| classes.iter().map(of).sum::<u64>();
    let (references, hits) = (sum(|class| class.references), sum(|class| class.hits));
    let most = classes.iter().map(|class| class.objects).max()?;
    let objects = about(r, "objects".into());
    let mut grid = Grid::new(First::Names, ["multiplicity", &objects, "references", "hits"])
        .with_bars(&format!("{objects}, log scale"));
    for class in &without_gaps(&classes) {
        let cells = vec![
            class.label(),
            count(class.objects),
            percent(part(class.references, references)),
            percent(part(class.hits, hits)),
        ];
        grid.bar_row(cells, log_length(class.objects, most));
    }
    Some(grid.text(width))
}

/// The static oracle for caches of limited size; round sizes only, unless the detail is full.
/// Budgets below the smallest object worth caching are left out.
pub fn budgets(r: &Report, detail: Detail, width: usize) -> Option<String> {
    let budgets: Vec<_> = r.budgets.iter().filter(|budget| budget.objects > 0).collect();
    if budgets.is_empty() {
        return None;
    }
    let mark = |words: &str| about(r, words.into());
    let header = ["cache size", "of all bytes", &mark("hit rate"), &mark("byte hit rate"), &mark("objects")];
    let mut grid = Grid::new(First::Numbers, header);
    for budget in chosen(&budgets, detail) {
        grid.row(vec![
            show(budget.budget_bytes),
            percent(budget.byte_share),
            hit_rate(budget.hit_rate),
            hit_rate(budget.byte_hit_rate),
            count(budget.objects),
        ]);
    }
    let title = "What the best fixed choice of objects reaches, by value density (k-1)/size:";
    Some(titled(title, &grid, width))
}

/// The largest sources.
pub fn sources(r: &Report, width: usize) -> Option<String> {
    if r.sources.is_empty() {
        return None;
    }
    let mark = |words: &str| about(r, words.into());
    let sized = r.unique_bytes > 0;
    let mut header =
        vec!["source".to_owned(), mark("references"), "share".into(), mark("objects"), mark("mean k")];
    header.extend(sized.then(|| mark("bytes")));
    let mut grid = Grid::new(First::Names, header.iter().map(String::as_str));
    let mut row = |name: String, references: u64, objects: u64, bytes: u64| {
        let mean = decimal(part(references, objects), 2);
        let mut cells =
            vec![name, count(references), percent(part(references, r.references)), count(objects), mean];
        // Sizes that no locator says are not 0.
        let unknown = bytes == 0 && r.sized_share < 1.0;
        cells.extend(sized.then(|| if unknown { "unknown".into() } else { show(bytes) }));
        grid.row(cells);
    };
    for source in &r.sources {
        row(printable(&source.prefix).into_owned(), source.references, source.objects, source.bytes);
    }
    Some(grid.text(width))
}

/// Each run of classes without objects as one class.
fn without_gaps(classes: &[Class]) -> Vec<Class> {
    let runs = classes.chunk_by(|a, b| a.objects == 0 && b.objects == 0);
    runs.map(|run| Class { high: run[run.len() - 1].high, ..run[0] }).collect()
}

/// At most so many budgets are printed unless all are asked for.
const BUDGETS: usize = 9;

/// All of a few; of many those of a round size, the largest, and the last, which ends the curve.
fn chosen<'a>(budgets: &[&'a Budget], detail: Detail) -> Vec<&'a Budget> {
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

    fn budget(budget_bytes: u64) -> Budget {
        Budget { budget_bytes, byte_share: 0.1, hit_rate: 0.1, byte_hit_rate: 0.1, objects: 1 }
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
            without_gaps(&classes(histogram)).iter().map(Class::label).collect()
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
