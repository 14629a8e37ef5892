// Which request is whose (serve.md §3), and who may ask at all (§1.5).
#pragma once

#include "core/net/http/exchange.h"

namespace tk::http {

/// Answers the request, now or later. `local`: where the connection came in.
void route(const ExchangePtr& exchange, const net::Address& local);

// read.cpp: the records of one partition, or of all (`partition` -1).
void read_records(const ExchangePtr& exchange, const std::string& topic, std::int32_t partition);
// append.cpp
void append_records(const ExchangePtr& exchange, const std::string& topic, std::int32_t partition);
// topics.cpp
void list_topics(const ExchangePtr& exchange);
void describe_topic(const ExchangePtr& exchange, const std::string& topic);
void create_topic(const ExchangePtr& exchange);
void delete_topic(const ExchangePtr& exchange, const std::string& topic);
void get_offsets(const ExchangePtr& exchange, const std::string& topic, std::int32_t partition);
// groups.cpp
void list_groups(const ExchangePtr& exchange);
void describe_group(const ExchangePtr& exchange, const std::string& group);
void describe_members(const ExchangePtr& exchange, const std::string& group);
void put_offsets(const ExchangePtr& exchange, const std::string& group);
// metrics.cpp
void show_metrics(const ExchangePtr& exchange);

/// 404 for a topic that there is not.
void respond_no_topic(const ExchangePtr& exchange, const std::string& topic);

}  // namespace tk::http
