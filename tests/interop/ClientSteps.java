// The steps of clients.py with Kafka's own client.
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

public class ClientSteps {
    static String address;

    static KafkaProducer<String, String> producer(Object... more) {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", address, "acks", "all"));
        for (int i = 0; i < more.length; i += 2) settings.put((String) more[i], more[i + 1]);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    static void consume(String topic, String group, int count, List<String> rows) {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", address, "group.id", group, "auto.offset.reset", "earliest",
                "enable.auto.commit", false, "max.poll.records", 10));
        String protocol = System.getenv("GROUP_PROTOCOL");
        if (protocol != null) settings.put("group.protocol", protocol);
        else settings.put("session.timeout.ms", 6000);
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            long end = System.currentTimeMillis() + 60000;
            while (System.currentTimeMillis() < end) {
                Map<TopicPartition, OffsetAndMetadata> taken = new HashMap<>();
                var records = consumer.poll(Duration.ofMillis(200));
                synchronized (rows) {
                    for (var record : records) {
                        if (rows.size() == count) break;
                        rows.add(record.value());
                        taken.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
                    }
                }
                if (!taken.isEmpty()) consumer.commitSync(taken);
                synchronized (rows) {
                    if (rows.size() == count) return;
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        address = args[0];
        String step = args[1], topic = args[2];
        if (step.equals("produce")) {
            try (var producer = producer("compression.type", args[3])) {
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                int first = Integer.parseInt(args[4]), count = Integer.parseInt(args[5]);
                for (int i = first; i < first + count; ++i)
                    sent.add(producer.send(new ProducerRecord<>(topic, topic.equals("two") ? "" + i : null, "v" + i)));
                for (var one : sent) one.get();
            }
        } else if (step.equals("group") || step.equals("pair")) {
            List<String> rows = new ArrayList<>();
            List<Thread> members = new ArrayList<>();
            for (int m = 0; m < (step.equals("pair") ? 2 : 1); ++m) {
                members.add(new Thread(() -> consume(topic, args[3], Integer.parseInt(args[4]), rows)));
                members.get(m).start();
            }
            for (var member : members) member.join();
            rows.forEach(System.out::println);
        } else if (step.equals("txn")) {
            try (var producer = producer("transactional.id", "tx")) {
                producer.initTransactions();
                for (String kind : List.of("c", "a")) {
                    producer.beginTransaction();
                    for (int i = 0; i < 10; ++i) producer.send(new ProducerRecord<>(topic, kind + i)).get();
                    if (kind.equals("c")) producer.commitTransaction();
                    else producer.abortTransaction();
                }
            }
        }
    }
}
