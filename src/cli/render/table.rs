//! Text in aligned columns: lines of label, number and words, and tables of equal rows.
//!
//! Numbers are flush right. Words go on below themselves where the width ends, but a path or a
//! number with its unit stays whole, so that it can be copied.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use unicode_width::UnicodeWidthStr as _;

/// Blanks between two columns.
const GAP: usize = 2;

/// Longer bars are not easier to compare.
const LONGEST_BAR: usize = 80;

/// No name is cut shorter than this.
const SHORTEST_NAME: usize = 12;

/// Ties a unit to its number while lines are broken.
const TIE: char = '\u{a0}';

const UNITS: [&str; 13] = ["%", "B", "kB", "MB", "GB", "TB", "PB", "EB", "us", "ms", "s", "min", "h"];

/// A report: lines of label, number and words, with tables between them.
#[derive(Default)]
pub struct ReportText {
    sections: Vec<Section>,
    notes: Vec<String>,
}

enum Section {
    Rows(Vec<[String; 3]>),
    Text(String),
}

impl Section {
    fn rows(&self) -> &[[String; 3]] {
        match self {
            Section::Rows(rows) => rows,
            Section::Text(_) => &[],
        }
    }
}

impl ReportText {
    pub fn row(&mut self, label: &str, number: impl Into<String>, words: impl Into<String>) {
        let row = [label.into(), number.into(), words.into()];
        match self.sections.last_mut() {
            Some(Section::Rows(rows)) => rows.push(row),
            _ => self.sections.push(Section::Rows(vec![row])),
        }
    }

    /// Another line of words below those of the row before.
    pub fn more(&mut self, words: impl Into<String>) {
        self.row("", "", words);
    }

    pub fn gap(&mut self) {
        self.more("");
    }

    /// A row with one line of words per item; nothing if there is none.
    pub fn list(&mut self, label: &str, number: String, items: impl Iterator<Item = String>) {
        let mut head = Some((label, number));
        for item in items {
            let (label, number) = head.take().unwrap_or_default();
            self.row(label, number, item);
        }
    }

    /// A gap, and lines that have columns of their own.
    pub fn table(&mut self, lines: String) {
        self.gap();
        self.sections.push(Section::Text(lines));
    }

    /// A sentence below everything else.
    pub fn note(&mut self, words: impl Into<String>) {
        self.notes.push(words.into());
    }

    pub fn text(&self, width: usize) -> String {
        let widest = |column: usize| {
            self.sections.iter().flat_map(Section::rows).map(|row| row[column].width()).max().unwrap_or(0)
        };
        let (labels, numbers) = (widest(0), widest(1));
        let text = self.sections.iter().map(|section| match section {
            Section::Rows(rows) => columns(rows, &[labels, numbers], GAP, width),
            Section::Text(text) => text.clone(),
        });
        let notes = self.notes.iter().map(|note| columns(&[["note:", note]], &["note:".len()], 1, width));
        text.chain(notes).collect()
    }
}

