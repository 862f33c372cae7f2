//! The last lines: payloads that were compared or timed, what could not be read, and the time.

use onepull::commands::analyze::{Content, Report, Timings};

use crate::cli::bytes::show;
use crate::cli::human::{byte_rate, count, moment, printable, rate};
use crate::cli::render::table::Table;
use crate::cli::render::{and, errors, time, unreadable};

pub fn all(t: &mut Table, r: &Report) {
    if r.content.is_some() || r.timing.is_some() || !r.errors.is_empty() || !r.unreadable.is_empty() {
        t.gap();
    }
    if let Some(of) = &r.content {
        content(t, of);
    }
    if let Some(of) = &r.timing {
        timing(t, of);
    }
    errors(t, &r.errors);
    unreadable(t, &r.unreadable);
    t.gap();
    let s = &r.seconds;
    if r.spilled_bytes > 0 {
        t.row("spilled", show(r.spilled_bytes), "went through temporary files");
    }
    let grouped = r.sample.as_ref().map_or(r.references, |sample| sample.references_counted);
    let mut phases = vec![
        ("scan", s.scan, speed(r.rows, s.scan, "rows"), None),
        ("group", s.group, speed(grouped, s.group, "references"), None),
    ];
    if r.content.is_some() || r.timing.is_some() {
        let bytes = r.content.as_ref().map_or(0, |of| of.bytes) + r.timing.as_ref().map_or(0, |of| of.bytes);
        phases.push(("fetch", s.fetch, byte_rate(bytes, s.fetch), None));
    }
    time(t, s.total, &phases);
}

/// No rate of nothing.
fn speed(n: u64, seconds: f64, unit: &str) -> Option<String> {
    rate(n, seconds, unit).filter(|_| n > 0)
}

fn content(t: &mut Table, of: &Content) {
    let compared = of.objects.saturating_sub(of.failed);
    let unread = and(of.failed, "could not be read");
    let equal = match of.equal {
        0 => "none has".into(),
        n => format!("{} have", count(n)),
    };
    let words = match compared {
        0 => format!("objects compared{unread}"),
        1 => format!("object, {}: nothing to compare it with{unread}", show(of.bytes)),
        _ => format!("objects compared, {}: {equal} the bytes of another one{unread}", show(of.bytes)),
    };
    t.row("content", count(compared), words);
    for [one, other] in &of.examples {
        t.more(format!("  {}", printable(one)));
        t.more(format!("  = {}", printable(other)));
    }
}

fn timing(t: &mut Table, of: &Timings) {
    if of.objects == 0 {
        t.row("timing", "0".into(), format!("objects timed{}", and(of.failed, "could not be read")));
        return;
    }
    t.row(
        "timing",
        count(of.objects),
        format!(
            "{}, {}: source {}, put {}, hit {} each; {}{}",
            if of.objects == 1 { "object" } else { "objects" },
            show(of.bytes),
            moment(of.source),
            moment(of.put),
            moment(of.hit),
            if of.cache_pays { "a cache pays" } else { "a cache costs more than it saves" },
            and(of.failed, "could not be read"),
        ),
    );
}
