//! The multiplicities and sizes of a web-scale corpus, as a law calibrated to MINT-1T HTML.
//!
//! Of 356 M images, 40.2 % are referenced once, the mean is 4.445 references and the largest
//! count is 1,584; sizes are log-normal, 144 kB on average, and almost independent of the count.
//! Tests and benchmarks draw their corpora from it.

/// No object has more references.
pub const MAX_MULTIPLICITY: u32 = 1584;

/// P(K >= k): the share of objects with at least `k` references.
///
/// An atom at one, then a power law of exponent `A` that bends to `B` around `K0`:
/// (1-p1)·(k/2)^-A·[(1+(k/K0)^G)/(1+(2/K0)^G)]^(-(B-A)/G). `A`, `B`, `K0` and `G` are fitted to
/// hit rates that are published for the corpus, for caches of 1, 2, 3 and 5 TB.
pub fn survival(k: u32) -> f64 {
    const SINGLETONS: f64 = 0.402;
    const A: f64 = 1.0447;
    const B: f64 = 4.5025;
    const K0: f64 = 40.236;
    const G: f64 = 2.4330;
    let bend = |k: f64| 1.0 + (k / K0).powf(G);
    match k {
        0 | 1 => 1.0,
        2..=MAX_MULTIPLICITY => {
            let k = f64::from(k);
            (1.0 - SINGLETONS) * (k / 2.0).powf(-A) * (bend(k) / bend(2.0)).powf(-(B - A) / G)
        }
        _ => 0.0,
    }
}

/// The law's quantile function, tabulated.
pub struct Quantiles {
    /// P(K > k) for k from 1 on; the last is 0.
    above: Vec<f64>,
}

impl Default for Quantiles {
    fn default() -> Quantiles {
        Quantiles { above: (1..=MAX_MULTIPLICITY).map(|k| survival(k + 1)).collect() }
    }
}

impl Quantiles {
    /// The least k with P(K <= k) >= `u`. For `u` uniform in [0, 1) it is a draw from the law.
    pub fn multiplicity_at(&self, u: f64) -> u32 {
        self.above.partition_point(|&above| above > 1.0 - u) as u32 + 1
    }
}

/// The multiplicities of `objects` objects at the law's quantiles, ascending. No draw: a sample
/// of any size has the law's shape, tail included.
pub fn multiplicities(objects: u32) -> Vec<u32> {
    let quantiles = Quantiles::default();
    let middle = |rank: u32| (f64::from(rank) + 0.5) / f64::from(objects);
    (0..objects).map(|rank| quantiles.multiplicity_at(middle(rank))).collect()
}

/// Bytes of an object with `k` references; `normal` is a standard normal variate.
///
/// ln size is normal with mean `MU` + `BETA`·ln k and standard deviation `SIGMA`.
pub fn size(k: u32, normal: f64) -> u32 {
    const MU: f64 = 11.1023;
    const SIGMA: f64 = 1.2480;
    const BETA: f64 = -0.0098;
    // Saturates far beyond any variate that a generator of 2^53 steps gives.
    (MU + BETA * f64::from(k).ln() + SIGMA * normal).exp().round().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean is the sum of the survival function.
    fn mean() -> f64 {
        (1..=MAX_MULTIPLICITY).map(survival).sum()
    }

    #[test]
    fn mean_singletons_and_ceiling_are_the_published_ones() {
        assert!((mean() - 1_582_193_028.0 / 355.97e6).abs() < 0.001, "{}", mean());
        assert!((1.0 - survival(2) - 0.402).abs() < 1e-12);
        assert!((1.0 - 1.0 / mean() - 0.775).abs() < 0.0005, "{}", mean());
    }

    #[test]
    fn survival_falls_to_nothing_beyond_the_largest_count() {
        assert!((1..=MAX_MULTIPLICITY).all(|k| survival(k) > survival(k + 1)));
        // One of 356 M objects, or fewer.
        assert!(survival(MAX_MULTIPLICITY) > 0.0 && survival(MAX_MULTIPLICITY) < 1e-6);
        assert_eq!(survival(MAX_MULTIPLICITY + 1), 0.0);
    }

    #[test]
    fn quantiles_invert_the_survival_function() {
        let quantiles = Quantiles::default();
        for k in 1..=MAX_MULTIPLICITY {
            let (first, last) = (1.0 - survival(k), 1.0 - survival(k + 1));
            assert_eq!(quantiles.multiplicity_at((first + last) / 2.0), k);
        }
        assert_eq!(quantiles.multiplicity_at(0.0), 1);
        assert_eq!(quantiles.multiplicity_at(1.0 - f64::EPSILON / 2.0), MAX_MULTIPLICITY);
    }

    #[test]
    fn multiplicities_have_the_shape_of_the_law_at_any_number() {
        for (objects, within) in [(1000, 0.05), (100_000, 0.005)] {
            let found = multiplicities(objects);
            let references: u32 = found.iter().sum();
            assert!((f64::from(references) / f64::from(objects) - mean()).abs() < within, "{references}");
            assert_eq!(found.iter().filter(|&&k| k == 1).count(), (0.402 * f64::from(objects)) as usize);
            assert!(found.is_sorted());
        }
        assert!(multiplicities(0).is_empty());
    }

    #[test]
    fn sizes_are_log_normal_and_at_least_one_byte() {
        assert_eq!(size(1, 0.0), 66_324);
        assert!((f64::from(size(1, 1.0)) / f64::from(size(1, 0.0)) - 1.248f64.exp()).abs() < 1e-4);
        assert!(size(1000, 0.0) < size(1, 0.0));
        assert_eq!(size(1, -40.0), 1);
        assert_eq!(size(1, 40.0), u32::MAX);
    }
}
