//! Advice for someone who considers a cache, in plain sentences.

use super::report::Report;
use crate::commands::format::count;

/// The least share of further texts, beyond one an object, that is reported.
const MANY_SPELLINGS: f64 = 0.01;

/// Advice that applies to the report.
pub fn advice(report: &Report) -> Vec<String> {
    let mut advice = Vec::new();
    if report.references == 0 {
        if report.already_present > 0 {
            advice.push("all image rows already have their images, so there is nothing to fetch".into());
        }
        return advice;
    }
    if report.duplicates == 0 {
        advice.push(
            "no object is referenced twice, so no cache can help. The same image may exist under several names: \
             --content-sample 1000 compares the bytes"
                .into(),
        );
    }
    advice.extend(spellings(report));
    advice.extend(sizes(report));
    advice.extend(content(report));
    advice.extend(timing(report));
    advice.extend(concurrency(report));
    advice
}

fn spellings(report: &Report) -> Option<String> {
    let further = report.spellings.saturating_sub(report.objects);
    let many = further as f64 > MANY_SPELLINGS * report.objects as f64;
    (many && report.sample.is_none()).then(|| {
        format!(
            "{} different locator texts name {} objects. A tool that compares texts would read {:.2} times as many \
             objects",
            count(report.spellings),
            count(report.objects),
            report.spellings as f64 / report.objects as f64
        )
    })
}

fn sizes(report: &Report) -> Option<String> {
    let percent = 100.0 * (1.0 - report.sized_share);
    match report.sized_share {
        share if share >= 1.0 => None,
        share if share <= 0.0 => Some(
            "no locator has a size (`byte_size`), so bytes and hit rates of limited caches are unknown"
                .into(),
        ),
        _ => Some(format!(
            "{percent:.2} % of the objects have no known size. Bytes and hit rates of limited caches leave them out"
        )),
    }
}

fn content(report: &Report) -> Option<String> {
    let content = report.content.as_ref().filter(|content| content.equal > 0)?;
    let read = content.objects - content.failed;
    Some(format!(
        "{} of {} compared objects have the same bytes as another. Counting by locator cannot find these \
         duplicates",
        count(content.equal),
        count(read)
    ))
}

fn timing(report: &Report) -> Option<String> {
    let timing = report.timing.as_ref().filter(|timing| timing.objects > 0)?;
    let microseconds = |seconds: f64| seconds * 1e6;
    (!timing.cache_pays).then(|| {
        format!(
            "a cache is slower than the source here: a source read takes {:.0} µs per object, a put {:.0} µs, a hit {:.0} µs",
            microseconds(timing.source),
            microseconds(timing.put),
            microseconds(timing.hit)
        )
    })
}

/// The least loss of hit rate in a shared cache that is reported.
const MUCH_LOST: f64 = 0.05;

