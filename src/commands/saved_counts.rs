//! Saved counts: what `analyze --save` writes and `size --from` reads.
//!
//! A Parquet file with one row for each pair of multiplicity and size:
//!
//! | column | type | |
//! |---|---|---|
//! | `references` | uint64 | references to each of the objects, at least 1 |
//! | `bytes` | uint64 | the size of each; null where it is unknown |
//! | `objects` | uint64 | how many objects have these two values |
//!
//! Rows are sorted by references, descending, and then by bytes. The metadata of the file has the
//! totals, so that lost or changed rows are noticed. A file without totals, written by another tool, is
//! not checked.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::analysis::table::{MultiplicityTable, TableRow};
use crate::catch_panic::catch_panic;
use crate::commands::outputs;
use crate::manifest::rows::whole_numbers;

const COLUMNS: [&str; 3] = ["references", "bytes", "objects"];

/// The keys of the totals in the metadata: the sums of references, of objects, and of the bytes of
/// the objects of known size.
const TOTALS: [&str; 3] = ["onepull.references", "onepull.objects", "onepull.unique_bytes"];

/// How the counts of earlier versions begin.
const EARLIER: &[u8] = b"onepull counts\0";

const AGAIN: &str = "save the counts again with `onepull analyze --save FILE`";

/// Rows of a row group, which one thread reads.
const ROW_GROUP: usize = 1 << 17;

/// References that a row group may count, which keeps all sums far below 2^64.
const MOST: u64 = 1 << 50;

/// Writes `file`, whole or not at all, replacing whatever has its name.
pub fn write(table: &MultiplicityTable, file: &Path) -> anyhow::Result<()> {
    let mut rows: Vec<TableRow> = table.rows().collect();
    rows.sort_unstable_by_key(|row| (Reverse(row.k), row.size));
    outputs::write(file, |file| write_rows(&rows, file))
}

fn write_rows(rows: &[TableRow], file: &mut File) -> anyhow::Result<()> {
    let field = |name: &&str| Field::new(*name, DataType::UInt64, *name == "bytes");
    let schema = Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()));
    let bytes = ColumnPath::from("bytes");
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_column_dictionary_enabled(bytes.clone(), false)
        .set_column_encoding(bytes, Encoding::DELTA_BINARY_PACKED)
        .set_key_value_metadata(Some(totals(rows)))
        .build();
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(file, schema.clone(), options)?;
    for rows in rows.chunks(ROW_GROUP) {
        let references = UInt64Array::from_iter_values(rows.iter().map(|row| row.k));
        let bytes: UInt64Array = rows.iter().map(|row| row.size).collect();
        let objects = UInt64Array::from_iter_values(rows.iter().map(|row| row.objects));
        let columns = vec![Arc::new(references) as _, Arc::new(bytes) as _, Arc::new(objects) as _];
        writer.write(&RecordBatch::try_new(schema.clone(), columns)?)?;
    }
    writer.close()?;
    Ok(())
}

fn totals(rows: &[TableRow]) -> Vec<KeyValue> {
    let sum = |of: fn(&TableRow) -> u128| rows.iter().map(|row| of(row) * u128::from(row.objects)).sum();
    let sums: [u128; 3] = [sum(|row| row.k.into()), sum(|_| 1), sum(|row| row.size.unwrap_or(0).into())];
    TOTALS.iter().zip(sums).map(|(key, sum)| KeyValue::new(key.to_string(), sum.to_string())).collect()
}

/// The counts in `file`, read by the threads of the current pool.
///
/// Fails, naming the file, when it cannot be read, is no Parquet file with these columns, or is not
/// what was written.
pub fn read(file: &Path) -> anyhow::Result<MultiplicityTable> {
    catch_panic(|| read_all(file)).with_context(|| file.display().to_string())
}

fn read_all(path: &Path) -> anyhow::Result<MultiplicityTable> {
    let mut file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!("{error}; `onepull analyze --save FILE` writes one"),
        _ => error.into(),
    })?;
    let mut start = Vec::new();
    file.by_ref().take(EARLIER.len() as u64).read_to_end(&mut start)?;
    ensure!(start != EARLIER, "an older onepull wrote this file; {AGAIN}");
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| {
        anyhow!("not a complete Parquet file ({error}); make one with `onepull analyze --save FILE`")
    })?;
    for name in COLUMNS {
        ensure!(
            metadata.schema().column_with_name(name).is_some(),
            "column `{name}` is missing; `onepull analyze --save FILE` writes a file with the columns {}",
            COLUMNS.join(", ")
        );
    }
    let groups = 0..metadata.metadata().num_row_groups();
    let group = |nth| catch_panic(|| read_row_group(path, &metadata, nth));
    let mut table =
        groups.into_par_iter().map(group).try_reduce(MultiplicityTable::default, |mut table, more| {
            table.append(more);
            Ok(table)
        })?;
    table.settle();
    check_totals(&metadata, &table)?;
    Ok(table)
}

