#include "core/net/http/exchange.h"

#include <fmt/format.h>

#include "core/base/json_writer.h"

namespace tk::http {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unknown_topic_or_partition:
    case ErrorCode::group_id_not_found:
      return 404;
    case ErrorCode::invalid_request:
    case ErrorCode::invalid_topic:
    case ErrorCode::invalid_config:
    case ErrorCode::invalid_partitions:
    case ErrorCode::invalid_record:
    case ErrorCode::invalid_group_id:
      return 400;
    case ErrorCode::message_too_large:
      return 413;
    case ErrorCode::offset_out_of_range:
      return 416;
    case ErrorCode::storage_error:
    case ErrorCode::log_dir_locked:
      return 503;
    case ErrorCode::topic_already_exists:
    case ErrorCode::non_empty_group:
    case ErrorCode::group_subscribed_to_topic:
    case ErrorCode::unknown_member_id:
    case ErrorCode::illegal_generation:
    case ErrorCode::fenced_instance_id:
    case ErrorCode::fenced_member_epoch:
    case ErrorCode::stale_member_epoch:
    case ErrorCode::rebalance_in_progress:
    case ErrorCode::inconsistent_group_protocol:
      return 409;
    default:
      return 500;
  }
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

void Exchange::send_head(int status, const std::string& type, std::optional<std::size_t> length,
                         const Headers& headers, Buffer& out) {
  status_ = status;
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_of(status));
  if (!type.empty()) head += fmt::format("Content-Type: {}\r\n", type);
  if (length && status != 204) head += fmt::format("Content-Length: {}\r\n", *length);
  if (!length && !request_.is_1_0) head += "Transfer-Encoding: chunked\r\n";
  if (!length && request_.is_1_0) request_.keep_alive = false;
  for (const Headers* list : {static_cast<const Headers*>(&common_headers), &headers}) {
    for (const auto& [name, value] : *list) head += fmt::format("{}: {}\r\n", name, value);
  }
  if (!request_.keep_alive) head += "Connection: close\r\n";
  if (request_.keep_alive && request_.is_1_0) head += "Connection: keep-alive\r\n";
  head += "\r\n";
  out.append(head);
}

void Exchange::respond(int status, const std::string& type, Buffer body, Headers headers) {
  if (ended_ || gone_) return;
  net::Chain chain;
  send_head(status, type, body.size(), headers, chain.bytes());
  if (!is_head() && status != 204) chain.add(net::Piece::of(std::move(body)));
  output_.send(chain.take());
  finish();
}

void Exchange::respond(int status, const std::string& type, std::string body, Headers headers) {
  Buffer bytes;
  bytes.append(body);
  respond(status, type, std::move(bytes), std::move(headers));
}

void Exchange::respond_error(int status, std::string_view code, const std::string& message,
                             const std::string& members, Headers headers) {
  TextBuffer text;
  append(text, "{\"error\":");
  append_json_string(text, code);
  append(text, ",\"message\":");
  append_json_string(text, printable(message, 4096));
  append(text, members);
  append(text, "}\n");
  const std::string body(text.begin(), text.end());
  if (status == 503) headers.emplace_back("Retry-After", "1");
  if (!streaming_) return respond(status, kJson, body, std::move(headers));
  Buffer part;
  part.append(fmt::format("event: error\ndata: {}\n", body));
  stream(std::move(part));
  end_stream();
}

void Exchange::respond_error(const Error& error, Headers headers) {
  std::string message = error.message();
  if (!error.hint().empty()) message += "; " + error.hint();
  respond_error(status_of(error.code()), code_name(error.code()), message, "", std::move(headers));
}

void Exchange::begin_stream(const std::string& type, Headers headers) {
  if (ended_ || gone_) return;
  streaming_ = true;
  net::Chain chain;
  send_head(200, type, std::nullopt, headers, chain.bytes());
  output_.send(chain.take());
  if (is_head()) finish();
}

void Exchange::stream(Buffer part) {
  if (ended_ || gone_ || part.empty()) return;
  net::Chain chain;
  if (!request_.is_1_0) chain.bytes().append(fmt::format("{:x}\r\n", part.size()));
  chain.add(net::Piece::of(std::move(part)));
  if (!request_.is_1_0) chain.bytes().append(std::string_view("\r\n"));
  output_.send(chain.take());
}

void Exchange::end_stream() {
  if (ended_ || gone_) return;
  if (!request_.is_1_0) {
    net::Chain chain;
    chain.bytes().append(std::string_view("0\r\n\r\n"));
    output_.send(chain.take());
  }
  finish();
}

void Exchange::finish() {
  if (std::exchange(ended_, true)) return;
  on_gone_ = {};
  on_drain_ = {};
  on_sent_ = {};
  output_.finished(request_.keep_alive);
}

}  // namespace tk::http
