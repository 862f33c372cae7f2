//! When a cache pays: the one comparison behind every advice for or against it.

/// What one object costs, means in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Read from its source.
    pub source: f64,
    /// Stored in the cache.
    pub put: f64,
    /// Read from the cache.
    pub hit: f64,
}

impl Costs {
    /// Whether a cache saves more than it costs.
    ///
    /// With k references an object costs k source reads without a cache, and one source read, one
    /// put and k hits with it: rows are written after the fetch, so the first of them takes its
    /// payload from the entry, too. Summed over U objects with R references, the cache pays when
    /// R - U source reads cost more than U puts and R hits. Remote sources are far on one side of
    /// that, files on a fast disk on the other.
    pub fn favour_a_cache(&self, references: u64, objects: u64) -> bool {
        let saved = references.saturating_sub(objects) as f64 * self.source;
        saved > objects as f64 * self.put + references as f64 * self.hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_redundancy_of_mint_1t_html_the_source_must_be_slower_than_5_63_ms() {
        let pays = |source| {
            let costs = Costs { source, put: 10.5e-3, hit: 2.0e-3 };
            costs.favour_a_cache(1_582_193_028, 355_970_000)
        };
        // (355.97 * 10.5 + 1582.193 * 2.0) / (1582.193 - 355.97) = 5.6288
        assert!(pays(5.629e-3));
        assert!(!pays(5.628e-3));
    }

    #[test]
    fn where_nothing_recurs_or_nothing_is_known_no_cache_pays() {
        let slow = Costs { source: 1.0, put: 1e-9, hit: 1e-9 };
        assert!(slow.favour_a_cache(2, 1));
        assert!(!slow.favour_a_cache(7, 7));
        assert!(!slow.favour_a_cache(0, 0));
        assert!(!Costs::default().favour_a_cache(1000, 1));
    }
}
