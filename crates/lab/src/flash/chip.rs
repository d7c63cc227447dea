//! A model of a flash device: pages that hold a sector each and are written once, blocks of pages
//! that are erased as a whole, and the flash translation layer that hides both: it maps sectors to
//! pages, collects garbage and levels the wear.

/// Bytes of a sector and of a page.
pub(super) const SECTOR: usize = 1 << 10;
/// Blocks that stay erased, so that a garbage collection always finds room for what it copies.
const RESERVE: usize = 3;
/// Erases by which a block may lag behind the most worn one before its content is moved away, so
/// that it is written again.
const LAG: u32 = 8;
/// No page, or no sector.
const NONE: u32 = u32::MAX;

/// How large a device is, and how it is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Sectors that can be written.
    pub(super) sectors: u32,
    /// Pages of a block.
    pub(super) block_pages: u32,
    /// Pages beyond the sectors, as a share of them.
    pub(super) spare: f64,
    /// Whether the least worn blocks are written first, and those that lag behind emptied.
    pub(super) levelling: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    erases: u32,
    /// Pages that were written since the last erase: always the first ones, in order.
    written: u32,
    /// Pages that hold the current version of a sector.
    live: u32,
}

/// What was done, in pages and blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Pages that were written because a sector was.
    pub(super) written: u64,
    /// Pages that were written again, to empty a block.
    pub(super) copied: u64,
    pub(super) erases: u64,
}

/// Who writes into an open block. New data and copied data, which is unlikely to change soon, are
/// kept in separate blocks.
#[derive(Clone, Copy, Debug)]
enum Stream {
    New,
    Copies,
}

/// The device.
#[derive(Clone, Debug)]
pub(super) struct Chip {
    shape: Shape,
    /// The page of each sector.
    pages: Vec<u32>,
    /// The sector of each page.
    sectors: Vec<u32>,
    memory: Vec<u8>,
    blocks: Vec<Block>,
    erased: Vec<u32>,
    open: [Option<u32>; 2],
    counts: Counts,
}

impl Chip {
    pub(super) fn new(shape: Shape) -> Self {
        let blocks = f64::from(shape.sectors) * (1.0 + shape.spare) / f64::from(shape.block_pages);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        // The reserve, the open blocks, and one that has pages to reclaim.
        let blocks = blocks.ceil() as u32 + 6;
        let pages = (blocks * shape.block_pages) as usize;
        Self {
            shape,
            pages: vec![NONE; shape.sectors as usize],
            sectors: vec![NONE; pages],
            memory: vec![0; pages * SECTOR],
            blocks: vec![Block::default(); blocks as usize],
            erased: (0..blocks).rev().collect(),
            open: [None; 2],
            counts: Counts::default(),
        }
    }

