// What the clients of clients.py in Go have in common; it is built beside each of them.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	must(err)
	return n
}

// value and key are what a produce step writes as record i: topic "two" has several partitions, so its records have keys.
func value(i int) []byte { return []byte("v" + strconv.Itoa(i)) }

func key(topic string, i int) []byte {
	if topic != "two" {
		return nil
	}
	return []byte(strconv.Itoa(i))
}

// membersOf is how many members a step of a group has.
func membersOf(step string) int {
	if step == "pair" {
		return 2
	}
	return 1
}

// rows is what the members of a group have read. Where there are two, a rebalance may give one of them what the other
// has read and not committed yet: then each value counts once.
type rows struct {
	lock  sync.Mutex
	all   []string
	seen  map[string]bool
	count int
}

func rowsOf(step string, count int) *rows {
	found := &rows{count: count}
	if membersOf(step) > 1 {
		found.seen = map[string]bool{}
	}
	return found
}

// take says whether the row is among those that are wanted, and so to be committed, and whether there are enough now.
func (r *rows) take(row string) (wanted, full bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.all) >= r.count {
		return false, true
	}
	if r.seen == nil || !r.seen[row] {
		r.all = append(r.all, row)
	}
	if r.seen != nil {
		r.seen[row] = true
	}
	return true, len(r.all) >= r.count
}

func (r *rows) print() {
	for _, row := range r.all {
		fmt.Println(row)
	}
}