fn concurrency(report: &Report) -> Option<String> {
    // With as many workers as tasks, nothing is published before the last one looks.
    let some_wait = report.concurrency.iter().filter(|line| (2..line.tasks).contains(&line.workers));
    let lines = some_wait.map(|line| {
        let measured = line.replayed.map(|replayed| (replayed.hit_rate, replayed.source_reads));
        (line.workers, measured.unwrap_or((line.hit_rate, line.source_reads)))
    });
    let (workers, (hit_rate, reads)) = lines.max_by_key(|(workers, _)| *workers)?;
    (report.oracle_hit_rate - hit_rate > MUCH_LOST && report.objects > 0).then(|| {
        format!(
            "{} workers that share a cache reach {:.1} % instead of {:.1} %, with {:.1} times the source reads. \
             `onepull materialize` counts first, so it reaches the ceiling with any number of workers",
            count(workers),
            100.0 * hit_rate,
            100.0 * report.oracle_hit_rate,
            reads as f64 / report.objects as f64
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::report::{Concurrency, ContentComparison, Replayed, Sample, Timings};
    use super::*;

    /// A corpus of which there is nothing to say.
    fn plain() -> Report {
        Report {
            references: 1_000,
            objects: 400,
            duplicates: 600,
            spellings: 400,
            sized_share: 1.0,
            oracle_hit_rate: 0.6,
            ..Report::default()
        }
    }

    /// The one sentence about a report, and all parts of it that must be there.
    fn assert_says(report: &Report, parts: &[&str]) {
        let advice = advice(report);
        let [sentence] = advice.as_slice() else { panic!("not one sentence: {advice:?}") };
        assert!(parts.iter().all(|part| sentence.contains(part)), "{sentence}");
    }

    fn concurrency(workers: u64, hit_rate: f64, replayed: Option<f64>) -> Concurrency {
        let reads = |hit_rate: f64| ((1.0 - hit_rate) * 1_000.0) as u64;
        let replayed = replayed.map(|hit_rate| Replayed {
            hit_rate,
            source_reads: reads(hit_rate),
            deduplicated_hit_rate: hit_rate,
            deduplicated_source_reads: reads(hit_rate),
        });
        Concurrency { workers, tasks: 100, hit_rate, source_reads: reads(hit_rate), replayed }
    }

    #[test]
    fn a_plain_corpus_and_an_empty_one_need_no_advice() {
        assert_eq!(advice(&plain()), [""; 0]);
        assert_eq!(advice(&Report::default()), [""; 0]);
    }

    #[test]
    fn a_corpus_that_is_filled_already_has_nothing_to_fetch() {
        assert_says(&Report { already_present: 3, ..Report::default() }, &["nothing to fetch"]);
    }

    #[test]
    fn where_nothing_recurs_no_cache_helps() {
        let report =
            Report { objects: 1_000, spellings: 1_000, duplicates: 0, oracle_hit_rate: 0.0, ..plain() };
        assert_says(&report, &["no object is referenced twice", "--content-sample"]);
    }

    #[test]
    fn many_spellings_are_named_unless_a_sample_explains_them() {
        let many = Report { spellings: 1_200, ..plain() };
        assert_says(&many, &["1,200 different locator texts name 400 objects", "3.00 times"]);
        let sample = Sample { share: 0.5, ..Sample::default() };
        assert_eq!(advice(&Report { sample: Some(sample), ..many }), [""; 0]);
        assert_eq!(advice(&Report { spellings: 404, ..plain() }), [""; 0], "one in a hundred");
    }

    #[test]
    fn unknown_sizes_are_said_all_or_in_part() {
        assert_says(&Report { sized_share: 0.0, ..plain() }, &["no locator has a size"]);
        assert_says(&Report { sized_share: 0.75, ..plain() }, &["25.00 % of the objects have no known size"]);
    }

    #[test]
    fn equal_payloads_are_said_of_those_that_were_read() {
        let content = ContentComparison {
            objects: 20,
            failed: 2,
            payloads: 15,
            equal: 6,
            ..ContentComparison::default()
        };
        assert_says(&Report { content: Some(content.clone()), ..plain() }, &["6 of 18 compared objects"]);
        let different = ContentComparison { equal: 0, ..content };
        assert_eq!(advice(&Report { content: Some(different), ..plain() }), [""; 0]);
    }

    #[test]
    fn a_source_that_is_faster_than_a_cache_is_said_with_its_times() {
        let slow =
            Timings { objects: 9, source: 1.0, put: 1e-4, hit: 2e-5, cache_pays: true, ..<_>::default() };
        assert_eq!(advice(&Report { timing: Some(slow), ..plain() }), [""; 0]);
        let fast = Timings { source: 5e-6, cache_pays: false, ..slow };
        assert_says(&Report { timing: Some(fast), ..plain() }, &["5 µs", "100 µs", "20 µs"]);
        let untimed = Timings { objects: 0, ..fast };
        assert_eq!(advice(&Report { timing: Some(untimed), ..plain() }), [""; 0]);
    }

    #[test]
    fn what_most_workers_lose_is_said_as_measured_where_it_was_measured() {
        let lines = vec![concurrency(64, 0.1, None), concurrency(4, 0.5, None)];
        let lost = Report { concurrency: lines, ..plain() };
        assert_says(&lost, &["64 workers", "10.0 % instead of 60.0 %", "2.2 times"]);
        let lines = vec![concurrency(64, 0.1, Some(0.3))];
        assert_says(&Report { concurrency: lines, ..plain() }, &["30.0 %", "1.8 times"]);
        let lines = vec![concurrency(64, 0.1, Some(0.56))];
        assert_eq!(advice(&Report { concurrency: lines, ..plain() }), [""; 0]);
    }
}
