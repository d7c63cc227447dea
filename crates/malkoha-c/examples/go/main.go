// Four goroutines claim jobs from one list; a filter that threads share says who was first.
package main

// #cgo pkg-config: malkoha
// #include <malkoha.h>
import "C"

import (
	"errors"
	"fmt"
	"log"
	"runtime"
	"sync"
	"unsafe"
)

// Seen is a set that goroutines share.
type Seen struct{ filter *C.malkoha_filter }

// NewSeen makes a set of up to capacity keys. It is freed by Close.
func NewSeen(capacity uint64) (*Seen, error) {
	options := C.malkoha_options_new()
	defer C.malkoha_options_free(options)
	C.malkoha_options_capacity(options, C.uint64_t(capacity))
	C.malkoha_options_shared(options, true)
	seen := &Seen{}
	return seen, check(C.malkoha_new(options, &seen.filter))
}

// Claim tells of each key whether it is new, to one goroutine alone.
func (s *Seen) Claim(keys []uint64) ([]bool, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	// The text of an error belongs to the thread that made it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	hashes, isNew := make([]C.uint64_t, len(keys)), make([]bool, len(keys))
	count := C.size_t(len(keys))
	first := (*C.uint64_t)(unsafe.Pointer(&keys[0]))
	if err := check(C.malkoha_hash_integers(s.filter, first, count, &hashes[0])); err != nil {
		return nil, err
	}
	answers := (*C.bool)(unsafe.Pointer(&isNew[0]))
	return isNew, check(C.malkoha_insert_unique_hashes(s.filter, &hashes[0], count, answers))
}

// Close frees the set.
func (s *Seen) Close() { C.malkoha_free(s.filter) }

func check(status C.int) error {
	if status < 0 {
		return errors.New("malkoha: " + C.GoString(C.malkoha_error()))
	}
	return nil
}

func main() {
	seen, err := NewSeen(100_000)
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()

	jobs := make([]uint64, 100_000)
	for i := range jobs {
		jobs[i] = uint64(i)
	}
	claims := make([]int, 4)
	var workers sync.WaitGroup
	for worker := range claims {
		workers.Add(1)
		go func(worker int) {
			defer workers.Done()
			isNew, err := seen.Claim(jobs)
			if err != nil {
				log.Fatal(err)
			}
			for _, claimed := range isNew {
				if claimed {
					claims[worker]++
				}
			}
		}(worker)
	}
	workers.Wait()

	total := 0
	for _, claimed := range claims {
		total += claimed
	}
	// A key that seems to be in already is nobody's: one in 1000 at most.
	fmt.Println("no job claimed twice:", total <= len(jobs))
	fmt.Println("nearly all claimed:", total > len(jobs)*998/1000)
}
