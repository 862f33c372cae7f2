//! The last lines: payloads that were compared or timed, what could not be read, and the time.

use onepull::commands::analyze::{Content, Report, Timings};

use crate::cli::human::{byte_rate, count, moment, printable, rate};
use crate::cli::render::table::Table;
use crate::cli::render::{and, errors, time, unreadable};
use crate::cli::size::show;

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
    let mut phases = vec![
        ("scan", s.scan, rate(r.rows, s.scan, "rows"), None),
        ("group", s.group, rate(r.references, s.group, "references"), None),
    ];
    if r.content.is_some() || r.timing.is_some() {
        let bytes = r.content.as_ref().map_or(0, |of| of.bytes) + r.timing.as_ref().map_or(0, |of| of.bytes);
        phases.push(("fetch", s.fetch, byte_rate(bytes, s.fetch), None));
    }
    time(t, s.total, &phases);
}

fn content(t: &mut Table, of: &Content) {
    t.row(
        "content",
        count(of.objects),
        format!(
            "{} compared, {}: {} {} the bytes of another one{}",
            if of.objects == 1 { "object" } else { "objects" },
            show(of.bytes),
            count(of.equal),
            if of.equal == 1 { "has" } else { "have" },
            and(of.failed, "could not be read"),
        ),
    );
    for [one, other] in &of.examples {
        t.more(format!("  {}", printable(one)));
        t.more(format!("  = {}", printable(other)));
    }
}

fn timing(t: &mut Table, of: &Timings) {
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
