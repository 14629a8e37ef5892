"""json.loads a line, and its value printed: json_lines.py read < BODIES; the other way: json_lines.py write < LINES."""
import json
import sys

if sys.argv[1] == "read":
    for line in sys.stdin:
        print(json.loads(line)["value"])
else:
    for offset, line in enumerate(sys.stdin):
        print(json.dumps({"offset": offset, "ts": 1700000000000, "value": line[:-1]}))
