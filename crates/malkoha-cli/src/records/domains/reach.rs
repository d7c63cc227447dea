//! The rules of lines, and the names that they are for.

use super::super::Unfit;
use super::super::blocks::Verdict;

/// The ranks of the rules for a name itself and for all names below it. The highest rank decides:
/// odd ranks list a name, even ones except it, and 0 is no rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    pub(crate) itself: u8,
    pub(crate) below: u8,
}

/// Listed, though excepted.
pub(crate) const IMPORTANT: u8 = 3;
/// Excepted, though important.
pub(crate) const FINAL: u8 = 4;

/// Whether a rule of this rank lists a name.
pub(crate) fn is_listed(said: u8) -> bool {
    !said.is_multiple_of(2)
}

pub(super) const ITSELF: Reach = Reach { itself: 1, below: 0 };
pub(super) const ALL: Reach = Reach { itself: 1, below: 1 };

impl Reach {
    /// The same with others in the place of what is said.
    pub(crate) fn map(self, other: impl Fn(u8) -> u8) -> Self {
        let of = |it| if it == 0 { 0 } else { other(it) };
        Self { itself: of(self.itself), below: of(self.below) }
    }

    /// The same as an exception.
    pub(super) fn excepted(self) -> Self {
        self.map(|it| it + 1)
    }

    /// The same in a block of which this is said.
    pub(crate) fn judged(self, verdict: Verdict) -> Self {
        match verdict {
            Ok(false) => self,
            Ok(true) => self.map(|it| if is_listed(it) { it + 1 } else { it }),
            Err(_) => Self::default(),
        }
    }

    pub(crate) fn max(self, other: Self) -> Self {
        let Self { itself, below } = other;
        Self { itself: self.itself.max(itself), below: self.below.max(below) }
    }
}

/// The rule of a line.
pub(super) enum Rule<'a> {
    One(&'a [u8], Reach),
    /// The host of a page, or of a mailbox.
    Part(&'a [u8]),
    Owned(String, Reach),
    Many(Box<dyn Iterator<Item = &'a [u8]> + 'a>, Reach),
    /// Names of the machine itself, and settings.
    Nothing,
    Unfit(Unfit),
}
