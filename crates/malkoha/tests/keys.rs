//! What every type of key is hashed to, and that no two keys are taken for one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use malkoha::{Hashed, Key, KeyHasher};
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
/// implementation, written in Python from the documentation of `Key` with the reference XXH3.
#[test]
fn known_answers() {
    assert_hashes! {
        (5_usize) => 0x53e4_368e_22c2_76ec,
        (-5_isize) => 0xc00d_818c_1ee3_622a,
        ('ä') => 0x58e8_e180_4126_9f23,
        (true) => 0x6f01_c92c_ab64_dc93,
        (NonZero::new(5_u16).unwrap()) => 0x1364_8929_8946_427c,
        (NonZero::new(-5_isize).unwrap()) => 0xc00d_818c_1ee3_622a,
        (Ipv4Addr::LOCALHOST) => 0x143c_4d7e_a926_9072,
        (Ipv6Addr::LOCALHOST) => 0xe38a_2457_5522_11b9,
        (IpAddr::V4(Ipv4Addr::LOCALHOST)) => 0x143c_4d7e_a926_9072,
        ("127.0.0.1:80".parse::<SocketAddr>().unwrap()) => 0x05cc_0729_8afa_7153,
        (SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 1, 2)) => 0x2b48_ed47_83a1_e20e,
        (("malkoha",)) => 0x2db6_3da5_4edd_41eb,
        (("ab", "c")) => 0x7672_30d6_20eb_098d,
        ((1_u8, 2_u8, 3_u8)) => 0x7e7a_8062_8f1d_258a,
        ((1_u8, 2_u8, 3_u8, 4_u8)) => 0x4f70_3ed3_2fd2_4227,
        ((1_u8, 2_u8, 3_u8, 4_u8, 5_u8)) => 0xfbea_6b17_9f5e_4c53,
        ((1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8)) => 0x4e5b_498c_39bc_05da,
        ((1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8)) => 0x3c25_519e_4d67_5019,
        ((1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8, 8_u8)) => 0x9702_e15d_b8e9_b658,
        (None::<u32>) => 0x8af1_061b_a5a2_02de,
        (Some("malkoha")) => 0xe0a0_68b3_f575_f72a,
        ([1_i8, -1]) => 0xe12b_92f4_efa5_f7c4,
        ([true, false]) => 0x8ede_c435_aecc_2112,
        ([1_u16, 2]) => 0x697a_e0ac_bfb1_ef0e,
        (["a", "b"].map(|text| text.chars().next().unwrap())) => 0x2e6b_bfc4_e3c6_9e30,
        ([1_u32, 2, 3, 4]) => 0xdfa7_3d0a_e76d_54d7,
        ([1_usize, 2]) => 0x8ee6_90c5_92cc_4ce1,
        ([1_u128]) => 0x9af7_92e4_9f47_3286,
        ([0_u64; 0]) => 0x9cbf_4f5a_5fd9_7fe3,
        ((0..16).collect::<Vec<u64>>()) => 0xf9ac_4208_b004_13ff,
        ((0..17).collect::<Vec<u64>>()) => 0x6d94_47bd_20aa_3bb4,
        ((0..1000).collect::<Vec<i64>>()) => 0xc445_68df_523f_5a93,
        (["ab", "c"]) => 0xd590_e777_e155_5ffd,
        ((0..20_u8).map(|key| [key]).collect::<Vec<_>>()) => 0xd65f_d583_8563_428e,
        (Hashed(5_u32)) => 0x2e41_5291_2312_0f09,
        (Hashed(-5_isize)) => 0x5985_e1cf_2e62_a001,
        (Hashed("abc")) => 0x8fb4_c56f_b46a_c513,
        (Hashed(5_u128)) => 0x703c_b91a_1ff0_6ea2,
        (Hashed(-5_i16)) => 0x89ee_2330_2eaa_5b2b,
        (Hashed(Visit { user: "ada".into(), page: Some(7) })) => 0x1211_3c98_921b_b1e5,
        (Hashed([[1_u8; 70]; 3])) => 0x0d3f_6644_db11_90fc,
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
    let expected = HASHER.hash_bytes(b"abc");
    assert_eq!(hash(text), expected);
    assert_eq!(hash(&&text), expected);
    assert_eq!(hash(&mut String::from(text)), expected);
    assert_eq!(hash(String::from(text)), expected);
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
    let keys = [
        hash(""),
        hash(0_u8),
        hash(0_u32),
        hash(0_u64),
        hash([0_u8; 9]),
        hash(None::<u8>),
        hash(None::<Option<u8>>.map(Some)),
    ];
    assert_eq!(keys[5], keys[6], "None has no key whose type could matter");
    all_differ(
        &[
            &keys[..6],
            &[
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
            ],
        ]
        .concat(),
    );
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

/// `Hash` may be written in any pieces: what is written counts alone.
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
    /// The same text cut at two places gives two keys, whatever holds the pieces.
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
