//! Tables of equal rows below a header, with bars that take what the width leaves.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::wrap::lines;

/// Between two columns.
const BLANKS: usize = 2;

const SHORTEST_BAR: usize = 8;
const LONGEST_BAR: usize = 80;

/// No name is cut shorter than this.
const SHORTEST_NAME: usize = 12;

/// Rows under a header. The first column may hold names: it is flush left and gives way where the
/// width is short. All others are numbers, flush right.
pub struct Grid {
    /// One word per line of the header and column, the lowest line last.
    header: Vec<Vec<String>>,
    first: First,
    /// Titles over neighbouring columns, or nothing, and over how many of them; all columns in all.
    groups: Vec<(usize, String)>,
    rows: Vec<Vec<String>>,
    bars: Option<Bars>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    Names,
    Numbers,
}

struct Bars {
    title: String,
    /// Of the longest possible bar, 0 to 1; one per row.
    lengths: Vec<f64>,
}

impl Grid {
    /// A heading may have two lines; shorter ones stand in the lower.
    pub fn new<'a>(first: First, header: impl IntoIterator<Item = &'a str>) -> Grid {
        let header: Vec<_> =
            header.into_iter().map(|words| words.lines().map(String::from).collect()).collect();
        let groups = vec![(header.len(), String::new())];
        Grid { header, first, groups, rows: Vec::new(), bars: None }
    }

    /// Titles over neighbouring columns: how many, and the title or nothing.
    pub fn with_groups<'a>(self, groups: impl IntoIterator<Item = (usize, &'a str)>) -> Grid {
        let groups: Vec<_> = groups.into_iter().map(|(columns, title)| (columns, title.into())).collect();
        debug_assert_eq!(groups.iter().map(|(columns, _)| columns).sum::<usize>(), self.header.len());
        Grid { groups, ..self }
    }

    /// Adds a last column of bars; rows come by [`Grid::bar_row`] then.
    pub fn with_bars(self, title: &str) -> Grid {
        Grid { bars: Some(Bars { title: title.into(), lengths: Vec::new() }), ..self }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.header.len());
        self.rows.push(cells);
    }

    /// A row with a bar of `length`, a share of the longest; anything above 0 is visible.
    pub fn bar_row(&mut self, cells: Vec<String>, length: f64) {
        self.row(cells);
        if let Some(bars) = &mut self.bars {
            bars.lengths.push(length);
        }
    }

    /// At most `width` columns wide, unless the numbers alone are wider.
    pub fn text(&self, width: usize) -> String {
        let mut widths: Vec<usize> = (0..self.header.len()).map(|column| self.widest(column)).collect();
        let all = self.natural_width();
        if self.first == First::Names {
            let least = widths[0].min(SHORTEST_NAME);
            widths[0] = widths[0].saturating_sub(all.saturating_sub(width)).max(least);
        }
        let bar = width.saturating_sub(all + BLANKS).clamp(SHORTEST_BAR, LONGEST_BAR);
        let mut text = String::new();
        for level in (0..self.height()).rev() {
            let title = self.bars.as_ref().filter(|_| level == 0).map_or("", |bars| bars.title.as_str());
            push_line(&mut text, self.header_line(level, &widths) + title);
        }
        for (at, cells) in self.rows.iter().enumerate() {
            let length = self.bars.as_ref().and_then(|bars| bars.lengths.get(at)).copied().unwrap_or(0.0);
            let mut line = String::new();
            self.push_cells(&mut line, &widths, cells.iter().map(String::as_str), 0);
            push_line(&mut text, line + &"█".repeat(blocks(length, bar)));
        }
        text
    }

    /// Columns that the grid wants; it is no wider where it may be.
    pub fn natural_width(&self) -> usize {
        let columns = self.header.len();
        (0..columns).map(|column| self.widest(column)).sum::<usize>() + BLANKS * columns.saturating_sub(1)
    }

    /// Line `level` of the header, counted from below. A group has its title right above the
    /// headings below it: `── by count ──`, as wide as they are.
    fn header_line(&self, level: usize, widths: &[usize]) -> String {
        let (mut line, mut from) = (String::new(), 0);
        for (columns, title) in &self.groups {
            let range = from..from + columns;
            from = range.end;
            if title.is_empty() || level != self.header_height(range.clone()) {
                let cells = self.header[range.clone()].iter().map(|lines| line_from_below(lines, level));
                self.push_cells(&mut line, &widths[range.clone()], cells, range.start);
                continue;
            }
            let span = widths[range].iter().sum::<usize>() + BLANKS * columns.saturating_sub(1);
            let rule = span.saturating_sub(title.width() + 2);
            let (left, right) = ("─".repeat(rule / 2), "─".repeat(rule - rule / 2));
            line += &format!("{left} {title} {right}{}", " ".repeat(BLANKS));
        }
        line
    }

    /// Lines of the whole header.
    fn height(&self) -> usize {
        let mut from = 0;
        let heights = self.groups.iter().map(|(columns, title)| {
            let range = from..from + columns;
            from = range.end;
            self.header_height(range) + usize::from(!title.is_empty())
        });
        heights.max().unwrap_or(0)
    }

    /// Lines of the headings of these columns.
    fn header_height(&self, columns: Range<usize>) -> usize {
        self.header[columns].iter().map(Vec::len).max().unwrap_or(0)
    }

    fn widest(&self, column: usize) -> usize {
        let header = self.header[column].iter().map(|line| line.width());
        header.chain(self.rows.iter().map(|cells| cells[column].width())).max().unwrap_or(0)
    }

    /// Cells of the columns from `first` on, each with the blanks behind it.
    fn push_cells<'a>(
        &self,
        line: &mut String,
        widths: &[usize],
        cells: impl Iterator<Item = &'a str>,
        first: usize,
    ) {
        for (column, (cell, width)) in (first..).zip(cells.zip(widths)) {
            let cell = shorten(cell, *width);
            let blanks = " ".repeat(width - cell.width());
            *line += &match (column, self.first) {
                (0, First::Names) => format!("{cell}{blanks}"),
                _ => format!("{blanks}{cell}"),
            };
            *line += &" ".repeat(BLANKS);
        }
    }
}