fn read_row_group(
    path: &Path,
    metadata: &ArrowReaderMetadata,
    nth: usize,
) -> anyhow::Result<MultiplicityTable> {
    let columns = ProjectionMask::columns(metadata.parquet_schema(), COLUMNS);
    // Opened again, since a copy of the first one would share its position among threads.
    let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata.clone())
        .with_projection(columns)
        .with_row_groups(vec![nth])
        .build()?;
    let (mut table, mut all) = (MultiplicityTable::default(), 0u64);
    for batch in batches {
        let batch = batch?;
        let [references, bytes, counts] = COLUMNS.map(|name| numbers(&batch, name));
        let (references, bytes, counts) = (references?, bytes?, counts?);
        for row in 0..batch.num_rows() {
            let whole = references.is_valid(row) && references.value(row) > 0 && counts.is_valid(row);
            ensure!(whole, "a row has no references or no objects");
            let (k, objects) = (references.value(row), counts.value(row));
            all = k.checked_mul(objects).and_then(|more| all.checked_add(more)).unwrap_or(u64::MAX);
            ensure!(all <= MOST, "the file is damaged or edited: it counts too many objects; {AGAIN}");
            let size = bytes.is_valid(row).then(|| bytes.value(row));
            table.push_row(TableRow { k, size, objects });
        }
    }
    Ok(table)
}

/// A column as whole numbers, whatever type another tool gave it.
fn numbers(batch: &RecordBatch, name: &str) -> anyhow::Result<UInt64Array> {
    let column = batch.column_by_name(name).with_context(|| format!("column `{name}` is missing"))?;
    let Some(numbers) = whole_numbers::<UInt64Type>(column) else {
        bail!("column `{name}` has type {}, not a number", column.data_type())
    };
    // A value that does not fit becomes null.
    ensure!(
        numbers.null_count() == column.logical_null_count(),
        "column `{name}` has a value that is not a non-negative integer"
    );
    Ok(numbers)
}

fn check_totals(metadata: &ArrowReaderMetadata, table: &MultiplicityTable) -> anyhow::Result<()> {
    let found = table.totals();
    let sums: [u128; 3] = [found.references.into(), found.objects.into(), found.unique_bytes];
    for (key, sum) in TOTALS.iter().zip(sums) {
        if let Some(total) = stated(metadata, key) {
            ensure!(
                total == sum.to_string(),
                "the file is damaged or edited: {key} is {total}, but its rows have {sum}; {AGAIN}"
            );
        }
    }
    Ok(())
}

/// A total of the metadata, if it is there.
fn stated<'m>(metadata: &'m ArrowReaderMetadata, key: &str) -> Option<&'m str> {
    let pairs = metadata.metadata().file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

#[cfg(test)]
mod tests {
    use std::{fs, iter};

    use arrow_array::{Float64Array, Int32Array, Int64Array};

    use super::*;

    const ROWS: [(u64, Option<u64>); 6] =
        [(1, None), (127, Some(0)), (128, Some(127)), (1, Some(5)), (1, Some(5)), (1 << 40, Some(1 << 50))];

    fn write(file: &Path) {
        super::write(&table(ROWS), file).unwrap();
    }

    fn table(objects: impl IntoIterator<Item = (u64, Option<u64>)>) -> MultiplicityTable {
        let mut table = MultiplicityTable::default();
        objects.into_iter().for_each(|(k, size)| table.push(k, size));
        table.settle();
        table
    }

    fn sorted(file: &Path) -> anyhow::Result<Vec<(u64, Option<u64>)>> {
        let each = |row: TableRow| iter::repeat_n((row.k, row.size), row.objects as usize);
        let mut rows: Vec<_> = read(file)?.rows().flat_map(each).collect();
        rows.sort_unstable();
        Ok(rows)
    }

    fn expected() -> Vec<(u64, Option<u64>)> {
        let mut rows = ROWS.to_vec();
        rows.sort_unstable();
        rows
    }

