// Reading over HTTP (serve.md §3.1): a cursor that the client keeps, long polls, streams.
//
// A worker reads and prints; the loop decides whether that is enough, else the request waits on its
// partitions and holds nothing. Who wakes reads again from where the client is.
#include <fmt/format.h>

#include <algorithm>
#include <list>

#include "core/base/json_writer.h"
#include "core/log/offset_search.h"
#include "core/log/record_json.h"
#include "core/net/failure.h"
#include "core/net/http/read_terms.h"
#include "core/net/http/router.h"
#include "core/net/record_scan.h"

namespace tk::http {
namespace {

/// One partition that is read, and how far its reader has come.
struct Place {
  std::shared_ptr<net::Partition> partition;
  std::int32_t number = 0;
  Offset next;
  net::Waiters::Id waiter = 0;
};

struct Reading {
  Buffer text;
  std::int64_t records = 0;
  std::vector<std::pair<std::int32_t, Offset>> next;
  std::shared_ptr<Error> failed;
  bool stopped_at_limit = false;
  /// Bytes of records that were looked at; and that they were many, so that others have their turn.
  std::uint64_t looked_at = 0;
  bool paused = false;
  /// What the text may take: less when many readers are slow.
  std::int64_t most_bytes = INT64_MAX;
};

/// What one reading looks at, at most: a key that is nowhere must not keep a worker.
constexpr std::uint64_t kMostLookedAt = 16U << 20;
constexpr std::uint64_t kPerRecord = 8;

class Reader : public std::enable_shared_from_this<Reader> {
 public:
  Reader(ExchangePtr exchange, std::string topic, ReadTerms terms, std::vector<Place> places)
      : exchange_(std::move(exchange)),
        topic_(std::move(topic)),
        terms_(std::move(terms)),
        places_(std::move(places)) {
    deadline_ms_ = monotonic_ms() + terms_.wait_ms;
  }

  /// Finds where to begin, then reads.
  void start() {
    const auto left = std::make_shared<std::size_t>(places_.size() + 1);
    const auto count_down = [self = shared_from_this(), left] {
      if (--*left == 0) self->begin();
    };
    for (const Place& place : places_) place.partition->when_open(count_down);
    count_down();
  }

 private:
  [[nodiscard]] net::Service& service() const { return exchange_->service(); }
  [[nodiscard]] bool streams() const { return terms_.format == ReadFormat::sse || terms_.follow; }

  void begin() {
    if (exchange_->gone() || exchange_->ended()) return;
    for (const Place& place : places_) {
      if (place.partition->is_open()) continue;
      const auto error = place.partition->open_error();
      return exchange_->respond_error(
          error.value_or(Error(ErrorCode::storage_error, "the partition cannot be read")));
    }
    try {
      place_by_request();
    } catch (const Error& error) {
      return exchange_->respond_error(error);
    }
  }

  void place_by_request() {
    const Request& request = exchange_->request();
    std::string cursor = request.parameter("cursor").value_or("");
    if (terms_.format == ReadFormat::sse && !request.header("last-event-id").empty())
      cursor = request.header("last-event-id");
    if (!cursor.empty()) {
      const auto offsets = parse_cursor(cursor);
      for (Place& place : places_) {
        const auto at = offsets.find(place.number);
        place.next = at == offsets.end() ? place.partition->edges().start : Offset(at->second);
      }
      return check_places();
    }
    const std::string offset = request.parameter("offset").value_or("beginning");
    if (offset == "beginning" || offset == "earliest") {
      for (Place& place : places_) place.next = place.partition->edges().start;
      return read();
    }
    if (offset == "end" || offset == "latest") {
      for (Place& place : places_) place.next = readable_end(place);
      return go();
    }
    if (offset.starts_with('@')) {
      const auto time = parse_time(offset.substr(1), service().clock().now_ms());
      if (!time) throw bad_parameter("offset", "behind @ stands a time, as 2026-11-29T10:00:00Z, or -15m");
      return find_places([time = *time](net::Partition& partition, const LogView& view) {
        return offset_for_time(partition.file_system(), view, time).value_or(view.log_end);
      });
    }
    const auto number = parse_int(offset);
    if (!number)
      throw bad_parameter("offset",
                          fmt::format("'{}' is none of N, -N, beginning, end, @TIME", printable(offset)));
    if (*number < 0) {
      return find_places([count = -*number](net::Partition& partition, const LogView& view) {
        const LastRecords last =
            find_last_records(partition.file_system(), view, {view.log_start, view.log_end, {}}, count);
        // Of a batch that begins before them the first ones are left out.
        std::int64_t skip = last.skip;
        Offset from = last.from;
        scan_records(
            partition, last.from, view.log_end, false,
            [&](const RecordView& record) {
              from = record.offset;
              return skip-- > 0;
            },
            [](const net::ScanDamage&) {});
        return from;
      });
    }
    for (Place& place : places_) place.next = Offset(*number);
    check_places();
  }

