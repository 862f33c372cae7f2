//! The report and the plan of `materialize` as text.

use std::path::Path;

use onepull::commands::format::{byte_rate, bytes, count, objects, printable, rate, things};
use onepull::commands::materialize::{
    AdmissionPlan, AdmissionReport, CacheAdmission, Outcome, PlanReport, Report, ShardReport,
};

use super::table::ReportText;
use super::{advice, and, image_rows, part, problems, term, time};
use crate::cli::args::Detail;

/// The text of either report, `width` columns wide; each shard has its line if the detail is full.
pub fn outcome(outcome: &Outcome, output: Option<&Path>, detail: Detail, width: usize) -> String {
    match outcome {
        Outcome::Planned(plan) => planned(plan, width),
        Outcome::Done(report) => done(report, output, detail, width),
    }
}

fn done(r: &Report, output: Option<&Path>, detail: Detail, width: usize) -> String {
    let mut page = ReportText::default();
    let dropped = count(r.rows_dropped);
    page.row("rows", count(r.rows_in), format!("= {} written + {dropped} dropped", count(r.rows_out)));
    image_rows(&mut page, r.references, r.no_locator, r.bad_locator, r.already_present);
    page.row(
        "references",
        count(r.references),
        format!("= {} materialized + {} failed", count(r.materialized), count(r.failed)),
    );
    page.more(format!("= {} + {}", objects(r.objects), things(r.duplicates, "duplicate", "duplicates")));
    page.row(
        "objects",
        count(r.objects),
        format!(
            "= {} + {} + {} failed{}",
            things(r.cache.hits, "cache hit", "cache hits"),
            things(r.source.reads, "source read", "source reads"),
            count(r.failed_objects),
            term(r.reused_objects, "in reused shards"),
        ),
    );
    page.row("hit rate", ratio(r.hit_rate), format!("oracle {}", ratio(r.oracle_hit_rate)));
    if let Some(admission) = &r.admission {
        admitted(&mut page, admission, r.references);
    }
    page.gap();
    page.row(
        "bytes",
        bytes(r.reference_bytes),
        format!("in references, {} in objects", bytes(r.unique_bytes)),
    );
    page.row("source", bytes(r.source.bytes), source(r));
    page.row("cache", bytes(r.cache.bytes_read), cache(r));
    shards(&mut page, &r.shards, output, detail);
    problems(&mut page, &r.errors, &r.unreadable);
    page.gap();
    let s = &r.seconds;
    time(
        &mut page,
        s.total,
        &[
            ("scan", s.scan, rate(r.rows_in, s.scan, "rows"), None),
            ("group", s.group, rate(r.references, s.group, "references"), None),
            ("fetch", s.fetch, rate(r.source.reads, s.fetch, "objects"), byte_rate(r.source.bytes, s.fetch)),
            ("write", s.write, rate(r.rows_out, s.write, "rows"), byte_rate(r.reference_bytes, s.write)),
        ],
    );
    advice(&mut page, &r.advice);
    page.text(width)
}

fn planned(p: &PlanReport, width: usize) -> String {
    let mut page = ReportText::default();
    let manifests = things(p.manifests, "manifest", "manifests");
    page.row("rows", count(p.rows_in), format!("in {manifests}; nothing is fetched or written"));
    image_rows(&mut page, p.references, p.no_locator, p.bad_locator, p.already_present);
    page.row(
        "references",
        count(p.references),
        format!("= {} + {}", objects(p.objects), things(p.duplicates, "duplicate", "duplicates")),
    );
    page.row(
        "objects",
        count(p.objects),
        format!(
            "= {} in the cache + {} to fetch{}",
            count(p.held),
            count(p.fetch),
            term(p.reused_objects, "in reused shards"),
        ),
    );
    page.row("oracle", ratio(p.oracle_hit_rate), "hit rate with one source read per object");
    if let Some(AdmissionPlan { choice, left_out_objects, left_out_references }) = &p.admission {
        page.row("admission", ratio(choice.predicted_hit_rate), predicted(choice));
        if *left_out_objects > 0 {
            page.more(format!(
                "{} left out, read once for each shard that needs them: {} at most",
                objects(*left_out_objects),
                things(*left_out_references, "read", "reads"),
            ));
        }
    }
    page.gap();
    page.row("to fetch", bytes(p.fetch_bytes), sized(p));
    let files = things(p.source_files, "source file", "source files");
    page.row("requests", count(p.requests), format!("at most, to {files}"));
    page.row("cache", bytes(p.held_bytes), format!("in {}, already there", objects(p.held)));
    page.row("shards", count(p.shards), format!("to write{}", and(p.shards_reused, "reused")));
    problems(&mut page, &p.errors, &p.unreadable);
    page.gap();
    let s = &p.seconds;
    time(
        &mut page,
        s.total,
        &[
            ("scan", s.scan, rate(p.rows_in, s.scan, "rows"), None),
            ("group", s.group, rate(p.references, s.group, "references"), None),
        ],
    );
    page.text(width)
}

