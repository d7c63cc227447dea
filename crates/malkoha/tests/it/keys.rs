//! What every type of key is hashed to, and that no two keys are taken for one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use malkoha::{HashFunction, Hashed, Key, KeyHasher};
use proptest::prelude::*;

const HASHER: KeyHasher = KeyHasher::new(42);

fn hash(key: impl Key) -> u64 {
    key.hash_with(HASHER)
}

#[derive(Clone, Debug, Hash)]
struct Visit {
    user: String,
    page: Option<u32>,
}

macro_rules! assert_hashes {
    ($($key:expr => $expected:literal,)*) => {$(
        assert_eq!(hash($key), $expected, "{}", stringify!($key));
    )*};
}

/// Pinned: a change here would make every saved filter lose its keys. The numbers come from another
/// implementation, written in Python from the documentation of `Key`, with the reference XXH3.
#[test]
fn known_answers() {
    assert_hashes! {
        5_usize => 0x53e4_368e_22c2_76ec,
        -5_isize => 0xc00d_818c_1ee3_622a,
        'ä' => 0x58e8_e180_4126_9f23,
        true => 0x6f01_c92c_ab64_dc93,
        NonZero::new(5_u16).unwrap() => 0x1364_8929_8946_427c,
        NonZero::new(-5_isize).unwrap() => 0xc00d_818c_1ee3_622a,
        Ipv4Addr::LOCALHOST => 0x143c_4d7e_a926_9072,
        Ipv6Addr::LOCALHOST => 0xe38a_2457_5522_11b9,
        IpAddr::V4(Ipv4Addr::LOCALHOST) => 0x143c_4d7e_a926_9072,
        "127.0.0.1:80".parse::<SocketAddr>().unwrap() => 0xf99d_e903_5234_0a09,
        SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 1, 2) => 0x8507_cc20_42fd_2a10,
        ("malkoha",) => 0x1976_e692_089c_b646,
        ("ab", "c") => 0x5de3_b5ec_1442_7c94,
        (1_u8, 2_u8, 3_u8) => 0x705c_c131_428a_007f,
        (1_u8, 2_u8, 3_u8, 4_u8) => 0xa71a_6eec_34b9_2ab5,
        (1_u8, 2_u8, 3_u8, 4_u8, 5_u8) => 0x7fa9_73d2_fd8d_a6ac,
        (1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8) => 0x5efa_7726_b5ad_446d,
        (1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8) => 0xba32_0501_4235_bb03,
        (1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8, 8_u8) => 0x0aad_6634_a5f5_9e0d,
        None::<u32> => 0x3242_6e22_2d59_b617,
        Some("malkoha") => 0x18ec_4905_67f5_73c6,
        [1_i8, -1] => 0x177a_7e9d_f660_13f0,
        [true, false] => 0x71e7_58a6_603b_c322,
        [1_u16, 2] => 0xfad6_777b_eef6_9b2f,
        ["a", "b"].map(|text| text.chars().next().unwrap()) => 0x1d96_c785_7108_d32a,
        [1_u32, 2, 3, 4] => 0xe6e6_c699_97bd_7290,
        [1_usize, 2] => 0xb18e_1336_01b5_0d47,
        [1_u128] => 0xd6d4_1d23_8e20_3058,
        [0_u64; 0] => 0xe6c5_3cca_2eba_ea48,
        (0..16).collect::<Vec<u64>>() => 0xa2a6_ed50_2805_9896,
        (0..17).collect::<Vec<u64>>() => 0xee2c_f8f1_ac3f_ca91,
        (0..1000).collect::<Vec<i64>>() => 0xaf09_b22c_d11e_cf32,
        ["ab", "c"] => 0x01c7_47da_50d1_1d2e,
        (0..20_u8).map(|key| [key]).collect::<Vec<_>>() => 0x1626_8552_59aa_7601,
        Hashed(5_u32) => 0x4004_6f58_e97f_624c,
        Hashed(-5_isize) => 0xbe28_1b6d_edb5_7c9c,
        Hashed("abc") => 0x551c_33ef_e270_91a4,
        Hashed(5_u128) => 0x2195_b964_1415_22af,
        Hashed(-5_i16) => 0x46fd_87c0_384a_13cc,
        Hashed(Visit { user: "ada".into(), page: Some(7) }) => 0x7466_85a6_bdab_2e54,
        Hashed([[1_u8; 70]; 3]) => 0x24a4_d08c_7666_5a14,
    }
}

