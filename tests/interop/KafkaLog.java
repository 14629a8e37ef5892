import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.*;
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.*;
import org.apache.kafka.storage.internals.epoch.*;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Kafka's own storage engine on a partition directory, as a test partner: what tk writes it must read, what it writes tk
 * must read, and both must come to the same end after damage. Every answer comes from Kafka's classes, which Maven
 * fetches into a cache directory (see the script kafkalog beside this file); nothing here is part of tk.
 *
 *   read | read-control | batches FILE.log...     records as `tk consume -J` prints them, or one line a batch
 *   time-batches | time-records FILE.log          sums every batch, or reads every record too; prints how long that took
 *   load DIR/t-0 [clean] [k=v...]                 what a broker's start makes of it; without `clean` it recovers
 *   write DIR/t-0 [in=FILE] [k=v...]              appends batch specs, one JSON object a line, as a leader would
 *   offset-for-time DIR/t-0 TS, epoch-end DIR/t-0 EPOCH, truncate DIR/t-0 OFFSET, compact DIR/t-0, retain DIR/t-0
 *   repl                                          one command a line on stdin, each answer ends with {"done":true}
 *
 * k=v are topic configs, and now=MS (the clock), recovery.point=, log.start=. load, write and compact change the directory.
 */
public class KafkaLog {
    static final ObjectMapper J = new ObjectMapper();
    static long now = -1;

    static final Time CLOCK = new Time() {
        public long milliseconds() { return now >= 0 ? now : System.currentTimeMillis(); }
        public long nanoseconds() { return System.nanoTime(); }
        public void sleep(long ms) { try { Thread.sleep(ms); } catch (InterruptedException e) { throw new RuntimeException(e); } }
    };

    static byte[] bytes(ByteBuffer b) { if (b == null) return null; byte[] a = new byte[b.remaining()]; b.duplicate().get(a); return a; }

