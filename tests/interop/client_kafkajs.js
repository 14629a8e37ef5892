// The steps of clients.py with kafkajs.
const { Kafka, CompressionTypes, logLevel } = require('kafkajs')
const [address, step, topic, ...rest] = process.argv.slice(2)
const kafka = new Kafka({ clientId: 'interop', brokers: [address], logLevel: logLevel.NOTHING })

async function member(group, count, rows) {
  const consumer = kafka.consumer({ groupId: group, sessionTimeout: 6000, heartbeatInterval: 1000, rebalanceTimeout: 5000 })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      if (rows.length >= count) return
      rows.push(message.value.toString())
      await consumer.commitOffsets([{ topic, partition, offset: String(Number(message.offset) + 1) }])
    },
  })
  return consumer
}

async function main() {
  if (step === 'produce') {
    const [codec, first, count] = [rest[0], Number(rest[1]), Number(rest[2])]
    const producer = kafka.producer({ idempotent: true })
    await producer.connect()
    const messages = []
    for (let i = first; i < first + count; ++i) messages.push({ value: 'v' + i, key: topic === 'two' ? String(i) : null })
    await producer.send({ topic, messages, acks: -1, compression: codec === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None })
    await producer.disconnect()
  } else if (step === 'group' || step === 'pair') {
    const rows = []
    const count = Number(rest[1])
    const members = await Promise.all(Array.from({ length: step === 'pair' ? 2 : 1 }, () => member(rest[0], count, rows)))
    while (rows.length < count) await new Promise((done) => setTimeout(done, 50))
    await Promise.all(members.map((one) => one.disconnect()))
    console.log(rows.join('\n'))
  } else if (step === 'txn') {
    const producer = kafka.producer({ transactionalId: 'tx', maxInFlightRequests: 1, idempotent: true })
    await producer.connect()
    for (const kind of ['c', 'a']) {
      const transaction = await producer.transaction()
      for (let i = 0; i < 10; ++i) await transaction.send({ topic, messages: [{ value: kind + i }] })
      await (kind === 'c' ? transaction.commit() : transaction.abort())
    }
    await producer.disconnect()
  }
}
main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1) })
