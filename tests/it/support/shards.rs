//! Shards read back by readers that are not the program's own: the parquet and tar crates.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

/// A row of a shard, as far as both formats say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub sample_id: String,
    pub position: i64,
    pub modality: String,
    pub text: Option<String>,
    pub payload: Option<Vec<u8>>,
    pub error: Option<String>,
    /// Tars say it of rows without payload only.
    pub source_ref: Option<String>,
}

impl Written {
    pub fn is_image(&self) -> bool {
        self.modality == "image"
    }
}

/// The rows of a shard, told by its name, in their order. Metadata rows of a tar are not told.
pub fn read(path: &Path) -> Vec<Written> {
    if path.extension().is_some_and(|extension| extension == "parquet") {
        read_parquet(path)
    } else {
        read_tar(path)
    }
}

/// The payloads of the image rows, in order.
pub fn images(path: &Path) -> Vec<Option<Vec<u8>>> {
    read(path).into_iter().filter(Written::is_image).map(|row| row.payload).collect()
}

pub fn read_parquet(path: &Path) -> Vec<Written> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.build().unwrap().flat_map(|batch| rows_of(&batch.unwrap())).collect()
}

/// Columns that the manifest did not have count as null, which is "" and -1 where there must be a
/// value.
fn rows_of(batch: &RecordBatch) -> Vec<Written> {
    let column = |name: &str, data_type: DataType| match batch.column_by_name(name) {
        Some(column) => arrow_cast::cast(column, &data_type).unwrap(),
        None => arrow_array::new_null_array(&data_type, batch.num_rows()),
    };
    let text = |name: &str| -> Vec<Option<String>> {
        let column = column(name, DataType::LargeUtf8);
        column.as_string::<i64>().iter().map(|value| value.map(str::to_owned)).collect()
    };
    let (sample_id, modality) = (text("sample_id"), text("modality"));
    let (texts, errors) = (text("text_content"), text("materialize_error"));
    let locators = text("source_ref");
    let position = column("position", DataType::Int64);
    let position = position.as_primitive::<Int64Type>();
    let payload = batch.column_by_name("binary_content").unwrap().as_binary::<i64>();
    (0..batch.num_rows())
        .map(|row| Written {
            sample_id: sample_id[row].clone().unwrap_or_default(),
            position: if position.is_valid(row) { position.value(row) } else { -1 },
            modality: modality[row].clone().unwrap_or_default(),
            text: texts[row].clone(),
            payload: payload.is_valid(row).then(|| payload.value(row).to_vec()),
            error: errors[row].clone(),
            source_ref: locators[row].clone(),
        })
        .collect()
}

pub fn read_tar(path: &Path) -> Vec<Written> {
    let mut archive = tar::Archive::new(File::open(path).unwrap());
    let mut payloads: HashMap<String, Vec<u8>> = HashMap::new();
    let mut rows = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        if name.ends_with(".json") {
            rows.extend(rows_of_sample(&serde_json::from_slice(&content).unwrap(), &mut payloads));
            assert!(payloads.is_empty(), "members that {name} does not name: {:?}", payloads.keys());
        } else {
            assert!(payloads.insert(name.clone(), content).is_none(), "{name} comes twice");
        }
    }
    assert!(payloads.is_empty(), "members without a document: {:?}", payloads.keys());
    rows
}

fn rows_of_sample(document: &Value, payloads: &mut HashMap<String, Vec<u8>>) -> Vec<Written> {
    let at = |list: &str, position: usize| {
        document.get(list).and_then(|list| list.get(position)).and_then(Value::as_str).map(str::to_owned)
    };
    let positions = document["images"].as_array().unwrap().len();
    let mut rows = Vec::new();
    for position in 0..positions {
        let (text, image) = (at("texts", position), at("images", position));
        let error = at("materialize_error", position);
        if text.is_none() && image.is_none() && error.is_none() {
            continue;
        }
        let modality = if image.is_some() || error.is_some() { "image" } else { "text" };
        rows.push(Written {
            sample_id: document["sample_id"].as_str().unwrap().to_owned(),
            position: position as i64,
            modality: modality.into(),
            text,
            payload: image.map(|name| payloads.remove(&name).expect("a member of this name")),
            error,
            source_ref: at("source_ref", position),
        });
    }
    rows
}
