package malkoha

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"testing"
)

type vectors struct {
	XXH3 []struct {
		Bytes      int
		Seed, XXH3 string
	}
	Sip13 []struct {
		Bytes int
		Key   [2]string
		Sip13 string
	}
	Files []struct{ File, Answers string }
}

func word(t *testing.T, text string) uint64 {
	number, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func hashed(length int) []byte {
	data := make([]byte, length)
	for i := range data {
		data[i] = byte(i*167 + 13)
	}
	return data
}

func stored(t *testing.T) (v vectors) {
	text, err := os.ReadFile("../vectors.json")
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil || len(v.Files) == 0 || len(v.XXH3) == 0 || len(v.Sip13) == 0 {
		t.Fatal("no vectors: ", err)
	}
	return v
}

func TestHashes(t *testing.T) {
	v := stored(t)
	for _, x := range v.XXH3 {
		if xxh3(hashed(x.Bytes), word(t, x.Seed)) != word(t, x.XXH3) {
			t.Errorf("xxh3 of %d bytes, seed %s", x.Bytes, x.Seed)
		}
	}
	for _, s := range v.Sip13 {
		if sip13(hashed(s.Bytes), word(t, s.Key[0]), word(t, s.Key[1])) != word(t, s.Sip13) {
			t.Errorf("sip13 of %d bytes", s.Bytes)
		}
	}
}

func TestFiles(t *testing.T) {
	for _, vector := range stored(t).Files {
		data, err := os.ReadFile("../../" + vector.File)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := Open(data)
		if err != nil {
			t.Fatal(vector.File, err)
		}
		if err := filter.Verify(); err != nil {
			t.Error(vector.File, err)
		}
		for i, answer := range vector.Answers {
			key := binary.LittleEndian.AppendUint64(nil, uint64(i))
			if filter.Contains(key) != (answer == '1') {
				t.Errorf("%s: key %d", vector.File, i)
			}
		}
		data[140] ^= 4
		if err := filter.Verify(); !errors.Is(err, ErrFormat) {
			t.Error("a damaged table was not refused: ", vector.File)
		}
		if _, err := Open(data[:150]); !errors.Is(err, ErrFormat) {
			t.Error("half a file was not refused: ", vector.File)
		}
	}
}
