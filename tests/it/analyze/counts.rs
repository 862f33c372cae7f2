//! Counts of a whole run equal the naive ones, in every form, at any jobs and any memory.

use onepull::commands::analyze::Options;

use super::forms::FORMS;
use super::model::{Manifest, assert_counts, in_task_duplicates, write, write_as};
use super::{analyze, assert_same, lasting, options};
use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::random::Random;

fn manifests(seed: u64, count: usize) -> Vec<Manifest> {
    let mut random = Random::new(seed);
    (0..count).map(|_| Manifest::random(&mut random, 1_300, 2_500)).collect()
}

#[test]
fn the_report_is_that_of_a_map_at_any_jobs_and_memory() {
    let corpus = Corpus::new();
    let manifests = manifests(1, FORMS.len());
    write(&corpus, &manifests);
    let mut first = [None, None];
    for (jobs, memory) in
        [(1, 1 << 40), (2, 1 << 30), (8, 1 << 30), (1, 16_000_000), (2, 16_000_000), (8, 16_000_000)]
    {
        for (nth, simulate) in [false, true].into_iter().enumerate() {
            let what = format!("{jobs} jobs, {memory} bytes, simulate: {simulate}");
            let options = Options { jobs, memory, simulate, sources: 100, ..options(&corpus) };
            let report = analyze(&options);
            assert_counts(&report, &corpus, &manifests, &what);
            if simulate {
                assert_eq!(report.in_task_duplicates, in_task_duplicates(&manifests), "{what}");
            }
            let lasting = lasting(&report);
            assert_same(first[nth].get_or_insert_with(|| lasting.clone()), &lasting, &what);
        }
    }
}

#[test]
fn sixteen_megabytes_are_not_enough_for_a_replay_of_many_objects_and_it_spills() {
    let corpus = Corpus::new();
    let manifests = manifests(2, 2);
    write(&corpus, &manifests);
    let spilled = |memory| analyze(&Options { memory, simulate: true, ..options(&corpus) }).spilled_bytes;
    assert_eq!(spilled(1 << 40), 0);
    assert!(spilled(16_000_000) > 0);
}

#[test]
fn each_form_alone_gives_the_same_report() {
    let mut first = None;
    for form in FORMS {
        let corpus = Corpus::new();
        let manifests = manifests(3, 1);
        write_as(&corpus, 0, form, &manifests[0]);
        let report = analyze(&Options { sources: 100, ..options(&corpus) });
        assert_counts(&report, &corpus, &manifests, &format!("{form:?}"));
        let mut lasting = lasting(&report);
        lasting["sources"] = serde_json::Value::Null;
        assert_same(first.get_or_insert_with(|| lasting.clone()), &lasting, &format!("{form:?}"));
    }
}

#[test]
fn a_wrong_modality_column_gives_the_same_report_at_any_jobs() {
    let corpus = Corpus::new();
    for (number, form) in FORMS.into_iter().enumerate() {
        let name = |n: usize| -> &'static str { format!("no modality {}", n * 37 % 1_000).leak() };
        let rows =
            (number * 90..number * 90 + 150).map(|n| Row { modality: name(n), ..Row::text("s", 0, "") });
        corpus.manifest(&form.name(number), &form.bytes(&rows.collect::<Vec<_>>()));
    }
    let mut first = None;
    for jobs in [1, 2, 8, 8, 8] {
        let report = analyze(&Options { jobs, ..options(&corpus) });
        assert_eq!(report.rows_by_modality, [("other", report.rows)].into());
        let lasting = lasting(&report);
        assert_same(first.get_or_insert_with(|| lasting.clone()), &lasting, &format!("{jobs} jobs"));
    }
}
