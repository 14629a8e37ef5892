// Topics and their configs.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct CreateTopicsRequest {
  static constexpr MessageType kType{19, 2, 7, 5};
  struct Topic {
    struct Assignment {
      std::int32_t partition_index = 0;
      std::vector<std::int32_t> broker_ids;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(broker_ids);
      }
      friend bool operator==(const Assignment&, const Assignment&) = default;
    };
    struct Config {
      std::string name;
      std::optional<std::string> value;

      template <class F>
      void fields(F& f) {
        f(name);
        f(value);
      }
      friend bool operator==(const Config&, const Config&) = default;
    };

    std::string name;
    std::int32_t num_partitions = 0;
    std::int16_t replication_factor = 0;
    std::vector<Assignment> assignments;
    std::vector<Config> configs;

    template <class F>
    void fields(F& f) {
      f(name);
      f(num_partitions);
      f(replication_factor);
      f(assignments);
      f(configs);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::vector<Topic> topics;
  std::int32_t timeout_ms = 0;
  bool validate_only = false;

  template <class F>
  void fields(F& f) {
    f(topics);
    f(timeout_ms);
    f(validate_only);
  }
  friend bool operator==(const CreateTopicsRequest&, const CreateTopicsRequest&) = default;
};

struct CreateTopicsResponse {
  static constexpr MessageType kType{19, 2, 7, 5};
  struct Topic {
    struct Config {
      std::string name;
      std::optional<std::string> value;
      bool read_only = false;
      std::int8_t config_source = 0;
      bool is_sensitive = false;

      template <class F>
      void fields(F& f) {
        f(name);
        f(value);
        f(read_only);
        f(config_source);
        f(is_sensitive);
      }
      friend bool operator==(const Config&, const Config&) = default;
    };

    std::string name;
    Uuid topic_id;
    std::int16_t error_code = 0;
    std::optional<std::string> error_message;
    std::int32_t num_partitions = 0;
    std::int16_t replication_factor = 0;
    std::optional<std::vector<Config>> configs;
    std::int16_t topic_config_error_code = 0;

    template <class F>
    void fields(F& f) {
      f(name);
      f(topic_id, Versions{7});
      f(error_code);
      f(error_message);
      f(num_partitions, Versions{5});
      f(replication_factor, Versions{5});
      f(configs, Versions{5});
      f.tag(0, topic_config_error_code, std::int16_t{0}, Versions{5});
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(topics);
  }
  friend bool operator==(const CreateTopicsResponse&, const CreateTopicsResponse&) = default;
};

struct DeleteTopicsRequest {
  static constexpr MessageType kType{20, 1, 6, 4};
  struct Topic {
    std::optional<std::string> name;
    Uuid topic_id;

    template <class F>
    void fields(F& f) {
      f(name);
      f(topic_id);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::vector<Topic> topics;
  std::vector<std::string> topic_names;
  std::int32_t timeout_ms = 0;

  template <class F>
  void fields(F& f) {
    f(topics, Versions{6});
    f(topic_names, Versions{1, 5});
    f(timeout_ms);
  }
  friend bool operator==(const DeleteTopicsRequest&, const DeleteTopicsRequest&) = default;
};

struct DeleteTopicsResponse {
  static constexpr MessageType kType{20, 1, 6, 4};
  struct Response {
    std::optional<std::string> name;
    Uuid topic_id;
    std::int16_t error_code = 0;
    std::optional<std::string> error_message;

    template <class F>
    void fields(F& f) {
      f(name, Versions{}, nullable_from(6));
      f(topic_id, Versions{6});
      f(error_code);
      f(error_message, Versions{5});
    }
    friend bool operator==(const Response&, const Response&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Response> responses;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(responses);
  }
  friend bool operator==(const DeleteTopicsResponse&, const DeleteTopicsResponse&) = default;
};

struct CreatePartitionsRequest {
  static constexpr MessageType kType{37, 0, 3, 2};
  struct Topic {
    struct Assignment {
      std::vector<std::int32_t> broker_ids;

      template <class F>
      void fields(F& f) {
        f(broker_ids);
      }
      friend bool operator==(const Assignment&, const Assignment&) = default;
    };

    std::string name;
    std::int32_t count = 0;
    std::optional<std::vector<Assignment>> assignments;

    template <class F>
    void fields(F& f) {
      f(name);
      f(count);
      f(assignments);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::vector<Topic> topics;
  std::int32_t timeout_ms = 0;
  bool validate_only = false;

  template <class F>
  void fields(F& f) {
    f(topics);
    f(timeout_ms);
    f(validate_only);
  }
  friend bool operator==(const CreatePartitionsRequest&, const CreatePartitionsRequest&) = default;
};

struct CreatePartitionsResponse {
  static constexpr MessageType kType{37, 0, 3, 2};
  struct Result {
    std::string name;
    std::int16_t error_code = 0;
    std::optional<std::string> error_message;

    template <class F>
    void fields(F& f) {
      f(name);
      f(error_code);
      f(error_message);
    }
    friend bool operator==(const Result&, const Result&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Result> results;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(results);
  }
  friend bool operator==(const CreatePartitionsResponse&, const CreatePartitionsResponse&) = default;
};

struct DescribeConfigsRequest {
  static constexpr MessageType kType{32, 1, 4, 4};
  struct Resource {
    std::int8_t resource_type = 0;
    std::string resource_name;
    std::optional<std::vector<std::string>> configuration_keys;

