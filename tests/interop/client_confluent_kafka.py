"""The steps of clients.py with confluent-kafka (librdkafka)."""
import os, sys, threading
from confluent_kafka import Consumer, Producer

address, step, topic, *rest = sys.argv[1:]


def consume(group, stop, rows, lock):
    protocol = os.environ.get("GROUP_PROTOCOL")
    consumer = Consumer({"bootstrap.servers": address, "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False,
                         **({"group.protocol": protocol} if protocol else {"session.timeout.ms": 6000})})
    consumer.subscribe([topic])
    while not stop():
        message = consumer.poll(0.2)
        if message is None: continue
        assert not message.error(), message.error()
        with lock:
            if stop(): break
            rows.append(message.value().decode())
        consumer.commit(message, asynchronous=False)
    consumer.close()


if step == "produce":
    codec, first, count = rest
    producer = Producer({"bootstrap.servers": address, "compression.type": codec, "enable.idempotence": True})
    for i in range(int(first), int(first) + int(count)): producer.produce(topic, f"v{i}".encode(), partition=-1 if topic == "two" else 0)
    assert producer.flush(20) == 0
elif step in ("group", "pair"):
    group, count = rest[0], int(rest[1])
    rows, lock = [], threading.Lock()
    members = [threading.Thread(target=consume, args=(group, lambda: len(rows) >= count, rows, lock)) for _ in range(2 if step == "pair" else 1)]
    for member in members: member.start()
    for member in members: member.join(60)
    print(*rows, sep="\n")
elif step == "txn":
    producer = Producer({"bootstrap.servers": address, "transactional.id": "tx"})
    producer.init_transactions(20)
    for kind, end in (("c", producer.commit_transaction), ("a", producer.abort_transaction)):
        producer.begin_transaction()
        for i in range(10): producer.produce(topic, f"{kind}{i}".encode())
        producer.flush(20)
        end(20)