fn ratio(value: f64) -> String {
    format!("{value:.6}")
}

fn admitted(page: &mut ReportText, a: &AdmissionReport, references: u64) {
    let share = |hits: u64| ratio(part(hits, references));
    let held = match a.held_hits {
        0 => String::new(),
        hits => format!(" + {} for others in the cache", share(hits)),
    };
    page.row(
        "admission",
        ratio(a.hit_rate),
        format!(
            "= {} for admitted objects + {} for duplicates within shards{held}",
            share(a.admitted_hits),
            share(a.in_shard_duplicates),
        ),
    );
    page.row("", ratio(a.choice.predicted_hit_rate), predicted(&a.choice));
}

fn predicted(choice: &CacheAdmission) -> String {
    let CacheAdmission { policy, budget, admitted_objects, .. } = choice;
    format!("predicted with {} by {policy} in {}", objects(*admitted_objects), bytes(*budget))
}

fn source(r: &Report) -> String {
    format!(
        "in {} for {}{}{}",
        things(r.source.requests, "request", "requests"),
        objects(r.source.reads),
        and(r.source.rereads, "read again"),
        and(r.source.retries, "retried"),
    )
}

fn cache(r: &Report) -> String {
    format!(
        "read, {} written, mode {}; {}, {}, {} stored{}",
        bytes(r.cache.bytes_written),
        r.cache.mode,
        things(r.cache.hits, "hit", "hits"),
        things(r.cache.misses, "miss", "misses"),
        count(r.cache.puts),
        and(r.cache.put_failures, "not stored"),
    )
}

fn sized(p: &PlanReport) -> String {
    match p.fetch_sized {
        sized if sized == p.fetch => format!("in {}", objects(p.fetch)),
        0 => format!("known; no locator gives the size of its object ({})", objects(p.fetch)),
        sized => format!("in {} of {}; the others have no known size", count(sized), objects(p.fetch)),
    }
}

fn shards(page: &mut ReportText, shards: &[ShardReport], output: Option<&Path>, detail: Detail) {
    let written = shards.iter().map(|shard| shard.bytes).sum();
    let reused = shards.iter().filter(|shard| shard.reused).count() as u64;
    let folder = output.map(|folder| format!(" in {}", printable(&folder.display().to_string())));
    page.row(
        "shards",
        count(shards.len() as u64),
        format!("{}{}{}", bytes(written), folder.unwrap_or_default(), and(reused, "reused")),
    );
    for shard in shards.iter().filter(|_| detail == Detail::Full) {
        page.more(format!(
            "{}  {}, {}, {}{}",
            printable(&shard.path),
            things(shard.rows, "row", "rows"),
            things(shard.references, "reference", "references"),
            bytes(shard.bytes),
            if shard.reused { ", reused" } else { "" },
        ));
    }
}

#[cfg(test)]
mod tests {
    use onepull::commands::Unreadable;
    use onepull::commands::materialize::{CacheReport, Seconds, SourceReport};

    use super::*;

    fn report() -> Report {
        let shard = |path: &str, reused| ShardReport {
            path: path.into(),
            rows: 10_802,
            references: 3_392,
            bytes: 85_000_000,
            reused,
            ..ShardReport::default()
        };
        Report {
            rows_in: 21_604,
            rows_out: 21_604,
            references: 6_785,
            objects: 1_963,
            duplicates: 4_822,
            materialized: 6_785,
            hit_rate: 0.710685,
            oracle_hit_rate: 0.710685,
            cache: CacheReport {
                mode: "always",
                misses: 1_963,
                puts: 1_963,
                bytes_read: 168_100_000,
                bytes_written: 48_700_000,
                ..CacheReport::default()
            },
            source: SourceReport {
                reads: 1_963,
                requests: 212,
                bytes: 48_700_000,
                ..SourceReport::default()
            },
            unique_bytes: 48_700_000,
            reference_bytes: 168_100_000,
            shards: vec![shard("a.tar", false), shard("b.tar", true)],
            seconds: Seconds { scan: 0.1, group: 0.0, fetch: 1.5, write: 2.0, total: 3.61 },
            ..Report::default()
        }
    }

