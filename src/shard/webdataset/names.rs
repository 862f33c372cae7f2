//! The names of members: `{key}.{position}.{extension}`, where the key identifies the sample.
//!
//! A key holds only letters, digits, `_`, `-` and `%XX`: readers split names at the first dot, take
//! slashes for folders and skip `__names__`.

use std::collections::HashMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use xxhash_rust::xxh3::xxh3_64;

const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-');

/// Gives every sample of a shard a key of its own.
#[derive(Default)]
pub struct Keys {
    /// How often each id occurred, by its hash. Two ids with one hash get a number that they do not
    /// need, never the same key.
    seen: HashMap<u64, u32>,
}

impl Keys {
    /// The key of the next sample: its id, percent-encoded. A number follows if the id repeats or is
    /// empty; no id encodes to the `%2D` before it.
    pub fn next(&mut self, sample_id: &str) -> String {
        let count = self.seen.entry(xxh3_64(sample_id.as_bytes())).or_default();
        *count += 1;
        let mut key = utf8_percent_encode(sample_id, ENCODED).to_string();
        if key.starts_with("__") {
            key.replace_range(..1, "%5F");
        }
        if *count > 1 || sample_id.is_empty() {
            key.push_str(&format!("%2D{count}"));
        }
        key
    }
}

/// The extension of a member: from its MIME type, else from its first bytes, else `bin`.
pub fn extension(content_type: Option<&str>, payload: &[u8]) -> &'static str {
    content_type.and_then(of_content_type).or_else(|| of_magic(payload)).unwrap_or("bin")
}

/// The extension for a MIME type, whatever its case and parameters.
pub fn of_content_type(content_type: &str) -> Option<&'static str> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match essence.as_str() {
        "image/jpeg" | "image/jpg" | "image/pjpeg" => "jpg",
        "image/png" | "image/x-png" => "png",
        "image/tiff" => "tiff",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "image/bmp" | "image/x-bmp" | "image/x-ms-bmp" => "bmp",
        "image/avif" => "avif",
        "image/svg+xml" => "svg",
        "image/jxl" => "jxl",
        "image/heic" => "heic",
        "image/heif" => "heif",
        "image/jp2" => "jp2",
        "image/x-icon" | "image/vnd.microsoft.icon" => "ico",
        "application/pdf" => "pdf",
        _ => return None,
    })
}

fn of_magic(payload: &[u8]) -> Option<&'static str> {
    let at = |offset: usize, magic: &[u8]| payload.get(offset..).is_some_and(|rest| rest.starts_with(magic));
    Some(match payload {
        [0xff, 0xd8, 0xff, ..] => "jpg",
        _ if at(0, b"\x89PNG\r\n\x1a\n") => "png",
        _ if at(0, b"GIF87a") || at(0, b"GIF89a") => "gif",
        _ if at(0, b"RIFF") && at(8, b"WEBP") => "webp",
        _ if at(0, b"II*\0") || at(0, b"MM\0*") || at(0, b"II+\0") || at(0, b"MM\0+") => "tiff",
        _ if at(0, b"BM") && at(6, &[0; 4]) => "bmp",
        _ if at(4, b"ftypavif") || at(4, b"ftypavis") => "avif",
        _ if at(4, b"ftyphei") || at(4, b"ftyphev") => "heic",
        _ if at(4, b"ftypmif1") => "heif",
        _ if at(0, b"\xff\x0a") || at(0, b"\0\0\0\x0cJXL \r\n\x87\n") => "jxl",
        _ if at(0, b"\0\0\0\x0cjP  \r\n\x87\n") => "jp2",
        _ if at(0, b"\0\0\x01\0") => "ico",
        _ if at(0, b"%PDF-") => "pdf",
        _ if is_svg(payload) => "svg",
        _ => return None,
    })
}

fn is_svg(payload: &[u8]) -> bool {
    let text = payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload).trim_ascii_start();
    let start = &text[..text.len().min(1024)];
    start.starts_with(b"<svg")
        || start.starts_with(b"<?xml") && start.windows(4).any(|window| window == b"<svg")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_hold_nothing_that_a_reader_splits_or_skips() {
        let mut keys = Keys::default();
        assert_eq!(keys.next("en/apcs02.html"), "en%2Fapcs02%2Ehtml");
        assert_eq!(keys.next("Az_09-"), "Az_09-");
        assert_eq!(keys.next("ü"), "%C3%BC");
        assert_eq!(keys.next("__x__"), "%5F_x__");
        assert_eq!(keys.next("_x"), "_x");
        assert_eq!(keys.next("a~%\0"), "a%7E%25%00");
    }

    #[test]
    fn samples_that_share_an_id_or_have_an_empty_one_get_keys_of_their_own() {
        let mut keys = Keys::default();
        let made: Vec<_> = ["a", "", "a", "a%2D2", "a-2", "a", "", "-1"].map(|id| keys.next(id)).into();
        assert_eq!(made, ["a", "%2D1", "a%2D2", "a%252D2", "a-2", "a%2D3", "%2D2", "-1"]);
    }

    #[test]
    fn the_type_names_the_extension_and_the_first_bytes_do_where_it_says_nothing() {
        assert_eq!(extension(Some("IMAGE/JPEG; q=1"), b"GIF89a"), "jpg");
        for unknown in [None, Some(""), Some("application/octet-stream"), Some("application/json")] {
            assert_eq!(extension(unknown, b"\xff\xd8\xff\xe0"), "jpg");
            assert_eq!(extension(unknown, b"\0\0\0\x20ftypavif"), "avif");
            assert_eq!(extension(unknown, b"\xef\xbb\xbf\n<?xml version=\"1.0\"?><svg/>"), "svg");
            assert_eq!(extension(unknown, b"BMW is a car"), "bin");
            assert_eq!(extension(unknown, b""), "bin");
        }
    }
}
