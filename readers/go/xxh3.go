package malkoha

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// XXH3-64 with a seed, after its specification.

const (
	p32a, p32b, p32c = 0x9e3779b1, 0x85ebca77, 0xc2b2ae3d
	p64a, p64b, p64c = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9
	p64d, p64e       = 0x85ebca77c2b2ae63, 0x27d4eb2f165667c5
)

var secret, _ = hex.DecodeString("" +
	"b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578" +
	"825ad07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea3" +
	"71644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931" +
	"c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e" +
	"2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")

func part(at int) uint64 { return load(secret[at:]) }

func xxh3(data []byte, seed uint64) uint64 {
	size := len(data)
	switch {
	case size > 240:
		return long(data, seed)
	case size > 16:
		return middle(data, seed)
	case size > 8:
		low := load(data) ^ ((part(24) ^ part(32)) + seed)
		high := load(data[size-8:]) ^ ((part(40) ^ part(48)) - seed)
		return avalanche(uint64(size) + bits.ReverseBytes64(low) + high + fold(low, high))
	case size > 3:
		seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
		first, last := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[size-4:])
		keyed := (uint64(first)<<32 + uint64(last)) ^ ((part(8) ^ part(16)) - seed)
		keyed ^= bits.RotateLeft64(keyed, 49) ^ bits.RotateLeft64(keyed, 24)
		keyed *= 0x9fb21c651e98df25
		keyed = (keyed ^ (keyed>>35 + uint64(size))) * 0x9fb21c651e98df25
		return keyed ^ keyed>>28
	case size > 0:
		mixed := uint64(data[0])<<16 | uint64(data[size>>1])<<24 | uint64(data[size-1]) | uint64(size)<<8
		flip := uint64(binary.LittleEndian.Uint32(secret)^binary.LittleEndian.Uint32(secret[4:])) + seed
		return avalanche64(mixed ^ flip)
	}
	return avalanche64(seed ^ part(56) ^ part(64))
}

func middle(data []byte, seed uint64) uint64 {
	size := len(data)
	mix := func(at, key int) uint64 {
		low, high := part(key)+seed, part(key+8)-seed
		return fold(load(data[at:])^low, load(data[at+8:])^high)
	}
	total := uint64(size) * p64a
	if size <= 128 {
		for i := 0; i < (size+31)/32; i++ {
			total += mix(16*i, 32*i) + mix(size-16*(i+1), 32*i+16)
		}
		return avalanche(total)
	}
	for i := 0; i < 8; i++ {
		total += mix(16*i, 16*i)
	}
	total = avalanche(total)
	for i := 8; i < size/16; i++ {
		total += mix(16*i, 16*(i-8)+3)
	}
	return avalanche(total + mix(size-16, 119))
}

func long(data []byte, seed uint64) uint64 {
	var keyed [192]byte
	for at := 0; at < 192; at += 16 {
		binary.LittleEndian.PutUint64(keyed[at:], part(at)+seed)
		binary.LittleEndian.PutUint64(keyed[at+8:], part(at+8)-seed)
	}
	acc := [8]uint64{p32c, p64a, p64b, p64c, p64d, p32b, p64e, p32a}
	accumulate := func(stripe []byte, key int) {
		for i := range acc {
			word := load(stripe[8*i:])
			mixed := word ^ load(keyed[key+8*i:])
			acc[i^1] += word
			acc[i] += mixed & 0xffffffff * (mixed >> 32)
		}
	}
	for stripe := 0; stripe < (len(data)-1)/64; stripe++ {
		accumulate(data[64*stripe:], 8*(stripe%16))
		if stripe%16 == 15 {
			for i := range acc {
				acc[i] = (acc[i] ^ acc[i]>>47 ^ load(keyed[128+8*i:])) * p32a
			}
		}
	}
	accumulate(data[len(data)-64:], 121)
	result := uint64(len(data)) * p64a
	for i := 0; i < 4; i++ {
		result += fold(acc[2*i]^load(keyed[11+16*i:]), acc[2*i+1]^load(keyed[19+16*i:]))
	}
	return avalanche(result)
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func avalanche(x uint64) uint64 {
	x = (x ^ x>>37) * 0x165667919e3779f9
	return x ^ x>>32
}

func avalanche64(x uint64) uint64 {
	x = (x ^ x>>33) * p64b
	x = (x ^ x>>29) * p64c
	return x ^ x>>32
}