#[test]
#[cfg(feature = "uuid")]
fn a_uuid_is_its_bytes() {
    let bytes = core::array::from_fn(|byte| u8::try_from(byte).unwrap());
    assert_eq!(hash(uuid::Uuid::from_bytes(bytes)), 0x7489_1a34_d3ff_f0a9);
}

#[test]
#[cfg(unix)]
fn a_path_is_its_bytes() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    let bytes = b"/tmp/\xff";
    let path = Path::new(OsStr::from_bytes(bytes));
    assert_eq!(hash(path), hash(bytes));
    assert_eq!(hash(PathBuf::from(path)), hash(bytes));
    assert_eq!(hash(path.as_os_str()), hash(bytes));
    assert_eq!(hash(OsString::from(path)), hash(bytes));
}

#[test]
#[cfg(windows)]
fn a_path_is_its_text_or_else_its_units() {
    use std::ffi::OsString;
    use std::os::windows::ffi::OsStringExt;

    assert_eq!(hash(std::path::Path::new("C:\\\u{e4}")), hash("C:\\\u{e4}"));
    assert_eq!(hash(OsString::from_wide(&[0x61, 0xd800])), hash([0x61_u16, 0xd800]));
}

#[test]
fn borrowed_and_owned_forms_are_one_key() {
    let text = "abc";
    let mut owned = String::from(text);
    let changeable: &mut str = &mut owned;
    let expected = HASHER.hash_bytes(b"abc");
    assert_eq!(hash(text), expected);
    assert_eq!((&&text).hash_with(HASHER), expected);
    assert_eq!(hash(changeable), expected);
    assert_eq!(hash(owned), expected);
    assert_eq!(hash(Cow::Borrowed(text)), expected);
    assert_eq!(hash(Cow::<str>::Owned(text.into())), expected);
    assert_eq!(hash(Box::<str>::from(text)), expected);
    assert_eq!(hash(Arc::<str>::from(text)), expected);
    assert_eq!(hash(Rc::<str>::from(text)), expected);
    assert_eq!(hash(b"abc"), expected);
    assert_eq!(hash(Vec::from(*b"abc")), expected);
    assert_eq!(hash(Cow::from(&b"abc"[..])), expected);
    assert_eq!(hash(Arc::<[u8]>::from(*b"abc")), expected);

    assert_eq!(hash([1_u32, 2]), hash(vec![1_u32, 2]));
    assert_eq!(hash([1_u32, 2]), hash(Box::<[u32]>::from([1, 2])));
    assert_eq!(hash((text, Some(text))), hash((String::from(text), Some(Arc::<str>::from(text)))));
    assert_eq!(hash([text, ""]), hash(vec![String::from(text), String::new()]));
    let visit = Visit { user: text.into(), page: None };
    assert_eq!(hash(Hashed(&visit)), hash(Hashed(visit)));
}

#[test]
fn keys_of_other_shape_differ() {
    all_differ(&[
        hash(""),
        hash(0_u8),
        hash(0_u32),
        hash(0_u64),
        hash([0_u8; 9]),
        hash(None::<u8>),
        hash(Some("")),
        hash(Some(0_u8)),
        hash(Some(None::<u8>)),
        hash(Some(Some(0_u8))),
        hash(("",)),
        hash((0_u8,)),
        hash((("",),)),
        hash(("", "")),
        hash((0_u8, 0_u8)),
        hash(((0_u8, 0_u8), 0_u8)),
        hash((0_u8, (0_u8, 0_u8))),
        hash((0_u8, 0_u8, 0_u8)),
        hash([0_u16; 0]),
        hash([0_u32; 0]),
        hash([""; 0]),
        hash([""]),
        hash([[0_u8; 0]; 2]),
        hash([0_i8]),
        hash([0_u16]),
        hash([0_u16; 2]),
        hash([0_u32]),
        hash([0_u64]),
        hash([[0_u16; 2]]),
        hash(Hashed(0_u8)),
        hash(Hashed(0_u64)),
        hash(Hashed("")),
        hash(Hashed(())),
    ]);
}

