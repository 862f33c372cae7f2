//! Manifests that change while a run works on them.

use std::fs;

use onepull::commands::materialize::{Outcome, run};
use onepull::monitor::Phase;

use crate::support::corpus::Corpus;
use crate::support::manifests::Row;
use crate::support::meddler::Meddler;

#[test]
fn a_manifest_that_changes_during_the_run_gives_no_shard_and_loses_no_row_silently() {
    let corpus = Corpus::new();
    let members = corpus.tar("a.tar", &[("a.png".to_owned(), &b"payload".to_vec())]);
    let rows: Vec<Row> = (0..20).map(|n| Row::image(format!("s{n}"), 0, members[0].by_range())).collect();
    corpus.jsonl("steady.jsonl", &rows);
    let manifest = corpus.jsonl("m.jsonl", &rows);
    let whole = fs::read(&manifest).unwrap();
    let half = whole[..whole.len() / 2].to_vec();
    let longer = [whole.as_slice(), whole.as_slice()].concat();
    for content in [half, longer, b"garbage\n".to_vec(), Vec::new()] {
        fs::write(&manifest, &whole).unwrap();
        let meddler = Meddler { phase: Phase::Write, act: || fs::write(&manifest, &content).unwrap() };
        let Outcome::Done(report) = run(&corpus.options(), &meddler).unwrap() else {
            panic!("it is no dry run")
        };
        assert_eq!(report.unreadable.len(), 1);
        assert!(
            report.unreadable[0].error.contains("changed while it was being read"),
            "{:?}",
            report.unreadable
        );
        assert_eq!((report.rows_in, report.rows_out, report.rows_dropped), (40, 20, 20));
        assert_eq!((report.references, report.materialized, report.failed), (40, 20, 20));
        assert_eq!(report.errors.get("changed"), Some(&20));
        let output = corpus.options().output.unwrap();
        assert!(!output.join("m.tar").exists());
        fs::remove_dir_all(output).unwrap();
    }
}
