//! Axes: where a value stands, and which values have a name.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// A scale from its lowest to its highest value, with named ticks.
pub struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    name: fn(f64) -> String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
}

/// Ticks on an axis, at most.
const TICKS: f64 = 7.0;

impl Axis {
    /// Equal factors are equal steps; ticks at powers of ten, or at 1, 2, 5 where there are few.
    pub fn log(low: f64, high: f64, name: fn(f64) -> String) -> Axis {
        Axis::divided(low, high, name, 2.0)
    }

    /// [`Axis::log`] for a panel as wide as the picture.
    pub fn wide_log(low: f64, high: f64, name: fn(f64) -> String) -> Axis {
        Axis::divided(low, high, name, 3.5)
    }

    /// [`Axis::log`] with ticks at 1, 2, 5 below this many `decades`.
    fn divided(low: f64, high: f64, name: fn(f64) -> String, few: f64) -> Axis {
        let (low, high) = if high > low { (low, high) } else { (low / 2.0, high * 2.0) };
        let decades = (high / low).log10();
        let (factors, step): (&[f64], usize) = match decades {
            decades if decades < few => (&[1.0, 2.0, 5.0], 1),
            many => (&[1.0], (many / TICKS).ceil() as usize),
        };
        let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let ticks = exponents
            .filter(|exponent| exponent.rem_euclid(step as i32) == 0)
            .flat_map(|exponent| factors.iter().map(move |factor| factor * 10f64.powi(exponent)))
            .filter(|tick| (low * 0.999..=high * 1.001).contains(tick))
            .collect();
        Axis { scale: Scale::Log, low, high, ticks, name }
    }

    /// From half of one to `high`, and to a dozen at least: 1 has a length, and a name.
    pub fn counts(high: u64) -> Axis {
        // Counts have short names.
        let mut axis = Axis::divided(0.5, (high as f64).max(12.0), number, 2.5);
        axis.ticks.retain(|tick| *tick >= 1.0);
        axis
    }

    /// From 0 to a little above `high`, a share.
    pub fn share(high: f64) -> Axis {
        let high = if high > 0.0 { (high * 1.1).min(1.0) } else { 1.0 };
        // The smallest of 1, 2, 5 times a power of ten that has few enough ticks.
        let least = high / TICKS;
        let decade = 10f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter();
        let step = step.filter(|step| *step >= least).fold(high, f64::min);
        let ticks = (0..).map(|n| f64::from(n) * step).take_while(|tick| *tick <= high + 1e-9).collect();
        Axis { scale: Scale::Linear, low: 0.0, high, ticks, name: share }
    }

    /// The value that stands at this part of the length.
    pub fn at(&self, part: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.low + (self.high - self.low) * part,
            Scale::Log => self.low * (self.high / self.low).powf(part),
        }
    }

    pub fn lowest(&self) -> f64 {
        self.low
    }

    pub fn highest(&self) -> f64 {
        self.high
    }

    /// Where a value stands between the ends: 0 to 1.
    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).log10() / (self.high / self.low).log10(),
        }
    }
}

impl Ranged for Axis {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        first + (f64::from(last - first) * self.place(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        (self.name)(*value)
    }
}

/// `1`, `500`, `10 k`, `2 M`.
fn number(value: f64) -> String {
    let (digits, unit) = scaled(value, &["", "k", "M", "G", "T", "P"]);
    format!("{digits} {unit}").trim_end().into()
}

/// `1 B`, `500 kB`, `2 TB`.
pub fn bytes(value: f64) -> String {
    let (digits, unit) = scaled(value, &["B", "kB", "MB", "GB", "TB", "PB", "EB"]);
    format!("{digits} {unit}")
}

/// `20 %`, `0.01 %`: as many digits as it has.
pub fn share(value: f64) -> String {
    let digits = format!("{:.8}", value * 100.0);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn scaled<'a>(value: f64, units: &[&'a str]) -> (String, &'a str) {
    // A tick may be a hair below the power of a thousand that it stands for.
    let thousands = ((value.max(1.0).log10() + 1e-9) / 3.0).floor() as usize;
    let at = thousands.min(units.len() - 1);
    (format!("{:.0}", value / 1000f64.powi(at as i32)), units[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|tick| axis.format_ext(tick)).collect()
    }

    #[test]
    fn few_decades_have_ticks_at_1_2_5_and_many_only_at_some_powers_of_ten() {
        assert_eq!(names(&Axis::counts(30)), ["1", "2", "5", "10", "20"]);
        assert_eq!(names(&Axis::counts(128)), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(names(&Axis::counts(20_000)), ["1", "10", "100", "1 k", "10 k"]);
        assert_eq!(names(&Axis::counts(1_000_000_000)), ["1", "100", "10 k", "1 M", "100 M"]);
    }

    #[test]
    fn sizes_have_units() {
        let sizes = names(&Axis::log(4e9, 4e13, bytes));
        assert_eq!(sizes, ["10 GB", "100 GB", "1 TB", "10 TB"]);
        let wide = names(&Axis::wide_log(5e11, 5.1e13, bytes));
        assert_eq!(wide, ["500 GB", "1 TB", "2 TB", "5 TB", "10 TB", "20 TB", "50 TB"]);
    }

    #[test]
    fn shares_are_percentages_with_the_digits_they_need() {
        assert_eq!(names(&Axis::share(0.775)), ["0 %", "20 %", "40 %", "60 %", "80 %"]);
        assert_eq!(names(&Axis::share(0.03)), ["0 %", "0.5 %", "1 %", "1.5 %", "2 %", "2.5 %", "3 %"]);
        assert_eq!(names(&Axis::share(0.0011))[5..], ["0.1 %", "0.12 %"]);
        assert_eq!(names(&Axis::share(0.0)).last().unwrap(), "100 %");
        assert_eq!(
            names(&Axis::log(2e-6, 1.0, share)),
            ["0.001 %", "0.01 %", "0.1 %", "1 %", "10 %", "100 %"]
        );
    }

    #[test]
    fn a_single_value_has_room_around_it() {
        let axis = Axis::log(100.0, 100.0, bytes);
        assert_eq!((axis.lowest(), axis.highest()), (50.0, 200.0));
        assert_eq!(axis.map(&100.0, (600, 0)), 300);
    }
}