    template <class F>
    void fields(F& f) {
      f(resource_type);
      f(resource_name);
      f(configuration_keys);
    }
    friend bool operator==(const Resource&, const Resource&) = default;
  };

  std::vector<Resource> resources;
  bool include_synonyms = false;
  bool include_documentation = false;

  template <class F>
  void fields(F& f) {
    f(resources);
    f(include_synonyms);
    f(include_documentation, Versions{3});
  }
  friend bool operator==(const DescribeConfigsRequest&, const DescribeConfigsRequest&) = default;
};

struct DescribeConfigsResponse {
  static constexpr MessageType kType{32, 1, 4, 4};
  struct Result {
    struct Config {
      struct Synonym {
        std::string name;
        std::optional<std::string> value;
        std::int8_t source = 0;

        template <class F>
        void fields(F& f) {
          f(name);
          f(value);
          f(source);
        }
        friend bool operator==(const Synonym&, const Synonym&) = default;
      };

      std::string name;
      std::optional<std::string> value;
      bool read_only = false;
      std::int8_t config_source = 0;
      bool is_sensitive = false;
      std::vector<Synonym> synonyms;
      std::int8_t config_type = 0;
      std::optional<std::string> documentation;

      template <class F>
      void fields(F& f) {
        f(name);
        f(value);
        f(read_only);
        f(config_source);
        f(is_sensitive);
        f(synonyms);
        f(config_type, Versions{3});
        f(documentation, Versions{3});
      }
      friend bool operator==(const Config&, const Config&) = default;
    };

    std::int16_t error_code = 0;
    std::optional<std::string> error_message;
    std::int8_t resource_type = 0;
    std::string resource_name;
    std::vector<Config> configs;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(error_message);
      f(resource_type);
      f(resource_name);
      f(configs);
    }
    friend bool operator==(const Result&, const Result&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Result> results;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(results);
  }
  friend bool operator==(const DescribeConfigsResponse&, const DescribeConfigsResponse&) = default;
};

struct AlterConfigsRequest {
  static constexpr MessageType kType{33, 0, 2, 2};
  struct Resource {
    struct Config {
      std::string name;
      std::optional<std::string> value;

      template <class F>
      void fields(F& f) {
        f(name);
        f(value);
      }
      friend bool operator==(const Config&, const Config&) = default;
    };

    std::int8_t resource_type = 0;
    std::string resource_name;
    std::vector<Config> configs;

    template <class F>
    void fields(F& f) {
      f(resource_type);
      f(resource_name);
      f(configs);
    }
    friend bool operator==(const Resource&, const Resource&) = default;
  };

  std::vector<Resource> resources;
  bool validate_only = false;

  template <class F>
  void fields(F& f) {
    f(resources);
    f(validate_only);
  }
  friend bool operator==(const AlterConfigsRequest&, const AlterConfigsRequest&) = default;
};

struct AlterConfigsResponse {
  static constexpr MessageType kType{33, 0, 2, 2};
  struct Response {
    std::int16_t error_code = 0;
    std::optional<std::string> error_message;
    std::int8_t resource_type = 0;
    std::string resource_name;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(error_message);
      f(resource_type);
      f(resource_name);
    }
    friend bool operator==(const Response&, const Response&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Response> responses;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(responses);
  }
  friend bool operator==(const AlterConfigsResponse&, const AlterConfigsResponse&) = default;
};

struct IncrementalAlterConfigsRequest {
  static constexpr MessageType kType{44, 0, 1, 1};
  struct Resource {
    struct Config {
      std::string name;
      std::int8_t config_operation = 0;
      std::optional<std::string> value;

      template <class F>
      void fields(F& f) {
        f(name);
        f(config_operation);
        f(value);
      }
      friend bool operator==(const Config&, const Config&) = default;
    };

    std::int8_t resource_type = 0;
    std::string resource_name;
    std::vector<Config> configs;

    template <class F>
    void fields(F& f) {
      f(resource_type);
      f(resource_name);
      f(configs);
    }
    friend bool operator==(const Resource&, const Resource&) = default;
  };

  std::vector<Resource> resources;
  bool validate_only = false;

  template <class F>
  void fields(F& f) {
    f(resources);
    f(validate_only);
  }
  friend bool operator==(const IncrementalAlterConfigsRequest&,
                         const IncrementalAlterConfigsRequest&) = default;
};

struct IncrementalAlterConfigsResponse {
  static constexpr MessageType kType{44, 0, 1, 1};
  struct Response {
    std::int16_t error_code = 0;
    std::optional<std::string> error_message;
    std::int8_t resource_type = 0;
    std::string resource_name;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(error_message);
      f(resource_type);
      f(resource_name);
    }
    friend bool operator==(const Response&, const Response&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Response> responses;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(responses);
  }
  friend bool operator==(const IncrementalAlterConfigsResponse&,
                         const IncrementalAlterConfigsResponse&) = default;
};

}  // namespace tk::kafka
