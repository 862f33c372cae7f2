//! Parquet manifests as other writers make them.

use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::arrow::arrow_writer::{ArrowWriterOptions, compute_leaves};
use ::parquet::basic::Type as PhysicalType;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::*;
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};

use super::*;
use crate::support::files;

/// A file of these tables, each a row group.
fn file(tables: &[RecordBatch]) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), tables[0].schema(), None).unwrap();
    for table in tables {
        writer.write(table).unwrap();
        writer.flush().unwrap();
    }
    writer.into_inner().unwrap()
}

/// The rows of a shard as they stand in it.
fn batches(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

/// A bench with a good source, and `count` image rows that name it.
fn bench(count: usize) -> (Bench, RecordBatch) {
    let bench = Bench::new();
    bench.write("data/good", "good");
    let rows: Vec<Row> = (0..count).map(|at| image(format!("s{at}"), whole("good"))).collect();
    (bench, manifests::table(&rows))
}

/// `table` with this column in place of its own of that name, or without it.
fn with(table: &RecordBatch, name: &str, column: Option<ArrayRef>) -> RecordBatch {
    let schema = table.schema();
    let old = schema.fields().iter().zip(table.columns());
    let kept = old.map(|(field, array)| (field.name().as_str(), array.clone()));
    let mut columns: Vec<(&str, ArrayRef)> = kept.filter(|(old, _)| *old != name).collect();
    columns.extend(column.map(|column| (name, column)));
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// Runs to a shard of each format; every image must have got the good payload.
fn check_good(bench: &Bench, images: usize) {
    for format in FORMATS {
        let run = bench.run_afresh(&["--format", format]);
        assert_eq!(run.complete().count("materialized"), images as u64, "{}", run.stderr);
        let rows = bench.shard(format);
        assert_eq!(rows.iter().filter(|row| row.is_image()).count(), images);
        assert!(rows.iter().filter(|row| row.is_image()).all(|row| row.payload.as_deref() == Some(b"good")));
    }
}

#[test]
fn text_may_come_in_every_form_that_arrow_has_for_it() {
    let dictionary =
        |keys: DataType, values: DataType| DataType::Dictionary(Box::new(keys), Box::new(values));
    let forms = [
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
        dictionary(DataType::Int32, DataType::Utf8),
        dictionary(DataType::Int8, DataType::LargeUtf8),
        dictionary(DataType::UInt16, DataType::Binary),
    ];
    for form in forms {
        let (bench, mut table) = bench(5);
        for name in ["sample_id", "modality", "source_ref", "content_type"] {
            let column = cast(table.column_by_name(name).unwrap(), &form).unwrap();
            table = with(&table, name, Some(column));
        }
        bench.write("in/m.parquet", file(&[table.slice(0, 2), table.slice(2, 3)]));
        check_good(&bench, 5);
    }
}

#[test]
fn two_columns_of_one_name_are_refused_by_name() {
    let (bench, table) = bench(2);
    let mut fields = table.schema().fields().to_vec();
    fields.push(Arc::new(Field::new("modality", DataType::Utf8, true)));
    let mut columns = table.columns().to_vec();
    columns.push(Arc::new(StringArray::from(vec!["a", "b"])));
    let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    bench.write("in/m.parquet", file(&[table]));
    let run = bench.run(&[]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("there are two columns `modality`"), "{}", run.stderr);
}

#[test]
fn days_times_of_zones_and_metadata_pass_through() {
    let (bench, table) = bench(2);
    let days: ArrayRef = Arc::new(Date64Array::from(vec![Some(1_577_836_800_000), None]));
    let times = TimestampMicrosecondArray::from(vec![Some(0), None]).with_timezone("Europe/Berlin");
    let table = with(&with(&table, "days", Some(days)), "times", Some(Arc::new(times)));
    let metadata: std::collections::HashMap<_, _> =
        [("huggingface".to_owned(), "{}".to_owned()), ("a".to_owned(), "b".to_owned())].into();
    let schema = table.schema().as_ref().clone().with_metadata(metadata);
    let table = table.with_schema(Arc::new(schema)).unwrap();
    bench.write("in/m.parquet", file(std::slice::from_ref(&table)));
    bench.run(&["--format", "parquet"]).complete();
    let written = fs::File::open(bench.path("out/m.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(written).unwrap();
    assert_eq!(reader.schema().metadata(), table.schema().metadata());
    let days = reader.parquet_schema().columns().iter().find(|column| column.name() == "days").unwrap();
    assert_eq!(days.physical_type(), PhysicalType::INT32, "as DATE");
    let rows = reader.build().unwrap().next().unwrap().unwrap();
    assert_eq!(rows.column_by_name("times"), table.column_by_name("times"));
    let days = cast(rows.column_by_name("days").unwrap(), &DataType::Date64).unwrap();
    assert_eq!(Some(&days), table.column_by_name("days"));
    bench.run_afresh(&["--format", "webdataset"]).complete();
}

#[test]
fn a_dictionary_with_nulls_among_its_values_means_null() {
    let (bench, table) = bench(4);
    let good = whole("good").to_string();
    let values: StringArray = [Some(good.as_str()), None].into_iter().collect();
    let keys = Int8Array::from(vec![Some(0), Some(1), None, Some(0)]);
    let refs = DictionaryArray::<Int8Type>::new(keys, Arc::new(values));
    bench.write("in/m.parquet", file(&[with(&table, "source_ref", Some(Arc::new(refs)))]));
    let run = bench.run(&[]);
    assert_eq!((run.count("materialized"), run.count("no_locator")), (2, 2), "{}", run.stderr);
}

#[test]
fn a_column_of_nulls_may_have_any_type() {
    let nulls: [ArrayRef; 4] = [
        Arc::new(NullArray::new(3)),
        Arc::new(Int32Array::new_null(3)),
        Arc::new(Float64Array::new_null(3)),
        Arc::new(BooleanArray::new_null(3)),
    ];
    for nulls in nulls {
        for name in ["content_type", "text_content", "binary_content", "materialize_error"] {
            let (bench, table) = bench(3);
            bench.write("in/m.parquet", file(&[with(&table, name, Some(nulls.clone()))]));
            check_good(&bench, 3);
        }
        let (bench, table) = bench(3);
        bench.write("in/m.parquet", file(&[with(&table, "source_ref", Some(nulls.clone()))]));
        let run = bench.run(&[]);
        assert_eq!((run.code, run.count("no_locator"), run.count("rows_out")), (0, 3, 3), "{}", run.stderr);
    }
}

/// Asserts that the run names the manifest and the column, and fetches nothing.
fn assert_refused(bench: &Bench, flags: &[&str], column: &str) {
    bench.jsonl("in/good.jsonl", &[]);
    let run = bench.run_afresh(flags);
    assert_eq!(run.code, 3, "{flags:?} {column}: {}", run.stderr);
    let told = run.stderr.lines().find(|line| line.contains("in/m.parquet: "));
    assert!(told.is_some_and(|told| told.contains(&format!("`{column}`"))), "{column}: {}", run.stderr);
    assert_eq!(run.report["unreadable"][0]["path"], "in/m.parquet", "{column}: {}", run.stderr);
    assert_eq!(run.count("source.requests"), 0, "{column}");
    let shards: Vec<_> = files::shards(&bench.path("out")).into_keys().collect();
    assert!(shards.iter().all(|shard| shard.file_stem().unwrap() == "good"), "{shards:?}");
}

#[test]
fn a_missing_column_is_named_before_anything_is_fetched() {
    for name in ["modality", "source_ref"] {
        let (bench, table) = bench(2);
        bench.write("in/m.parquet", file(&[with(&table, name, None)]));
        for format in FORMATS {
            assert_refused(&bench, &["--format", format], name);
        }
    }
    for (name, flags) in [
        ("sample_id", ["--format=webdataset", "--on-error=keep"]),
        ("position", ["--format=webdataset", "--on-error=keep"]),
        ("sample_id", ["--format=parquet", "--on-error=drop-sample"]),
    ] {
        let (bench, table) = bench(2);
        bench.write("in/m.parquet", file(&[with(&table, name, None)]));
        assert_refused(&bench, &flags, name);
    }
    let (bench, table) = bench(2);
    let table = with(&with(&table, "sample_id", None), "position", None);
    bench.write("in/m.parquet", file(&[table]));
    let run = bench.run(&["--format", "parquet"]);
    assert_eq!(run.complete().count("materialized"), 2, "nobody needs them");
}

#[test]
fn a_column_of_another_type_is_named_before_anything_is_fetched() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let names = ["modality", "source_ref", "binary_content", "materialize_error"];
    for (name, format) in names.iter().flat_map(|name| FORMATS.map(|format| (name, format))) {
        let (bench, table) = bench(2);
        bench.write("in/m.parquet", file(&[with(&table, name, Some(numbers.clone()))]));
        assert_refused(&bench, &["--format", format], name);
    }
    for name in ["content_type", "text_content", "sample_id"] {
        let (bench, table) = bench(2);
        bench.write("in/m.parquet", file(&[with(&table, name, Some(numbers.clone()))]));
        assert_refused(&bench, &["--format", "webdataset"], name);
    }
}

#[test]
fn nested_columns_pass_through_over_several_batches() {
    let (bench, table) = bench(5000);
    let lengths = (0..5000usize).map(|row| row % 7);
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
    let values: ArrayRef = Arc::new((0..i64::from(offsets[5000])).collect::<Int64Array>());
    let lists = ListArray::new(Arc::new(Field::new("item", DataType::Int64, true)), offsets, values, None);
    let inner = Arc::new(Field::new("lists", lists.data_type().clone(), true));
    let structs = StructArray::new(vec![inner].into(), vec![Arc::new(lists)], None);
    let ends = ScalarBuffer::from((0..=5000).collect::<Vec<i32>>());
    let field = Arc::new(Field::new("item", structs.data_type().clone(), true));
    let nested: ArrayRef = Arc::new(ListArray::new(field, OffsetBuffer::new(ends), Arc::new(structs), None));
    let table = with(&table, "nested", Some(nested.clone()));
    bench.write("in/m.parquet", file(&[table.slice(0, 3000), table.slice(3000, 2000)]));
    bench.run(&["--row-group-size", "1kB"]).complete();
    let got: Vec<ArrayRef> =
        batches(&bench.path("out/m.parquet")).iter().map(|batch| batch["nested"].clone()).collect();
    let got: Vec<&dyn Array> = got.iter().map(|array| array.as_ref()).collect();
    assert_eq!(&arrow_select::concat::concat(&got).unwrap(), &nested);
    check_good(&bench, 5000);
}

#[test]
fn fields_of_jsonl_rows_become_columns_without_loss() {
    let (bench, _) = bench(0);
    let row = image("s", whole("good")).json().to_string();
    let fields = [
        r#""id":9007199254740993,"tags":[],"more":{"n":null,"at":[{"x":1}]}"#,
        r#""id":0.5,"none":null,"whole":7"#,
        r#""id":18446744073709551615,"tags":[null],"more":null"#,
    ];
    let rows = fields.map(|fields| row.replacen('{', &format!("{{{fields},"), 1));
    bench.write("in/m.jsonl", rows.join("\n"));
    bench.run(&["--format", "parquet"]).complete();
    let shard = batches(&bench.path("out/m.parquet")).pop().unwrap();
    let ids: Vec<_> = shard["id"].as_string::<i32>().iter().flatten().collect();
    assert_eq!(ids, ["9007199254740993", "0.5", "18446744073709551615"]);
    let nulls = ["tags", "more", "none", "whole"].map(|name| shard[name].null_count());
    assert_eq!(nulls, [1, 2, 3, 2]);
    assert_eq!(shard["whole"].as_primitive::<Int64Type>().value(1), 7);
    let tags: Vec<_> = shard["tags"].as_string::<i32>().iter().collect();
    assert_eq!(tags, [Some("[]"), None, Some("[null]")]);
    assert_eq!(shard["more"].as_string::<i32>().value(0), r#"{"n":null,"at":[{"x":1}]}"#);
}

#[test]
fn row_groups_and_files_without_rows_are_no_errors() {
    let (bench, table) = bench(3);
    bench.write("in/m.parquet", with_empty_row_groups(&table));
    let metadata =
        ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(bench.path("in/m.parquet")).unwrap());
    let row_groups =
        metadata.unwrap().metadata().row_groups().iter().map(|group| group.num_rows()).collect::<Vec<_>>();
    assert_eq!(row_groups, [0, 3, 0, 3, 0]);
    check_good(&bench, 6);

    bench.write("in/m.parquet", file(&[table.slice(0, 0)]));
    for format in FORMATS {
        let run = bench.run_afresh(&["--format", format]);
        assert_eq!((run.complete().count("rows_in"), bench.shard(format)), (0, vec![]));
    }
}

/// A file with row groups of 0, 3, 0, 3 and 0 rows.
fn with_empty_row_groups(table: &RecordBatch) -> Vec<u8> {
    let writer =
        ArrowWriter::try_new_with_options(Vec::new(), table.schema(), ArrowWriterOptions::new()).unwrap();
    let (mut file, factory) = writer.into_serialized_writer().unwrap();
    for (number, rows) in [0, 3, 0, 3, 0].into_iter().enumerate() {
        let mut columns = factory.create_column_writers(number).unwrap();
        for ((field, array), writer) in table.schema().fields().iter().zip(table.columns()).zip(&mut columns)
        {
            for leaf in compute_leaves(field, &array.slice(0, rows)).unwrap() {
                writer.write(&leaf).unwrap();
            }
        }
        let mut group = file.next_row_group().unwrap();
        for column in columns {
            column.close().unwrap().append_to_row_group(&mut group).unwrap();
        }
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

#[test]
fn three_hundred_columns_pass_through_in_their_order() {
    let (bench, mut table) = bench(3);
    for number in (0..300).rev() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![number; 3]));
        table = with(&table, &format!("column {number}"), Some(column));
    }
    bench.write("in/m.parquet", file(&[table.clone()]));
    bench.run(&[]).complete();
    let shard = batches(&bench.path("out/m.parquet")).pop().unwrap();
    let names =
        |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    assert_eq!(names(&shard.schema())[..307], names(&table.schema()));
    assert_eq!(shard["column 7"].as_primitive::<Int64Type>().values(), &[7, 7, 7]);
    check_good(&bench, 3);
}

#[test]
fn payloads_that_are_there_already_stay_and_are_not_read_from_anywhere() {
    let bench = Bench::new();
    bench.write("data/good", "good");
    let rows = [image("s0", whole("missing")), image("s1", whole("good")), image("s2", whole("missing"))];
    let payloads = [Some(&b"here"[..]), None, Some(b"")];
    let forms: [ArrayRef; 3] = [
        Arc::new(payloads.iter().copied().collect::<BinaryArray>()),
        Arc::new(payloads.iter().copied().collect::<LargeBinaryArray>()),
        Arc::new(payloads.iter().copied().collect::<BinaryViewArray>()),
    ];
    for form in forms {
        for level in [EnabledStatistics::Chunk, EnabledStatistics::None] {
            let table = with(&manifests::table(&rows), "binary_content", Some(form.clone()));
            let properties = WriterProperties::builder().set_statistics_enabled(level).build();
            let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties)).unwrap();
            writer.write(&table).unwrap();
            bench.write("in/m.parquet", writer.into_inner().unwrap());
            for format in FORMATS {
                let run = bench.run_afresh(&["--format", format]);
                let counts = ["already_present", "references", "materialized"].map(|field| run.count(field));
                assert_eq!((run.complete().code, counts), (0, [2, 1, 1]));
                let images: Vec<_> =
                    bench.shard(format).into_iter().map(|row| row.payload.unwrap()).collect();
                assert_eq!(images, [&b"here"[..], b"good", b""]);
            }
        }
    }
}

