//! The scales of a plot: which numbers have a tick, and how they are written.

use std::ops::Range;

use onepull::commands::format;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;

pub type Label = fn(f64) -> String;

/// A scale with round ticks, and what it measures.
#[derive(Clone)]
pub struct Axis {
    pub words: &'static str,
    pub range: Range<f64>,
    /// Equal factors are equal steps; else equal differences are.
    is_log: bool,
    pub ticks: Vec<f64>,
    label: Label,
}

/// Ticks on an axis, at most.
const TICKS: f64 = 7.0;

impl Axis {
    /// Ticks at powers of ten, or at 1, 2, 5 where these are few.
    pub fn log(words: &'static str, values: Range<f64>, label: Label) -> Axis {
        let range = if values.is_empty() { values.start / 2.0..values.start * 2.0 } else { values };
        let decades = (range.end / range.start).log10();
        let (factors, step): (&[f64], _) =
            if decades < 2.4 { (&[1.0, 2.0, 5.0], 1) } else { (&[1.0], (decades / TICKS).ceil() as i32) };
        let exponents = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
        let ticks = exponents
            .filter(|exponent| exponent.rem_euclid(step) == 0)
            .flat_map(|exponent| factors.iter().map(move |factor| factor * 10f64.powi(exponent)))
            .filter(|tick| (range.start * 0.999..=range.end * 1.001).contains(tick));
        Axis { words, ticks: ticks.collect(), range, is_log: true, label }
    }

    /// From 0 to a little above `high`, a share.
    pub fn share(words: &'static str, high: f64) -> Axis {
        let high = if high > 0.0 { (high * 1.1).min(1.0) } else { 1.0 };
        let ticks = RangedCoordf64::from(0.0..high).key_points(TICKS as usize);
        Axis { words, range: 0.0..high, is_log: false, ticks, label: share_label }
    }
}

impl Ranged for Axis {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let scale = |value: f64| if self.is_log { value.ln() } else { value };
        let [low, high] = [self.range.start, self.range.end].map(scale);
        first + (f64::from(last - first) * (scale(*value) - low) / (high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        (self.label)(*value)
    }
}

/// `1 B`, `500 kB`, `2 TB`.
pub fn size_label(value: f64) -> String {
    format::bytes(value.round() as u64).replace(".0 ", " ")
}

/// `1`, `500 k`, `2 M`.
pub fn count_label(value: f64) -> String {
    size_label(value).trim_end_matches('B').trim_end().into()
}

/// `20 %`, `0.01 %`: as many digits as it has.
pub fn share_label(value: f64) -> String {
    let digits = format!("{:.8}", value * 100.0);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}
