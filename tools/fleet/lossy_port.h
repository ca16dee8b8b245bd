// A bad link: a ClientPort whose messages vanish, are held up, and whose connection breaks.
//
// Flow: ship::Session -> here -> the real port. All of it follows from the seed, the times given to
// advance() and the messages. While the link is cut, no message gets through in either direction
// and neither end is notified. One thread. Bounds: kHighWaterMark messages a direction that are
// held up.
#pragma once

#include <deque>
#include <memory>
#include <random>

#include "common/wire/port.h"
#include "tools/fleet/script.h"

namespace l4::fleet {

class LossyPort final : public wire::ClientPort {
 public:
  struct Counts {
    std::uint64_t lost = 0, held_up = 0, broken = 0;
  };

  /// `cut` outlives this.
  LossyPort(std::unique_ptr<wire::ClientPort> port, const LinkTrouble& trouble, const bool& cut,
            std::uint64_t seed);

  /// Delivers what is due at this time.
  void advance(Millis steady);
  /// The time at which a delayed message gets through, or the connection breaks.
  Millis next_due() const;
  const Counts& counts() const { return counts_; }

  void connect() override;
  void disconnect() override;
  wire::Sent send(wire::Bytes message) override;
  std::optional<wire::Bytes> receive() override;
  std::optional<wire::LinkNews> news() override;
  void wait(Millis timeout) override { port_->wait(timeout); }
  int wait_fd() const override { return port_->wait_fd(); }
  void wake() override { port_->wake(); }

 private:
  struct HeldUp {
    Millis due;
    wire::Bytes message;
  };
  bool is_lost();
  Millis due();
  void plan_break();

  std::unique_ptr<wire::ClientPort> port_;
  LinkTrouble trouble_;
  const bool& cut_;
  std::mt19937_64 random_;
  Millis now_{0}, breaks_at_{Millis::max()};
  bool connected_ = false, told_broken_ = true;
  bool waits_ = false;  ///< there is a connection that waits for the end of a cut
  std::deque<HeldUp> out_, in_;
  Counts counts_;
};

}  // namespace l4::fleet
