//! Ranks by Zipf's law, by rejection-inversion (Hörmann and Derflinger, 1996).

/// Ranks 1 to `most`, each with probability proportional to `rank^-exponent`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zipf {
    exponent: f64,
    least: f64,
    greatest: f64,
    shortcut: f64,
}

impl Zipf {
    /// For an exponent above 1.
    pub(crate) fn new(most: u64, exponent: f64) -> Self {
        let mut zipf = Self { exponent, least: 0.0, greatest: 0.0, shortcut: 0.0 };
        zipf.least = zipf.integral(1.5) - 1.0;
        zipf.greatest = zipf.integral(most as f64 + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank from uniform numbers of 0 to 1.
    pub(crate) fn rank(&self, mut uniform: impl FnMut() -> f64) -> u64 {
        loop {
            let u = self.greatest + uniform() * (self.least - self.greatest);
            let x = self.inverse(u);
            let rank = x.round().max(1.0);
            if rank - x <= self.shortcut || u >= self.integral(rank + 0.5) - self.density(rank) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a rank"
                )]
                return rank as u64;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    fn integral(&self, x: f64) -> f64 {
        let e = 1.0 - self.exponent;
        (x.powf(e) - 1.0) / e
    }

    fn inverse(&self, y: f64) -> f64 {
        let e = 1.0 - self.exponent;
        (1.0 + y * e).powf(1.0 / e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;

    /// A million draws of 1000 ranks; tolerance 5 sigma of each share.
    #[test]
    fn ranks_follow_the_law() {
        let (zipf, keys, draws) = (Zipf::new(1_000, 1.1), Keys::new(1), 1_000_000_u32);
        let (mut counts, mut position) = ([0_u32; 1_001], 0);
        for _ in 0..draws {
            let rank = zipf.rank(|| {
                position += 1;
                keys.key(position) as f64 / 2_f64.powi(64)
            });
            counts[usize::try_from(rank).unwrap()] += 1;
        }
        let norm: f64 = (1..=1_000).map(|rank| f64::from(rank).powf(-1.1)).sum();
        for rank in [1_u16, 2, 3, 10, 100, 1_000] {
            let expected = f64::from(rank).powf(-1.1) / norm * f64::from(draws);
            let off = f64::from(counts[usize::from(rank)]) - expected;
            assert!(off.abs() < 5.0 * expected.sqrt(), "rank {rank}: {off} off {expected}");
        }
    }
}