#[test]
fn rows_are_numbered_over_all_row_groups() {
    let (bench, table) = bench(7);
    let mut refs: Vec<String> = vec![whole("good").to_string(); 7];
    refs[5] = "{".into();
    let table = with(&table, "source_ref", Some(Arc::new(StringArray::from(refs))));
    bench.write("in/m.parquet", file(&[table.slice(0, 2), table.slice(2, 2), table.slice(4, 3)]));
    for jobs in ["1", "4"] {
        let run = bench.run_afresh(&["-j", jobs]);
        assert!(run.stderr.contains("in/m.parquet: row 6: bad_locator: "), "{}", run.stderr);
    }
}

#[test]
fn a_column_chunk_of_more_than_2_gib_is_read_in_pieces() {
    let bench = Bench::new();
    let rows = 740;
    // One value of 3 MB in a dictionary, which makes a small file.
    let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(3_000_000)]));
    let keys = Int32Array::from(vec![0; rows]);
    let long = DictionaryArray::new(keys, long);
    let refs: ArrayRef = Arc::new(StringArray::new_null(rows));
    let table =
        RecordBatch::try_from_iter([("modality", Arc::new(long) as ArrayRef), ("source_ref", refs)]).unwrap();
    let properties = WriterProperties::builder().set_dictionary_page_size_limit(usize::MAX).build();
    let mut writer = ArrowWriter::try_new_with_options(
        Vec::new(),
        table.schema(),
        // The column is text for whoever reads it.
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true),
    )
    .unwrap();
    writer.write(&table).unwrap();
    bench.write("in/m.parquet", writer.into_inner().unwrap());
    let run = bench.run(&["--dry-run", "--memory", "64MB"]);
    assert_eq!(run.complete().count("rows_in"), rows as u64, "{}", run.stderr);
}
