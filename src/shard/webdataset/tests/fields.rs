//! Fields that onepull does not interpret, in the document of their sample.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};

use super::*;

#[test]
fn a_field_of_the_metadata_row_is_a_value_and_not_repeated() {
    let document = document(&[metadata().json(r#"{"url":"u","n":null}"#), image(0).json(r#"{"url":"u"}"#)]);
    assert_eq!(document["url"], "u");
    assert_eq!(document.as_object().unwrap().len(), 4);
}

#[test]
fn values_that_differ_from_the_metadata_row_are_kept_beside_it() {
    let document =
        document(&[metadata().json(r#"{"url":"u"}"#), text(0, "t"), image(1).json(r#"{"url":"v"}"#)]);
    assert_eq!(document["url"], "u");
    assert_eq!(document["url_"], json!(["v"]));
}

#[test]
fn several_metadata_rows_give_a_list() {
    let document =
        document(&[metadata().json(r#"{"u":1}"#), text(0, "t"), metadata(), metadata().json(r#"{"u":2}"#)]);
    assert_eq!(document["u"], json!([1, null, 2]));
}

#[test]
fn fields_of_one_modality_have_an_entry_for_each_of_its_rows() {
    let document = document(&[
        image(4).json(r#"{"alt":"x","both":4}"#),
        text(0, "t"),
        image(1).json(r#"{"both":1}"#),
        text(3, "u").json(r#"{"lang":"de","both":3}"#),
    ]);
    assert_eq!(document["alt"], json!([null, "x"]));
    assert_eq!(document["lang"], json!([null, "de"]));
    assert_eq!(document["both"], json!([null, 1, 3, 4]));
}

#[test]
fn entries_stay_beside_their_images_when_others_failed() {
    let document = document(&[
        failed(0).json(r#"{"alt":"lost"}"#),
        image(1).json(r#"{"alt":"x"}"#),
        image(2),
        failed(3),
    ]);
    assert_eq!(document["images"], json!([null, "1.jpg", "2.jpg", null]));
    assert_eq!(document["alt"], json!(["x", null]));
    assert_eq!(document["alt_"], json!(["lost", null, null, null]));
}

#[test]
fn fields_called_like_ours_get_an_underscore() {
    let document = document(&[metadata().json(r#"{"texts":1,"images_":2,"images":3}"#), text(0, "t")]);
    assert_eq!(document["texts"], json!(["t"]));
    assert_eq!([&document["texts_"], &document["images_"], &document["images__"]], [1, 2, 3]);
}

#[test]
fn lists_beside_a_field_never_take_each_others_name() {
    let document = document(&[metadata().json(r#"{"a":1,"a_":2}"#), text(0, "t").json(r#"{"a":3,"a_":4}"#)]);
    assert_eq!([&document["a"], &document["a_"]], [1, 2]);
    assert_eq!([&document["a__"], &document["a___"]], [&json!([3]), &json!([4])]);
}

#[test]
fn json_values_keep_their_spelling_and_order() {
    let line = metadata().json(r#"{"z": 1.10, "\u00e9": [1,  2e400], "big":123456789012345678901234567890}"#);
    assert_eq!(
        document_text(chunk(&[line])),
        r#"{"sample_id":"a","texts":[],"images":[],"z":1.10,"é":[1,  2e400],"big":123456789012345678901234567890}"#
    );
}

#[test]
fn columns_of_any_type_become_json() {
    let lines = [metadata(), text(0, "t"), image(1)];
    let plain = table(&lines);
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([Some(1), None]);
    list.append_null();
    list.append_null();
    let point: ArrayRef = Arc::new(Int32Array::from(vec![None, Some(7), None]));
    let nested = StructArray::from(vec![(Arc::new(Field::new("x", DataType::Int32, true)), point)]);
    let word: DictionaryArray<Int8Type> = vec![None, None, Some("w")].into_iter().collect();
    let extra: [(&str, ArrayRef); 8] = [
        ("list", Arc::new(list.finish())),
        ("nested", Arc::new(nested)),
        ("word", Arc::new(word)),
        ("binary", Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\x00\xff"), None, None]))),
        ("nan", Arc::new(Float64Array::from(vec![Some(f64::NAN), None, None]))),
        ("empty", Arc::new(NullArray::new(3))),
        ("day", Arc::new(Date32Array::from(vec![Some(0), None, None]))),
        ("word", Arc::new(Int64Array::from(vec![Some(i64::MAX), None, None]))),
    ];
    let mut fields = plain.schema().fields().to_vec();
    let mut columns = plain.columns().to_vec();
    for (name, column) in extra {
        fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
        columns.push(column);
    }
    let wide = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let document = document_text(Chunk { tables: vec![wide], ..chunk(&lines) });
    let (_, passthrough) = document.split_once(r#""images":[null,"1.jpg"],"#).unwrap();
    assert_eq!(
        passthrough,
        concat!(
            r#""list":[1,null],"nested":{"x":null},"nested_":[{"x":7},{"x":null}],"word":["w"],"binary":"00ff","#,
            r#""nan":null,"day":"1970-01-01","word_":9223372036854775807}"#
        )
    );
}
