// The steps of clients.py with sarama.
package main

import (
	"context"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// handler takes records until there are enough. It commits seldom: coordinator and leader are one connection here, so each commit
// waits for the fetch before it.
type handler struct {
	read   *rows
	enough context.CancelFunc
}

func (h *handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (h *handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h *handler) take(session sarama.ConsumerGroupSession, message *sarama.ConsumerMessage) bool {
	wanted, full := h.read.take(string(message.Value))
	if wanted {
		session.MarkMessage(message, "")
	}
	if full {
		h.enough()
	}
	return wanted
}
func (h *handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	defer session.Commit()
	for {
		select {
		case message, open := <-claim.Messages():
			if !open || !h.take(session, message) {
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func main() {
	address, step, topic, rest := []string{os.Args[1]}, os.Args[2], os.Args[3], os.Args[4:]
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	if step == "produce" || step == "txn" {
		config.Producer.Idempotent = true
		config.Net.MaxOpenRequests = 1 // (in a group commits would wait for fetches)
	}
	switch step {
	case "produce":
		config.Producer.Compression = map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
			"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}[rest[0]]
		producer, err := sarama.NewSyncProducer(address, config)
		must(err)
		var messages []*sarama.ProducerMessage
		for i := number(rest[1]); i < number(rest[1])+number(rest[2]); i++ {
			message := &sarama.ProducerMessage{Topic: topic, Value: sarama.ByteEncoder(value(i))}
			if k := key(topic, i); k != nil {
				message.Key = sarama.ByteEncoder(k)
			}
			messages = append(messages, message)
		}
		must(producer.SendMessages(messages))
		must(producer.Close())
	case "group", "pair":
		config.Consumer.Offsets.Initial = sarama.OffsetOldest
		config.Consumer.Offsets.AutoCommit.Enable = false
		config.Consumer.Group.Session.Timeout = 6 * time.Second
		config.Consumer.Group.Heartbeat.Interval = time.Second
		ctx, done := context.WithTimeout(context.Background(), 60*time.Second)
		defer done()
		all := &handler{read: rowsOf(step, number(rest[1])), enough: done}
		var running sync.WaitGroup
		for m := 0; m < membersOf(step); m++ {
			group, err := sarama.NewConsumerGroup(address, rest[0], config)
			must(err)
			running.Add(1)
			go func() {
				defer running.Done()
				for ctx.Err() == nil {
					if err := group.Consume(ctx, []string{topic}, all); err != nil && ctx.Err() == nil {
						must(err)
					}
				}
				must(group.Close())
			}()
		}
		running.Wait()
		all.read.print()
	case "txn":
		config.Producer.Transaction.ID = "tx"
		producer, err := sarama.NewSyncProducer(address, config)
		must(err)
		for _, kind := range []string{"c", "a"} {
			must(producer.BeginTxn())
			for i := 0; i < 10; i++ {
				_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(kind + strconv.Itoa(i))})
				must(err)
			}
			if kind == "c" {
				must(producer.CommitTxn())
			} else {
				must(producer.AbortTxn())
			}
		}
		must(producer.Close())
	}
}
