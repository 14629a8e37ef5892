// JSON.parse a line, and its value printed: node json_lines.js < BODIES
const fs = require('fs')
let out = []
for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue
  out.push(JSON.parse(line).value)
  if (out.length > 10000) {
    fs.writeSync(1, out.join('\n') + '\n')
    out = []
  }
}
if (out.length > 0) fs.writeSync(1, out.join('\n') + '\n')