  /// An offset outside of the log is an error here, so that a poller notices that it has lost something.
  void check_places() {
    for (const Place& place : places_) {
      const net::PartitionEdges edges = place.partition->edges();
      if (place.next >= edges.start && place.next <= edges.end) continue;
      return exchange_->respond_error(
          416, "OFFSET_OUT_OF_RANGE",
          fmt::format("offset {} is not from {} to {}", place.next.value(), edges.start.value(),
                      edges.end.value()),
          fmt::format(",\"topic\":\"{}\",\"partition\":{},\"log_start_offset\":{},\"log_end_offset\":{}",
                      topic_, place.number, edges.start.value(), edges.end.value()));
    }
    go();
  }

  void find_places(std::function<Offset(net::Partition&, const LogView&)> find) {
    service().workers().post([self = shared_from_this(), find = std::move(find)] {
      std::vector<Offset> found;
      const auto failed = net::failure_of([&] {
        for (const Place& place : self->places_)
          found.push_back(find(*place.partition, place.partition->known_view()));
      });
      self->service().loop().post([self, found, failed] {
        if (failed) return self->exchange_->respond_error(*failed);
        for (std::size_t i = 0; i < found.size(); ++i) self->places_[i].next = found[i];
        self->go();
      });
    });
  }

  [[nodiscard]] Offset readable_end(const Place& place) const {
    const net::PartitionEdges edges = place.partition->edges();
    return terms_.committed ? edges.stable : edges.end;
  }

  [[nodiscard]] bool anything_new() const {
    return std::ranges::any_of(places_, [&](const Place& place) { return place.next < readable_end(place); });
  }

  void go() { anything_new() ? read() : not_enough(); }

  void read() {
    if (!anything_new()) return not_enough();
    const auto reading = std::make_shared<Reading>();
    reading->most_bytes = std::min(terms_.max_bytes, service().room_for_answer());
    service().answers_in_making += reading->most_bytes;
    std::vector<std::pair<Place, Offset>> wanted;
    for (const Place& place : places_) wanted.emplace_back(place, readable_end(place));
    // Not always the same one first, or a busy partition would keep the others away.
    const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(turn_++ % wanted.size());
    std::rotate(wanted.begin(), first, wanted.end());
    service().workers().post([self = shared_from_this(), reading, wanted = std::move(wanted)] {
      reading->failed = net::failure_of([&] {
        for (const auto& [place, below] : wanted) self->read_one(place, below, *reading);
      });
      self->service().loop().post([self, reading] { self->have(*reading); });
    });
  }

  /// On a worker.
  void read_one(const Place& place, Offset below, Reading& reading) const {
    const RecordJson printer(topic_, PartitionId(place.number));
    const std::int64_t most = terms_.max_records - sent_in_all();
    const auto most_bytes = static_cast<std::size_t>(reading.most_bytes);
    bool full = false;
    const Offset next = net::scan_records(
        *place.partition, place.next, below, terms_.committed,
        [&](const RecordView& record) {
          full = reading.records >= most || (reading.records > 0 && reading.text.size() >= most_bytes);
          reading.paused |= reading.looked_at > kMostLookedAt;
          if (full || reading.paused) return false;
          reading.looked_at += record.key.value_or("").size() + record.value.value_or("").size() + kPerRecord;
          if (terms_.key && record.key != std::string_view(*terms_.key)) return true;
          const std::size_t before = reading.text.size();
          print(printer, place, record, reading);
          if (reading.records > 0 && reading.text.size() > most_bytes) {
            reading.text.cut(before);
            full = true;
            return false;
          }
          ++reading.records;
          return true;
        },
        [&](const net::ScanDamage& damage) {
          service().warn(Error(ErrorCode::corrupt_message,
                               fmt::format("{} ({})", fault_name(damage.fault.kind), damage.fault.detail))
                             .at(damage.path, damage.position),
                         &place.partition->info());
        });
    reading.stopped_at_limit |= full;
    reading.next.emplace_back(place.number, next);
  }

