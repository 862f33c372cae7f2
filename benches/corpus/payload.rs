//! Payloads that no codec shortens, made from the number of their object, and the generator
//! behind everything that looks random here.

/// Marsaglia's xorshift64: fast, and as good as payloads and shuffles need.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // One step of splitmix64 spreads neighbouring seeds; the state must not be zero.
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random((z ^ (z >> 31)).max(1))
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform below `bound`; the bias of 2^-32 at most is of no consequence here.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.next() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let uniform = |bits: u64| ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (radius, turn) = (uniform(self.next()), uniform(self.next()));
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }

    /// Fisher and Yates.
    pub fn shuffle(&mut self, items: &mut [u32]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

/// Fills `out` with the first bytes of the payload of the object at `place`.
pub fn fill(place: u32, out: &mut [u8]) {
    let mut random = Random::new(u64::from(place));
    let mut words = out.chunks_exact_mut(8);
    for word in &mut words {
        word.copy_from_slice(&random.next().to_le_bytes());
    }
    let rest = words.into_remainder();
    let word = random.next().to_le_bytes();
    rest.copy_from_slice(&word[..rest.len()]);
}
