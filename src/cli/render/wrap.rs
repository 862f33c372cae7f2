//! Text broken into lines at blanks, so that it keeps within a number of columns.

use unicode_width::UnicodeWidthStr as _;

/// The lines of `text`, each at most `width` columns wide unless one word is wider: a path that
/// is cut cannot be copied. Further lines of a text such as `note: words` start below its words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let indent = hanging(text);
    let mut lines = Vec::new();
    let (mut line, mut columns) = (String::new(), 0);
    // Runs of blanks inside a line are kept: they align what is in it.
    for piece in pieces(text) {
        let word = piece.trim_end_matches(' ').width();
        if columns + word > width && line.trim() != "" {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(indent);
            columns = indent;
            if word == 0 {
                continue;
            }
        }
        line += piece;
        columns += piece.width();
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// [`wrap`] as one text.
pub fn lines(text: &str, width: usize) -> String {
    wrap(text, width).into_iter().map(|line| line + "\n").collect()
}

/// What follows a number and is not parted from it.
const UNITS: [&str; 13] = ["%", "B", "kB", "MB", "GB", "TB", "PB", "EB", "us", "ms", "s", "min", "h"];

/// Words with the blanks after them; a number and its unit are one word.
fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut start, mut end) = (Vec::new(), 0, 0);
    for piece in text.split_inclusive(' ') {
        let is_unit = UNITS.contains(&piece.trim_end_matches([' ', ',', ';', '.', ':', ')']));
        let after_number = text[..end].trim_end_matches(' ').ends_with(|c: char| c.is_ascii_digit());
        if end > start && !(is_unit && after_number) {
            pieces.push(&text[start..end]);
            start = end;
        }
        end += piece.len();
    }
    pieces.push(&text[start..end]);
    pieces
}

/// A longer word with a colon is no label: it may be a path.
const LONGEST_LABEL: usize = 8;

/// Columns up to the words of `note: words` or `   = words`; for other texts their own indent.
fn hanging(text: &str) -> usize {
    let blanks = text.len() - text.trim_start_matches(' ').len();
    match text.trim_start().split_once(' ') {
        Some((head, _)) if (head.ends_with(':') && head.width() <= LONGEST_LABEL) || head == "=" => {
            blanks + head.width() + 1
        }
        _ => blanks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_fits_is_one_line() {
        assert_eq!(wrap("a b", 3), ["a b"]);
        assert_eq!(wrap("", 3), [""]);
    }

    #[test]
    fn lines_break_at_blanks_and_hang_below_the_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("note: one two three", 10), ["note: one", "      two", "      three"]);
        assert_eq!(wrap("  = one two", 8), ["  = one", "    two"]);
    }

    #[test]
    fn a_number_is_not_parted_from_its_unit() {
        assert_eq!(wrap("about 71.1 % of it", 10), ["about", "71.1 % of", "it"]);
        assert_eq!(wrap("takes 3 MB, 5 us more", 9), ["takes", "3 MB,", "5 us more"]);
        assert_eq!(wrap("size MB of 3 sources", 8), ["size MB", "of 3", "sources"]);
    }

    #[test]
    fn a_word_too_long_stays_whole() {
        assert_eq!(wrap("see /a/long/path now", 8), ["see", "/a/long/path", "now"]);
        assert_eq!(wrap("/a/long/path: gone", 8), ["/a/long/path:", "gone"]);
    }
}
