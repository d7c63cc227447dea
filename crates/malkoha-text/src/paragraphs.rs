//! Paragraphs that occurred before, in any text that is kept or earlier in the same one.

use std::ops::Range;

use crate::exact::{Identifier, Identity};

/// A line that is not blank, and its place with the blank lines after it.
#[derive(Clone, Debug)]
pub(crate) struct Paragraph {
    pub(crate) place: Range<usize>,
    /// Bytes of the line, without the white space around it.
    pub(crate) len: usize,
    pub(crate) identity: Identity,
}

/// Replaces `paragraphs` by those of a text. White space at the ends of a line does not count.
pub(crate) fn split(text: &str, identifier: Identifier, paragraphs: &mut Vec<Paragraph>) {
    paragraphs.clear();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let place = at..at + line.len();
        at = place.end;
        let content = line.trim();
        if !content.is_empty() {
            let identity = identifier.identify(content.as_bytes());
            paragraphs.push(Paragraph { place, len: content.len(), identity });
        } else if let Some(last) = paragraphs.last_mut() {
            // A paragraph that is cut leaves no gap.
            last.place.end = place.end;
        }
    }
}

/// The parts of a text of `len` bytes outside the paragraphs `cut`, which are ascending.
pub(crate) fn remainder(len: usize, cut: &[Range<usize>]) -> Vec<Range<usize>> {
    let starts = cut.iter().map(|place| place.start).chain([len]);
    let ends = [0].into_iter().chain(cut.iter().map(|place| place.end));
    ends.zip(starts).filter(|(from, to)| from < to).map(|(from, to)| from..to).collect()
}

#[cfg(test)]
mod tests {
    use malkoha::KeyHasher;

    use super::*;

    #[test]
    fn paragraphs_take_the_blank_lines_after_them() {
        let text = "\n\na\r\n \n\n  b\nc";
        let mut paragraphs = Vec::new();
        split(text, Identifier::new(KeyHasher::new(1)), &mut paragraphs);
        let places: Vec<_> = paragraphs.iter().map(|it| &text[it.place.clone()]).collect();
        assert_eq!(places, ["a\r\n \n\n", "  b\n", "c"]);
        let cut = [paragraphs[1].place.clone()];
        let kept: Vec<_> = remainder(text.len(), &cut).into_iter().map(|it| &text[it]).collect();
        assert_eq!(kept, ["\n\na\r\n \n\n", "c"]);
        assert!(remainder(3, &[0..1, 1..3]).is_empty());
    }
}
