//! Broken archives.

use std::fs;

use super::bed::Bed;
use super::mutation::mutate;
use crate::support::random::Random;

#[test]
fn rows_of_a_broken_tar_get_its_bytes_or_an_error_and_other_rows_are_not_concerned() {
    let bed = Bed::new();
    bed.corpus.jsonl("m.jsonl", &bed.rows);
    let path = bed.corpus.path("a.tar");
    let intact = fs::read(&path).unwrap();
    let images = bed.rows.iter().filter(|row| row.source_ref.is_some()).count();
    let mut random = Random::new(301);
    for case in 0..300 {
        let mut bytes = intact.clone();
        let what = format!("case {case}, {}", mutate(&mut bytes, &mut random));
        fs::write(&path, bytes).unwrap();
        let options = bed.options(case);
        let (report, rows) = bed.run(&options, &what);
        assert_eq!((report.references, report.rows_out), (images as u64, bed.rows.len() as u64), "{what}");
        assert_eq!(bed.check(&rows, &what) as u64, report.materialized, "{what}");
        for (row, written) in bed.rows.iter().zip(&rows) {
            assert_eq!(row.source_ref, written.source_ref, "{what}");
            let concerned = row.source_ref.as_ref().is_some_and(|locator| locator.contains("a.tar"));
            assert!(concerned || written.payload == bed.truth(row), "{what}: {row:?}");
        }
        bed.clean(&options);
    }
}
