// A descriptor that becomes readable when `ring` is called, from any thread (eventfd). Lets a
// thread that waits in poll(2) for other descriptors also wait for other threads.
#pragma once

namespace l4::wire {

class Bell {
 public:
  Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell();
  void ring();
  void quiet();
  int file() const { return file_; }

 private:
  int file_;
};

}  // namespace l4::wire
