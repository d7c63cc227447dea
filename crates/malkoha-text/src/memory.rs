/// Memory of a thread's work on texts, to use again for the next one.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub(crate) hashes: Vec<u64>,
    pub(crate) found: Vec<bool>,
    pub(crate) signature: Vec<u32>,
    pub(crate) bytes: Vec<u8>,
}