    static void put(ObjectNode o, String name, byte[] b) {
        if (b == null) { o.putNull(name); return; }
        try { o.put(name, StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(b)).toString()); }
        catch (CharacterCodingException e) { o.put(name + "_b64", Base64.getEncoder().encodeToString(b)); }
    }

    static ObjectNode record(String topic, int partition, RecordBatch batch, org.apache.kafka.common.record.internal.Record r) {
        ObjectNode o = J.createObjectNode();
        o.put("topic", topic).put("partition", partition).put("offset", r.offset()).put("ts", r.timestamp()).put("tstype", batch.timestampType().toString());
        put(o, "key", bytes(r.key()));
        put(o, "value", bytes(r.value()));
        ArrayNode hs = o.putArray("headers");
        for (Header h : r.headers()) {
            ArrayNode pair = hs.addArray().add(h.key());
            ObjectNode v = J.createObjectNode();
            put(v, "v", h.value());
            if (v.has("v_b64")) pair.addObject().set("b64", v.get("v_b64")); else pair.add(v.get("v"));
        }
        return o;
    }

    static ObjectNode batch(RecordBatch b, long position) {
        ObjectNode o = J.createObjectNode();
        o.put("type", "batch").put("position", position).put("size", b.sizeInBytes()).put("magic", b.magic());
        o.put("base_offset", b.baseOffset()).put("last_offset", b.lastOffset());
        if (b.countOrNull() != null) o.put("count", b.countOrNull());
        o.put("codec", b.compressionType().name).put("crc", b.checksum()).put("valid", b.isValid());
        o.put("leader_epoch", b.partitionLeaderEpoch()).put("producer_id", b.producerId()).put("producer_epoch", b.producerEpoch()).put("base_sequence", b.baseSequence());
        o.put("transactional", b.isTransactional()).put("control", b.isControlBatch()).put("max_ts", b.maxTimestamp());
        b.deleteHorizonMs().ifPresent(h -> o.put("delete_horizon_ms", h));
        return o;
    }

    static String[] topicPartition(Path dir) {
        String n = dir.toAbsolutePath().normalize().getFileName().toString();
        int dash = n.lastIndexOf('-');
        return dash < 0 ? new String[] {n, "0"} : new String[] {n.substring(0, dash), n.substring(dash + 1)};
    }

    static void read(String file, boolean batches, boolean control) throws Exception {
        Path p = Paths.get(file).toAbsolutePath();
        String[] tp = topicPartition(p.getParent());
        int part;
        try { part = Integer.parseInt(tp[1]); } catch (NumberFormatException e) { part = 0; }
        try (FileRecords f = FileRecords.open(p.toFile(), false)) {
            long pos = 0;
            for (RecordBatch b : f.batches()) {
                if (batches) System.out.println(batch(b, pos));
                else if (!b.isControlBatch() || control) {
                    b.ensureValid();
                    for (org.apache.kafka.common.record.internal.Record r : b) System.out.println(record(tp[0], part, b, r));
                }
                pos += b.sizeInBytes();
            }
        }
    }

    static class Opened implements AutoCloseable {
        final KafkaScheduler scheduler = new KafkaScheduler(1);
        final UnifiedLog log;
        final Path dir;
        Opened(String d, boolean clean, Map<String, String> cfg) throws Exception {
            dir = Paths.get(d).toAbsolutePath();
            Files.createDirectories(dir);
            scheduler.startup();
            long start = Long.parseLong(cfg.getOrDefault("log.start", "0")), rp = Long.parseLong(cfg.getOrDefault("recovery.point", "0"));
            Map<String, String> c = new HashMap<>(cfg);
            c.keySet().removeAll(Set.of("log.start", "recovery.point", "now", "in", "first.dirty", "first.uncleanable", "map.bytes", "epoch"));
            log = UnifiedLog.create(dir.toFile(), new LogConfig(c), start, rp, scheduler, new BrokerTopicStats(), CLOCK, 300000,
                new ProducerStateManagerConfig(86400000, false), 600000, new LogDirFailureChannel(10), clean, Optional.empty());
            log.updateHighWatermark(log.logEndOffset());
        }
        ObjectNode state() throws Exception {
            ObjectNode o = J.createObjectNode();
            o.put("log_start_offset", log.logStartOffset()).put("log_end_offset", log.logEndOffset()).put("last_stable_offset", log.lastStableOffset());
            ArrayNode e = o.putArray("epochs");
            for (EpochEntry x : log.leaderEpochCache().epochEntries()) e.addArray().add(x.epoch()).add(x.startOffset());
            ObjectNode pr = o.putObject("producers");
            for (Map.Entry<Long, ProducerStateEntry> x : new TreeMap<>(log.producerStateManager().activeProducers()).entrySet()) {
                ProducerStateEntry s = x.getValue();
                ObjectNode n = pr.putObject("" + x.getKey());
                BatchMetadata last = null;
                for (BatchMetadata m : s.batchMetadata()) last = m;
                n.put("epoch", s.producerEpoch()).put("last_sequence", last == null ? -1 : last.lastSeq()).put("last_offset", last == null ? -1 : last.lastOffset()).put("coordinator_epoch", s.coordinatorEpoch());
                if (s.currentTxnFirstOffset().isPresent()) n.put("txn_first_offset", s.currentTxnFirstOffset().getAsLong());
            }
            ObjectNode f = o.putObject("files");
            try (DirectoryStream<Path> ds = Files.newDirectoryStream(dir)) {
                TreeMap<String, Long> t = new TreeMap<>();
                for (Path p : ds) if (Files.isRegularFile(p)) t.put(p.getFileName().toString(), Files.size(p));
                t.forEach((k, v) -> f.put(k, v));
            }
            return o;
        }
        public void close() throws Exception { log.flush(true); log.prepareActiveSegmentForClose(); log.close(); scheduler.shutdown(); }
    }

    static Compression codec(String n) { return Compression.of(CompressionType.forName(n)).build(); }

    static byte[] field(JsonNode r, String name) {
        if (r.hasNonNull(name + "_b64")) return Base64.getDecoder().decode(r.get(name + "_b64").asText());
        return r.hasNonNull(name) ? r.get(name).asText().getBytes(StandardCharsets.UTF_8) : null;
    }

    /** Appends batches given as JSON lines through Kafka's own leader append. */
    static void write(String dir, Map<String, String> cfg) throws Exception {
        try (Opened o = new Opened(dir, true, cfg)) {
            InputStream raw = cfg.containsKey("in") ? new FileInputStream(cfg.get("in")) : System.in;
            BufferedReader in = new BufferedReader(new InputStreamReader(raw, StandardCharsets.UTF_8));
            for (String line; (line = in.readLine()) != null; ) {
                if (line.isBlank()) continue;
                JsonNode n = J.readTree(line);
                int epoch = n.path("epoch").asInt(0);
                if (n.has("roll")) { o.log.roll(); continue; }
                long pid = n.path("producer_id").asLong(-1);
                short pep = (short) n.path("producer_epoch").asInt(-1);
                MemoryRecords m;
                AppendOrigin origin = AppendOrigin.CLIENT;
                if (n.has("control")) {
                    ControlRecordType t = n.get("control").asText().equals("commit") ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
                    m = MemoryRecords.withEndTransactionMarker(0L, n.path("ts").asLong(now), epoch, pid, pep, new EndTransactionMarker(t, n.path("coordinator_epoch").asInt(0)));
                    origin = AppendOrigin.COORDINATOR;
                } else {
                    ByteBuffer buf = ByteBuffer.allocate(1 << 20);
                    TimestampType tt = n.path("tstype").asText("CreateTime").equals("LogAppendTime") ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
                    MemoryRecordsBuilder b = MemoryRecords.builder(buf, RecordBatch.CURRENT_MAGIC_VALUE, codec(n.path("codec").asText("none")), tt, 0L, tt == TimestampType.LOG_APPEND_TIME ? now : -1L,
                        pid, pep, n.path("base_sequence").asInt(-1), n.path("transactional").asBoolean(false), epoch);
                    for (JsonNode r : n.get("records")) {
                        List<Header> hs = new ArrayList<>();
                        for (JsonNode h : r.path("headers")) {
                            JsonNode v = h.get(1);
                            hs.add(new RecordHeader(h.get(0).asText(), v.isNull() ? null : v.isObject() ? Base64.getDecoder().decode(v.get("b64").asText()) : v.asText().getBytes(StandardCharsets.UTF_8)));
                        }
                        b.append(r.path("ts").asLong(0), field(r, "key"), field(r, "value"), hs.toArray(new Header[0]));
                    }
                    m = b.build();
                }
                LogAppendInfo i = o.log.appendAsLeader(m, epoch, origin, org.apache.kafka.server.common.RequestLocal.noCaching(), VerificationGuard.SENTINEL, (short) n.path("transaction_version").asInt(1));
                System.out.println(J.createObjectNode().put("base_offset", i.firstOffset()).put("last_offset", i.lastOffset()));
            }
            o.log.flush(true);
            System.out.println(o.state());
        }
    }

    static void compact(String dir, Map<String, String> cfg, boolean quiet) throws Exception {
        try (Opened o = new Opened(dir, true, cfg)) {
            Cleaner c = new Cleaner(0, new SkimpyOffsetMap(Integer.parseInt(cfg.getOrDefault("map.bytes", "134217728"))), 1 << 20, 1 << 24, 0.9,
                new Throttler(Double.MAX_VALUE, Long.MAX_VALUE, "cleaner", "bytes", CLOCK), CLOCK, tp -> { });
            long dirty = Long.parseLong(cfg.getOrDefault("first.dirty", "" + o.log.logStartOffset()));
            long until = Long.parseLong(cfg.getOrDefault("first.uncleanable", "" + Math.min(o.log.activeSegment().baseOffset(), o.log.lastStableOffset())));
            long t = System.nanoTime();
            Map.Entry<Long, CleanerStats> r = c.clean(new LogToClean(o.log, dirty, until, false));
            double s = (System.nanoTime() - t) / 1e9;
            ObjectNode n = J.createObjectNode();
            n.put("first_dirty", dirty).put("first_uncleanable", until).put("cleaned_to", r.getKey()).put("messages_read", r.getValue().messagesRead()).put("messages_written", r.getValue().messagesWritten())
                .put("bytes_read", r.getValue().bytesRead()).put("bytes_written", r.getValue().bytesWritten()).put("seconds", s);
            Thread.sleep(quiet ? 0 : 300);
            n.setAll(o.state());
            System.out.println(n);
        }
    }

    /** Sums every batch of a segment, and with `records` reads the records, too; prints what was read and the seconds. */
    static void time(String file, boolean records) throws Exception {
        long begin = System.nanoTime(), batches = 0, count = 0;
        try (FileRecords f = FileRecords.open(new File(file), false)) {
            for (RecordBatch b : f.batches()) {
                b.ensureValid();
                batches++;
                if (records) for (org.apache.kafka.common.record.internal.Record r : b) count += r.hasValue() ? 1 : 0;
            }
        }
        System.out.println(J.createObjectNode().put("batches", batches).put("values", count).put("seconds", (System.nanoTime() - begin) / 1e9));
    }

    /** One command; returns the exit status. */
    static int run(List<String> words) {
        Map<String, String> cfg = new HashMap<>();
        List<String> args = new ArrayList<>();
        for (String w : words) {
            int e = w.indexOf('=');
            if (e > 0 && !args.isEmpty() && w.substring(0, e).matches("[a-z.]+")) cfg.put(w.substring(0, e), w.substring(e + 1)); else args.add(w);
        }
        now = Long.parseLong(cfg.getOrDefault("now", "-1"));
        try {
            String target = args.get(1);
            switch (args.get(0)) {
                case "read": for (String f : args.subList(1, args.size())) read(f, false, false); break;
                case "read-control": for (String f : args.subList(1, args.size())) read(f, false, true); break;
                case "batches": for (String f : args.subList(1, args.size())) read(f, true, false); break;
                case "time-batches": time(target, false); break;
                case "time-records": time(target, true); break;
                case "load": try (Opened o = new Opened(target, args.contains("clean"), cfg)) { System.out.println(o.state()); } break;
                case "write": write(target, cfg); break;
                case "compact": compact(target, cfg, false); break;
                case "retain": try (Opened o = new Opened(target, true, cfg)) { int k = o.log.deleteOldSegments(); Thread.sleep(200); ObjectNode n = J.createObjectNode().put("deleted_segments", k); n.setAll(o.state()); System.out.println(n); } break;
                case "offset-for-time": try (Opened o = new Opened(target, true, cfg)) {
                    System.out.println(o.log.fetchOffsetByTimestamp(Long.parseLong(args.get(2)), Optional.empty()).timestampAndOffsetOpt().map(x -> "{\"offset\":" + x.offset + ",\"ts\":" + x.timestamp + "}").orElse("{\"offset\":null}")); } break;
                case "epoch-end": try (Opened o = new Opened(target, true, cfg)) {
                    System.out.println(o.log.endOffsetForEpoch(Integer.parseInt(args.get(2))).map(x -> "{\"epoch\":" + x.epoch() + ",\"end_offset\":" + x.offset() + "}").orElse("{\"epoch\":null}")); } break;
                case "truncate": try (Opened o = new Opened(target, true, cfg)) { o.log.truncateTo(Long.parseLong(args.get(2))); System.out.println(o.state()); } break;
                default: throw new IllegalArgumentException("unknown command " + args.get(0));
            }
            return 0;
        } catch (Exception | Error e) {
            System.out.println(J.createObjectNode().put("error", e.getClass().getSimpleName()).put("message", String.valueOf(e.getMessage())));
            return 1;
        }
    }

    public static void main(String[] a) throws Exception {
        System.setOut(new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16), false, StandardCharsets.UTF_8));
        if (a.length == 0) { System.err.println("usage: commands are in the head of KafkaLog.java"); System.exit(2); }
        int rc = 0;
        if (a[0].equals("repl")) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line; (line = in.readLine()) != null; ) {
                rc |= run(Arrays.asList(line.trim().split("\\s+")));
                System.out.println("{\"done\":true}");
                System.out.flush();
            }
        } else rc = run(Arrays.asList(a));
        System.out.flush();
        System.exit(rc);
    }
}
