// What the clients of clients.py in Go have in common; it is built beside each of them.
package main

import (
	"fmt"
	"os"
	"strconv"
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

func printAll(rows []string) {
	for _, row := range rows {
		fmt.Println(row)
	}
}