/// Rows whose last column is words and whose others have these widths; the second is flush right.
fn columns<const N: usize>(
    rows: &[[impl AsRef<str>; N]],
    widths: &[usize],
    gap: usize,
    width: usize,
) -> String {
    let mut table = plain(width);
    for row in rows {
        table.add_row(row.each_ref().map(|cell| tied(cell.as_ref())));
    }
    let words = rows.iter().map(|row| row[N - 1].as_ref());
    let longest = words.flat_map(|words| words.split(' ')).map(|word| word.width()).max().unwrap_or(0);
    for (column, width) in
        table.column_iter_mut().zip(widths.iter().map(|width| width + gap).chain([longest]))
    {
        // A terminal is never that wide.
        let width = Width::Fixed(u16::try_from(width).unwrap_or(u16::MAX));
        let is_words = column.index + 1 == N;
        column.set_constraint(match is_words {
            true => ColumnConstraint::LowerBoundary(width),
            false => ColumnConstraint::Absolute(width),
        });
        if column.index == 1 && !is_words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    print(table, gap)
}

/// A text broken into lines.
pub fn lines(text: &str, width: usize) -> String {
    columns(&[[text]], &[], GAP, width)
}

/// A table of equal rows under a header. The first column may hold names: it is flush left, and
/// gives way where the width is short. All others are numbers, flush right.
pub struct Grid {
    first: First,
    /// A heading may have several lines; they stand as low as possible.
    header: Vec<String>,
    /// Titles over neighbouring columns, or nothing, and over how many of them.
    groups: Vec<(usize, String)>,
    rows: Vec<Vec<String>>,
    /// The title of the bars, and the length of each as a share of the longest.
    bars: Option<(String, Vec<f64>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    Names,
    Numbers,
}

impl Grid {
    pub fn new<S: Into<String>>(first: First, header: impl IntoIterator<Item = S>) -> Grid {
        let header = header.into_iter().map(S::into).collect();
        Grid { first, header, groups: Vec::new(), rows: Vec::new(), bars: None }
    }

    /// Titles over neighbouring columns, or nothing, and over how many of them.
    pub fn with_groups(self, groups: &[(usize, &str)]) -> Grid {
        Grid { groups: groups.iter().map(|(columns, title)| (*columns, (*title).into())).collect(), ..self }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds a last column with a bar for each row; a length above 0 is visible.
    pub fn with_bars(self, title: &str, lengths: Vec<f64>) -> Grid {
        Grid { bars: Some((title.into(), lengths)), ..self }
    }

    /// At most `width` columns wide, unless the numbers alone are wider.
    pub fn text(&self, width: usize) -> String {
        let mut table = plain(usize::MAX);
        let height = self.header.iter().map(|heading| heading.lines().count()).max().unwrap_or(0);
        let bars = self.bars.iter().map(|(title, _)| title);
        table.set_header(
            self.header.iter().chain(bars).map(|of| "\n".repeat(height - of.lines().count()) + of),
        );
        let widths = self.widths();
        let taken = widths.iter().map(|width| width + GAP).sum::<usize>();
        let bar_width = width.saturating_sub(taken).clamp(1, LONGEST_BAR);
        let excess = taken.saturating_sub(GAP + width);
        let name_width = widths.first().map_or(0, |names| names.saturating_sub(excess).max(SHORTEST_NAME));
        for (nth, cells) in self.rows.iter().enumerate() {
            let bar = self.bars.iter().map(|(_, lengths)| bar(lengths[nth], bar_width));
            let (first, rest) = cells.split_first().expect("a row has cells");
            let first = if self.first == First::Names { shortened(first, name_width) } else { first.clone() };
            table.add_row([first].into_iter().chain(rest.iter().cloned()).chain(bar));
        }
        for column in table.column_iter_mut() {
            let is_name = column.index == 0 && self.first == First::Names;
            if !is_name && column.index < self.header.len() {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.group_line() + &print(table, GAP)
    }

    fn group_line(&self) -> String {
        let widths = self.widths();
        let mut widths = widths.iter();
        let groups = self.groups.iter().map(|(columns, title)| {
            let span = widths.by_ref().take(*columns).map(|width| width + GAP).sum::<usize>() - GAP;
            if title.is_empty() { " ".repeat(span) } else { format!("{:-^span$}", format!(" {title} ")) }
        });
        let line = groups.collect::<Vec<_>>().join("  ");
        if line.is_empty() { line } else { line.trim_end().to_owned() + "\n" }
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |(column, heading): (usize, &String)| {
            let cells = self.rows.iter().map(|cells| cells[column].as_str());
            heading.lines().chain(cells).map(|line| line.width()).max().unwrap_or(0)
        };
        self.header.iter().enumerate().map(widest).collect()
    }
}

/// The smallest positive length is one block.
fn bar(length: f64, longest: usize) -> String {
    let blocks = (length * longest as f64).round() as usize;
    "#".repeat(if length > 0.0 { blocks.clamp(1, longest) } else { 0 })
}

/// Cuts a long name in its middle: paths differ at both ends.
fn shortened(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.into();
    }
    let (chars, kept) = (name.chars().collect::<Vec<_>>(), width.saturating_sub("...".len()));
    let (head, tail) = (&chars[..kept / 2], &chars[chars.len() - kept.div_ceil(2)..]);
    head.iter().chain(&['.'; 3]).chain(tail).collect()
}

fn plain(width: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    table
}

fn print(mut table: Table, gap: usize) -> String {
    let last = table.column_count().saturating_sub(1);
    for column in table.column_iter_mut() {
        column.set_padding((0, if column.index == last { 0 } else { gap as u16 }));
    }
    table.lines().map(|line| line.trim_end().replace(TIE, " ") + "\n").collect()
}

/// The words with each unit tied to its number.
fn tied(words: &str) -> String {
    let mut out = String::with_capacity(words.len() + 4);
    for (nth, word) in words.split(' ').enumerate() {
        let unit = word.trim_end_matches([',', ';', '.', ':', ')']);
        let is_unit = UNITS.contains(&unit.strip_suffix("/s").unwrap_or(unit));
        match (nth, is_unit && out.ends_with(|c: char| c.is_ascii_digit())) {
            (0, _) => {}
            (_, true) => out.push(TIE),
            (_, false) => out.push(' '),
        }
        out += word;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_flush_right_and_lines_have_no_trailing_blanks() {
        let mut page = ReportText::default();
        page.row("rows", "12,345", "in");
        page.row("shards", "1", "");
        page.more("below");
        page.list("none", "0".into(), std::iter::empty());
        page.note("last");
        assert_eq!(page.text(80), "rows    12,345  in\nshards       1\n                below\nnote: last\n");
    }

    #[test]
    fn long_words_go_on_below_themselves_and_paths_stay_whole() {
        let mut page = ReportText::default();
        page.row("rows", "5", "in two manifests, all of them text");
        page.table("a table   of its own\n".into());
        page.row("at", "12", "/a/path/that/is/longer/than/the/line");
        page.note("a sentence that is longer than the line");
        let expected = "\
rows   5  in two manifests, all of them
          text

a table   of its own
at    12  /a/path/that/is/longer/than/the/line
note: a sentence that is longer than the
      line
";
        assert_eq!(page.text(40), expected);
    }

    #[test]
    fn a_number_is_not_parted_from_its_unit() {
        assert_eq!(lines("about 71.1 % of it", 10), "about\n71.1 % of\nit\n");
        assert_eq!(lines("takes 3 MB, 5 us more", 10), "takes\n3 MB, 5 us\nmore\n");
    }

    #[test]
    fn bars_take_what_the_width_leaves() {
        let mut grid = Grid::new(First::Names, ["name", "source\nreads"]);
        for (name, reads) in [("a", "1,000"), ("bcd", "1"), ("e", "0")] {
            grid.row(vec![name.into(), reads.into()]);
        }
        let grid = grid.with_bars("bar", vec![1.0, 0.0001, 0.0]);
        let expected = "      source
name   reads  bar
a      1,000  ###########
bcd        1  #
e          0
";
        assert_eq!(grid.text(25), expected);
        assert!(grid.text(40).contains(&"#".repeat(26)));
    }

    #[test]
    fn groups_have_a_title_over_their_columns() {
        let header = ["cache\nsize", "hits", "objects", "hits", "objects"];
        let mut grid =
            Grid::new(First::Numbers, header).with_groups(&[(1, ""), (2, "by count"), (2, "by density")]);
        grid.row(["1 B", "2 %", "3", "4 %", "5"].map(String::from).to_vec());
        let expected = "       - by count --   by density -
cache
 size  hits  objects  hits  objects
  1 B   2 %        3   4 %        5
";
        assert_eq!(grid.text(80), expected);
    }

    #[test]
    fn a_long_name_is_cut_in_its_middle_and_wide_characters_count_twice() {
        let mut grid = Grid::new(First::Names, ["source", "objects"]);
        grid.row(vec!["https://images.example.org/a".into(), "1".into()]);
        grid.row(vec!["画像".into(), "1".into()]);
        let expected = "\
source             objects
https:/...e.org/a        1
画像                     1
";
        assert_eq!(grid.text(26), expected);
    }
}
