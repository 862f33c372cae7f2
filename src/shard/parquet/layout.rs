//! What a Parquet shard looks like: columns, codecs, file-level metadata.

use std::sync::Arc;

use arrow_array::types::Date32Type;
use arrow_array::{Array, ArrayRef, Date64Array, make_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::JsonFields;
use super::payload::Storage;
use crate::manifest::rows::*;

/// The codec of the columns, and of payloads if it makes them smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParquetCodec {
    None,
    Snappy,
    Lz4,
    Zstd,
}

impl ParquetCodec {
    pub fn compression(self) -> Compression {
        match self {
            ParquetCodec::None => Compression::UNCOMPRESSED,
            ParquetCodec::Snappy => Compression::SNAPPY,
            ParquetCodec::Lz4 => Compression::LZ4_RAW,
            ParquetCodec::Zstd => Compression::ZSTD(ZstdLevel::try_new(3).expect("3 is a level of zstd")),
        }
    }
}

/// The columns of a shard, in order.
#[derive(Clone, Debug)]
pub struct ParquetLayout {
    pub schema: SchemaRef,
    pub codec: ParquetCodec,
    /// The columns of the other fields of JSONL rows; `None` for the rows of Parquet files.
    pub json_fields: Option<Arc<JsonFields>>,
}

impl ParquetLayout {
    /// The columns of a Parquet manifest, in its order, with days as `date32`. The payload column
    /// becomes `large_binary` and the error column text; if they are missing, they are added at the end.
    pub fn from_parquet(manifest: &Schema, codec: ParquetCodec) -> ParquetLayout {
        let mut fields: Vec<Arc<Field>> = manifest.fields().iter().map(with_days).collect();
        set(&mut fields, BINARY_CONTENT, |_| DataType::LargeBinary);
        set(&mut fields, MATERIALIZE_ERROR, |old| match old {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => old.clone(),
            _ => DataType::Utf8,
        });
        let schema = Arc::new(Schema::new_with_metadata(fields, manifest.metadata().clone()));
        ParquetLayout { schema, codec, json_fields: None }
    }

    /// The interleaved schema, then the other fields of JSONL rows.
    pub fn from_jsonl(json_fields: Arc<JsonFields>, codec: ParquetCodec) -> ParquetLayout {
        let mut fields = vec![
            Field::new(SAMPLE_ID, DataType::Utf8, false),
            Field::new(POSITION, DataType::Int32, false),
            Field::new(MODALITY, DataType::Utf8, false),
            Field::new(CONTENT_TYPE, DataType::Utf8, true),
            Field::new(TEXT_CONTENT, DataType::Utf8, true),
            Field::new(BINARY_CONTENT, DataType::LargeBinary, true),
            Field::new(SOURCE_REF, DataType::Utf8, true),
            Field::new(MATERIALIZE_ERROR, DataType::Utf8, true),
        ];
        fields.extend(json_fields.schema().fields().iter().map(|field| field.as_ref().clone()));
        ParquetLayout { schema: Arc::new(Schema::new(fields)), codec, json_fields: Some(json_fields) }
    }

    /// The properties of a file that stores payloads as `payloads` by default.
    pub fn properties(&self, payloads: Storage) -> WriterProperties {
        let column = ColumnPath::from(BINARY_CONTENT);
        builder()
            .set_compression(self.codec.compression())
            .set_column_dictionary_enabled(column.clone(), payloads.dictionary)
            .set_column_dictionary_page_size_limit(column.clone(), usize::MAX)
            .set_column_compression(column, payloads.codec.compression())
            .build()
    }

    /// The properties of the payload column of one row group.
    pub fn payload_properties(payloads: Storage) -> WriterProperties {
        builder()
            .set_dictionary_enabled(payloads.dictionary)
            .set_dictionary_page_size_limit(usize::MAX)
            .set_compression(payloads.codec.compression())
            .build()
    }

    /// The file-level metadata of the manifest, sorted by key.
    pub fn metadata(&self) -> Vec<KeyValue> {
        let pairs = self.schema.metadata().iter();
        let mut pairs: Vec<_> = pairs.map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
        pairs.sort_by(|a, b| a.key.cmp(&b.key));
        pairs
    }
}

/// The null count of payloads shows a later run which payloads are there without reading them. Bounds
/// are cut to a few bytes.
fn builder() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_column_statistics_enabled(ColumnPath::from(BINARY_CONTENT), EnabledStatistics::Chunk)
        .set_statistics_truncate_length(Some(16))
        .set_max_row_group_row_count(None)
        .set_created_by(concat!("onepull version ", env!("CARGO_PKG_VERSION")).to_owned())
}

fn set(fields: &mut Vec<Arc<Field>>, name: &str, data_type: impl Fn(&DataType) -> DataType) {
    match fields.iter_mut().find(|field| field.name() == name) {
        Some(field) => {
            let new = field.as_ref().clone().with_data_type(data_type(field.data_type())).with_nullable(true);
            *field = Arc::new(new);
        }
        None => fields.push(Arc::new(Field::new(name, data_type(&DataType::Null), true))),
    }
}

const MILLISECONDS_OF_DAY: i64 = 24 * 60 * 60 * 1000;

/// The field with every `date64` in its type replaced by `date32`. Both are days, and only Arrow's own
/// readers know `date64`.
fn with_days(field: &Arc<Field>) -> Arc<Field> {
    Arc::new(field.as_ref().clone().with_data_type(days_type(field.data_type())))
}

fn days_type(old: &DataType) -> DataType {
    match old {
        DataType::Date64 => DataType::Date32,
        DataType::List(inner) => DataType::List(with_days(inner)),
        DataType::LargeList(inner) => DataType::LargeList(with_days(inner)),
        DataType::FixedSizeList(inner, size) => DataType::FixedSizeList(with_days(inner), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_days).collect()),
        DataType::Map(entries, sorted) => DataType::Map(with_days(entries), *sorted),
        other => other.clone(),
    }
}

/// The values, converted to the type that [`with_days`] gives them.
pub fn to_days(array: &ArrayRef) -> anyhow::Result<ArrayRef> {
    let data_type = days_type(array.data_type());
    if &data_type == array.data_type() {
        return Ok(array.clone());
    }
    let data = array.to_data();
    if data.data_type() == &DataType::Date64 {
        let dates = Date64Array::from(data);
        return Ok(Arc::new(
            dates.unary_opt::<_, Date32Type>(|time| i32::try_from(time / MILLISECONDS_OF_DAY).ok()),
        ));
    }
    let inner = data.child_data().iter().map(|inner| Ok(to_days(&make_array(inner.clone()))?.into_data()));
    let inner = inner.collect::<anyhow::Result<_>>()?;
    Ok(make_array(data.into_builder().data_type(data_type).child_data(inner).build()?))
}
