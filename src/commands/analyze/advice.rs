//! What the numbers mean for somebody who thinks of buying a cache, in plain sentences.

use super::report::Report;
use crate::commands::wording::count;

/// Further texts of locators, as a share of the objects, from which on it is worth a word.
const MANY_SPELLINGS: f64 = 0.01;

/// The sentences that apply.
pub fn advice(report: &Report) -> Vec<String> {
    let mut advice = Vec::new();
    if report.references == 0 {
        if report.already_present > 0 {
            advice.push("every image has its payload already: there is nothing to fetch".into());
        }
        return advice;
    }
    if report.duplicates == 0 {
        advice.push(
            "no object is referenced twice: no cache of any size can help this corpus. If its images do \
             recur, the store has a copy for each sample; --content-sample 1000 compares payloads"
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
    (many && report.framed_references == 0 && report.sample.is_none()).then(|| {
        format!(
            "{} locators are spelt in {} ways: a tool that groups by their text would read {:.2} times as many \
             objects",
            count(report.objects),
            count(report.spellings),
            report.spellings as f64 / report.objects as f64
        )
    })
}

fn sizes(report: &Report) -> Option<String> {
    let percent = 100.0 * (1.0 - report.sized_share);
    match report.sized_share {
        share if share >= 1.0 => None,
        share if share <= 0.0 => Some(
            "no locator says a size (`byte_size`): bytes and hit rates of limited caches are unknown".into(),
        ),
        _ => Some(format!(
            "{percent:.2} % of the objects do not say their size: bytes and hit rates of limited caches leave them out"
        )),
    }
}

fn content(report: &Report) -> Option<String> {
    let content = report.content.as_ref().filter(|content| content.equal > 0)?;
    let read = content.objects - content.failed;
    Some(format!(
        "{} of {} objects that were compared have the bytes of another one: duplicates that grouping by locator \
         cannot see",
        count(content.equal),
        count(read)
    ))
}

fn timing(report: &Report) -> Option<String> {
    let timing = report.timing.as_ref().filter(|timing| timing.objects > 0)?;
    let microseconds = |seconds: f64| seconds * 1e6;
    (!timing.cache_pays).then(|| {
        format!(
            "the source is faster than a cache here: {:.0} us an object, against {:.0} us to put it and {:.0} us a hit",
            microseconds(timing.source),
            microseconds(timing.put),
            microseconds(timing.hit)
        )
    })
}

/// Hit rate that a shared cache loses, from which on it is worth a word.
const MUCH_LOST: f64 = 0.05;

fn concurrency(report: &Report) -> Option<String> {
    // With as many workers as tasks, nothing is published before the last one looks.
    let some_wait = report.concurrency.iter().filter(|line| line.workers < line.tasks);
    let lines = some_wait.map(|line| {
        let measured = line.replayed.map(|replayed| (replayed.hit_rate, replayed.source_reads));
        (line.workers, measured.unwrap_or((line.hit_rate, line.source_reads)))
    });
    let (workers, (hit_rate, reads)) = lines.max_by_key(|(workers, _)| *workers)?;
    (report.oracle_hit_rate - hit_rate > MUCH_LOST && report.objects > 0).then(|| {
        format!(
            "{} workers that share a cache as they go reach {:.1} % in place of {:.1} %, {:.1} times the source \
             reads; grouping first (`onepull materialize`) reaches the ceiling at any number of them",
            count(workers),
            100.0 * hit_rate,
            100.0 * report.oracle_hit_rate,
            reads as f64 / report.objects as f64
        )
    })
}
