// Fetch (serve.md §2.5): stored bytes from files to the socket, long polls, sessions, isolation.
//
// All is decided on the loop from what partitions know in memory. Where a place in a file is not known yet,
// or its pages are not in memory, a worker looks and the loop decides again.
#include <algorithm>

#include "core/net/failure.h"
#include "core/net/json_batches.h"
#include "core/net/kafka/fetch_session.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"

namespace tk::kafka {
namespace {

using Row = FetchResponse::Response::Partition;

/// What one answer holds whatever was asked for, but for a first batch that is larger: fetch.max.bytes of a
/// broker.
constexpr std::uint64_t kMostFetched = 57671680;
/// More partitions than all sessions together may have are no honest request.
constexpr std::size_t kMostPartitions = FetchSessions::kMostPartitions;
/// So often a worker looks for one answer; then the log changes faster than it can be read.
constexpr int kMostLooks = 50;

class Fetch : public std::enable_shared_from_this<Fetch> {
 public:
  Fetch(const CallPtr& call, const FetchRequest& request, FetchPlan plan)
      : call_(call),
        plan_(std::move(plan)),
        max_bytes_(std::min<std::uint64_t>(static_cast<std::uint64_t>(request.max_bytes), kMostFetched)),
        min_bytes_(request.min_bytes),
        committed_(request.isolation_level == 1),
        by_id_(call->version() >= 13),
        deadline_ms_(monotonic_ms() + std::min<std::int64_t>(request.max_wait_ms, net::kLongestFetchWait)) {
    for (FetchEntry& entry : plan_.all()) {
      Part& part = parts_.emplace_back();
      part.entry = entry;
    }
    if (request.max_wait_ms <= 0 || request.min_bytes <= 0) expired_ = true;
  }

  void start() {
    resolve();
    std::vector<std::shared_ptr<net::Partition>> partitions;
    for (const Part& part : parts_) partitions.push_back(part.partition);
    when_all_open(partitions, [self = shared_from_this()] { self->go_on(); });
  }

 private:
  /// One partition: what was asked, and what is known for the answer.
  struct Part {
    FetchEntry entry;
    std::shared_ptr<net::Partition> partition;
    net::PartitionEdges edges;
    std::int16_t error = kNone;
    std::optional<LeaderEpochs::End> diverging;
    // Of workers:
    std::optional<net::Place> place;
    std::optional<net::Place> end_place;
    std::optional<std::uint64_t> warm;  // bytes to read ahead
    std::shared_ptr<net::JsonBatches::Stretch> converted;
    // Of this attempt:
    net::Partition::Slice slice;
    net::Waiters::Id waiter = 0;
  };

  void resolve() {
    const auto catalog = call_->service().catalog();
    for (Part& part : parts_) {
      const FoundTopic found = find_topic(*catalog, by_id_, part.entry.topic, part.entry.topic_id);
      part.error = found.error;
      part.partition = found.topic ? found.topic->partition(part.entry.partition) : nullptr;
      if (found.topic && !part.partition) part.error = kUnknownTopicOrPartition;
      if (!part.partition) continue;
      if (part.entry.max_bytes < 0 || part.entry.fetch_offset < -1) part.error = kNone;
    }
  }

  /// Errors and ends of a partition, as they are now.
  void judge(Part& part) {
    if (!part.partition) return;
    part.error = kNone;
    part.diverging.reset();
    if (part.partition->is_deleted()) {
      part.error = kUnknownTopicOrPartition;
      return;
    }
    if (!part.partition->is_open()) {
      part.error = kStorageError;
      return;
    }
    const std::int32_t epoch = part.partition->leader_epoch().value();
    if (part.entry.current_leader_epoch >= 0 && part.entry.current_leader_epoch != epoch) {
      part.error = part.entry.current_leader_epoch > epoch ? kUnknownLeaderEpoch : kFencedLeaderEpoch;
      return;
    }
    part.edges = part.partition->edges();
    const Offset offset(part.entry.fetch_offset);
    if (part.entry.last_fetched_epoch >= 0) {
      LeaderEpochs epochs = part.partition->leader_epochs();
      if (epochs.empty()) epochs.assign(part.partition->leader_epoch(), part.edges.start);
      const LeaderEpochs::End end =
          epochs.end_offset_for(LeaderEpoch(part.entry.last_fetched_epoch), part.edges.end);
      if (end.epoch.value() < part.entry.last_fetched_epoch || end.offset < offset) {
        part.diverging = end;
        return;
      }
    }
    if (offset < part.edges.start || offset > part.edges.end) part.error = kOffsetOutOfRange;
  }

