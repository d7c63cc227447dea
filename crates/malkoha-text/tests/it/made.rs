//! Made texts, the same in every run.

/// A generator of numbers without a crate (`SplitMix64`).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// One of so many words.
    pub(crate) fn word(&mut self, words: usize) -> String {
        format!("w{}", self.below(words))
    }
}

/// Texts of 30 to 90 words, of which a third are earlier ones with up to a tenth of the words
/// changed.
pub(crate) fn texts(count: usize, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let mut texts: Vec<Vec<String>> = Vec::with_capacity(count);
    for number in 0..count {
        let text = if number > 0 && random.below(3) == 0 {
            let mut text = texts[random.below(number)].clone();
            for _ in 0..random.below(text.len() / 10 + 1) {
                let at = random.below(text.len());
                text[at] = random.word(50_000);
            }
            text
        } else {
            (0..30 + random.below(60)).map(|_| random.word(50_000)).collect()
        };
        texts.push(text);
    }
    texts.into_iter().map(|words| words.join(" ")).collect()
}
