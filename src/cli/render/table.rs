//! Text in three columns: labels, numbers flush right, words.

/// Lines of label, right-aligned number, and words.
#[derive(Default)]
pub struct Table {
    lines: Vec<(String, String, String)>,
    notes: Vec<String>,
}

impl Table {
    pub fn row(&mut self, label: &str, number: String, words: impl Into<String>) {
        self.lines.push((label.into(), number, words.into()));
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

    /// A line of its own below the table.
    pub fn note(&mut self, words: String) {
        self.notes.push(words);
    }

    pub fn text(&self) -> String {
        let width = |of: fn(&(String, String, String)) -> usize| self.lines.iter().map(of).max().unwrap_or(0);
        let (labels, numbers) = (width(|l| l.0.len()), width(|l| l.1.len()));
        let mut text = String::new();
        for (label, number, words) in &self.lines {
            let line = format!("{label:<labels$}  {number:>numbers$}  {words}");
            text += line.trim_end();
            text.push('\n');
        }
        for note in &self.notes {
            text += note;
            text.push('\n');
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
}
