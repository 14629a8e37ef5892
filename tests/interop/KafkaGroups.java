import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.internals.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.*;

/** Kafka's own assignors and partitioner as a test partner: one JSON question a line (assignors.py beside this file). */
public class KafkaGroups {
    static final ObjectMapper J = new ObjectMapper();

    static List<TopicPartition> partitions(JsonNode owned) {
        List<TopicPartition> l = new ArrayList<>();
        owned.fields().forEachRemaining(e -> e.getValue().forEach(p -> l.add(new TopicPartition(e.getKey(), p.asInt()))));
        return l;
    }

    static Map<String, List<TopicPartition>> client(JsonNode q, String name) {
        Map<String, Integer> counts = new HashMap<>();
        q.get("partitions").fields().forEachRemaining(e -> counts.put(e.getKey(), e.getValue().asInt()));
        Map<String, Subscription> subs = new LinkedHashMap<>();
        for (JsonNode m : q.get("members")) {
            List<String> topics = new ArrayList<>();
            m.get("topics").forEach(t -> topics.add(t.asText()));
            List<TopicPartition> owned = partitions(m.path("owned"));
            int gen = m.path("generation").asInt(-1);
            ByteBuffer data = null;
            if (name.equals("sticky") || name.equals("cooperative-sticky")) {
                ConsumerPartitionAssignor own = name.equals("sticky") ? new StickyAssignor() : new CooperativeStickyAssignor();
                if (gen >= 0 || !owned.isEmpty()) own.onAssignment(new ConsumerPartitionAssignor.Assignment(owned), new ConsumerGroupMetadata("g", gen, m.get("id").asText(), Optional.empty()));
                data = own.subscriptionUserData(new HashSet<>(topics));
            }
            Subscription s = new Subscription(topics, data, owned, gen, m.hasNonNull("rack") ? Optional.of(m.get("rack").asText()) : Optional.empty());
            if (m.hasNonNull("instance")) s.setGroupInstanceId(Optional.of(m.get("instance").asText()));
            subs.put(m.get("id").asText(), s);
        }
        AbstractPartitionAssignor a;
        switch (name) {
            case "range": a = new org.apache.kafka.clients.consumer.RangeAssignor(); break;
            case "roundrobin": a = new RoundRobinAssignor(); break;
            case "sticky": a = new StickyAssignor(); break;
            case "cooperative-sticky": a = new CooperativeStickyAssignor(); break;
            default: throw new IllegalArgumentException("unknown assignor " + name);
        }
        if (name.equals("cooperative-sticky")) {
            Map<String, List<PartitionInfo>> info = new HashMap<>();
            counts.forEach((t, n) -> { List<PartitionInfo> l = new ArrayList<>(); for (int p = 0; p < n; p++) l.add(new PartitionInfo(t, p, Node.noNode(), new Node[0], new Node[0])); info.put(t, l); });
            return a.assignPartitions(info, subs);
        }
        return a.assign(counts, subs);
    }

    static Map<String, List<TopicPartition>> server(JsonNode q, String name) {
        Map<String, Uuid> ids = new TreeMap<>();
        Map<Uuid, String> names = new HashMap<>();
        Map<Uuid, Integer> counts = new HashMap<>();
        q.get("partitions").fieldNames().forEachRemaining(t -> ids.put(t, null));
        long i = 1;
        for (String t : new ArrayList<>(ids.keySet())) { Uuid u = new Uuid(1, i++); ids.put(t, u); names.put(u, t); counts.put(u, q.get("partitions").get(t).asInt()); }
        Map<String, MemberSubscriptionAndAssignmentImpl> ms = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        Set<Set<Uuid>> kinds = new HashSet<>();
        for (JsonNode m : q.get("members")) {
            Set<Uuid> topics = new HashSet<>();
            m.get("topics").forEach(t -> { if (ids.containsKey(t.asText())) topics.add(ids.get(t.asText())); });
            Map<Uuid, Set<Integer>> target = new HashMap<>();
            for (TopicPartition tp : partitions(m.path("owned"))) if (ids.containsKey(tp.topic())) {
                target.computeIfAbsent(ids.get(tp.topic()), k -> new HashSet<>()).add(tp.partition());
                inverted.computeIfAbsent(ids.get(tp.topic()), k -> new HashMap<>()).put(tp.partition(), m.get("id").asText());
            }
            kinds.add(topics);
            ms.put(m.get("id").asText(), new MemberSubscriptionAndAssignmentImpl(Optional.empty(), m.hasNonNull("instance") ? Optional.of(m.get("instance").asText()) : Optional.empty(), topics, new org.apache.kafka.coordinator.group.modern.Assignment(target)));
        }
        SubscribedTopicDescriber d = new SubscribedTopicDescriber() {
            public int numPartitions(Uuid u) { return counts.getOrDefault(u, -1); }
            public Set<String> racksForPartition(Uuid u, int p) { return Set.of(); }
        };
        GroupSpecImpl spec = new GroupSpecImpl(ms, kinds.size() <= 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS, inverted);
        ConsumerGroupPartitionAssignor a = name.equals("uniform") ? new UniformAssignor() : new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
        org.apache.kafka.coordinator.group.api.assignor.GroupAssignment g = a.assign(spec, d);
        Map<String, List<TopicPartition>> out = new HashMap<>();
        for (String m : ms.keySet()) {
            List<TopicPartition> l = out.computeIfAbsent(m, k -> new ArrayList<>());
            MemberAssignment x = g.members().get(m);
            if (x != null) x.partitions().forEach((u, ps) -> ps.forEach(p -> l.add(new TopicPartition(names.get(u), p))));
        }
        return out;
    }

    public static void main(String[] a) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        for (String line; (line = in.readLine()) != null; ) {
            if (line.isBlank()) continue;
            ObjectNode r = J.createObjectNode();
            try {
                JsonNode q = J.readTree(line);
                if (q.has("key") || q.has("key_b64")) {
                    byte[] k = q.has("key_b64") ? Base64.getDecoder().decode(q.get("key_b64").asText()) : q.get("key").asText().getBytes(StandardCharsets.UTF_8);
                    r.put("murmur2", Utils.murmur2(k)).put("partition", Utils.toPositive(Utils.murmur2(k)) % q.get("count").asInt());
                } else if (q.has("coordinator_for")) {
                    r.put("partition", Utils.abs(q.get("coordinator_for").asText().hashCode()) % q.get("count").asInt());
                } else {
                    String name = q.get("assignor").asText();
                    Map<String, List<TopicPartition>> g = name.equals("uniform") || name.equals("server-range") ? server(q, name) : client(q, name);
                    ObjectNode as = r.putObject("assignment");
                    for (String m : new TreeSet<>(g.keySet())) {
                        TreeMap<String, TreeSet<Integer>> t = new TreeMap<>();
                        for (TopicPartition tp : g.get(m)) t.computeIfAbsent(tp.topic(), k -> new TreeSet<>()).add(tp.partition());
                        ObjectNode o = as.putObject(m);
                        t.forEach((k, v) -> { ArrayNode n = o.putArray(k); v.forEach(n::add); });
                    }
                }
            } catch (Exception e) { r.put("error", e.getClass().getSimpleName()).put("message", String.valueOf(e.getMessage())); }
            out.println(r);
        }
        out.flush();
    }
}