fn all_differ(hashes: &[u64]) {
    let mut firsts = BTreeMap::new();
    for (at, &hash) in hashes.iter().enumerate() {
        assert_eq!(firsts.insert(hash, at), None, "keys {at} and an earlier one");
    }
}

/// Also where blocks end: at 128 bytes, and every 120 after.
#[test]
fn slices_of_any_length_differ() {
    all_differ(&(0..600).map(|len| hash(vec![0_u16; len])).collect::<Vec<_>>());
    all_differ(&(0..600).map(|len| hash(vec![""; len])).collect::<Vec<_>>());
}

/// `Hash` may write in any pieces: only the content counts.
#[test]
fn hashed_depends_on_the_bytes_written_alone() {
    struct Pieces<'a>(&'a [u8], usize);
    impl std::hash::Hash for Pieces<'_> {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.chunks(self.1).for_each(|piece| state.write(piece));
        }
    }
    let bytes: Vec<u8> = (0..=255).cycle().take(777).collect();
    for len in [0, 1, 127, 128, 129, 247, 248, 249, 777] {
        let whole = hash(Hashed(Pieces(&bytes[..len], 777)));
        for piece in [1, 7, 8, 119, 120, 121, 128, 129, 300] {
            assert_eq!(hash(Hashed(Pieces(&bytes[..len], piece))), whole, "{len} by {piece}");
        }
    }
}

proptest! {
    /// The same text cut at two places gives two keys, whatever type holds the pieces.
    #[test]
    fn cuts_are_part_of_the_key(text in "[ab]{0,12}", first in 0..13_usize, second in 0..13_usize) {
        let (first, second) = (first.min(text.len()), second.min(text.len()));
        let (a, b) = (text.split_at(first), text.split_at(second));
        prop_assert_eq!(hash(a) == hash(b), first == second);
        prop_assert_eq!(hash([a.0, a.1]) == hash([b.0, b.1]), first == second);
        prop_assert_eq!(hash(Hashed(a)) == hash(Hashed(b)), first == second);
    }

    /// Equal keys have equal hashes, others have others, under every seed.
    #[test]
    fn composites_are_equal_only_to_themselves(
        a in composite(), b in composite(), seed in any::<u64>(),
    ) {
        let hasher = KeyHasher::new(seed);
        prop_assert_eq!(a.hash_with(hasher) == b.hash_with(hasher), a == b);
        prop_assert_eq!(a.0.hash_with(hasher) == b.0.hash_with(hasher), a.0 == b.0);
        prop_assert_eq!(a.1.hash_with(hasher) == b.1.hash_with(hasher), a.1 == b.1);
        prop_assert_ne!(a.0.hash_with(hasher), b.1.hash_with(hasher));
        prop_assert_eq!(
            Hashed(&a).hash_with(hasher) == Hashed(&b).hash_with(hasher),
            a == b
        );
    }
}

type Composite = (Vec<Option<String>>, Vec<u16>, Option<Option<bool>>);

/// Few enough that equal parts are frequent.
fn composite() -> impl Strategy<Value = Composite> {
    use proptest::collection::vec;
    let text = proptest::option::of("[ab]{0,2}");
    (
        vec(text, 0..3),
        vec(0..2_u16, 0..3),
        proptest::option::of(proptest::option::of(any::<bool>())),
    )
}

