// kafkajs at the work of a consume: node kafkajs.js SEGMENT. It looks at no checksum.
const fs = require('fs')
const Decoder = require('kafkajs/src/protocol/decoder')
const decodeBatch = require('kafkajs/src/protocol/recordBatch/v0/decoder')

const main = async () => {
  const segment = fs.readFileSync(process.argv[2])
  let lines = []
  for (let at = 0; at < segment.length; ) {
    const size = 12 + segment.readInt32BE(at + 8)
    const { records } = await decodeBatch(new Decoder(segment.subarray(at, at + size)))
    for (const record of records) lines.push(record.value.toString())
    if (lines.length > 10000) {
      fs.writeSync(1, lines.join('\n') + '\n')
      lines = []
    }
    at += size
  }
  if (lines.length > 0) fs.writeSync(1, lines.join('\n') + '\n')
}
main()