fn push_line(text: &mut String, line: String) {
    *text += line.trim_end();
    text.push('\n');
}

/// A grid below its title.
pub fn titled(title: &str, grid: &Grid, width: usize) -> String {
    lines(title, width) + &grid.text(width)
}

/// Line `level` of a heading, counted from below; empty above its top.
fn line_from_below(lines: &[String], level: usize) -> &str {
    lines.len().checked_sub(level + 1).map_or("", |line| &lines[line])
}

/// Whole blocks of a bar; the smallest positive length has one.
fn blocks(length: f64, longest: usize) -> usize {
    let blocks = (length * longest as f64).round() as usize;
    if length > 0.0 { blocks.clamp(1, longest) } else { 0 }
}

/// Cuts a name that is too wide in its middle: paths differ at both ends.
fn shorten(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.into();
    }
    let fitting = |chars: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        chars
            .take_while(|c| {
                used += c.width().unwrap_or(0);
                used <= room
            })
            .collect()
    };
    let head = fitting(&mut name.chars(), (width - 1) / 2);
    let tail = fitting(&mut name.chars().rev(), width - 1 - (width - 1) / 2);
    head.into_iter().chain(['…']).chain(tail.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(First::Names, ["name", "source\nreads"]).with_bars("bar");
        grid.bar_row(vec!["a".into(), "1,000".into()], 1.0);
        grid.bar_row(vec!["bcd".into(), "1".into()], 0.0001);
        grid.bar_row(vec!["e".into(), "0".into()], 0.0);
        grid
    }

    #[test]
    fn bars_take_what_the_width_leaves() {
        assert_eq!(
            grid().text(25),
            "      source\nname   reads  bar\na      1,000  ███████████\nbcd        1  █\ne          0\n"
        );
        assert!(grid().text(40).contains(&"█".repeat(26)));
    }

    #[test]
    fn groups_have_a_title_over_their_columns() {
        let header = ["cache\nsize", "hits", "objects", "hits", "objects"];
        let mut grid =
            Grid::new(First::Numbers, header).with_groups([(1, ""), (2, "by count"), (2, "by density")]);
        grid.row(["1 B", "2 %", "3", "4 %", "5"].map(String::from).to_vec());
        let expected = "\
cache  ─ by count ──   by density ─
 size  hits  objects  hits  objects
  1 B   2 %        3   4 %        5
";
        assert_eq!(grid.text(80), expected);
        assert_eq!(grid.natural_width(), 35);
    }

    #[test]
    fn a_name_too_long_is_cut_in_its_middle() {
        let mut grid = Grid::new(First::Names, ["source", "objects"]);
        grid.row(vec!["https://images.example.org/a".into(), "1".into()]);
        assert_eq!(grid.text(25), "source            objects\nhttps:/…le.org/a        1\n");
    }

    #[test]
    fn wide_characters_count_as_two_columns() {
        assert_eq!(shorten("画像画像画像", 7), "画…像");
        let mut grid = Grid::new(First::Names, ["n", "k"]);
        grid.row(vec!["画".into(), "1".into()]);
        assert_eq!(grid.text(80), "n   k\n画  1\n");
    }
}