/// From the tests of the standard library, of whose hash maps this is the hash: the key is bytes 0
/// to 15, the messages are the first bytes of 0, 1, 2 and so on.
#[test]
fn known_answers_of_siphash_1_3() {
    const HASHER: KeyHasher = KeyHasher::sip13(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);
    let expected: [u64; 17] = [
        0xabac_0158_050f_c4dc,
        0xc9f4_9bf3_7d57_ca93,
        0x82cb_9b02_4dc7_d44d,
        0x8bf8_0ab8_e7dd_f7fb,
        0xcf75_5760_88d3_8328,
        0xdef9_d52f_4953_3b67,
        0xc50d_2b50_c59f_22a7,
        0xd392_7d98_9bb1_1140,
        0x3690_9511_8d29_9a8e,
        0x25a4_8eb3_6c06_3de4,
        0x79de_85ee_92ff_097f,
        0x70c1_18c1_f94d_c352,
        0x78a3_84b1_57b4_d9a2,
        0x306f_760c_1229_ffa7,
        0x605a_a111_c0f9_5d34,
        0xd320_d86d_2a51_9956,
        0xcc4f_dd1a_7d90_8b66,
    ];
    let bytes: Vec<u8> = (0..64).collect();
    for (len, expected) in (0..).zip(expected) {
        assert_eq!(HASHER.hash_bytes(&bytes[..len]), expected, "{len} bytes");
    }
    assert_eq!(0x00_u8.hash_with(HASHER), expected[1]);
    assert_eq!(0x0100_u16.hash_with(HASHER), expected[2]);
    assert_eq!(0x0302_0100_u32.hash_with(HASHER), expected[4]);
    assert_eq!(0x0706_0504_0302_0100_u64.hash_with(HASHER), expected[8]);
    let long = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100_u128;
    assert_eq!(long.hash_with(HASHER), expected[16]);
    assert_eq!((HASHER.function(), HASHER.key(), HASHER.seed()), (HashFunction::Sip13, long, None));
    assert_eq!(format!("{HASHER:?}"), "Sip13 { .. }", "a key is secret");
}

/// From the reference implementation.
#[test]
fn known_answers_of_xxh3() {
    let zero = KeyHasher::new(0);
    assert_eq!(zero.hash_bytes(b""), 0x2d06_8005_38d3_94c2);
    assert_eq!("malkoha".hash_with(KeyHasher::new(42)), 0xa7c4_bdfe_b588_7069);
    assert_eq!(0x0123_4567_89ab_cdef_u64.hash_with(zero), 0xb78d_f414_2842_77a6);
    let long: Vec<u8> = (0..=255).cycle().take(1000).collect();
    assert_eq!(long.hash_with(KeyHasher::new(7)), 0xfb6e_8de2_c753_ce8b);
}

#[test]
fn hashers_have_parts() {
    let key = u128::MAX - 7;
    assert_eq!(KeyHasher::from_parts(1, 7), Some(KeyHasher::new(7)));
    assert_eq!(KeyHasher::from_parts(2, key), Some(KeyHasher::sip13(key)));
    assert_eq!(KeyHasher::sip13(key).key(), key);
    for (function, key) in [(0, 0), (3, 0), (1, 1 << 64)] {
        assert_eq!(KeyHasher::from_parts(function, key), None);
    }
    assert_ne!(KeyHasher::new(7), KeyHasher::sip13(7));
    assert_ne!(KeyHasher::random(), KeyHasher::random());
}

proptest! {
    /// Integers have a way of their own, and so have batches of keys.
    #[test]
    fn integers_and_byte_strings_are_one_key_under_any_hash(key: u128, seed: u64, n: u128) {
        for hasher in [KeyHasher::new(seed), KeyHasher::sip13(key)] {
            let bytes = n.to_le_bytes();
            #[expect(clippy::cast_possible_truncation, reason = "the low bytes")]
            let (half, quarter, byte) = (n as u64, n as u32, n as u8);
            prop_assert_eq!(n.hash_with(hasher), hasher.hash_bytes(&bytes));
            prop_assert_eq!(half.hash_with(hasher), hasher.hash_bytes(&bytes[..8]));
            prop_assert_eq!(quarter.hash_with(hasher), hasher.hash_bytes(&bytes[..4]));
            prop_assert_eq!(byte.hash_with(hasher), hasher.hash_bytes(&bytes[..1]));
            // Of all lengths in groups of equally many words, and in others.
            let bytes: Vec<u8> = bytes.iter().cycle().copied().take(80).collect();
            let alike = (0..80).map(|len| &bytes[len % 7..len]);
            let strings: Vec<_> = (0..80).map(|len| &bytes[..len]).chain(alike).collect();
            let mut hashes = vec![0; strings.len()];
            hasher.hash_strings(&strings, &mut hashes);
            for (hash, string) in hashes.into_iter().zip(strings) {
                prop_assert_eq!(hash, hasher.hash_bytes(string));
            }
            let builder = || malkoha::CuckooFilter::builder().capacity(99).fpr(1e-8);
            let mut filter = builder().with_hasher(hasher).build().unwrap();
            filter.insert_many(&(0..99).map(|i| half ^ i).collect::<Vec<_>>()).unwrap();
            prop_assert!((0..99).all(|i| filter.contains((half ^ i).to_le_bytes())));
        }
    }
}

