//! What is wrong with a JSON text of one line, as a part of a sentence.

/// The message of the parser with the column alone: its line number, always 1, reads as if it
/// were that of the manifest.
pub fn explain(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&place) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_left_out_and_the_column_stays() {
        let error = serde_json::from_str::<u32>("true").unwrap_err();
        assert_eq!(explain(&error), "invalid type: boolean `true`, expected u32 at column 4");
    }
}
