//! Text in three columns: labels, numbers flush right, words.

use unicode_width::UnicodeWidthStr as _;

use super::wrap::wrap;

/// Words get at least this many columns, also on a narrow terminal.
const LEAST_WORDS: usize = 24;

/// Lines of label, right-aligned number, and words.
#[derive(Default)]
pub struct Table {
    lines: Vec<Line>,
    notes: Vec<String>,
}

enum Line {
    Row(String, String, String),
    /// Lines that have columns of their own.
    Block(String),
}

impl Table {
    pub fn row(&mut self, label: &str, number: String, words: impl Into<String>) {
        self.lines.push(Line::Row(label.into(), number, words.into()));
    }

    /// Goes on below the words of the row before.
    pub fn more(&mut self, words: impl Into<String>) {
        self.row("", String::new(), words);
    }

    pub fn gap(&mut self) {
        self.more("");
    }

    /// A row with one line of words per item; nothing if there is none.
    pub fn list(&mut self, label: &str, number: String, items: impl Iterator<Item = String>) {
        let mut head = Some((label, number));
        for item in items {
            match head.take() {
                Some((label, number)) => self.row(label, number, item),
                None => self.more(item),
            }
        }
    }

    /// Lines that end in a newline and have columns of their own, between two gaps.
    pub fn block(&mut self, lines: String) {
        self.lines.push(Line::Block(lines));
    }

    /// A line of its own below the table.
    pub fn note(&mut self, words: String) {
        self.notes.push(words);
    }

    /// Every row on one line, however long.
    pub fn text(&self) -> String {
        self.text_within(usize::MAX)
    }

    /// Words and notes that would pass `width` columns go on below themselves.
    pub fn text_within(&self, width: usize) -> String {
        let widest = |of: fn(&Line) -> usize| self.lines.iter().map(of).max().unwrap_or(0);
        let labels = widest(|line| if let Line::Row(label, ..) = line { label.width() } else { 0 });
        let numbers = widest(|line| if let Line::Row(_, number, _) = line { number.width() } else { 0 });
        let room = width.saturating_sub(labels + numbers + 4).max(LEAST_WORDS);
        let mut text = String::new();
        let mut push = |line: &str| {
            text += line.trim_end();
            text.push('\n');
        };
        for line in &self.lines {
            match line {
                Line::Block(lines) => lines.lines().for_each(&mut push),
                Line::Row(label, number, words) => {
                    let (mut label, mut number) = (label.as_str(), number.as_str());
                    for words in wrap(words, room) {
                        push(&format!("{label:<labels$}  {number:>numbers$}  {words}"));
                        (label, number) = ("", "");
                    }
                }
            }
        }
        for note in &self.notes {
            wrap(note, width).iter().for_each(|line| push(line));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_flush_right_and_lines_have_no_trailing_blanks() {
        let mut table = Table::default();
        table.row("rows", "12,345".into(), "in");
        table.row("shards", "1".into(), "");
        table.more("below");
        table.list("none", "0".into(), std::iter::empty());
        table.note("note: last".into());
        let expected = "rows    12,345  in\nshards       1\n                below\nnote: last\n";
        assert_eq!(table.text(), expected);
    }

    #[test]
    fn long_words_go_on_below_themselves() {
        let mut table = Table::default();
        table.row("rows", "5".into(), "in two manifests, all of them text");
        table.block("a block   of its own\n".into());
        table.note("note: a sentence that is longer than the line".into());
        let expected = "\
rows  5  in two manifests, all of
         them text
a block   of its own
note: a sentence that is longer
      than the line
";
        assert_eq!(table.text_within(33), expected);
    }
}
