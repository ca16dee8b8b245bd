# The messages between agents and the aggregator on the live wire. Fields and kinds of messages are
# only ever added; docs/WIRE.md says what they mean.
@0xd3a1f5b0c9e24c77;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("l4::schema");

# Times are milliseconds since the epoch, UTC.

struct Hello {
  versionMin @0 :UInt16;
  versionMax @1 :UInt16;
  features @2 :UInt64;
  agent @3 :Text;
  incarnation @4 :UInt64;
  bootId @5 :Text;
  software @6 :Text;
  batchesHeld @7 :UInt64;
  bytesHeld @8 :UInt64;
  filesHeld @9 :UInt64;
}

struct Position {
  key @0 :UInt64;
  device @1 :UInt64;
  inode @2 :UInt64;
  fingerprint @3 :UInt64;
  fingerprintBytes @4 :UInt32;
  path @5 :Text;
  offset @6 :UInt64;
  lines @7 :UInt64;
}

struct PositionPage {
  positions @0 :List(Position);
  more @1 :Bool;
}

struct Welcome {
  version @0 :UInt16;
  features @1 :UInt64;
  incarnation @2 :UInt64;
  software @3 :Text;
  window @4 :UInt32;
  heartbeatMs @5 :UInt32;
  messageBytesMax @6 :UInt32;
  page @7 :PositionPage;
  lastSequence @8 :UInt64;
}

struct Heartbeat {
  number @0 :UInt64;
  wall @1 :Int64;
  batchesSent @2 :UInt64;
  offsetKnown @3 :Bool;
  offsetMs @4 :Int64;
  delayMs @5 :Int64;
  batchesHeld @6 :UInt64;
  bytesHeld @7 :UInt64;
  shedding @8 :UInt8;
  released @9 :List(UInt64);
  hints @10 :List(Text);
}

struct HeartbeatReply {
  number @0 :UInt64;
  received @1 :Int64;
  replied @2 :Int64;
  batchesReceived @3 :UInt64;
  batchesCommitted @4 :UInt64;
  window @5 :UInt32;
}

struct BatchFrame {
  number @0 :UInt64;
  body @1 :Data;
}

struct Ack {
  number @0 :UInt64;
  window @1 :UInt32;
}

struct WantedFile {
  key @0 :UInt64;
  offset @1 :UInt64;
}

struct Want {
  number @0 :UInt64;
  files @1 :List(WantedFile);
  # Never sent and never read; the ordinals stay taken.
  obsoleteTemplates @2 :List(UInt32);
  obsoleteJob @3 :Text;
}

struct Refuse {
  reason @0 :UInt8;
  text @1 :Text;
  retryAfterMs @2 :UInt32;
  number @3 :UInt64;
}

struct Question {
  number @0 :UInt64;
  topic @1 :Text;
  body @2 :Data;
  last @3 :Bool = true;
}

struct Envelope {
  session @0 :UInt64;
  union {
    nothing @1 :Void;
    hello @2 :Hello;
    welcome @3 :Welcome;
    morePositions @4 :UInt64;
    positions @5 :PositionPage;
    heartbeat @6 :Heartbeat;
    heartbeatReply @7 :HeartbeatReply;
    batch @8 :BatchFrame;
    ack @9 :Ack;
    want @10 :Want;
    refuse @11 :Refuse;
    bye @12 :Text;
    ask @13 :Question;
    answer @14 :Question;
  }
}
