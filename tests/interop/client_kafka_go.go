// The steps of clients.py with kafka-go (segmentio), which knows no transactions.
package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	address, step, topic, rest := os.Args[1], os.Args[2], os.Args[3], os.Args[4:]
	ctx, done := context.WithTimeout(context.Background(), 60*time.Second)
	defer done()
	switch step {
	case "produce":
		writer := &kafka.Writer{Addr: kafka.TCP(address), Topic: topic, RequiredAcks: kafka.RequireAll, AllowAutoTopicCreation: true,
			Balancer: &kafka.Hash{}, BatchTimeout: 10 * time.Millisecond,
			Compression: map[string]kafka.Compression{"none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}[rest[0]]}
		var messages []kafka.Message
		for i := number(rest[1]); i < number(rest[1])+number(rest[2]); i++ {
			messages = append(messages, kafka.Message{Key: key(topic, i), Value: value(i)})
		}
		must(writer.WriteMessages(ctx, messages...))
		must(writer.Close())
	case "group", "pair":
		read := rowsOf(step, number(rest[1]))
		var running sync.WaitGroup
		enough, full := context.WithCancel(ctx)
		defer full()
		for m := 0; m < membersOf(step); m++ {
			reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{address}, GroupID: rest[0], Topic: topic, StartOffset: kafka.FirstOffset,
				SessionTimeout: 6 * time.Second, HeartbeatInterval: time.Second, MaxWait: 200 * time.Millisecond})
			running.Add(1)
			go func() {
				defer running.Done()
				for {
					message, err := reader.FetchMessage(enough)
					if err != nil {
						break
					}
					wanted, enoughRead := read.take(string(message.Value))
					if wanted {
						must(reader.CommitMessages(ctx, message))
					}
					if enoughRead {
						full()
					}
				}
				must(reader.Close())
			}()
		}
		running.Wait()
		read.print()
	}
}