  void go_on() {
    if (call_->ended() || call_->gone()) return finish();
    bool at_once = expired_ || parts_.empty();
    bool asks_worker = false;
    std::uint64_t total = 0;
    bool first = true;
    for (Part& part : parts_) {
      part.slice = {};
      judge(part);
      if (part.error != kNone || part.diverging) at_once = true;
      if (part.error != kNone || part.diverging || !part.partition) continue;
      if (total >= max_bytes_ && !first) continue;
      if (!take(part, first, max_bytes_ > total ? max_bytes_ - total : 0)) {
        asks_worker = true;
        continue;
      }
      total += part.slice.bytes;
      if (part.slice.bytes > 0) first = false;
    }
    if (asks_worker) return ++looks_ > kMostLooks ? answer() : ask_worker();
    if (at_once || total >= min_bytes_ || total >= max_bytes_ || call_->service().is_crowded())
      return answer();
    park();
  }

  /// Fills the part's slice; false if a worker must look first.
  bool take(Part& part, bool first, std::uint64_t left) {
    net::Partition::Want want;
    want.offset = Offset(part.entry.fetch_offset);
    want.below = committed_ ? part.edges.stable : part.edges.end;
    want.max_bytes =
        std::min<std::uint64_t>(left, static_cast<std::uint64_t>(std::max(part.entry.max_bytes, 0)));
    want.whole_first = first;
    if (want.offset >= want.below) return true;
    if (part.partition->format() == TopicFormat::json || call_->service().host().skips_damage)
      return take_converted(part, want);
    want.place = part.place;
    want.end_place = part.end_place;
    auto slice = part.partition->slice(want);
    if (!slice) {
      part.warm = want.whole_first ? std::max<std::uint64_t>(want.max_bytes, 1U << 20) : want.max_bytes;
      return false;
    }
    part.slice = std::move(*slice);
    return true;
  }

  bool take_converted(Part& part, const net::Partition::Want& want) {
    if (!part.converted) {
      part.converted =
          call_->service().part<net::JsonBatches>().find(*part.partition, want.offset, want.below);
    }
    if (!part.converted) return false;
    const auto size = part.converted->bytes.size();
    std::size_t bytes = std::min<std::uint64_t>(size, want.max_bytes);
    if (want.whole_first && bytes < size) bytes = std::max(bytes, part.converted->first_size);
    Buffer copy;
    copy.append(part.converted->bytes.view().first(bytes));
    part.slice.bytes = bytes;
    if (bytes > 0) part.slice.pieces.push_back(net::Piece::of(std::move(copy)));
    return true;
  }