    /// Writes columns as another tool does, with these totals.
    fn foreign(file: &Path, columns: Vec<(&str, Arc<dyn Array>)>, totals: Option<Vec<KeyValue>>) {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder().set_key_value_metadata(totals).build();
        let mut writer =
            ArrowWriter::try_new(File::create(file).unwrap(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn counts_are_read_as_they_were_saved() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts.parquet");
        fs::write(&file, "what was there").unwrap();
        write(&file);
        assert_eq!(sorted(&file).unwrap(), expected());
        let empty = folder.path().join("empty.parquet");
        super::write(&table([]), &empty).unwrap();
        assert_eq!(sorted(&empty).unwrap(), []);
    }

    #[test]
    fn counts_of_many_row_groups_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts.parquet");
        let rows = 2 * ROW_GROUP as u64 + 3;
        super::write(&table((0..rows).map(|n| (1 + n % 3, Some(n)))), &file).unwrap();
        let totals = read(&file).unwrap().totals();
        assert_eq!(
            (totals.objects, totals.unique_bytes),
            (rows, u128::from(rows) * u128::from(rows - 1) / 2)
        );
    }

    #[test]
    fn a_file_that_is_cut_off_or_damaged_is_refused_or_still_says_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts.parquet");
        write(&file);
        let bytes = fs::read(&file).unwrap();
        for length in 0..bytes.len() {
            fs::write(&file, &bytes[..length]).unwrap();
            assert!(read(&file).is_err(), "{length} bytes of {}", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            fs::write(&file, &damaged).unwrap();
            if let Ok(rows) = sorted(&file) {
                assert_eq!(rows, expected(), "byte {at}");
            }
        }
    }

    #[test]
    fn files_of_other_tools_are_read_whatever_the_types_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts.parquet");
        let columns = |bytes: Vec<Option<f64>>| -> Vec<(&str, Arc<dyn Array>)> {
            vec![
                ("note", Arc::new(Int32Array::from(vec![7, 7]))),
                ("objects", Arc::new(Int32Array::from(vec![2, 1]))),
                ("references", Arc::new(Int64Array::from(vec![3, 9]))),
                ("bytes", Arc::new(Float64Array::from(bytes))),
            ]
        };
        foreign(&file, columns(vec![Some(1e12), None]), None);
        let large = 1_000_000_000_000;
        assert_eq!(sorted(&file).unwrap(), [(3, Some(large)), (3, Some(large)), (9, None)]);
        foreign(&file, columns(vec![Some(-1.0), None]), None);
        let error = format!("{:#}", sorted(&file).unwrap_err());
        assert!(error.contains("counts.parquet: column `bytes` has a value"), "{error}");
        let totals = vec![KeyValue::new(TOTALS[1].to_owned(), "4".to_owned())];
        foreign(&file, columns(vec![Some(5.0), None]), Some(totals));
        let error = format!("{:#}", sorted(&file).unwrap_err());
        assert!(error.contains("damaged or edited: onepull.objects is 4, but its rows have 3"), "{error}");
    }

    #[test]
    fn what_is_no_saved_count_is_refused_with_the_way_to_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts");
        let refused = |what: &str| {
            let error = format!("{:#}", sorted(&file).unwrap_err());
            let whole = error.contains("counts: ") && error.contains("`onepull analyze --save FILE`");
            assert!(whole && error.contains(what), "{error}");
        };
        refused("No such file");
        fs::write(&file, b"onepull counts\0\x02 and more").unwrap();
        refused("an older onepull wrote this file");
        for foreign in [&b""[..], b"{\"references\": 3}", b"PAR1"] {
            fs::write(&file, foreign).unwrap();
            refused("not a complete Parquet file");
        }
        foreign(&file, vec![("references", Arc::new(Int64Array::from(vec![3])))], None);
        refused("column `bytes` is missing");
    }

    #[test]
    fn a_row_without_references_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("counts.parquet");
        for (references, objects) in [(Some(0), Some(1)), (None, Some(1)), (Some(1), None)] {
            let number = |value| Arc::new(Int64Array::from(vec![value])) as Arc<dyn Array>;
            let columns = vec![
                ("references", number(references)),
                ("bytes", number(Some(1))),
                ("objects", number(objects)),
            ];
            foreign(&file, columns, None);
            assert!(read(&file).is_err());
        }
    }
}
