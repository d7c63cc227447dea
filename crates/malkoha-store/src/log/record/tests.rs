use super::*;
use proptest::prelude::*;

fn written(content: &Content<'_>, placing: Placing) -> Vec<u8> {
    let (mut bytes, mut apart) = (Vec::new(), Vec::new());
    encode(content, placing, false, &mut bytes);
    let padding = encode(content, placing, true, &mut apart);
    apart.extend_from_slice(content.value);
    apart.extend_from_slice(padding);
    assert_eq!(bytes, apart);
    bytes
}

fn read(bytes: &[u8], seed: u32) -> Option<Record<'_>> {
    let head = Head::parse(bytes)?;
    let len = super::super::to_usize(head.shape.bytes());
    Record::checked(head, bytes.get(..len)?.into(), seed)
}

proptest! {
    #[test]
    fn comes_back(
        key in proptest::collection::vec(any::<u8>(), 0..300),
        value in proptest::collection::vec(any::<u8>(), 0..300),
        table: u32, packed: bool,
        prefix: Option<u64>, delete: bool, more: bool, sequence: u64, seed: u32,
        unsynced in proptest::option::of(0_u64..1 << 33),
    ) {
        let kind = if delete { Kind::Delete } else { Kind::Put };
        let value = if delete { Vec::new() } else { value };
        let key = Key { table, name: &key };
        let content = Content { kind, key, value: &value, packed, prefix };
        let bytes = written(&content, Placing { sequence, more, unsynced, seed });
        prop_assert_eq!(bytes.len() as u64, content.shape().bytes());
        let record = read(&bytes, seed).unwrap();
        prop_assert_eq!((record.key(), record.stored()), (key, &value[..]));
        prop_assert_eq!(record.head.key(&bytes), Some(key));
        prop_assert_eq!(record.head.is_packed(), packed);
        prop_assert_eq!((record.head.kind, record.more()), (kind, more));
        prop_assert_eq!(u64::from(record.head.sequence), sequence & 0xffff_ffff);
        prop_assert_eq!(if delete { record.origin() } else { record.expires() }, prefix);
        // At most twice as many.
        match (record.head.unsynced(), unsynced) {
            (Some(found), Some(told)) => prop_assert!(found >= told && found <= told * 2),
            (found, told) => prop_assert_eq!(found, told),
        }
        prop_assert!(read(&bytes, seed ^ 1).is_none());
    }
}

/// Pinned: a change here would make every store unreadable.
#[test]
fn known_bytes() {
    let placing = Placing { sequence: 0x1_0000_0002, more: true, unsynced: Some(0), seed: 0 };
    let content = Content::put(Key::main(b"key"), b"v", Some(1));
    let bytes = written(&content, placing);
    assert_eq!(bytes[4..8], [2, 0, 0, 0]);
    assert_eq!(bytes[8..16], [1, 0, 0, 0x80, 1, 0, 0b1101, 1]);
    assert_eq!(bytes[16..], *b"\x01\0\0\0\0\0\0\0keyv\0\0\0\0");
    assert_eq!(bytes[..4], crc32c::crc32c(&bytes[4..]).to_le_bytes());
    let bytes = written(
        &Content { key: Key { table: 2, ..content.key }, packed: true, ..content },
        placing,
    );
    assert_eq!(bytes[8..16], [1, 0, 0, 0x80, 1, 0, 0b110_1101, 1]);
    assert_eq!(bytes[16..], *b"\x01\0\0\0\0\0\0\0\x02\0\0\0keyv");
}