  void ask_worker() {
    struct Look {
      std::size_t index;
      std::shared_ptr<net::Partition> partition;
      Offset offset;
      Offset below;
      bool converts;
      std::uint64_t warm;
      std::optional<net::Place> place, end_place;
      std::shared_ptr<net::JsonBatches::Stretch> converted;
      std::shared_ptr<Error> failed;
    };
    const auto looks = std::make_shared<std::vector<Look>>();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (part.error != kNone || part.diverging || !part.partition || part.slice.bytes > 0) continue;
      const Offset below = committed_ ? part.edges.stable : part.edges.end;
      const Offset offset(part.entry.fetch_offset);
      const bool converts =
          part.partition->format() == TopicFormat::json || call_->service().host().skips_damage;
      if (offset >= below || (converts ? part.converted != nullptr : !part.warm)) continue;
      looks->push_back({i, part.partition, offset, below, converts, part.warm.value_or(0), {}, {}, {}, {}});
    }
    net::Service& service = call_->service();
    auto& converter = service.part<net::JsonBatches>();
    service.workers().post([self = shared_from_this(), looks, &service, &converter] {
      for (Look& look : *looks) {
        look.failed = net::failure_of([&] {
          if (look.converts) {
            look.converted = converter.convert(*look.partition, look.offset, look.below);
            return;
          }
          look.place = look.partition->locate(look.offset);
          if (look.below < look.partition->edges().end) look.end_place = look.partition->locate(look.below);
          if (look.place) look.partition->warm(*look.place, look.warm);
        });
      }
      service.loop().post([self, looks] {
        bool found = false;
        for (Look& look : *looks) {
          Part& part = self->parts_[look.index];
          part.place = look.place;
          part.end_place = look.end_place;
          part.converted = look.converted;
          found |= look.place || look.converted;
          if (look.failed) {
            self->broken_.push_back(look.index);
            // A file that is not there any more: the log has another shape than the one that is known.
            look.partition->noticed(true);
          }
        }
        // Nothing was found where something should be: the log changes under us. Not in a circle.
        if (!found && ++self->vain_ > 3) self->expired_ = true;
        self->after_worker();
      });
    });
  }

  void after_worker() {
    if (vain_ > 3) return answer();
    go_on();
  }

