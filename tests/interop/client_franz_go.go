// The steps of clients.py with franz-go.
package main

import (
	"context"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	address, step, topic, rest := os.Args[1], os.Args[2], os.Args[3], os.Args[4:]
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if os.Getenv("GROUP_PROTOCOL") == "consumer" {
		ctx = context.WithValue(ctx, "opt_in_kafka_next_gen_balancer_beta", true)
	}
	switch step {
	case "produce":
		codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
			"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
		client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.AllowAutoTopicCreation(), kgo.ProducerBatchCompression(codecs[rest[0]]))
		must(err)
		for i := number(rest[1]); i < number(rest[1])+number(rest[2]); i++ {
			record := &kgo.Record{Topic: topic, Key: key(topic, i), Value: value(i)}
			client.Produce(ctx, record, func(_ *kgo.Record, err error) { must(err) })
		}
		must(client.Flush(ctx))
		client.Close()
	case "group", "pair":
		read := rowsOf(step, number(rest[1]))
		var all sync.WaitGroup
		enough, done := context.WithCancel(ctx)
		for m := 0; m < membersOf(step); m++ {
			client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumeTopics(topic), kgo.ConsumerGroup(rest[0]), kgo.DisableAutoCommit(),
				kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(6*time.Second), kgo.WithContext(ctx))
			must(err)
			all.Add(1)
			go func() {
				defer all.Done()
				defer client.Close()
				for enough.Err() == nil {
					fetches := client.PollRecords(enough, 10)
					var taken []*kgo.Record
					full := false
					fetches.EachRecord(func(record *kgo.Record) {
						var wanted bool
						if wanted, full = read.take(string(record.Value)); wanted {
							taken = append(taken, record)
						}
					})
					if len(taken) > 0 {
						must(client.CommitRecords(ctx, taken...))
					}
					if full {
						done()
					}
				}
			}()
		}
		all.Wait()
		read.print()
	case "txn":
		client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.AllowAutoTopicCreation(), kgo.TransactionalID("tx"))
		must(err)
		for _, kind := range []string{"c", "a"} {
			must(client.BeginTransaction())
			for i := 0; i < 10; i++ {
				must(client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(kind + strconv.Itoa(i))}).FirstErr())
			}
			must(client.EndTransaction(ctx, kgo.TransactionEndTry(kind == "c")))
		}
		client.Close()
	}
}
