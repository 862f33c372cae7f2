//! Types and values of columns, and what is refused.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, StringViewArray};
use arrow_schema::DataType;

use super::*;

/// One row for each of these objects, from line 1 on; a blank one has no fields.
fn rows(objects: &[&str]) -> Rows {
    let column: LargeStringArray = objects.iter().map(|text| Some(*text).filter(|t| !t.is_empty())).collect();
    let null: ArrayRef = Arc::new(StringViewArray::new_null(objects.len()));
    let columns = [
        (rows::JSON_FIELDS, Arc::new(column) as _),
        (rows::MODALITY, null.clone()),
        (rows::SOURCE_REF, null),
    ];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let lines = (1..=objects.len() as u64).collect();
    Rows::new(table, rows::Payloads::None, Places::Lines(lines), Vec::new()).unwrap()
}

fn infer(objects: &[&str]) -> anyhow::Result<JsonFields> {
    JsonFields::infer([Ok((Path::new("m.jsonl"), rows(objects)))].into_iter())
}

fn decoded(objects: &[&str]) -> RecordBatch {
    infer(objects).unwrap().decode(&rows(objects).table).unwrap()
}

/// One row for each of these values of the field `x`.
fn column(values: &[&str]) -> arrow_array::ArrayRef {
    let objects: Vec<String> = values.iter().map(|value| format!("{{\"x\":{value}}}")).collect();
    decoded(&objects.iter().map(String::as_str).collect::<Vec<_>>())["x"].clone()
}

