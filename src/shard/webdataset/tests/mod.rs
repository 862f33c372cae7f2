//! Archives as readers see them.

mod fields;
mod samples;

use std::io::Read;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, LargeStringArray, RecordBatch};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{ImageTokens, WebDatasetWriter};
use crate::manifest::rows::*;
use crate::shard::{Chunk, Filled};

const JPEG: &[u8] = b"\xff\xd8\xff\xe0 a jpeg";

/// A row for a test: what it leaves out is null.
#[derive(Clone, Default)]
struct Line {
    id: &'static str,
    position: i32,
    modality: &'static str,
    content_type: Option<&'static str>,
    text: Option<&'static str>,
    source_ref: Option<&'static str>,
    error: Option<&'static str>,
    /// The other fields of a row from JSONL.
    json: Option<&'static str>,
    payload: Option<&'static [u8]>,
    failed: Option<&'static str>,
}

fn text(position: i32, text: &'static str) -> Line {
    Line { id: "a", position, modality: "text", text: Some(text), ..Line::default() }
}

fn image(position: i32) -> Line {
    let content_type = Some("image/jpeg");
    Line { id: "a", position, modality: "image", content_type, payload: Some(JPEG), ..Line::default() }
}

fn failed(position: i32) -> Line {
    let (payload, failed, source_ref) = (None, Some("not_found: no such file"), Some(r#"{"path":"b"}"#));
    Line { payload, failed, source_ref, ..image(position) }
}

fn metadata() -> Line {
    Line { id: "a", position: -1, modality: "metadata", ..Line::default() }
}

impl Line {
    fn id(self, id: &'static str) -> Line {
        Line { id, ..self }
    }

    fn json(self, json: &'static str) -> Line {
        Line { json: Some(json), ..self }
    }
}

fn chunk(lines: &[Line]) -> Chunk {
    let mut chunk = Chunk { tables: vec![table(lines)], ..Chunk::default() };
    for line in lines {
        chunk.rows.push(match (line.payload, line.failed) {
            (Some(payload), _) => {
                chunk.payloads.push(Bytes::from_static(payload));
                Filled::Materialized(chunk.payloads.len() as u32 - 1)
            }
            (None, Some(what)) => Filled::Failed(what.to_owned()),
            (None, None) => Filled::Untouched,
        });
    }
    chunk
}

fn table(lines: &[Line]) -> RecordBatch {
    let column = |value: fn(&Line) -> Option<&'static str>| -> ArrayRef {
        Arc::new(lines.iter().map(value).collect::<LargeStringArray>())
    };
    RecordBatch::try_from_iter_with_nullable([
        (SAMPLE_ID, column(|line| Some(line.id)), false),
        (
            POSITION,
            Arc::new(lines.iter().map(|line| line.position).collect::<Int32Array>()) as ArrayRef,
            false,
        ),
        (MODALITY, column(|line| Some(line.modality)), false),
        (CONTENT_TYPE, column(|line| line.content_type), true),
        (TEXT_CONTENT, column(|line| line.text), true),
        (SOURCE_REF, column(|line| line.source_ref), true),
        (MATERIALIZE_ERROR, column(|line| line.error), true),
        (JSON_FIELDS, column(|line| line.json), true),
    ])
    .unwrap()
}

fn archive(chunks: &[Chunk], tokens: ImageTokens) -> Vec<u8> {
    let mut writer = WebDatasetWriter::new(Vec::new(), tokens);
    chunks.iter().for_each(|chunk| writer.write(chunk).unwrap());
    writer.finish().unwrap()
}

/// Names and contents of the members.
fn members(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(archive);
    let read = |entry: std::io::Result<tar::Entry<&[u8]>>| {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (entry.path().unwrap().to_str().unwrap().to_owned(), content)
    };
    archive.entries().unwrap().map(read).collect()
}

fn names(archive: &[u8]) -> Vec<String> {
    members(archive).into_iter().map(|(name, _)| name).collect()
}

/// The text of the JSON of the only sample.
fn document_text(chunk: Chunk) -> String {
    let members = members(&archive(&[chunk], ImageTokens::Part));
    let mut documents = members.into_iter().filter(|(name, _)| name.ends_with(".json"));
    let (_, document) = documents.next().unwrap();
    assert!(documents.next().is_none());
    String::from_utf8(document).unwrap()
}

fn document(lines: &[Line]) -> Value {
    serde_json::from_str(&document_text(chunk(lines))).unwrap()
}
