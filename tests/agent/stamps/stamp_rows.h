// Lines with time stamps: what each is read as. Tests that need a line of each format walk them.
#pragma once

namespace l4::stamps {

struct StampRow {
  const char* line;
  const char* format;
  const char* time;
  const char* rest;  // the line without its stamp
};

inline constexpr StampRow kStampRows[] = {
    {"2026-11-20T15:54:21.123Z text", "iso", "2026-11-20T15:54:21.123Z", "text"},
    {"2026-11-20T15:54:21.123456+02:00 text", "iso", "2026-11-20T13:54:21.123Z", "text"},
    {"2026-11-20 15:54:21,123 - root - INFO - text", "python", "2026-11-20T15:54:21.123Z",
     "root - INFO - text"},
    {"2024-01-01 10:00:00.123 | INFO | text", "iso", "2024-01-01T10:00:00.123Z", "INFO | text"},
    {"2024-01-01 10:00:00 +0800 text", "iso", "2024-01-01T02:00:00.000Z", "text"},
    {"2024-01-01 10:00:00.123456: W tensorflow/core text", "iso", "2024-01-01T10:00:00.123Z",
     "W tensorflow/core text"},
    {"[2026-11-20 15:58:27,363] [INFO] text", "bracket_iso", "2026-11-20T15:58:27.363Z",
     "[INFO] text"},
    {"[2026-11-20 15:54:21 rank0 WARNING] text", "bracket_iso", "2026-11-20T15:54:21.000Z",
     "[rank0 WARNING] text"},
    {" [2024-05-25 06:29:49] iteration 10", "bracket_iso", "2024-05-25T06:29:49.000Z",
     "iteration 10"},
    {"11/20/2026 15:53:26 - INFO - text", "us_slash", "2026-11-20T15:53:26.000Z", "INFO - text"},
    {"2026/11/20 15:53:26 text", "slash", "2026-11-20T15:53:26.000Z", "text"},
    {"26/11/20 15:53:26 INFO text", "slash", "2026-11-20T15:53:26.000Z", "INFO text"},
    {"[11/20/26 15:53:26] INFO text", "bracket_slash", "2026-11-20T15:53:26.000Z", "INFO text"},
    {"[11/20 15:53:26 d2.engine]: text", "bracket_slash", "2026-11-20T15:53:26.000Z",
     "[d2.engine]: text"},
    {"I20261120 15:54:09.257628 28907 file.cpp:49] text", "glog", "2026-11-20T15:54:09.257Z",
     "file.cpp:49] text"},
    {"E1118 20:27:21.4264 4115 api.py:1] text", "glog", "2026-11-18T20:27:21.426Z",
     "api.py:1] text"},
    {"[W613 02:25:19.600372791 ProcessGroupNCCL.cpp:4115] text", "glog", "2026-06-13T02:25:19.600Z",
     "[ProcessGroupNCCL.cpp:4115] text"},
    {"[INFO|trainer.py:1284] 2026-11-20 15:53:26,917 >> text", "tagged_iso",
     "2026-11-20T15:53:26.917Z", "[INFO|trainer.py:1284] >> text"},
    {"[titan] 2025-06-04 08:51:48,074 - root - text", "tagged_iso", "2025-06-04T08:51:48.074Z",
     "[titan] root - text"},
    {"INFO 2025-06-04 08:51:48 text", "tagged_iso", "2025-06-04T08:51:48.000Z", "INFO text"},
    {"DLL 2025-10-03 22:16:01.317949 - epoch 1", "tagged_iso", "2025-10-03T22:16:01.317Z",
     "DLL epoch 1"},
    {"[NeMo W 2024-01-02 03:04:05 file:12] text", "nemo", "2024-01-02T03:04:05.000Z",
     "[NeMo W file:12] text"},
    {":::MLLOG {\"namespace\": \"\", \"time_ms\": 1743201441004, \"k\": 1}", "mllog",
     "2025-03-28T22:37:21.004Z",
     ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1743201441004, \"k\": 1}"},
    {"[1759897476.656360] [h-1:22:0] text", "bracket_epoch", "2025-10-08T04:24:36.656Z",
     "[h-1:22:0] text"},
    {"2022-12-01-03:02:29.001.054 text", "ascend", "2022-12-01T03:02:29.001Z", "text"},
    {"[WARNING] ME(123:456,Main):2023-01-01-10:00:00.123.456 [f.cc:1] text", "ascend",
     "2023-01-01T10:00:00.123Z", "[WARNING] ME(123:456,Main):[f.cc:1] text"},
    {"2024:01:01-10:00:00:(123) |CCL_WARN| text", "one_ccl", "2024-01-01T10:00:00.000Z",
     "|CCL_WARN| text"},
    {"[Thu Mar  2 15:59:56 2023] NVRM: Xid", "ctime", "2023-03-02T15:59:56.000Z", "NVRM: Xid"},
    {"Wed Jun 13 02:24:45 2024", "ctime", "2024-06-13T02:24:45.000Z", ""},
    {"Mar  2 15:59:56 node-3 kernel: text", "syslog", "2026-03-02T15:59:56.000Z", "kernel: text"},
    {"2023-03-02T15:59:56.123456+00:00 node-3 kernel: text", "syslog_iso",
     "2023-03-02T15:59:56.123Z", "kernel: text"},
    {"kern  :warn  : 2025-01-21T04:41:44,283302+00:00 NVRM: Xid", "dmesg_decoded",
     "2025-01-21T04:41:44.283Z", "NVRM: Xid"},
    {"{\"level\": \"error\", \"time\": \"2024-01-01T10:00:00Z\", \"msg\": 1}", "keyed",
     "2024-01-01T10:00:00.000Z",
     "{\"level\": \"error\", \"time\": \"2024-01-01T10:00:00Z\", \"msg\": 1}"},
    {"[after dataloaders are built] datetime: 2021-05-25 06:30:00 ", "spoken",
     "2021-05-25T06:30:00.000Z", "[after dataloaders are built] datetime: 2021-05-25 06:30:00 "},
    {"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2023-05-01T12:00:00 DUE TO TIME LIMIT ***",
     "spoken", "2023-05-01T12:00:00.000Z",
     "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2023-05-01T12:00:00 DUE TO TIME LIMIT ***"},
    {"[INFO|2026-11-20 15:53:26] trainer.py:2314 >> text", "framed", "2026-11-20T15:53:26.000Z",
     "[INFO] trainer.py:2314 >> text"},
    {"| ERROR | 2026-11-20 15:53:26,917 | text", "framed", "2026-11-20T15:53:26.917Z",
     "| ERROR | text"},
    {"Terminated at Fri Nov 20 15:53:26 2026", "framed", "2026-11-20T15:53:26.000Z",
     "Terminated at "},
    {"ENDING TIMING RUN AT 2023-07-30 11:30:48 PM", "spoken", "2023-07-30T23:30:48.000Z",
     "ENDING TIMING RUN AT 2023-07-30 11:30:48 PM"},
};

}  // namespace l4::stamps