/// A file of composite keys, which the tests of the Python package read, and write from the keys
/// that they have for these in Python.
#[test]
fn python_has_the_same_composite_keys() {
    let builder = malkoha::CuckooFilter::builder().capacity(100).fpr(1e-6);
    let layout = malkoha::Layout::Bucketed { bucket_size: 4 };
    let mut filter = builder.layout(layout).build().unwrap();
    let wide = 1_u128 << 64;
    let mut widest = [0_u8; 32];
    widest[25] = 1;
    let keys: &[&dyn Fn(KeyHasher) -> u64] = &[
        &|hasher| (1_i64, "koel").hash_with(hasher),
        &|hasher| (-1_i64, 1_u64 << 63, u64::MAX).hash_with(hasher),
        &|hasher| ("ab", "c").hash_with(hasher),
        &|hasher| ("a", "bc").hash_with(hasher),
        &|hasher| ("koel",).hash_with(hasher),
        &|hasher| (1_i64, 2_i64, 3_i64, 4_i64).hash_with(hasher),
        &|hasher| (1_i64, 2_i64, 3_i64, 4_i64, 5_i64).hash_with(hasher),
        &|hasher| (1_i64, 2_i64, 3_i64, 4_i64, 5_i64, 6_i64).hash_with(hasher),
        &|hasher| (1_i64, 2_i64, 3_i64, 4_i64, 5_i64, 6_i64, 7_i64).hash_with(hasher),
        &|hasher| ("a", "b", "c", "d", "e", "f", "g", "h").hash_with(hasher),
        &|hasher| ((1_i64, ("a", "b")), ("c",)).hash_with(hasher),
        &|hasher| (b"\0\xff".as_slice(), "ü", "").hash_with(hasher),
        // Integers of more than 64 bits, a UUID, a boolean, a date, a time.
        &|hasher| (wide, i128::MIN, u128::MAX - 7).hash_with(hasher),
        &|hasher| (widest, [7_u8; 16]).hash_with(hasher),
        &|hasher| (1_u64, 20_455_i64, 1_767_322_922_000_007_i64).hash_with(hasher),
        // Decimals.
        &|hasher| ((15_i64, 1_i64), "EUR").hash_with(hasher),
        &|hasher| (150_i64, "EUR").hash_with(hasher),
        &|hasher| ((-1_i64, 40_i64), (3_i64, -100_i64)).hash_with(hasher),
        // Lists.
        &|hasher| vec![1_i64, -2, 3].hash_with(hasher),
        &|hasher| (0_u64..100).collect::<Vec<_>>().hash_with(hasher),
        &|hasher| ("a", vec!["b"; 30], Vec::<&str>::new()).hash_with(hasher),
        &|hasher| vec![vec![1_i64], vec![2, 3]].hash_with(hasher),
        &|hasher| vec![(1_i64, "a"), (2, "b")].hash_with(hasher),
        &|hasher| vec![&wide, &(wide + 1)].hash_with(hasher),
    ];
    for key in keys {
        filter.insert_hash(key(filter.hasher())).unwrap();
    }
    crate::support::fixture("set-v1-composite-keys.mlk", &filter.to_bytes());
}
