#include "common/wire/memory_transport.h"

#include <atomic>
#include <utility>

#include "common/base/bounded_queue.h"

namespace l4::wire {
namespace {

struct Channel {
  Channel(std::size_t senders, std::size_t capacity) : queue(capacity), senders_open(senders) {}
  BoundedQueue<Batch> queue;
  std::atomic<std::size_t> senders_open;
};

class MemorySender final : public Sender {
 public:
  explicit MemorySender(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  MemorySender(const MemorySender&) = delete;
  MemorySender& operator=(const MemorySender&) = delete;
  ~MemorySender() override {
    if (channel_->senders_open.fetch_sub(1) == 1) channel_->queue.close();
  }
  bool send(Batch batch) override { return channel_->queue.push(std::move(batch)); }

 private:
  std::shared_ptr<Channel> channel_;
};

class MemoryReceiver final : public Receiver {
 public:
  explicit MemoryReceiver(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  MemoryReceiver(const MemoryReceiver&) = delete;
  MemoryReceiver& operator=(const MemoryReceiver&) = delete;
  ~MemoryReceiver() override { channel_->queue.abandon(); }
  std::optional<Batch> receive() override { return channel_->queue.pop(); }

 private:
  std::shared_ptr<Channel> channel_;
};

}  // namespace

MemoryLink make_memory_link(std::size_t senders, std::size_t capacity_batches) {
  const auto channel = std::make_shared<Channel>(senders, capacity_batches);
  if (senders == 0) channel->queue.close();
  MemoryLink link;
  link.senders.reserve(senders);
  for (std::size_t i = 0; i < senders; ++i)
    link.senders.push_back(std::make_unique<MemorySender>(channel));
  link.receiver = std::make_unique<MemoryReceiver>(channel);
  return link;
}

}  // namespace l4::wire
