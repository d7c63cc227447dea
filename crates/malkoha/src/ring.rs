//! Keys on their way: their cache lines are requested long before they are looked at.
//!
//! A lookup waits for two cache misses, and in a plain loop a processor overlaps few lookups. Here
//! keys flow through a ring: while one is looked at, the lines of the keys after it are on their
//! way.

/// Keys whose places are computed together: a vector unit's worth or two.
pub(crate) const GROUP: usize = 16;
/// Groups on their way: 64 keys, 128 lines.
const AHEAD: usize = 4;
/// Keys on their way.
const RING: usize = GROUP * AHEAD;

/// Groups that a batch remembers: those on their way, and the one that is being looked at.
pub(crate) const SLOTS: usize = AHEAD + 1;

/// A group of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Group(usize);

impl Group {
    /// The number of its first key.
    #[inline(always)]
    pub(crate) fn first(self) -> usize {
        self.0 * GROUP
    }

    /// The ring slot of this group.
    #[inline(always)]
    pub(crate) fn slot(self) -> usize {
        self.0 % SLOTS
    }
}

/// For this many keys, in order: the group whose lines are requested, and then the one that is
/// looked at. This is a loop without closures, because those would not be compiled for the
/// instruction set of the function around them.
#[inline(always)]
pub(crate) fn schedule(keys: usize) -> impl Iterator<Item = (Option<Group>, Option<Group>)> {
    let groups = keys.div_ceil(GROUP);
    (0..groups + AHEAD).map(move |turn| {
        ((turn < groups).then_some(Group(turn)), turn.checked_sub(AHEAD).map(Group))
    })
}

/// The hashes of a group, of those from its first on. The last group of a batch has its own first
/// one in place of those that are missing, so that loops over a group have no other end.
#[inline(always)]
pub(crate) fn whole<'a, T: Copy>(rest: &'a [T], room: &'a mut [T; GROUP]) -> &'a [T; GROUP] {
    if let Some(whole) = rest.first_chunk() {
        return whole;
    }
    *room = [rest[0]; GROUP];
    room[..rest.len()].copy_from_slice(rest);
    room
}

/// Stores the results of a group, of which the last one may have fewer.
#[inline(always)]
pub(crate) fn store(results: &[bool; GROUP], rest: &mut [bool]) {
    match rest.first_chunk_mut() {
        Some(whole) => *whole = *results,
        None => rest.copy_from_slice(&results[..rest.len()]),
    }
}

/// For each hash in order, `ask` requests its lines and returns what is known about it. Later
/// `step` is called with its number, the hash, and what `ask` returned. Both get `table`, which
/// `step` may change.
#[inline(always)]
pub(crate) fn one_by_one<T: ?Sized, P: Copy + Default>(
    table: &mut T,
    hashes: &[u64],
    mut ask: impl FnMut(&T, u64) -> P,
    mut step: impl FnMut(&mut T, usize, u64, &P),
) {
    let mut ring = [P::default(); RING];
    for (known, &hash) in ring.iter_mut().zip(hashes) {
        *known = ask(table, hash);
    }
    for (i, &hash) in hashes.iter().enumerate() {
        let known = &mut ring[i % RING];
        step(table, i, hash, known);
        if let Some(&later) = hashes.get(i + RING) {
            *known = ask(table, later);
        }
    }
}
