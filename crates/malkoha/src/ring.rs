//! Keys on their way: their cache lines are asked for long before they are looked at.
//!
//! One lookup waits for two cache misses, and a processor overlaps few lookups of a plain loop. Here
//! keys flow through a ring: while one is looked at, the lines of those after it are on their way.

/// Keys whose places are computed together: a vector unit's worth or two.
pub(crate) const GROUP: usize = 16;
/// Groups on their way: 64 keys, 128 lines.
const AHEAD: usize = 4;
/// As many keys.
const RING: usize = GROUP * AHEAD;

/// For the groups of so many keys in order: `ask` fills what is known of a group, and asks for its
/// lines; later `look` is called with it. Both are told the number of the group's first key.
#[inline(always)]
pub(crate) fn in_groups<A: Copy>(
    keys: usize,
    empty: A,
    mut ask: impl FnMut(usize, &mut A),
    mut look: impl FnMut(usize, &A),
) {
    let mut ring = [empty; AHEAD + 1];
    let groups = keys.div_ceil(GROUP);
    for group in 0..groups + AHEAD {
        if group < groups {
            ask(group * GROUP, &mut ring[group % (AHEAD + 1)]);
        }
        if let Some(group) = group.checked_sub(AHEAD) {
            look(group * GROUP, &ring[group % (AHEAD + 1)]);
        }
    }
}

/// For so many keys in order: `ask` returns what is known of a key, and asks for its lines; later
/// `step` is called with it. Both are handed `table`, which `step` may change.
#[inline(always)]
pub(crate) fn one_by_one<T: ?Sized, P: Copy + Default>(
    table: &mut T,
    keys: usize,
    mut ask: impl FnMut(&T, usize) -> P,
    mut step: impl FnMut(&mut T, usize, &P),
) {
    let mut ring = [P::default(); RING];
    for (i, known) in ring.iter_mut().enumerate().take(keys) {
        *known = ask(table, i);
    }
    for i in 0..keys {
        let known = ring[i % RING];
        if i + RING < keys {
            ring[i % RING] = ask(table, i + RING);
        }
        step(table, i, &known);
    }
}