    /// Sectors that can be written.
    pub(super) fn sectors(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// How often each block was erased.
    pub(super) fn wear(&self) -> Vec<u32> {
        self.blocks.iter().map(|block| block.erases).collect()
    }

    /// Writes a sector: `bytes` is at most a sector long, and the rest of the sector is zero.
    pub(super) fn write(&mut self, sector: u32, bytes: &[u8]) {
        let page = self.next_page(Stream::New);
        let memory = &mut self.memory[page as usize * SECTOR..][..SECTOR];
        memory[..bytes.len()].copy_from_slice(bytes);
        memory[bytes.len()..].fill(0);
        self.map(sector, page);
        self.counts.written += 1;
    }

    /// What a sector holds, unless nothing was written or it was discarded.
    pub(super) fn read(&self, sector: u32) -> Option<&[u8]> {
        let page = self.pages[sector as usize];
        (page != NONE).then(|| &self.memory[page as usize * SECTOR..][..SECTOR])
    }

    /// Marks a sector as no longer used.
    pub(super) fn discard(&mut self, sector: u32) {
        let page = std::mem::replace(&mut self.pages[sector as usize], NONE);
        if page != NONE {
            self.sectors[page as usize] = NONE;
            self.blocks[(page / self.shape.block_pages) as usize].live -= 1;
        }
    }

    /// Maps a sector to a page, instead of the page that held it before.
    fn map(&mut self, sector: u32, page: u32) {
        self.discard(sector);
        self.pages[sector as usize] = page;
        self.sectors[page as usize] = sector;
        self.blocks[(page / self.shape.block_pages) as usize].live += 1;
    }

    /// The next page of the block that a stream writes into.
    fn next_page(&mut self, stream: Stream) -> u32 {
        let is_full = |block: u32| self.blocks[block as usize].written == self.shape.block_pages;
        let block = match self.open[stream as usize].filter(|&block| !is_full(block)) {
            Some(block) => block,
            None => {
                // Copies may use the reserve.
                while matches!(stream, Stream::New) && self.erased.len() <= RESERVE {
                    self.collect();
                }
                self.take_erased(stream)
            }
        };
        self.open[stream as usize] = Some(block);
        let written = &mut self.blocks[block as usize].written;
        *written += 1;
        block * self.shape.block_pages + *written - 1
    }

    fn take_erased(&mut self, stream: Stream) -> u32 {
        let erases = |&at: &usize| self.blocks[self.erased[at] as usize].erases;
        let all = 0..self.erased.len();
        let at = match stream {
            _ if !self.shape.levelling => all.last(),
            Stream::New => all.min_by_key(erases),
            // Data that does not change spares a worn block further erases.
            Stream::Copies => all.max_by_key(erases),
        };
        self.erased.swap_remove(at.expect("a collection keeps a reserve"))
    }

    /// Empties the block that has the least to copy, and one that lags behind in wear.
    fn collect(&mut self) {
        let least = |of: &dyn Fn(&Block) -> (u32, u32)| {
            let full = self.full_blocks();
            full.min_by_key(|&block| of(&self.blocks[block as usize])).expect("most are full")
        };
        let victim = least(&|block| (block.live, block.erases));
        self.empty(victim);
        if self.shape.levelling {
            let most = self.blocks.iter().map(|block| block.erases).max().unwrap_or(0);
            let lagging =
                self.full_blocks().min_by_key(|&block| self.blocks[block as usize].erases);
            if let Some(block) = lagging
                && self.blocks[block as usize].erases + LAG < most
            {
                self.empty(block);
            }
        }
    }

    /// Blocks in which every page is written, except open ones.
    fn full_blocks(&self) -> impl Iterator<Item = u32> {
        let all = (0..).zip(&self.blocks);
        let full = all.filter(|(_, block)| block.written == self.shape.block_pages);
        full.map(|(number, _)| number).filter(|&number| !self.open.contains(&Some(number)))
    }

    /// Copies the live pages of a block elsewhere, and erases it.
    fn empty(&mut self, block: u32) {
        let first = block * self.shape.block_pages;
        for page in first..first + self.shape.block_pages {
            let sector = self.sectors[page as usize];
            if sector != NONE {
                let copy = self.next_page(Stream::Copies);
                let from = page as usize * SECTOR;
                self.memory.copy_within(from..from + SECTOR, copy as usize * SECTOR);
                self.map(sector, copy);
                self.counts.copied += 1;
            }
        }
        let emptied = &mut self.blocks[block as usize];
        emptied.erases += 1;
        emptied.written = 0;
        self.counts.erases += 1;
        self.erased.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Keys, scale};

    /// Sectors of which nine tenths never change, and the others all the time.
    fn worn(levelling: bool) -> Chip {
        let shape = Shape { sectors: 1000, block_pages: 16, spare: 0.1, levelling };
        let mut chip = Chip::new(shape);
        let content = |sector: u64, turn: u64| Keys::new(turn).key(sector).to_le_bytes();
        let mut turns = vec![0; 1000];
        for sector in 0..1000 {
            chip.write(sector, &content(sector.into(), 0));
        }
        for turn in 1..20_000 {
            let sector = scale(Keys::new(9).key(turn), 100);
            turns[usize::try_from(sector).unwrap()] = turn;
            chip.write(u32::try_from(sector).unwrap(), &content(sector, turn));
        }
        for (sector, &turn) in (0..).zip(&turns) {
            let bytes = chip.read(sector).unwrap();
            assert_eq!(bytes[..8], content(sector.into(), turn), "sector {sector}");
            assert_eq!(bytes[8..], [0; SECTOR - 8]);
        }
        chip
    }

    #[test]
    fn nothing_is_lost_and_the_wear_is_spread() {
        let (level, not) = (worn(true), worn(false));
        let range = |chip: &Chip| {
            let wear = chip.wear();
            (*wear.iter().min().unwrap(), *wear.iter().max().unwrap())
        };
        let (least, most) = range(&level);
        assert!(most - least <= LAG + 2 && least > 0, "{least} to {most} erases");
        // Without wear levelling, blocks whose content never changes are never erased.
        let (least, worst) = range(&not);
        assert!(
            least == 0 && worst > most + most / 3,
            "{least} to {worst} erases, {most} levelled"
        );
        for chip in [level, not] {
            let Counts { written, copied, erases } = chip.counts();
            let programmed = written + copied;
            assert_eq!(written, 20_999);
            assert!((erases * 16..=(erases + 1000) * 16).contains(&programmed));
        }
    }

    #[test]
    fn what_is_discarded_is_not_copied() {
        let shape = Shape { sectors: 320, block_pages: 16, spare: 0.1, levelling: true };
        let mut chip = Chip::new(shape);
        for round in 0..50 {
            (0..320).for_each(|sector| chip.write(sector, &[round; SECTOR]));
            (0..320).for_each(|sector| chip.discard(sector));
            assert!((0..320).all(|sector| chip.read(sector).is_none()));
        }
        assert_eq!(chip.counts().copied, 0);
    }
}
