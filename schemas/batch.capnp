# Batches, which agents ship to the aggregator. Fields are only ever added; docs/WIRE.md says what
# they mean.
@0xb1f0c7d2a94e6e35;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("l4::schema");

# Times are milliseconds since the epoch, UTC; kNoTime where there is none.
const noTime :Int64 = -9223372036854775808;
# Iterations and ranks are not negative; -1 where there is none.

struct ByteRange {
  from @0 :UInt64;
  to @1 :UInt64;
}

struct LineRange {
  first @0 :UInt64;
  last @1 :UInt64;
}

struct SourceDefinition {
  id @0 :UInt32;
  path @1 :Text;
  node @2 :Text;
  kind @3 :UInt8;
  rank @4 :Int32 = -1;
  rankSource @5 :UInt8;
  localRank @6 :Int32 = -1;
  attempt @7 :Int32;
  modified @8 :Int64 = -9223372036854775808;
  run @9 :UInt32;
  marker @10 :Int64 = -1;
  markerGrounds @11 :UInt8;
  markerStanding @12 :UInt8;
  markerPack @13 :Text;
  user @14 :Text;
}

struct TemplateDefinition {
  id @0 :UInt32;
  generation @1 :UInt32;
  text @2 :Text;
  level @3 :UInt8;
  skeletons @4 :List(UInt64);
  aliasOf @5 :Int64 = -1;
  marks @6 :UInt8;
}

struct EventCount {
  id @0 :UInt32;
  count @1 :UInt32;
  firstLine @2 :UInt64;
  firstTime @3 :Int64 = -9223372036854775808;
}

struct Run {
  id @0 :UInt32;
  count @1 :UInt32;
}

struct Parameter {
  kind @0 :UInt8;
  value @1 :Text;
  blamed @2 :Bool;
}

struct ParameterTuple {
  id @0 :UInt32;
  count @1 :UInt32;
  values @2 :List(Parameter);
}

struct TimerTotal {
  timer @0 :UInt16;
  count @1 :UInt32;
  sumMs @2 :Float64;
  maxMs @3 :Float64;
}

struct TimerName {
  timer @0 :UInt16;
  name @1 :Text;
  kind @2 :UInt8;
  learned @3 :Bool;
}

struct Segment {
  source @0 :UInt32;
  stage @1 :UInt8;
  iteration @2 :Int64 = -1;
  boundary @3 :UInt8;
  begin @4 :Int64 = -9223372036854775808;
  end @5 :Int64 = -9223372036854775808;
  arrivalBegin @6 :Int64 = -9223372036854775808;
  arrivalEnd @7 :Int64 = -9223372036854775808;
  bytes @8 :ByteRange;
  lines @9 :LineRange;
  updates @10 :UInt32;
  events @11 :List(EventCount);
  order @12 :List(Run);
  orderCut @13 :Bool;
  parameters @14 :List(ParameterTuple);
  timers @15 :List(TimerTotal);
  timedLastLine @16 :UInt64;
  counted @17 :Bool;
  stageAfter @18 :UInt8;
  before @19 :Int64;
  numbering @20 :UInt16;
  reach @21 :UInt8;
  beat @22 :UInt32;
  rounds @23 :UInt16;
  clockReturned @24 :Bool;
}

struct FileId {
  key @0 :UInt64;
  device @1 :UInt64;
  inode @2 :UInt64;
  fingerprint @3 :UInt64;
  fingerprintBytes @4 :UInt32;
}

struct Coverage {
  path @0 :Text;
  bytes @1 :ByteRange;
  lines @2 :UInt64;
  bytesKnown @3 :UInt64;
  file @4 :FileId;
  bytesLost @5 :UInt64;
}

struct Warning {
  kind @0 :Text;
  file @1 :Text;
  reason @2 :Text;
  bytes @3 :UInt64;
}

struct ProcessFact {
  bootId @0 :Text;
  pid @1 :Int32;
  startedBootUs @2 :Int64;
  started @3 :Int64;
  command @4 :Text;
  part @5 :UInt8;
  node @6 :Text;
  job @7 :Text;
  attempt @8 :Int32;
  requeue @9 :UInt32;
  step @10 :UInt32;
  restart @11 :UInt32;
  rank @12 :Int32 = -1;
  rankSource @13 :UInt8;
  localRank @14 :Int32 = -1;
  worldSize @15 :Int32 = -1;
  state @16 :UInt8;
  since @17 :Int64;
  cpuMs @18 :Int64;
  cpuSince @19 :Int64;
  exitKind @20 :UInt8;
  exitValue @21 :Int32;
  exitBy @22 :UInt8;
}

struct FigureWindow {
  source @0 :UInt32;
  kind @1 :UInt8;
  name @2 :Text;
  first @3 :Int64 = -1;
  last @4 :Int64 = -1;
  count @5 :UInt32;
  notFinite @6 :UInt32;
  run @7 :UInt32;
  runFrom @8 :Int64 = -1;
  least @9 :Float64;
  median @10 :Float64;
  most @11 :Float64;
  final @12 :Float64;
}

struct FileReading {
  path @0 :Text;
  lines @1 :UInt64;
  timed @2 :UInt64;
  glued @3 :UInt64;
  split @4 :UInt64;
  format @5 :Text;
  marker @6 :Text;
  markerWhy @7 :Text;
  packs @8 :Text;
}

struct NicDefinition {
  nic @0 :UInt16;
  kind @1 :UInt8;
  name @2 :Text;
  node @3 :Text;
  driver @4 :Text;
  pci @5 :Text;
  rateMbps @6 :UInt32;
  localRanks @7 :List(Int32);
  ranksBy @8 :UInt8;
  ranks @9 :List(Int32);
}

# Ten times six bits, the first tenth lowest: 0 idle, 1 to 62 a share of the busiest, 63 not known.
struct NicSecond {
  begin @0 :Int64;
  sent @1 :UInt64;
  received @2 :UInt64;
  tenths @3 :UInt64;
  nic @4 :UInt16;
  first @5 :UInt16 = 65535;
  last @6 :UInt16 = 65535;
  lastSent @7 :UInt16 = 65535;
}

struct NicRise {
  at @0 :Int64;
  nic @1 :UInt16;
  counter @2 :Text;
  rise @3 :UInt64;
  total @4 :UInt64;
  fault @5 :Bool;
}

struct Batch {
  agent @0 :Text;
  incarnation @1 :UInt64;
  sequence @2 :UInt64;
  sources @3 :List(SourceDefinition);
  templates @4 :List(TemplateDefinition);
  timers @5 :List(TimerName);
  segments @6 :List(Segment);
  coverage @7 :List(Coverage);
  warnings @8 :List(Warning);
  forgotten @9 :List(UInt32);
  linesByHalf @10 :UInt64;
  job @11 :Text;
  processes @12 :List(ProcessFact);
  figures @13 :List(FigureWindow);
  readings @14 :List(FileReading);
  nics @15 :List(NicDefinition);
  nicSeconds @16 :List(NicSecond);
  nicRises @17 :List(NicRise);
}
