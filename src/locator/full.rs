//! The full parser of locators, for any spelling. It also explains what is wrong with an invalid one.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::json::{self, JsonObject, explain};
use super::{Claims, Locator, Target};
use crate::fault::{Fault, FaultClass};

/// Floats represent every integer up to this one.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The fields of a locator as values.
#[derive(Default)]
pub struct Fields<'a> {
    pub path: Option<Cow<'a, str>>,
    pub member: Option<Cow<'a, str>>,
    pub offset: Option<u64>,
    pub size: Option<u64>,
    pub frame: Option<u64>,
    pub claims: Claims<'a>,
}

/// [`Locator::parse`] for any text. The last of a repeated field counts, and unknown fields are
/// ignored.
pub fn parse(text: &str) -> Result<Option<Locator<'_>>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let object: Option<JsonObject> = serde_json::from_str(text)
        .map_err(|error| bad(format!("{} in {}", explain(&error), shorten(text))))?;
    let Some(JsonObject(members)) = object else { return Ok(None) };
    let mut fields = Fields::default();
    for (name, value) in members {
        let wrong = |what: String| bad(format!("{name}: {what}"));
        match &*name {
            "path" => fields.path = json::text(value).map_err(wrong)?,
            "member" => fields.member = json::text(value).map_err(wrong)?,
            "byte_offset" => fields.offset = natural(value).map_err(wrong)?,
            "byte_size" => fields.size = natural(value).map_err(wrong)?,
            "frame_index" => fields.frame = natural(value).map_err(wrong)?,
            // Other tools may use these names for something else, so a wrong type is no claim.
            "size" => fields.claims.size = natural(value).unwrap_or_default(),
            "checksum" => fields.claims.checksum = json::text(value).unwrap_or_default(),
            "content_type" => fields.claims.content_type = json::text(value).unwrap_or_default(),
            _ => {}
        }
    }
    fields.into_locator()
}

impl<'a> Fields<'a> {
    /// `None` if there is no path. Fails if the fields contradict each other.
    pub fn into_locator(self) -> Result<Option<Locator<'a>>, Fault> {
        let Fields { path, member, offset, size, frame, claims } = self;
        let Some(location) = path else { return Ok(None) };
        if location.is_empty() {
            return Err(bad("path is empty"));
        }
        let target = match (offset, size) {
            (Some(offset), Some(size)) => {
                if offset.checked_add(size).is_none_or(|end| end > i64::MAX as u64) {
                    return Err(bad(format!("byte_offset {offset} + byte_size {size} is too large")));
                }
                Target::Range { offset, size }
            }
            (Some(_), None) => return Err(bad("byte_offset without byte_size; give both or none")),
            (None, Some(_)) => return Err(bad("byte_size without byte_offset; give both or none")),
            (None, None) => match member {
                Some(name) if !name.is_empty() => Target::Member(name.into_owned().into()),
                _ => Target::Whole,
            },
        };
        let frame = frame
            .map(|index| u32::try_from(index).map_err(|_| bad(format!("frame_index {index} is too large"))));
        Ok(Some(Locator { location, target, frame: frame.transpose()?, claims }))
    }
}

/// A non-negative integer or null: `1024`, `1024.0` and `"1024"` are the same.
fn natural(value: &RawValue) -> Result<Option<u64>, String> {
    let json = value.get();
    let wrong = || format!("{} is not a non-negative integer or null", shorten(json));
    if json == "null" {
        return Ok(None);
    }
    let is_text = json.starts_with('"');
    let digits = if is_text { json::text(value)?.unwrap_or_default() } else { json.into() };
    if digits.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(number) = digits.parse()
    {
        return Ok(Some(number));
    }
    let float: f64 = if is_text { f64::NAN } else { json.parse().map_err(|_| wrong())? };
    let whole = float.fract() == 0.0 && (0.0..=MAX_EXACT_FLOAT).contains(&float);
    if whole { Ok(Some(float as u64)) } else { Err(wrong()) }
}

fn bad(what: impl Into<String>) -> Fault {
    Fault::new(FaultClass::BadLocator, what)
}

