//! Values of Arrow columns as JSON text, with all their digits.
//!
//! Binary becomes hex digits, a decimal a number, a date, time or duration ISO 8601 text, and a struct
//! or map an object that keeps its nulls. NaN and infinity become null, since JSON lacks them.

use std::fmt::Debug;

use arrow_array::cast::AsArray;
use arrow_array::timezone::Tz;
use arrow_array::types::*;
use arrow_array::{Array, PrimitiveArray, downcast_dictionary_array, downcast_integer, downcast_temporal};
use arrow_schema::{DataType, TimeUnit};
use chrono::SecondsFormat;

use crate::manifest::rows::as_text;

/// Whether values of this type can be written.
pub fn is_supported(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        List(element) | LargeList(element) | FixedSizeList(element, _) => is_supported(element.data_type()),
        Struct(fields) => fields.iter().all(|field| is_supported(field.data_type())),
        Map(entries, _) => {
            let Struct(fields) = entries.data_type() else { return false };
            let [key, value] = &fields[..] else { return false };
            matches!(key.data_type(), Utf8 | LargeUtf8 | Utf8View) && is_supported(value.data_type())
        }
        Dictionary(_, value) => is_supported(value),
        Timestamp(_, Some(zone)) => zone.parse::<Tz>().is_ok(),
        ListView(_) | LargeListView(_) | RunEndEncoded(..) | Union(..) | Interval(_) => false,
        _ => true,
    }
}

/// Appends the value in a row of a column whose type [`is_supported`].
pub fn write(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> anyhow::Result<()> {
    if array.is_null(row) {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    macro_rules! number {
        ($type:ty) => {
            serde_json::to_writer(out, &array.as_primitive::<$type>().value(row))?
        };
    }
    macro_rules! decimal {
        ($type:ty) => {
            out.extend_from_slice(array.as_primitive::<$type>().value_as_string(row).as_bytes())
        };
    }
    macro_rules! duration {
        ($type:ty) => {
            text(array.as_primitive::<$type>(), row, |a| a.value_as_duration(row).map(|d| d.to_string()), out)
        };
    }
    macro_rules! temporal {
        ($type:ty) => {
            moment::<$type>(array.as_primitive(), row, out)?
        };
    }
    use DataType::*;
    downcast_integer! {
        array.data_type() => (number),
        Float16 => serde_json::to_writer(out, &array.as_primitive::<Float16Type>().value(row).to_f32())?,
        Float32 => number!(Float32Type),
        Float64 => number!(Float64Type),
        Decimal32(..) => decimal!(Decimal32Type),
        Decimal64(..) => decimal!(Decimal64Type),
        Decimal128(..) => decimal!(Decimal128Type),
        Decimal256(..) => decimal!(Decimal256Type),
        Duration(TimeUnit::Second) => duration!(DurationSecondType),
        Duration(TimeUnit::Millisecond) => duration!(DurationMillisecondType),
        Duration(TimeUnit::Microsecond) => duration!(DurationMicrosecondType),
        Duration(TimeUnit::Nanosecond) => duration!(DurationNanosecondType),
        Boolean => serde_json::to_writer(out, &array.as_boolean().value(row))?,
        Null => out.extend_from_slice(b"null"),
        Utf8 => serde_json::to_writer(out, array.as_string::<i32>().value(row))?,
        LargeUtf8 => serde_json::to_writer(out, array.as_string::<i64>().value(row))?,
        Utf8View => serde_json::to_writer(out, array.as_string_view().value(row))?,
        Binary => hex(array.as_binary::<i32>().value(row), out),
        LargeBinary => hex(array.as_binary::<i64>().value(row), out),
        BinaryView => hex(array.as_binary_view().value(row), out),
        FixedSizeBinary(_) => hex(array.as_fixed_size_binary().value(row), out),
        List(_) => list(&array.as_list::<i32>().value(row), out)?,
        LargeList(_) => list(&array.as_list::<i64>().value(row), out)?,
        FixedSizeList(..) => list(&array.as_fixed_size_list().value(row), out)?,
        Struct(fields) => {
            let columns = array.as_struct().columns();
            object(fields.iter().zip(columns).map(|(field, column)| (field.name().as_str(), column, row)), out)?;
        },
        Map(..) => {
            let entries = array.as_map().value(row);
            let keys = as_text(entries.column(0))?;
            object((0..entries.len()).map(|at| (keys.value(at), entries.column(1), at)), out)?;
        },
        Dictionary(..) => downcast_dictionary_array! {
            array => {
                let key = array.key(row).unwrap_or_default();
                write(array.values(), key, out)?;
            },
            other => anyhow::bail!("{other} cannot be written as JSON"),
        },
        other => downcast_temporal! {
            other => (temporal),
            other => anyhow::bail!("{other} cannot be written as JSON"),
        },
    }
    Ok(())
}

/// Appends a date, a time or a point in time.
fn moment<T: ArrowTemporalType>(
    array: &PrimitiveArray<T>,
    row: usize,
    out: &mut Vec<u8>,
) -> anyhow::Result<()>
where
    i64: From<T::Native>,
{
    fn shown(value: impl Debug) -> String {
        format!("{value:?}")
    }
    let zone: Option<Tz> = match array.data_type() {
        DataType::Timestamp(_, Some(zone)) => Some(zone.parse()?),
        _ => None,
    };
    let format = |array: &PrimitiveArray<T>| match (array.data_type(), zone) {
        (DataType::Date32, _) => array.value_as_date(row).map(shown),
        (DataType::Time32(_) | DataType::Time64(_), _) => array.value_as_time(row).map(shown),
        (_, Some(zone)) => {
            let time = array.value_as_datetime_with_tz(row, zone);
            time.map(|time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
        }
        (_, None) => array.value_as_datetime(row).map(shown),
    };
    text(array, row, format, out);
    Ok(())
}

/// Appends a value as formatted by `format`, or as the stored number if it is outside the calendar.
fn text<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    row: usize,
    format: impl FnOnce(&PrimitiveArray<T>) -> Option<String>,
    out: &mut Vec<u8>,
) where
    i64: From<T::Native>,
{
    let text = match format(array) {
        Some(text) => format!("\"{text}\""),
        None => i64::from(array.value(row)).to_string(),
    };
    out.extend_from_slice(text.as_bytes());
}

fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    bytes.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02x}").as_bytes()));
    out.push(b'"');
}

