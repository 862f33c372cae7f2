//! One row of JSONL: the fields that onepull interprets as typed values, the others as written.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use crate::locator::json::{self, JsonObject};
use crate::manifest::rows::*;

/// The text fields. A row must have the first two.
pub const TEXTS: [&str; 6] = [SAMPLE_ID, MODALITY, CONTENT_TYPE, TEXT_CONTENT, SOURCE_REF, MATERIALIZE_ERROR];
const REQUIRED: usize = 2;

/// A row, borrowed from its line where possible. The last of a repeated field counts.
pub struct JsonlRow<'a> {
    /// The values of [`TEXTS`].
    pub texts: [Option<Cow<'a, str>>; TEXTS.len()],
    pub position: i32,
    /// The payload, which JSON carries as Base64.
    pub payload: Option<Vec<u8>>,
    other: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> JsonlRow<'a> {
    /// Fails with a message when the line is not a valid row.
    pub fn parse(line: &'a [u8]) -> Result<JsonlRow<'a>, String> {
        let JsonObject(members) = serde_json::from_slice(line.trim_ascii_end())
            .map_err(|error| format!("not a JSON object: {}", json::explain(&error)))?;
        let (mut raw, mut position, mut payload) = ([None; TEXTS.len()], None, None);
        let mut other = Vec::new();
        for (name, value) in members {
            match &*name {
                POSITION => position = Some(value),
                BINARY_CONTENT => payload = Some(value),
                _ => match TEXTS.iter().position(|text| *text == name) {
                    Some(text) => raw[text] = Some(value),
                    None => other.push((name, value)),
                },
            }
        }
        let mut texts = [const { None }; TEXTS.len()];
        for (at, name) in TEXTS.iter().enumerate() {
            texts[at] = match raw[at] {
                // A locator may be an object, which is kept as written.
                Some(value) if *name == SOURCE_REF && !value.get().starts_with(['"', 'n']) => {
                    Some(Cow::Borrowed(value.get()))
                }
                value => text(value, name)?,
            };
            if at < REQUIRED && texts[at].is_none() {
                return Err(missing(name));
            }
        }
        Ok(JsonlRow { texts, position: whole_number(position)?, payload: base64(payload)?, other })
    }

    /// All other fields, as one JSON object; `None` if there are none.
    pub fn other(&self) -> Option<String> {
        let mut out = String::new();
        for (position, (name, value)) in self.other.iter().enumerate() {
            let later = &self.other[position + 1..];
            if later.iter().any(|(other, _)| other == name) {
                continue;
            }
            out.push(if out.is_empty() { '{' } else { ',' });
            out.push_str(&serde_json::Value::from(name.as_ref()).to_string());
            out.push(':');
            out.push_str(value.get());
        }
        if out.is_empty() {
            return None;
        }
        out.push('}');
        Some(out)
    }
}

fn missing(field: &str) -> String {
    format!("field `{field}` is missing")
}

fn text<'a>(value: Option<&'a RawValue>, field: &str) -> Result<Option<Cow<'a, str>>, String> {
    let Some(value) = value else { return Ok(None) };
    json::text(value).map_err(|what| format!("field `{field}`: {what}"))
}

fn whole_number(value: Option<&RawValue>) -> Result<i32, String> {
    let json = value.ok_or_else(|| missing(POSITION))?.get();
    // Writers that keep numbers as floats put `3.0` for 3.
    match serde_json::from_str::<f64>(json) {
        Ok(number) if number.fract() == 0.0 && (i32::MIN as f64..=i32::MAX as f64).contains(&number) => {
            Ok(number as i32)
        }
        Ok(number) => Err(format!("field `{POSITION}`: {number} is not a 32-bit integer")),
        Err(_) => Err(format!("field `{POSITION}`: {json} is not an integer")),
    }
}

fn base64(value: Option<&RawValue>) -> Result<Option<Vec<u8>>, String> {
    let Some(encoded) = text(value, BINARY_CONTENT)? else { return Ok(None) };
    let payload = STANDARD.decode(encoded.as_bytes());
    payload.map(Some).map_err(|error| format!("field `{BINARY_CONTENT}` is not Base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row with these fields before those that it must have.
    fn row(fields: &str) -> String {
        format!(r#"{{{fields}"sample_id":"s","modality":"image","position":3}}"#)
    }

    #[test]
    fn fields_are_read_in_any_order_and_the_last_of_a_repeated_one_counts() {
        let line = r#"{"x":1,"modality":"text","sample_id":"\u00e9\"","position":3,"modality":"image","x":[2, 3],"y":null}"#;
        let row = JsonlRow::parse(line.as_bytes()).unwrap();
        assert_eq!((row.texts[0].as_deref(), row.texts[1].as_deref()), (Some("é\""), Some("image")));
        assert_eq!(row.position, 3);
        assert_eq!(row.other().unwrap(), r#"{"x":[2, 3],"y":null}"#);
    }

    #[test]
    fn locators_come_as_strings_or_as_objects() {
        for (field, expected) in [
            (r#""source_ref":"{\"path\":\"a\"}","#, Some(r#"{"path":"a"}"#)),
            (r#""source_ref":{"path": "a"},"#, Some(r#"{"path": "a"}"#)),
            (r#""source_ref":[1],"#, Some("[1]")),
            (r#""source_ref":null,"#, None),
            ("", None),
        ] {
            let line = row(field);
            assert_eq!(JsonlRow::parse(line.as_bytes()).unwrap().texts[4].as_deref(), expected);
        }
    }

    #[test]
    fn an_invalid_line_is_explained() {
        let why = |line: &str| JsonlRow::parse(line.as_bytes()).err().unwrap_or_default();
        for line in ["", "{", "[]", "3", r#"{"a":1} x"#, "{\"a\":\"\0\"}"] {
            assert!(why(line).starts_with("not a JSON object"), "{line}");
        }
        assert_eq!(JsonlRow::parse(row("").replace(":3", ":-1.0").as_bytes()).unwrap().position, -1);
        for number in ["2147483648", "\"3\"", "0.5"] {
            assert!(why(&row("").replace(":3", &format!(":{number}"))).contains("position"), "{number}");
        }
        assert_eq!(why(r#"{"sample_id":"s","position":3}"#), "field `modality` is missing");
        assert!(why(&row(r#""binary_content":"@","#)).contains("Base64"));
    }
}