fn texts(values: &[&str]) -> Vec<Option<String>> {
    column(values).as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

fn refusal(objects: &[&str]) -> String {
    infer(objects).expect_err(&objects.join(" ")).to_string()
}

#[test]
fn integers_stay_integers_and_beside_floats_become_floats() {
    let integers = column(&["1", "-9223372036854775808", "9223372036854775807", "null"]);
    assert_eq!(integers.as_primitive::<Int64Type>().values()[..3], [1, i64::MIN, i64::MAX]);
    assert!(integers.is_null(3));
    let floats = column(&["9007199254740992", "0.5", "-3", "1e300"]);
    assert_eq!(floats.as_primitive::<Float64Type>().values()[..], [9007199254740992.0, 0.5, -3.0, 1e300]);
    assert_eq!(column(&["true", "false"]).data_type(), &DataType::Boolean);
    assert_eq!(texts(&["true", "1.50", "\"a\""]), ["true", "1.50", "a"].map(|s| Some(s.into())));
}

#[test]
fn an_integer_that_a_float_would_round_makes_a_column_of_text_as_it_is_written() {
    let long = "9".repeat(400);
    for values in [
        &["9007199254740993", "0.5", "1.50E+3"][..],
        &["0.5", "-9007199254740993"],
        &["18446744073709551615", "7"],
        &["-9223372036854775809"],
        &["123456789012345678901234567890", "null", "-0"],
        &[&long],
    ] {
        let written: Vec<_> = values.iter().map(|v| (*v != "null").then(|| v.to_string())).collect();
        assert_eq!(texts(values), written);
    }
}

#[test]
fn an_integer_inside_of_others_is_refused_where_it_would_be_rounded() {
    for (objects, line, path) in [
        (&[r#"{"x":{"id":0.5}}"#, r#"{"x":{"id":9007199254740993}}"#][..], 2, "x.id"),
        (&[r#"{"x":[1,18446744073709551615]}"#], 1, "x[]"),
        (&[r#"{"x":[{"y":9007199254740993}]}"#, r#"{"x":[{},{"y":1e3}]}"#], 1, "x[].y"),
    ] {
        let told = refusal(objects);
        let begins = format!("m.jsonl: line {line}: field `{path}` has no common type over all rows (");
        assert!(told.starts_with(&begins) && told.contains("--format webdataset"), "{told}");
    }
    let exact = column(&["[9007199254740993]", "[9223372036854775807, 1]"]);
    assert_eq!(exact.as_list::<i32>().values().as_primitive::<Int64Type>().value(0), 9007199254740993);
    let text = column(&["[18446744073709551615, \"a\"]"]);
    assert_eq!(text.as_list::<i32>().values().as_string::<i32>().value(0), "18446744073709551615");
}

#[test]
fn values_that_do_not_go_together_are_refused_where_they_meet() {
    let values = ["1", "\"a\"", "[1]", "[]", "{\"a\":1}"];
    let bracket = |value: &str| value.chars().next().filter(|first| "[{".contains(*first));
    for (a, b) in values.iter().flat_map(|a| values.map(|b| (*a, b))) {
        let same = bracket(a) == bracket(b);
        for (around, path) in [("_", "x"), ("{\"y\":_}", "x.y"), ("[null,_]", "x[]")] {
            let object = |value: &str| format!("{{\"x\":{}}}", around.replace('_', value));
            let (a, b) = (object(a), object(b));
            if same {
                decoded(&[&a, &b]);
                continue;
            }
            let told = refusal(&["", &a, &b]);
            let begins = format!("m.jsonl: line 3: field `{path}` has no common type over all rows (");
            assert!(told.starts_with(&begins), "{a} {b}: {told}");
        }
    }
    assert!(refusal(&[r#"{"x":[1,[2]]}"#]).contains("`x[]` has no common type"));
}

#[test]
fn objects_without_any_field_are_refused_unless_another_row_has_one() {
    for (object, path) in [
        (r#"{"x":{}}"#, "x"),
        (r#"{"x":{"y":{}}}"#, "x.y"),
        (r#"{"x":[{}]}"#, "x[]"),
        (r#"{"x":[[],[{"y":{}}]]}"#, "x[][].y"),
    ] {
        let told = refusal(&[r#"{"w":1}"#, object, object]);
        let begins = format!("m.jsonl: line 2: field `{path}` has no common type over all rows (");
        assert!(told.starts_with(&begins), "{told}");
    }
    let structs = column(&["{}", "{\"a\":1}", "null", "{\"a\":null}"]);
    let a = structs.as_struct()["a"].as_primitive::<Int64Type>();
    assert_eq!(a.iter().collect::<Vec<_>>(), [None, Some(1), None, None]);
    assert_eq!(structs.null_count(), 1);
}

#[test]
fn a_value_that_no_parser_takes_is_named_with_its_place() {
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for (object, path) in [
        (r#"{"x":1e400}"#, "x"),
        (r#"{"x":"\ud800"}"#, "x"),
        (r#"{"x":[{"y":-1.5e999}]}"#, "x[].y"),
        (r#"{"x":{"\ud800":1}}"#, "x"),
        (&deep, "x[]"),
    ] {
        let told = refusal(&[r#"{"x":null}"#, object]);
        let begins = format!("m.jsonl: line 2: field values cannot become columns: `{path}");
        assert!(told.starts_with(&begins), "{told}");
        assert!(told.ends_with("; --format webdataset takes fields as they are"), "{told}");
    }
}

#[test]
fn what_a_row_lacks_is_null_and_what_is_empty_stays_so() {
    let objects =
        ["", r#"{"x":null,"n":null}"#, r#"{"x":[],"e":[]}"#, r#"{"x":[null, [ 1 ,null]],"o":{"b":null}}"#];
    let table = decoded(&objects);
    let names: Vec<_> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["e", "n", "o", "x"]);
    let x = table["x"].as_list::<i32>();
    assert_eq!((0..4).map(|row| x.is_valid(row)).collect::<Vec<_>>(), [false, false, true, true]);
    assert_eq!((x.value_length(2), x.value_length(3)), (0, 2));
    assert_eq!(x.values().as_list::<i32>().values().as_primitive::<Int64Type>().value(0), 1);
    assert_eq!(table["n"].data_type(), &DataType::Utf8);
    assert_eq!((table["n"].null_count(), table["e"].null_count(), table["o"].null_count()), (4, 3, 3));
    assert_eq!(table["o"].as_struct()["b"].data_type(), &DataType::Utf8);
    assert_eq!(decoded(&["", ""]).num_rows(), 2);
}

#[test]
fn the_last_of_a_repeated_field_counts() {
    let column = column(&[r#"{"a":[1],"a":2}"#, r#"{"a":{},"a":3}"#]);
    assert_eq!(column.as_struct()["a"].as_primitive::<Int64Type>().values()[..], [2, 3]);
}
