// InitProducerId of idempotent producers (serve.md §2.8).
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/producer_ids.h"

namespace tk::kafka {

void handle_init_producer_id(const CallPtr& call, InitProducerIdRequest request) {
  InitProducerIdResponse refused;
  refused.error_code = kInvalidRequest;
  const bool one_of_two = (request.producer_id >= 0) != (request.producer_epoch >= 0);
  if (call->service().options().read_only) refused.error_code = kPolicyViolation;
  if (call->service().options().read_only || one_of_two ||
      (request.transactional_id && request.transactional_id->empty())) {
    call->note_error(refused.error_code);
    return call->answer(refused);
  }
  // One that asks again begins anew: its epoch is of no use without the sequences.
  call->service().part<net::ProducerIds>().next([call](std::int64_t id, const Error* error) {
    InitProducerIdResponse answer;
    answer.producer_id = id;
    answer.producer_epoch = error == nullptr ? 0 : -1;
    answer.error_code = error == nullptr ? kNone : kCoordinatorNotAvailable;
    call->note_error(answer.error_code);
    call->answer(answer);
  });
}

}  // namespace tk::kafka
