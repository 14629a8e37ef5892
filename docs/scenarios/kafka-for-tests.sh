#!/usr/bin/env bash
# A test suite in another language brings its own Kafka: started on a free port, used by an ordinary client, and gone.
. "$(dirname "$0")/common.sh"

say "the suite starts a server on a free port, and reads the port from its output"
cat > suite.py <<'PY'
import os, subprocess, sys, unittest
from kafka import KafkaConsumer, KafkaProducer

class Orders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([os.environ["TK"], "-d", "suite-data", "serve", "--kafka", "127.0.0.1:0", "--idle-exit", "60000"],
                                      stdout=subprocess.PIPE, text=True)
        for line in cls.server.stdout:
            words = line.split()
            if words[0] == "listening":
                cls.broker = words[2]
            if words[0] == "ready":
                break

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()

    def test_every_order_is_billed_once(self):
        producer = KafkaProducer(bootstrap_servers=self.broker, acks="all")
        for i in range(50):
            producer.send("orders", b"order %d" % i)
        producer.flush()
        consumer = KafkaConsumer("orders", bootstrap_servers=self.broker, group_id="billing", auto_offset_reset="earliest",
                                 consumer_timeout_ms=2000)
        self.assertEqual([r.value for r in consumer], [b"order %d" % i for i in range(50)])
        consumer.commit()
        consumer.close()
        again = KafkaConsumer("orders", bootstrap_servers=self.broker, group_id="billing", auto_offset_reset="earliest", consumer_timeout_ms=500)
        self.assertEqual(list(again), [])
        again.close()

if __name__ == "__main__":
    unittest.main(verbosity=0)
PY
python=/usr/bin/python3
[ -x "$python" ] || python=python3
TK=$tk "$python" suite.py 2> suite.log && passed=yes || passed=no
claim "the suite passes" "$passed" yes

say "the server is gone; what the suite did can still be looked at"
claim "orders in the log" "$("$tk" -d suite-data consume orders -q | wc -l)" 50
claim "the group has read all" "$("$tk" -d suite-data groups describe billing --json | jq .lag)" 0