fn list(values: &dyn Array, out: &mut Vec<u8>) -> anyhow::Result<()> {
    out.push(b'[');
    for at in 0..values.len() {
        if at > 0 {
            out.push(b',');
        }
        write(values, at, out)?;
    }
    out.push(b']');
    Ok(())
}

/// Appends an object of members: name, and column and row of the value.
fn object<'a>(
    members: impl Iterator<Item = (&'a str, &'a arrow_array::ArrayRef, usize)>,
    out: &mut Vec<u8>,
) -> anyhow::Result<()> {
    out.push(b'{');
    for (at, (name, column, row)) in members.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, name)?;
        out.push(b':');
        write(column, row, out)?;
    }
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{MapBuilder, StringBuilder};
    use arrow_array::*;
    use arrow_cast::display::array_value_to_string;

    use super::*;

    fn written(array: &dyn Array) -> Vec<String> {
        assert!(is_supported(array.data_type()), "{}", array.data_type());
        let value = |row| {
            let mut out = Vec::new();
            write(array, row, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        (0..array.len()).map(value).collect()
    }

    #[test]
    fn times_and_decimals_read_as_arrow_shows_them() {
        let moments = [0, 1, -1, 999, 1_700_000_000, 1_700_000_000_123, -62_135_596_800];
        let second = TimestampSecondArray::from(moments[..5].to_vec());
        let milli = TimestampMillisecondArray::from(moments.to_vec());
        let (micro, nano) = (
            TimestampMicrosecondArray::from(moments.to_vec()),
            TimestampNanosecondArray::from(moments.to_vec()),
        );
        let zoned: Vec<ArrayRef> = ["+00:00", "UTC", "Europe/Berlin", "-03:30"]
            .iter()
            .map(|zone| Arc::new(milli.clone().with_timezone(*zone)) as ArrayRef)
            .collect();
        let days: [ArrayRef; 6] = [
            Arc::new(Date32Array::from(vec![0, -1, 20_000, -800_000])),
            Arc::new(Date64Array::from(moments.to_vec())),
            Arc::new(Time32SecondArray::from(vec![0, 86_399])),
            Arc::new(Time64MicrosecondArray::from(vec![0, 1, 3_600_000_001])),
            Arc::new(DurationMillisecondArray::from(moments.to_vec())),
            Arc::new(DurationNanosecondArray::from(moments.to_vec())),
        ];
        let times: Vec<ArrayRef> = vec![Arc::new(second), Arc::new(milli), Arc::new(micro), Arc::new(nano)];
        for array in times.iter().chain(&zoned).chain(&days) {
            let shown = |row| format!("\"{}\"", array_value_to_string(array, row).unwrap());
            assert_eq!(written(array), (0..array.len()).map(shown).collect::<Vec<_>>());
        }
        let integers = [0, 1, -1, 12_345, -100, 99];
        for (precision, scale) in [(9, 0), (9, 2), (9, 5), (9, -2)] {
            let decimal = Decimal128Array::from(integers.map(i128::from).to_vec());
            let decimal = decimal.with_precision_and_scale(precision, scale).unwrap();
            let shown = |row| array_value_to_string(&decimal, row).unwrap();
            assert_eq!(written(&decimal), (0..decimal.len()).map(shown).collect::<Vec<_>>());
        }
    }

    #[test]
    fn numbers_keep_their_digits_and_what_the_calendar_lacks_is_a_number() {
        assert_eq!(
            written(&Float64Array::from(vec![0.1, 1e21, -0.0, f64::INFINITY])),
            ["0.1", "1e+21", "-0.0", "null"]
        );
        assert_eq!(written(&Float32Array::from(vec![0.1, 16_777_216.0])), ["0.1", "16777216.0"]);
        assert_eq!(written(&UInt64Array::from(vec![u64::MAX])), ["18446744073709551615"]);
        assert_eq!(written(&TimestampSecondArray::from(vec![i64::MAX])), ["9223372036854775807"]);
    }

    #[test]
    fn maps_are_objects_that_keep_their_nulls() {
        let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
        map.keys().append_value("a\"");
        map.values().append_null();
        map.keys().append_value("b");
        map.values().append_value("c");
        map.append(true).unwrap();
        map.append(false).unwrap();
        map.append(true).unwrap();
        assert_eq!(written(&map.finish()), [r#"{"a\"":null,"b":"c"}"#, "null", "{}"]);
    }
}
