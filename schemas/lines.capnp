# Questions of the aggregator for raw lines and the agent's answers: bodies of `ask` and `answer`
# with the topic "lines" (schemas/control.capnp). Fields are only ever added; docs/WIRE.md says what
# they mean.
@0xb86ad5f2c4e1937d;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("l4::schema");

# Times are milliseconds since the epoch, UTC; -2^63 is none. Ranks are not negative; -1 is none.

struct LinesSpeaker {
  rank @0 :Int32 = -1;
  localRank @1 :Int32 = -1;
  host @2 :Text;
}

struct LinesFile {
  path @0 :Text;
  everyone @1 :Bool = true;
  hosts @2 :Bool;
  speakers @3 :List(LinesSpeaker);
  counted @4 :UInt64;
  last @5 :Int64 = -0x8000000000000000;
}

struct LinesQuestion {
  job @0 :Text;
  templates @1 :List(UInt32);
  texts @2 :List(Text);
  files @3 :List(LinesFile);
  around @4 :Int64 = -0x8000000000000000;
  context @5 :UInt32;
  linesMax @6 :UInt32;
  bytesMax @7 :UInt64;
  timeoutMs @8 :UInt32;
}

struct RawLine {
  file @0 :UInt32;
  asked @1 :UInt32;
  offset @2 :UInt64;
  number @3 :UInt64;
  time @4 :Int64 = -0x8000000000000000;
  rank @5 :Int32 = -1;
  host @6 :Text;
  text @7 :Data;
  hit @8 :Bool;
  cut @9 :Bool;
}

struct LinesGap {
  kind @0 :UInt8;
  asked @1 :UInt32 = 0xffffffff;
  file @2 :Text;
  text @3 :Text;
}

struct LinesAnswer {
  files @0 :List(Text);
  lines @1 :List(RawLine);
  gaps @2 :List(LinesGap);
  bytesRead @3 :UInt64;
  redacted @4 :UInt64;
}