  [[nodiscard]] std::int64_t sent_in_all() const { return streams() && terms_.limited ? sent_ : 0; }

  void print(const RecordJson& printer, const Place& place, const RecordView& record,
             Reading& reading) const {
    switch (terms_.format) {
      case ReadFormat::ndjson:
        return printer.append(reading.text, record);
      case ReadFormat::raw:
        reading.text.append(record.value.value_or(""));
        return reading.text.append(std::string_view("\n"));
      case ReadFormat::json:
        if (!reading.text.empty()) reading.text.append(std::string_view(","));
        printer.append(reading.text, record);
        return reading.text.cut(reading.text.size() - 1);
      case ReadFormat::sse:
        reading.text.append(
            fmt::format("id: {}\ndata: ", cursor_with(place.number, record.offset + 1, reading)));
        printer.append(reading.text, record);
        return reading.text.append(std::string_view("\n"));
    }
  }

  [[nodiscard]] std::string cursor_with(std::int32_t number, Offset next, const Reading& reading) const {
    std::string text;
    for (const Place& place : places_) {
      Offset offset = place.number == number ? next : place.next;
      for (const auto& [done, its] : reading.next) {
        if (done == place.number) offset = its;
      }
      text += fmt::format("{}{}:{}", text.empty() ? "" : ",", place.number, offset.value());
    }
    return text;
  }

  void have(Reading& reading) {
    service().answers_in_making -= reading.most_bytes;
    if (exchange_->gone() || exchange_->ended()) return stop_waiting();
    if (reading.failed) return exchange_->respond_error(*reading.failed);
    if (streams()) return pass_on(reading);
    const bool enough = (reading.records >= terms_.min_records &&
                         static_cast<std::int64_t>(reading.text.size()) >= terms_.min_bytes) ||
                        reading.stopped_at_limit || expired_ || (reading.paused && reading.records > 0);
    if (enough) {
      move_on(reading);
      return answer(reading);
    }
    // What was read and did not match need not be read again.
    if (reading.records == 0) move_on(reading);
    // More of it may match: a reader that may wait looks on, another one is given the cursor.
    if (reading.paused && monotonic_ms() < deadline_ms_ && reading.records == 0) return go();
    not_enough_with(reading);
  }

  void move_on(const Reading& reading) {
    for (Place& place : places_) {
      for (const auto& [number, next] : reading.next) {
        if (number == place.number) place.next = next;
      }
    }
  }

  void pass_on(Reading& reading) {
    move_on(reading);
    open_stream();
    service().records_out += static_cast<std::uint64_t>(reading.records);
    sent_ += reading.records;
    exchange_->stream(std::move(reading.text));
    if (exchange_->ended() || exchange_->gone()) return;
    if (terms_.limited && sent_ >= terms_.max_records) return exchange_->end_stream();
    constexpr std::size_t most_unsent = 256U << 10;
    if (exchange_->unsent() > most_unsent)
      // (Nothing else holds the reader meanwhile; the exchange lets go of this when its peer has gone.)
      return exchange_->when_sent([self = shared_from_this()] { self->go(); });
    go();
  }

  void open_stream() {
    if (exchange_->streaming()) return;
    exchange_->begin_stream(terms_.format == ReadFormat::sse ? kSse : type(),
                            {{"Cache-Control", "no-store"}});
    if (terms_.format == ReadFormat::sse) ping();
  }

  void ping() {
    constexpr std::int64_t every_ms = 15000;
    service().loop().after(every_ms, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || self->exchange_->gone() || self->exchange_->ended()) return;
      Buffer text;
      text.append(std::string_view(": ping\n\n"));
      self->exchange_->stream(std::move(text));
      self->ping();
    });
  }

  void not_enough() {
    Reading nothing;
    not_enough_with(nothing);
  }

  void not_enough_with(Reading& reading) {
    if (streams()) {
      open_stream();
      if (service().draining()) return exchange_->end_stream();
      return park();
    }
    if (expired_ || terms_.wait_ms == 0 || monotonic_ms() >= deadline_ms_ || service().draining()) {
      move_on(reading);
      return answer(reading);
    }
    park();
  }

