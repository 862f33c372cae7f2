//! The members of a JSON object, values as they are spelt.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Names and values in their order. A name may be repeated.
pub struct JsonObject<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

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
