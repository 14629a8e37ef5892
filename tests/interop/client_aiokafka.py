"""The steps of clients.py with aiokafka."""
import asyncio, sys
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

address, step, topic, *rest = sys.argv[1:]


async def member(group, count, rows):
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=address, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
                                session_timeout_ms=6000, heartbeat_interval_ms=1000, max_poll_records=10)
    await consumer.start()
    try:
        while len(rows) < count:
            for records in (await consumer.getmany(timeout_ms=200, max_records=10)).values():
                rows += [record.value.decode() for record in records]
                await consumer.commit()
    finally:
        await consumer.stop()


async def main():
    if step == "produce":
        codec, first, count = rest
        producer = AIOKafkaProducer(bootstrap_servers=address, compression_type=None if codec == "none" else codec, enable_idempotence=True)
        await producer.start()
        sent = [await producer.send(topic, f"v{i}".encode(), key=str(i).encode() if topic == "two" else None) for i in range(int(first), int(first) + int(count))]
        for one in sent: await one
        await producer.stop()
    elif step in ("group", "pair"):
        group, count, rows = rest[0], int(rest[1]), []
        await asyncio.wait_for(asyncio.gather(*(member(group, count, rows) for _ in range(2 if step == "pair" else 1))), 60)
        print(*rows, sep="\n")
    elif step == "txn":
        producer = AIOKafkaProducer(bootstrap_servers=address, transactional_id="tx")
        await producer.start()
        for kind in "ca":
            await producer.begin_transaction()
            for i in range(10): await producer.send_and_wait(topic, f"{kind}{i}".encode())
            await (producer.commit_transaction() if kind == "c" else producer.abort_transaction())
        await producer.stop()


asyncio.run(main())
