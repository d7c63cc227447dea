// Package malkoha answers from a filter file: docs/FORMAT.md as a program. It is for sets and maps of
// fixed size, and needs the standard library alone.
package malkoha

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

const (
	bucketed   = 1
	semiSorted = 2
	gapWindows = 3
	words      = 5
)

// ErrFormat is returned for files that are damaged, or of a kind that this reader does not know.
var ErrFormat = errors.New("malkoha")

// Filter is a filter in the bytes of its file.
type Filter struct {
	data                       []byte
	hash, layout               byte
	bits                       uint64
	seed, key                  uint64
	segments, places           uint64
	slots, slotBits, gap       uint64
	segmentBytes               uint64
	capacity, length, tableEnd uint64
}

// Open checks the header of a file's bytes, which must not change while the filter is used.
func Open(data []byte) (*Filter, error) {
	if len(data) < 128 || string(data[:8]) != "\x8bMLK\r\n\x1a\n" {
		return nil, fmt.Errorf("%w: it does not begin with the signature", ErrFormat)
	}
	if xxh3(data[:120], ^uint64(0)) != load(data[120:]) {
		return nil, fmt.Errorf("%w: the header is damaged: restore it from a copy", ErrFormat)
	}
	f := &Filter{
		data: data, hash: data[12], layout: data[13], bits: uint64(data[15]),
		seed: load(data[24:]), key: load(data[72:]), capacity: load(data[32:]), length: load(data[40:]),
		segments: uint64(binary.LittleEndian.Uint32(data[48:])),
		places:   uint64(binary.LittleEndian.Uint32(data[52:])),
	}
	version, kind := binary.LittleEndian.Uint16(data[8:]), binary.LittleEndian.Uint16(data[10:])
	var used uint64 // bits of all slots of a segment
	switch f.layout {
	case bucketed:
		f.slots, f.slotBits = uint64(data[14]), f.bits+uint64(data[16])
		used = f.slots * f.slotBits * f.places
	case semiSorted:
		used = (4*f.bits - 4) * f.places
	case gapWindows:
		f.gap = 57
		if f.bits > 14 {
			f.gap = 121
		}
		if f.gap = f.gap/f.bits - 1; f.gap > 7 {
			f.gap = 7
		}
		used = (f.places + f.gap) * f.bits
	case words:
		f.slots, f.slotBits, used = 64/f.bits, f.bits, 64*f.places
	}
	if version != 1 || kind != 1 && kind != 2 || used == 0 {
		return nil, fmt.Errorf("%w: only version 1 of sets and maps of fixed size", ErrFormat)
	}
	f.segmentBytes = (used+63)/64*8 + 16
	table := f.segments * f.segmentBytes
	f.tableEnd = 128 + table
	if load(data[56:]) != table || uint64(len(data)) < f.tableEnd+8*f.segments {
		return nil, fmt.Errorf("%w: the file is not as long as its header says", ErrFormat)
	}
	return f, nil
}

// Verify checks every byte of the table.
func (f *Filter) Verify() error {
	for s := uint64(0); s < f.segments; s++ {
		start := 128 + s*f.segmentBytes
		if xxh3(f.data[start:start+f.segmentBytes], s) != load(f.data[f.tableEnd+8*s:]) {
			return fmt.Errorf("%w: segment %d is damaged", ErrFormat, s)
		}
	}
	return nil
}

// Len is the number of keys, copies included.
func (f *Filter) Len() uint64 { return f.length }

// Hash is the hash of a key in this filter.
func (f *Filter) Hash(key []byte) uint64 {
	if f.hash == 1 {
		return xxh3(key, f.seed)
	}
	return sip13(key, f.seed, f.key)
}

// Contains says whether a key seems to be in.
func (f *Filter) Contains(key []byte) bool {
	h := f.Hash(key)
	most := uint64(1)<<f.bits - 1
	if f.layout == gapWindows {
		most = uint64(1)<<(f.bits-1) - 1
	}
	fingerprint := (h*0x9e3779b97f4a7c15>>32)*most>>32 + 1
	base := 128 + (h>>32*f.segments>>32)*f.segmentBytes
	i := h & 0xffffffff * f.places >> 32
	j := fingerprint * 0x9e3779b1 & 0xffffffff * f.places >> 32
	if j < i {
		j += f.places
	}
	return f.holds(base, i, fingerprint) || f.holds(base, j-i, fingerprint)
}

func (f *Filter) holds(base, place, fingerprint uint64) bool {
	switch f.layout {
	case gapWindows:
		gap := 1 + fingerprint*0x85ebca77&0xffffffff*f.gap>>32
		return f.read(base, place*f.bits, f.bits) == 2*fingerprint ||
			f.read(base, (place+gap)*f.bits, f.bits) == 2*fingerprint+1
	case semiSorted:
		return f.bucketHolds(base, place*(4*f.bits-4), fingerprint)
	}
	start := place * f.slots * f.slotBits
	if f.layout == words {
		start = place * 64
	}
	for slot := uint64(0); slot < f.slots; slot++ {
		if f.read(base, start+slot*f.slotBits, f.bits) == fingerprint {
			return true
		}
	}
	return false
}

func (f *Filter) bucketHolds(base, start, fingerprint uint64) bool {
	low := f.bits - 4
	rank := f.read(base, start, 12)
	// The top nibbles, greatest first: the number is a sum of binomials, one for each.
	for k := uint64(4); k > 0; k-- {
		nibble := uint64(15)
		for binomial(nibble+k-1, k) > rank {
			nibble--
		}
		rank -= binomial(nibble+k-1, k)
		if nibble<<low|f.read(base, start+12+(k-1)*low, low) == fingerprint {
			return true
		}
	}
	return false
}

// read has up to 32 bits, from bit start behind byte base. 16 bytes follow the last of a segment.
func (f *Filter) read(base, start, count uint64) uint64 {
	return load(f.data[base+start/8:]) >> (start % 8) & (1<<count - 1)
}

func binomial(n, k uint64) uint64 {
	result := uint64(1)
	for i := uint64(0); i < k; i++ {
		result = result * (n - i) / (i + 1)
	}
	return result
}

func load(data []byte) uint64 { return binary.LittleEndian.Uint64(data) }

// sip13 is SipHash with one round for each word and three at the end (Aumasson and Bernstein, 2012).
func sip13(data []byte, key0, key1 uint64) uint64 {
	a, b := key0^0x736f6d6570736575, key1^0x646f72616e646f6d
	c, d := key0^0x6c7967656e657261, key1^0x7465646279746573
	round := func() {
		a, c = a+b, c+d
		b, d = bits.RotateLeft64(b, 13)^a, bits.RotateLeft64(d, 16)^c
		a = bits.RotateLeft64(a, 32) + d
		c += b
		d, b = bits.RotateLeft64(d, 21)^a, bits.RotateLeft64(b, 17)^c
		c = bits.RotateLeft64(c, 32)
	}
	word := func(w uint64) {
		d ^= w
		round()
		a ^= w
	}
	last := uint64(len(data)) << 56
	for ; len(data) >= 8; data = data[8:] {
		word(load(data))
	}
	for i, rest := range data {
		last |= uint64(rest) << (8 * i)
	}
	word(last)
	c ^= 0xff
	for i := 0; i < 3; i++ {
		round()
	}
	return a ^ b ^ c ^ d
}
