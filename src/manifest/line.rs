//! One line of JSONL: the known fields as typed values, the others as they are written.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::locator::json;
use crate::manifest::rows;

/// A row, borrowed from its line where possible. The last of a repeated field counts.
#[derive(Default)]
pub struct JsonlLine<'a> {
    sample_id: Option<&'a RawValue>,
    position: Option<&'a RawValue>,
    modality: Option<&'a RawValue>,
    content_type: Option<&'a RawValue>,
    text_content: Option<&'a RawValue>,
    binary_content: Option<&'a RawValue>,
    source_ref: Option<&'a RawValue>,
    materialize_error: Option<&'a RawValue>,
    other: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> JsonlLine<'a> {
    /// Fails with a sentence when the line is not a JSON object.
    pub fn parse(line: &'a [u8]) -> Result<JsonlLine<'a>, String> {
        let row = serde_json::from_slice(line.trim_ascii_end());
        row.map_err(|error| format!("not a JSON object: {}", json::explain(&error)))
    }

    pub fn sample_id(&self) -> Result<Cow<'a, str>, String> {
        text(self.sample_id, rows::SAMPLE_ID)?.ok_or_else(|| missing(rows::SAMPLE_ID))
    }

    pub fn position(&self) -> Result<i32, String> {
        let raw = self.position.ok_or_else(|| missing(rows::POSITION))?;
        // Writers that keep numbers as floats put `3.0` for 3.
        let whole =
            |number: f64| number.fract() == 0.0 && (i32::MIN as f64..=i32::MAX as f64).contains(&number);
        match serde_json::from_str::<f64>(raw.get()) {
            Ok(number) if whole(number) => Ok(number as i32),
            Ok(number) => Err(format!("field `position`: {number} is no whole number of 32 bits")),
            Err(_) => Err(format!("field `position`: {} is no whole number", raw.get())),
        }
    }

    pub fn modality(&self) -> Result<Cow<'a, str>, String> {
        text(self.modality, rows::MODALITY)?.ok_or_else(|| missing(rows::MODALITY))
    }

    pub fn content_type(&self) -> Result<Option<Cow<'a, str>>, String> {
        text(self.content_type, rows::CONTENT_TYPE)
    }

    pub fn text_content(&self) -> Result<Option<Cow<'a, str>>, String> {
        text(self.text_content, rows::TEXT_CONTENT)
    }

    pub fn materialize_error(&self) -> Result<Option<Cow<'a, str>>, String> {
        text(self.materialize_error, rows::MATERIALIZE_ERROR)
    }

    /// The text of the locator: the content of a JSON string, or any other value as it is written.
    pub fn source_ref(&self) -> Result<Option<Cow<'a, str>>, String> {
        match self.source_ref {
            Some(raw) if !raw.get().starts_with(['"', 'n']) => Ok(Some(Cow::Borrowed(raw.get()))),
            raw => text(raw, rows::SOURCE_REF),
        }
    }

    /// The payload, which JSON carries as Base64.
    pub fn binary_content(&self) -> Result<Option<Vec<u8>>, String> {
        let Some(encoded) = text(self.binary_content, rows::BINARY_CONTENT)? else { return Ok(None) };
        let payload = STANDARD.decode(encoded.as_bytes());
        payload.map(Some).map_err(|error| format!("field `binary_content` is not Base64: {error}"))
    }

    /// Appends the fields without a meaning, as one JSON object, to `out`; false when there are
    /// none.
    pub fn other(&self, out: &mut String) -> bool {
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
        if !self.other.is_empty() {
            out.push('}');
        }
        !self.other.is_empty()
    }
}

fn missing(field: &str) -> String {
    format!("field `{field}` is missing")
}

fn text<'a>(raw: Option<&'a RawValue>, field: &str) -> Result<Option<Cow<'a, str>>, String> {
    let Some(raw) = raw else { return Ok(None) };
    let json = raw.get();
    if json == "null" {
        return Ok(None);
    }
    // A string without escapes is its own content.
    if let Some(inside) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        && !inside.contains('\\')
    {
        return Ok(Some(Cow::Borrowed(inside)));
    }
    serde_json::from_str(json)
        .map(|text: String| Some(Cow::Owned(text)))
        .map_err(|error| format!("field `{field}`: {}", json::explain(&error)))
}

impl<'de> Deserialize<'de> for JsonlLine<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LineVisitor;
        impl<'de> Visitor<'de> for LineVisitor {
            type Value = JsonlLine<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonlLine<'de>, A::Error> {
                let mut line = JsonlLine::default();
                while let Some(FieldName(name)) = map.next_key()? {
                    let value: &'de RawValue = map.next_value()?;
                    match name.as_ref() {
                        rows::SAMPLE_ID => line.sample_id = Some(value),
                        rows::POSITION => line.position = Some(value),
                        rows::MODALITY => line.modality = Some(value),
                        rows::CONTENT_TYPE => line.content_type = Some(value),
                        rows::TEXT_CONTENT => line.text_content = Some(value),
                        rows::BINARY_CONTENT => line.binary_content = Some(value),
                        rows::SOURCE_REF => line.source_ref = Some(value),
                        rows::MATERIALIZE_ERROR => line.materialize_error = Some(value),
                        _ => line.other.push((name, value)),
                    }
                }
                Ok(line)
            }
        }
        deserializer.deserialize_map(LineVisitor)
    }
}

/// A field name, borrowed where it holds no escapes.
#[derive(serde::Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_any_order_and_the_last_of_a_repeated_one_counts() {
        let line = JsonlLine::parse(
            br#"{"x":1,"modality":"text","sample_id":"\u00e9\"","position":3,"modality":"image","x":[2, 3],"y":null}"#,
        )
        .unwrap();
        assert_eq!(line.modality().unwrap(), "image");
        assert_eq!(line.sample_id().unwrap(), "é\"");
        assert_eq!(line.position().unwrap(), 3);
        let mut other = String::new();
        assert!(line.other(&mut other));
        assert_eq!(other, r#"{"x":[2, 3],"y":null}"#);
    }

    #[test]
    fn locators_come_as_strings_or_as_objects() {
        let text = |line: &'static str| {
            JsonlLine::parse(line.as_bytes()).unwrap().source_ref().unwrap().map(Cow::into_owned)
        };
        assert_eq!(text(r#"{"source_ref":"{\"path\":\"a\"}"}"#).as_deref(), Some(r#"{"path":"a"}"#));
        assert_eq!(text(r#"{"source_ref":{"path": "a"}}"#).as_deref(), Some(r#"{"path": "a"}"#));
        assert_eq!(text(r#"{"source_ref":[1]}"#).as_deref(), Some("[1]"));
        assert_eq!(text(r#"{"source_ref":null}"#), None);
        assert_eq!(text("{}"), None);
    }

    #[test]
    fn what_is_no_row_says_why() {
        for line in ["", "{", "[]", "3", r#"{"a":1} x"#, "{\"a\":\"\0\"}"] {
            assert!(JsonlLine::parse(line.as_bytes()).is_err(), "{line}");
        }
        assert_eq!(JsonlLine::parse(br#"{"position":-1.0}"#).unwrap().position(), Ok(-1));
        assert!(JsonlLine::parse(br#"{"position":2147483648}"#).unwrap().position().is_err());
        let line = JsonlLine::parse(br#"{"position":"3","binary_content":"@"}"#).unwrap();
        assert!(line.position().unwrap_err().contains("position"));
        assert!(line.modality().unwrap_err().contains("missing"));
        assert!(line.binary_content().unwrap_err().contains("Base64"));
    }
}
