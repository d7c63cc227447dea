//! Instructions of the processor: prefetching, and one function compiled for several instruction
//! sets.

/// Prefetches the cache line of `bytes[at]`. A hint: it never faults and changes nothing.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8], at: u64) {
    prefetch_from(bytes.as_ptr(), at);
}

/// Prefetches the cache line `at` bytes behind `start`, where there need not be any memory.
#[inline(always)]
pub fn prefetch_from(start: *const u8, at: u64) {
    // An address outside the table would be a wasted hint, no more.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let address = start.wrapping_add(at as usize);
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch dereferences nothing; the architecture allows any address, and SSE,
        // which has the instruction, is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: PRFM dereferences nothing, can be given any address, and changes no register,
        // flag or memory.
        unsafe {
            core::arch::asm!(
                "prfm pldl1keep, [{address}]",
                address = in(reg) address,
                options(nostack, preserves_flags, readonly)
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// `items[index]`, or the last item for a larger index. Loops over it are vectorised, because no
/// turn can panic: the assertion is made once, before the loop.
#[inline(always)]
pub(crate) fn nearest<T>(items: &[T], index: u64) -> &T {
    assert!(!items.is_empty());
    // An index that does not fit usize is larger than any of them.
    &items[usize::try_from(index).unwrap_or(usize::MAX).min(items.len() - 1)]
}

/// Compiles one body for every instruction set in which it measures better, and picks at run time,
/// once per call. The body is plain Rust, so the portable build is the oracle of the others.
/// Without `std`, which asks the processor, there is only what the program is compiled for.
/// Generics stand in square brackets.
macro_rules! vectorized {
    (
        $(#[$doc:meta])*
        $visible:vis unsafe fn $name:ident[$($generics:tt)*](
            $($argument:ident: $type:ty),* $(,)?
        ) $body:block
    ) => {
        $(#[$doc])*
        #[inline]
        $visible unsafe fn $name<$($generics)*>($($argument: $type),*) {
            #[inline(always)]
            unsafe fn body<$($generics)*>($($argument: $type),*) $body

            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2")]
                unsafe fn avx512<$($generics)*>($($argument: $type),*) {
                    // SAFETY: the caller's promise is this function's caller's promise.
                    unsafe { body($($argument),*) }
                }
                #[target_feature(enable = "avx2,bmi1,bmi2")]
                unsafe fn avx2<$($generics)*>($($argument: $type),*) {
                    // SAFETY: as above.
                    unsafe { body($($argument),*) }
                }
                if $crate::arch::has_avx512() {
                    // SAFETY: the processor has the instructions.
                    return unsafe { avx512($($argument),*) };
                }
                if $crate::arch::has_avx2() {
                    // SAFETY: the processor has the instructions.
                    return unsafe { avx2($($argument),*) };
                }
            }
            // SAFETY: the caller's promise.
            unsafe { body($($argument),*) }
        }
    };
    (
        $(#[$doc:meta])*
        $visible:vis fn $name:ident[$($generics:tt)*](
            $($argument:ident: $type:ty),* $(,)?
        ) $body:block
    ) => {
        $(#[$doc])*
        #[inline]
        $visible fn $name<$($generics)*>($($argument: $type),*) {
            $crate::arch::vectorized! {
                unsafe fn vectorized[$($generics)*]($($argument: $type),*) $body
            }
            // SAFETY: the body asks nothing of its callers.
            unsafe { vectorized($($argument),*) }
        }
    };
}
pub(crate) use vectorized;

/// Whether this processor has AVX2 and what `vectorized` uses with it. Detected once; later calls
/// load a cached word. A build with `--cfg malkoha_portable` uses none of it, for tests.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
pub(crate) fn has_avx2() -> bool {
    !cfg!(malkoha_portable)
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

/// The same for AVX-512.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
pub(crate) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}