/// At most 120 bytes of a text, for a message.
fn shorten(text: &str) -> String {
    let cut = text.floor_char_boundary(120);
    if cut == text.len() { format!("`{text}`") } else { format!("`{}`...", &text[..cut]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        Locator::parse(text).expect("parses").expect("is a locator").target
    }

    #[test]
    fn every_spelling_of_a_range_is_the_same_range() {
        let expected = Target::Range { offset: 1024, size: 7 };
        for text in [
            r#"{"path":"a.tar","member":"é.jpg","byte_offset":1024,"byte_size":7}"#,
            r#"{ "byte_size" : "7", "byte_offset" : 1024.0, "member" : "\u00e9.jpg", "path" : "a.tar" }"#,
            r#"{"path":"x","path":"a.tar","member":"é.jpg","byte_offset":1.024e3,"byte_size":7,"frame_index":null}"#,
            r#"{"p\u0061th":"a.tar","byte_offset":1024,"byte_size":7,"other":[{"path":1}]}"#,
        ] {
            let locator = Locator::parse(text).unwrap().unwrap();
            assert_eq!(
                (locator.location.as_ref(), &locator.target, locator.frame),
                ("a.tar", &expected, None),
                "{text}"
            );
        }
    }

    #[test]
    fn claims_are_no_part_of_the_name_and_wrong_ones_are_none() {
        let text = r#"{"path":"a","size":"7","checksum":"MD5:00","content_type":"image/png"}"#;
        let locator = Locator::parse(text).unwrap().unwrap();
        let (checksum, content_type) = (Some("MD5:00".into()), Some("image/png".into()));
        assert_eq!(locator.claims, Claims { size: Some(7), checksum, content_type });
        assert_eq!(Locator { claims: Claims::default(), ..locator }, Locator::new("a", Target::Whole));
        let text = r#"{"path":"a","size":"large","checksum":[1e999],"content_type":7}"#;
        assert_eq!(Locator::parse(text), Ok(Some(Locator::new("a", Target::Whole))));
    }

    #[test]
    fn null_and_absent_fields_mean_the_same() {
        assert_eq!(target(r#"{"path":"a"}"#), Target::Whole);
        assert_eq!(
            target(r#"{"path":"a","member":null,"byte_offset":null,"byte_size":null}"#),
            Target::Whole
        );
        assert_eq!(target(r#"{"path":"a","member":""}"#), Target::Whole);
        assert_eq!(target(r#"{"path":"a","member":"m","byte_offset":null}"#), Target::Member("m".into()));
    }

    #[test]
    fn what_points_nowhere_is_no_locator() {
        for text in ["", "null", r#"{"page":1}"#, "{}", r#"{"path":null,"member":null,"byte_offset":null}"#] {
            assert_eq!(Locator::parse(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn what_is_neither_a_locator_nor_empty_is_a_bad_locator() {
        for text in [
            "{",
            "[1]",
            "\"x\"",
            " ",
            "NaN",
            "12",
            "true",
            r#"{"path":"a","byte_offset":"1024.0","byte_size":1}"#,
            r#"{"path":"a","byte_offset":1024.7,"byte_size":1}"#,
            r#"{"path":"a","byte_offset":true,"byte_size":1}"#,
            r#"{"path":"a","byte_offset":-1,"byte_size":1}"#,
            r#"{"path":"a","byte_offset":"+1","byte_size":1}"#,
            r#"{"path":"a","byte_offset":NaN,"byte_size":1}"#,
            r#"{"path":"a","byte_offset":1}"#,
            r#"{"path":"a","byte_size":1}"#,
            r#"{"path":"a","byte_offset":9223372036854775807,"byte_size":1}"#,
            r#"{"path":"a","byte_offset":18446744073709551615,"byte_size":1}"#,
            r#"{"path":"a","byte_offset":1e300,"byte_size":1}"#,
            r#"{"path":"a","frame_index":-1}"#,
            r#"{"path":""}"#,
            r#"{"path":7}"#,
            r#"{"path":"a","member":7,"byte_offset":1,"byte_size":1}"#,
            r#"{"path":"\ud800"}"#,
            r#"{"path":"a"} x"#,
        ] {
            let fault = Locator::parse(text).expect_err(text);
            assert_eq!(fault.class, FaultClass::BadLocator, "{text}");
        }
    }
}