  void park() {
    exchange_->when_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->stop_waiting();
    });
    // Whoever waits is kept alive by those it waits for.
    const auto wake = [self = shared_from_this()] {
      self->stop_waiting();
      self->woken();
    };
    exchange_->when_draining([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->stop_waiting();
      self->expired_ = true;
      if (self->streams()) {
        self->exchange_->end_stream();
      } else {
        self->woken();
      }
    });
    for (Place& place : places_) place.waiter = place.partition->waiters().add(wake);
    waiting_ = true;
    if (streams()) return;
    timer_ = service().loop().after(deadline_ms_ - monotonic_ms(), [self = shared_from_this()] {
      self->timer_ = net::Loop::kNoTimer;
      self->stop_waiting();
      self->expired_ = true;
      self->woken();
    });
  }

  void woken() {
    if (exchange_->gone() || exchange_->ended()) return;
    for (const Place& place : places_) {
      if (place.partition->is_deleted()) return respond_no_topic(exchange_, topic_);
    }
    go();
  }

  void stop_waiting() {
    if (!std::exchange(waiting_, false)) return;
    const auto self = shared_from_this();
    for (Place& place : places_) place.partition->waiters().remove(std::exchange(place.waiter, 0));
    service().loop().cancel(std::exchange(timer_, net::Loop::kNoTimer));
  }

  [[nodiscard]] std::string type() const {
    if (terms_.format == ReadFormat::json) return kJson;
    return terms_.format == ReadFormat::raw ? "application/octet-stream" : kNdjson;
  }

  template <class Get>
  [[nodiscard]] std::string list(Get get, bool as_json) const {
    std::string text;
    for (const Place& place : places_) {
      text += fmt::format(fmt::runtime(as_json ? "{}\"{}\":{}" : "{}{}:{}"), text.empty() ? "" : ",",
                          place.number, get(place).value());
    }
    return text;
  }

  void answer(Reading& reading) {
    stop_waiting();
    service().records_out += static_cast<std::uint64_t>(reading.records);
    const auto next = [](const Place& place) { return place.next; };
    const auto end = [](const Place& place) { return place.partition->edges().end; };
    const auto start = [](const Place& place) { return place.partition->edges().start; };
    Headers headers = {{"Tk-Next", list(next, false)},
                       {"Tk-High-Watermark", list(end, false)},
                       {"Tk-Log-Start-Offset", list(start, false)},
                       {"Cache-Control", "no-store"}};
    if (terms_.format == ReadFormat::json) {
      Buffer body;
      body.append(std::string_view("{\"records\":["));
      body.append(reading.text.view());
      body.append(fmt::format("],\"next\":{{{}}},\"high_watermark\":{{{}}},\"log_start_offset\":{{{}}}}}\n",
                              list(next, true), list(end, true), list(start, true)));
      return exchange_->respond(200, kJson, std::move(body), std::move(headers));
    }
    if (reading.records == 0) return exchange_->respond(204, "", Buffer(), std::move(headers));
    exchange_->respond(200, type(), std::move(reading.text), std::move(headers));
  }

  ExchangePtr exchange_;
  std::string topic_;
  ReadTerms terms_;
  std::vector<Place> places_;
  std::int64_t deadline_ms_ = 0;
  std::int64_t sent_ = 0;
  std::size_t turn_ = 0;
  bool expired_ = false;
  bool waiting_ = false;
  net::Loop::TimerId timer_ = net::Loop::kNoTimer;
};

}  // namespace

void read_records(const ExchangePtr& exchange, const std::string& topic, std::int32_t partition) {
  const auto found = exchange->service().catalog()->find(topic);
  if (!found) return respond_no_topic(exchange, topic);
  std::vector<Place> places;
  for (std::size_t i = 0; i < found->partitions.size(); ++i) {
    const auto number = static_cast<std::int32_t>(i);
    if (found->partitions[i] && (partition < 0 || partition == number))
      places.push_back({found->partitions[i], number, Offset(0), 0});
  }
  if (places.empty()) {
    return exchange->respond_error(Error(ErrorCode::unknown_topic_or_partition,
                                         fmt::format("topic '{}' has no partition {}", topic, partition)));
  }
  std::make_shared<Reader>(exchange, topic, read_terms(exchange->request(), exchange->service().options()),
                           std::move(places))
      ->start();
}

}  // namespace tk::http
