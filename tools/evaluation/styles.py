"""What training programs print: styles.toml read, and the heads of lines (time, level, speaker).

Place: read by made.py, which says a job in a style.
"""
import dataclasses
import pathlib
import time
import tomllib

_seconds = {}


def _clock(form, when):
    """The second `when` (epoch) in UTC by a form of strftime; kept, as many lines share it."""
    key = form, int(when)
    if key not in _seconds:
        if len(_seconds) > 100000:
            _seconds.clear()
        _seconds[key] = time.strftime(form, time.gmtime(int(when)))
    return _seconds[key]


def _ms(when):
    return int(when % 1 * 1000)


def iso(when):
    return "%s.%03dZ" % (_clock("%Y-%m-%dT%H:%M:%S", when), _ms(when))


def _no_head(when, level, speaker):
    return ""


def _brackets(when, level, speaker):
    return "[%s,%03d] [%s] [engine.py:%d:log] " % (
        _clock("%Y-%m-%d %H:%M:%S", when), _ms(when), level, 80 + len(level))


def _dashes(when, level, speaker):
    return "%s,%03d - root - %s - " % (_clock("%Y-%m-%d %H:%M:%S", when), _ms(when), level)


def _titan(when, level, speaker):
    return "[titan] " + _dashes(when, level, speaker)


def _glog(when, level, speaker):
    return "%s%s.%06d %d trainer.cc:%d] " % (level[0], _clock("%m%d %H:%M:%S", when),
                                             when % 1 * 1e6, speaker.pid, 100 + len(level))


def _loguru(when, level, speaker):
    return "%s.%03d | %-8s | train:main:88 - " % (_clock("%Y-%m-%d %H:%M:%S", when), _ms(when),
                                                  level)


def _american(when, level, speaker):
    return "%s - %s - trainer - " % (_clock("%m/%d/%Y %H:%M:%S", when), level)


def _composer(when, level, speaker):
    return "%s,%03d: rank%d[%d][MainThread]: %s: composer.utils: " % (
        _clock("%Y-%m-%d %H:%M:%S", when), _ms(when), speaker.rank, speaker.pid, level)


def _pipes(when, level, speaker):
    return "%s | %s | train_inner | " % (_clock("%Y-%m-%d %H:%M:%S", when), level)


def _logfmt(when, level, speaker):
    return "ts=%s level=%s rank=%d " % (iso(when), level.lower(), speaker.rank)


def _plain_iso(when, level, speaker):
    return "%s %s " % (iso(when), level)


def _rank_only(when, level, speaker):
    return "[worker %d] %s: " % (speaker.rank, level.lower())


HEADS = {"no_head": _no_head, "brackets": _brackets, "dashes": _dashes, "titan": _titan,
         "glog": _glog, "loguru": _loguru, "american": _american, "composer": _composer,
         "pipes": _pipes, "logfmt": _logfmt, "plain_iso": _plain_iso, "rank_only": _rank_only}


@dataclasses.dataclass(frozen=True)
class Style:
    """Rows as in styles.toml; `stamped`: every line has a time."""
    name: str
    form: str                   # the envelope of other lines, around the text
    head: object
    stamped: bool
    phases: tuple
    start: tuple
    step: tuple
    checkpoint: tuple
    evaluation: tuple
    end: tuple


def load(path=pathlib.Path(__file__).with_name("styles.toml")):
    """-> (styles, clockwork lines as (level, text))."""
    with open(path, "rb") as file:
        table = tomllib.load(file)
    styles = []
    for row in table["style"]:
        form = row.get("start_form", "%s")
        start = row.get("start") or [[at, role, form % text] for at, role, text in
                                     table["shared"]["start"]]
        rows = {"start": start, "end": row.get("end", table["shared"]["end"]),
                **{part: row[part] for part in ("step", "checkpoint", "evaluation")}}
        styles.append(Style(row["name"], form, HEADS[row["head"]], row["stamped"],
                            tuple(row["phases"]),
                            **{part: tuple(map(tuple, rows[part])) for part in rows}))
    return styles, [tuple(row) for row in table["clockwork"]]
