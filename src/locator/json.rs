//! Objects in one line of JSON, split into members without copying.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in their order, with values as written. A name may repeat.
pub struct JsonObject<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

/// A name, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct MemberKey<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for JsonObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = JsonObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonObject<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((MemberKey(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(JsonObject(members))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

/// The content of a string, borrowed if it has no escapes; `None` for null. Fails with a message.
pub fn text(value: &RawValue) -> Result<Option<Cow<'_, str>>, String> {
    let json = value.get();
    if json == "null" {
        return Ok(None);
    }
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(content) if !content.contains('\\') => Ok(Some(Cow::Borrowed(content))),
        _ => serde_json::from_str(json).map(|text| Some(Cow::Owned(text))).map_err(|error| explain(&error)),
    }
}

/// The parser's message without its line number, which is always 1 and would be mistaken for that of
/// the manifest.
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