  void park() {
    call_->when_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->finish();
    });
    call_->when_draining([weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->expired_ = true;
        self->wake();
      }
    });
    for (Part& part : parts_) {
      part.place.reset();
      part.end_place.reset();
      part.converted.reset();
      if (part.partition)
        part.waiter = part.partition->waiters().add([weak = weak_from_this()] {
          if (const auto self = weak.lock()) self->wake();
        });
    }
    parked_since_ms_ = monotonic_ms();
    timer_ = call_->service().loop().after(deadline_ms_ - monotonic_ms(), [self = shared_from_this()] {
      self->timer_ = net::Loop::kNoTimer;
      self->expired_ = true;
      self->wake();
    });
  }

  void stop_waiting() {
    if (parked_since_ms_ != 0)
      call_->add_parked((monotonic_ms() - std::exchange(parked_since_ms_, 0)) * 1000);
    for (Part& part : parts_) {
      if (part.partition && part.waiter != 0) part.partition->waiters().remove(std::exchange(part.waiter, 0));
    }
    call_->service().loop().cancel(std::exchange(timer_, net::Loop::kNoTimer));
    call_->when_gone({});
    call_->when_draining({});
  }

  void wake() {
    const auto self = shared_from_this();
    stop_waiting();
    go_on();
  }

  void finish() { stop_waiting(); }

  void fill(Part& part, Row& row) {
    row.partition_index = part.entry.partition;
    row.records.in = ByteView{};
    row.preferred_read_replica = -1;
    row.error_code = part.error;
    row.high_watermark = row.last_stable_offset = row.log_start_offset = -1;
    // (A broker makes answers of partitions that it does not have elsewhere, where the list is empty.)
    if (part.error != kNone && !part.partition) row.aborted_transactions.emplace();
    if (part.error != kNone) return;
    row.high_watermark = part.edges.end.value();
    row.last_stable_offset = part.edges.stable.value();
    row.log_start_offset = part.edges.start.value();
    if (part.diverging) {
      row.diverging_epoch.epoch = part.diverging->epoch.value();
      row.diverging_epoch.end_offset = part.diverging->offset.value();
      return;
    }
    if (committed_) {
      row.aborted_transactions.emplace();
      if (part.slice.bytes > 0) {
        const Offset to = part.slice.next.value_or(part.edges.stable);
        for (const TxnIndexEntry& aborted :
             part.partition->aborted_between(Offset(part.entry.fetch_offset), to))
          row.aborted_transactions->push_back({aborted.producer.value(), aborted.first.value()});
      }
    }
    if (part.slice.bytes == 0) return;
    row.records.in.reset();
    row.records.out = std::move(part.slice.pieces);
  }

  /// Whether an incremental answer says something of the partition; notes what was said.
  static bool tells(FetchEntry& entry, const Row& row, bool has_records) {
    const bool changed = row.high_watermark != entry.sent_high_watermark ||
                         row.log_start_offset != entry.sent_log_start || entry.sent_error;
    const bool failed = row.error_code != kNone;
    entry.sent_high_watermark = row.high_watermark;
    entry.sent_log_start = row.log_start_offset;
    entry.sent_error = failed;
    return has_records || failed || row.diverging_epoch.epoch >= 0 || changed;
  }

  void answer() {
    finish();
    if (call_->ended() || call_->gone()) return;
    FetchResponse response;
    response.session_id = plan_.session_id;
    // What the session was told is noted there, unless another request has changed it while this one waited.
    const bool owns = !plan_.session || plan_.session->next_epoch == plan_.next_epoch;
    std::list<FetchEntry> served;
    auto entry = plan_.all().begin();
    for (Part& part : parts_) {
      if (std::ranges::find(broken_, static_cast<std::size_t>(&part - parts_.data())) != broken_.end())
        part.error = kStorageError;
      const bool has_records = part.slice.bytes > 0 && part.error == kNone;
      Row row;
      fill(part, row);
      call_->note_error(row.error_code);
      const auto mine = owns ? entry++ : entry;
      const bool says = tells(owns ? *mine : part.entry, row, has_records);
      if (owns && plan_.session && has_records) served.splice(served.end(), plan_.session->entries, mine);
      if (plan_.incremental && !says) continue;
      auto& responses = response.responses;
      if (responses.empty() || responses.back().topic != part.entry.topic ||
          responses.back().topic_id != part.entry.topic_id) {
        responses.emplace_back();
        responses.back().topic = part.entry.topic;
        responses.back().topic_id = part.entry.topic_id;
      }
      responses.back().partitions.push_back(std::move(row));
    }
    if (plan_.session) plan_.session->entries.splice(plan_.session->entries.end(), served);
    call_->answer(response);
  }

  CallPtr call_;
  FetchPlan plan_;
  std::uint64_t max_bytes_;
  std::uint64_t min_bytes_;
  bool committed_;
  bool by_id_;
  std::int64_t deadline_ms_;
  std::int64_t parked_since_ms_ = 0;
  bool expired_ = false;
  int vain_ = 0;
  int looks_ = 0;
  std::vector<Part> parts_;
  std::vector<std::size_t> broken_;
  net::Loop::TimerId timer_ = net::Loop::kNoTimer;
};

bool has_wrong_sizes(const FetchRequest& request) {
  if (request.max_bytes < 0) return true;
  std::size_t partitions = 0;
  for (const auto& topic : request.topics) {
    partitions += topic.partitions.size();
    if (partitions > kMostPartitions) return true;
    for (const auto& partition : topic.partitions) {
      if (partition.partition_max_bytes < 0) return true;
    }
  }
  return false;
}

}  // namespace

void handle_fetch(const CallPtr& call, FetchRequest request) {
  FetchResponse refused;
  const std::int32_t replica = call->version() >= 15 ? request.replica_state.replica_id : request.replica_id;
  if (replica >= 0 || has_wrong_sizes(request)) {
    refused.error_code = kInvalidRequest;
    call->note_error(kInvalidRequest);
    return call->answer(refused);
  }
  FetchPlan plan =
      plan_fetch(call->service().part<FetchSessions>(), request, call->version() >= 13, monotonic_ms());
  if (plan.error != kNone) {
    refused.error_code = plan.error;
    call->note_error(plan.error);
    return call->answer(refused);
  }
  std::make_shared<Fetch>(call, request, std::move(plan))->start();
}

}  // namespace tk::kafka