    #[test]
    fn a_report_shows_its_identities() {
        let text = done(&report(), Some(Path::new("out")), Detail::Usual, 78);
        assert_eq!(
            text,
            "\
rows          21,604  = 21,604 written + 0 dropped
references     6,785  = 6,785 materialized + 0 failed
                      = 1,963 objects + 4,822 duplicates
objects        1,963  = 0 cache hits + 1,963 source reads + 0 failed
hit rate    0.710685  oracle 0.710685

bytes       168.1 MB  in references, 48.7 MB in objects
source       48.7 MB  in 212 requests for 1,963 objects
cache       168.1 MB  read, 48.7 MB written, mode always; 0 hits, 1,963
                      misses, 1,963 stored
shards             2  170.0 MB in out, 1 reused

time          3.61 s  scan   0.10 s  216,040 rows/s
                      group  0.00 s
                      fetch  1.50 s  1,309 objects/s  32.5 MB/s
                      write  2.00 s  10,802 rows/s  84.0 MB/s
"
        );
    }

    #[test]
    fn what_went_wrong_is_listed_by_class_most_first() {
        let report = Report {
            no_locator: 3,
            errors: [("io", 2), ("not_found", 12)].into(),
            unreadable: vec![Unreadable { path: "x.parquet".into(), error: "not\u{7} Parquet".into() }],
            advice: vec!["the cache is slower than the source".into()],
            ..report()
        };
        let text = done(&report, None, Detail::Full, 78);
        for line in [
            "image rows     6,788  = 6,785 references + 3 without a locator",
            "errors            14  12 not_found\n                      2 io",
            "unreadable         1  x.parquet: not\\u{7} Parquet",
            "                      b.tar  10,802 rows, 3,392 references, 85.0 MB, reused",
            "note: the cache is slower than the source",
        ] {
            assert!(text.contains(line), "{line}\nis not in\n{text}");
        }
    }

    #[test]
    fn the_hit_rate_of_a_limited_cache_is_shown_as_its_sum() {
        let admission = AdmissionReport {
            choice: CacheAdmission {
                policy: "density",
                budget: 486_785,
                admitted_objects: 95,
                predicted_hit_rate: 0.25,
                ..CacheAdmission::default()
            },
            admitted_hits: 2,
            in_shard_duplicates: 1,
            held_hits: 0,
            hit_rate: 0.375,
        };
        let text = |admission| {
            done(&Report { references: 8, admission: Some(admission), ..report() }, None, Detail::Usual, 78)
        };
        let plain = text(admission.clone());
        let expected = "\
admission   0.375000  = 0.250000 for admitted objects + 0.125000 for
                      duplicates within shards
            0.250000  predicted with 95 objects by density in 486.8 kB
";
        assert!(plain.contains(expected), "{plain}");
        let other = text(AdmissionReport { held_hits: 4, ..admission });
        assert!(other.contains("within shards + 0.500000 for others in the\n"), "{other}");
    }

    #[test]
    fn a_plan_says_what_would_be_read() {
        let plan = PlanReport {
            manifests: 2,
            rows_in: 30,
            references: 20,
            objects: 10,
            duplicates: 10,
            oracle_hit_rate: 0.5,
            held: 4,
            held_bytes: 4_000,
            fetch: 6,
            fetch_bytes: 5_000,
            fetch_sized: 5,
            requests: 3,
            source_files: 1,
            shards: 2,
            ..PlanReport::default()
        };
        assert_eq!(
            planned(&plan, 78),
            "\
rows              30  in 2 manifests; nothing is fetched or written
references        20  = 10 objects + 10 duplicates
objects           10  = 4 in the cache + 6 to fetch
oracle      0.500000  hit rate with one source read per object

to fetch      5.0 kB  in 5 of 6 objects; the others have no known size
requests           3  at most, to 1 source file
cache         4.0 kB  in 4 objects, already there
shards             2  to write

time          0.00 s  scan   0.00 s
                      group  0.00 s
"
        );
    }
}
