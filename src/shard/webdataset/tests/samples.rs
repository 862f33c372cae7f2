//! Members, texts and images.

use arrow_schema::{DataType, Field, Schema};

use super::super::check_schema;
use super::*;

#[test]
fn a_sample_is_its_images_and_then_its_document() {
    let lines = [metadata(), text(2, "c\n\"é\""), image(1), image(0), text(3, "").id("b"), image(0).id("b")];
    let archive = archive(&[chunk(&lines)], ImageTokens::Member);
    let members = members(&archive);
    let names: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a.0.jpg", "a.1.jpg", "a.json", "b.0.jpg", "b.json"]);
    assert_eq!(members[0].1, JPEG);
    assert_eq!(
        String::from_utf8_lossy(&members[2].1),
        r#"{"sample_id":"a","texts":[null,null,"c\n\"é\""],"images":["a.0.jpg","a.1.jpg",null]}"#
    );
    assert_eq!(
        String::from_utf8_lossy(&members[4].1),
        r#"{"sample_id":"b","texts":[null,null,null,""],"images":["b.0.jpg",null,null,null]}"#
    );
}

#[test]
fn tokens_name_the_member_or_the_part_after_the_first_dot() {
    let token = |tokens| {
        let members = members(&archive(&[chunk(&[image(0).id("x.y")])], tokens));
        let document: Value = serde_json::from_slice(&members[1].1).unwrap();
        document["images"][0].as_str().unwrap().to_owned()
    };
    assert_eq!(token(ImageTokens::Member), "x%2Ey.0.jpg");
    assert_eq!(token(ImageTokens::Part), "0.jpg");
}

#[test]
fn headers_are_plain_and_equal_rows_give_equal_bytes_in_any_chunks() {
    let (first, second) = ([image(0), text(1, "t")], [image(0).id("b")]);
    let split = archive(&[chunk(&first), chunk(&second)], ImageTokens::Member);
    assert_eq!(archive(&[chunk(&[&first[..], &second[..]].concat())], ImageTokens::Member), split);
    let pieces = Chunk { tables: vec![table(&first[..1]), table(&first[1..])], ..chunk(&first) };
    assert_eq!(archive(&[pieces, chunk(&second)], ImageTokens::Member), split);

    // Four members of one block each, and the end.
    assert_eq!(split.len(), 4 * 1024 + 1024);
    let mut archive = tar::Archive::new(&split[..]);
    for entry in archive.entries().unwrap().raw(true) {
        let entry = entry.unwrap();
        let header = entry.header();
        assert!(header.as_ustar().is_some() && header.entry_type().is_file());
        assert_eq!((header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap()), (0, 0, 0));
        assert_eq!(header.mode().unwrap(), 0o644);
    }
}

#[test]
fn names_longer_than_a_header_holds_survive() {
    let id: &'static str = "ü".repeat(300).leak();
    let archive = archive(&[chunk(&[image(0).id(id)])], ImageTokens::Member);
    let key = "%C3%BC".repeat(300);
    assert_eq!(names(&archive), [format!("{key}.0.jpg"), format!("{key}.json")]);
}

#[test]
fn a_sample_without_an_id_or_with_one_that_recurs_has_a_key_of_its_own_and_its_true_id() {
    let lines = [image(0).id("x"), image(0).id(""), image(0).id("x")];
    let members = members(&archive(&[chunk(&lines)], ImageTokens::Part));
    let names: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x.0.jpg", "x.json", "%2D1.0.jpg", "%2D1.json", "x%2D2.0.jpg", "x%2D2.json"]);
    let id =
        |member: usize| serde_json::from_slice::<Value>(&members[member].1).unwrap()["sample_id"].clone();
    assert_eq!([id(1), id(3), id(5)], [json!("x"), json!(""), json!("x")]);
}

#[test]
fn a_failed_image_has_no_member_but_keeps_its_reason_and_locator() {
    assert_eq!(
        document(&[image(0), failed(1), text(3, "t")]),
        json!({
            "sample_id": "a",
            "texts": [null, null, null, "t"],
            "images": ["0.jpg", null, null, null],
            "content_type": ["image/jpeg", "image/jpeg", null, null],
            "materialize_error": [null, "not_found: no such file", null, null],
            "source_ref": [null, r#"{"path":"b"}"#, null, null],
        })
    );
}

#[test]
fn an_earlier_error_goes_with_success_and_stays_without() {
    let earlier = Some("stall: 30 s");
    let healed = Line { error: earlier, source_ref: Some("{}"), ..image(0) };
    let document = document(&[healed, Line { error: earlier, ..text(1, "t") }]);
    assert_eq!(document["materialize_error"], json!([null, "stall: 30 s"]));
    assert!(document.get("source_ref").is_none());
}

#[test]
fn positions_that_are_no_places_of_a_list_are_replaced_by_the_order_of_rows() {
    for positions in [[5, 5], [-1, 3], [7, 1021], [i32::MAX, 0]] {
        let document = document(&[image(positions[0]), text(positions[1], "t")]);
        assert_eq!(document["texts"], json!([null, "t"]), "{positions:?}");
        assert_eq!(document["images"], json!(["0.jpg", null]), "{positions:?}");
    }
    assert_eq!(document(&[text(1020, "t"), text(3, "u")])["texts"].as_array().unwrap().len(), 1021);
}

#[test]
fn rows_of_other_modalities_keep_text_payload_and_modality() {
    let table = Line { modality: "table", content_type: Some("text/html"), ..text(0, "<td>") };
    let scan = Line { modality: "scan", ..image(2) };
    let document = document(&[table, text(1, "t"), scan]);
    assert_eq!(document["texts"], json!(["<td>", "t", null]));
    assert_eq!(document["images"], json!([null, null, "2.jpg"]));
    assert_eq!(document["modalities"], json!(["table", "text", "scan"]));
    assert_eq!(document["content_type"], json!(["text/html", null, "image/jpeg"]));
}

#[test]
fn text_of_metadata_rows_and_of_images_is_kept_apart() {
    let document = document(&[
        Line { text: Some("m"), ..metadata() },
        Line { text: Some("alt"), ..image(0) },
        text(1, "t"),
    ]);
    assert_eq!(document["texts"], json!([null, "t"]));
    assert_eq!(document["image_texts"], json!(["alt", null]));
    assert_eq!(document["metadata_text"], json!("m"));
}

#[test]
fn a_schema_is_refused_by_the_name_of_its_first_unusable_column() {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let mut fields = vec![
        field(SAMPLE_ID, DataType::Utf8View),
        field(POSITION, DataType::Int32),
        field(MODALITY, DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())),
        field(TEXT_CONTENT, DataType::Null),
        field("score", DataType::Float64),
    ];
    let refusal =
        |fields: &[Field]| check_schema(&Schema::new(fields.to_vec())).err().map(|error| error.to_string());
    assert_eq!(refusal(&fields), None);
    assert_eq!(refusal(&fields[1..]).unwrap(), "column `sample_id` is missing");
    assert_eq!(refusal(&fields[..2]).unwrap(), "column `modality` is missing");
    fields.push(field(
        "u",
        DataType::Union(arrow_schema::UnionFields::empty(), arrow_schema::UnionMode::Sparse),
    ));
    assert_eq!(refusal(&fields).unwrap(), "column `u` cannot be written as JSON");
    fields[1] = field(POSITION, DataType::Utf8);
    assert!(refusal(&fields).unwrap().starts_with("column `position` has type"));
}
