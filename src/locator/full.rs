//! The full parser of locators: any spelling, and what is wrong with a text that is none.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json::explain;
use super::{Claims, Locator, Target};
use crate::fault::{Class, Fault};

/// [`Locator::parse`] of any text, plain or not.
pub fn parse(text: &str) -> Result<Option<Locator<'_>>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let fields: Option<Fields> = serde_json::from_str(text)
        .map_err(|error| bad(format!("{} of {}", explain(&error), shorten(text))))?;
    let Some(fields) = fields else { return Ok(None) };
    let Some(location) = fields.path else { return Ok(None) };
    if location.is_empty() {
        return Err(bad("path is empty"));
    }
    let target = match (fields.byte_offset, fields.byte_size) {
        (Some(offset), Some(size)) => {
            if offset.checked_add(size).is_none_or(|end| end > i64::MAX as u64) {
                return Err(bad(format!("byte_offset {offset} + byte_size {size} is past 2^63")));
            }
            Target::Range { offset, size }
        }
        (Some(_), None) => return Err(bad("byte_offset without byte_size; give both or none")),
        (None, Some(_)) => return Err(bad("byte_size without byte_offset; give both or none")),
        (None, None) => match fields.member {
            Some(name) if !name.is_empty() => Target::Member(name.into_owned().into()),
            _ => Target::Whole,
        },
    };
    let frame = match fields.frame_index {
        None => None,
        Some(index) => {
            Some(u32::try_from(index).map_err(|_| bad(format!("frame_index {index} is past any file")))?)
        }
    };
    Ok(Some(Locator { location, target, frame, claims: fields.claims }))
}

fn bad(what: impl Into<String>) -> Fault {
    Fault::new(Class::BadLocator, what)
}

/// At most 120 bytes of a text, for a message.
fn shorten(text: &str) -> String {
    let cut = text.floor_char_boundary(120);
    if cut == text.len() { format!("`{text}`") } else { format!("`{}`...", &text[..cut]) }
}

/// The fields as they stand; the last of a repeated key counts, unknown keys are skipped.
#[derive(Default)]
struct Fields<'a> {
    path: Option<Cow<'a, str>>,
    member: Option<Cow<'a, str>>,
    byte_offset: Option<u64>,
    byte_size: Option<u64>,
    frame_index: Option<u64>,
    claims: Claims<'a>,
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a locator object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields::default();
                while let Some(Text(name)) = map.next_key()? {
                    match name.as_deref() {
                        Some("path") => fields.path = map.next_value::<Text>()?.0,
                        Some("member") => fields.member = map.next_value::<Text>()?.0,
                        Some("byte_offset") => fields.byte_offset = map.next_value::<Natural>()?.0,
                        Some("byte_size") => fields.byte_size = map.next_value::<Natural>()?.0,
                        Some("frame_index") => fields.frame_index = map.next_value::<Natural>()?.0,
                        Some("size") => {
                            fields.claims.size = claim(map.next_value()?).and_then(|size: Natural| size.0)
                        }
                        Some("checksum") => {
                            fields.claims.checksum = claim(map.next_value()?).and_then(|text: Text| text.0)
                        }
                        Some("content_type") => {
                            fields.claims.content_type =
                                claim(map.next_value()?).and_then(|text: Text| text.0)
                        }
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// A claim that is not of the right type is none: it names nothing, and other tools may mean
/// something else by the field.
fn claim<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

/// A string or null, borrowed where it holds no escapes.
struct Text<'a>(Option<Cow<'a, str>>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string or null")
            }

            fn visit_unit<E>(self) -> Result<Text<'de>, E> {
                Ok(Text(None))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// A whole number of at least 0, or null: `1024`, `1024.0` and `"1024"` are the same.
struct Natural(Option<u64>);

/// The largest whole number up to which every whole number has a float of its own.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

impl<'de> Deserialize<'de> for Natural {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NaturalVisitor;
        impl<'de> Visitor<'de> for NaturalVisitor {
            type Value = Natural;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number of at least 0, or null")
            }

            fn visit_unit<E>(self) -> Result<Natural, E> {
                Ok(Natural(None))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Natural, E> {
                Ok(Natural(Some(value)))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Natural, E> {
                if value.fract() == 0.0 && (0.0..=MAX_EXACT_FLOAT).contains(&value) {
                    Ok(Natural(Some(value as u64)))
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(value), &self))
                }
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Natural, E> {
                // `u64::from_str` takes a leading plus sign, which no writer puts there.
                let number = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
                number
                    .map(|value| Natural(Some(value)))
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(NaturalVisitor)
    }
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
            assert_eq!(fault.class, Class::BadLocator, "{text}");
        }
    }
}
