"""The lines of CTA's logs, in each form in which its versions write them.

All forms report the same messages. They differ in the head of the line, in the order of the parameters, and
in how values are written.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tapewise.examples.cta_events import Event, Value
from tapewise.examples.cta_site import INSTANCE, OFFSET_S, SECOND_NS


def json_line(event: Event) -> str:
    """The form since 2026: parameters in alphabetical order, capitals first."""
    head = _head(event) | {"cta_version": "5.11.20.0-1", "log_schema_version": "0.2.0"}
    return _as_json(head, event, dict(sorted(event.parameters.items())))


def json_pushed_line(event: Event) -> str:
    """The form of 5.11.9: parameters in the order in which they were pushed."""
    return _as_json(_head(event), event, event.parameters)


def json_strings_line(event: Event) -> str:
    """The form until mid-2024: all values but the time are strings."""
    parameters: dict[str, Value] = {}
    for name, value in event.parameters.items():
        parameters[name] = None if value is None else _as_text(value)
    return _as_json(_head(event), event, parameters, is_of_strings=True)


def text_line(event: Event) -> str:
    """The text form: local time without a year, nine digits of the second."""
    at = _local(event)
    return f"{at:%b} {at.day:2} {at:%H:%M:%S}.{event.at_ns % SECOND_NS:09} {_pairs(event)}"


def syslog_line(event: Event) -> str:
    """The text form after rsyslog, with six digits; the frontend is one of 4.x, with shorter messages."""
    digits = event.at_ns % SECOND_NS // 1000
    return f"{_local(event):%Y-%m-%dT%H:%M:%S}.{digits:06}+02:00 {_pairs(event, is_old=True)}"


FORMS: dict[str, Callable[[Event], str]] = {
    "json": json_line,
    "json-pushed": json_pushed_line,
    "json-strings": json_strings_line,
    "text": text_line,
    "syslog": syslog_line,
}


def _local(event: Event) -> datetime:
    return datetime.fromtimestamp(event.at_ns // SECOND_NS, UTC).replace(tzinfo=None) + timedelta(
        seconds=OFFSET_S
    )


def _head(event: Event) -> dict[str, Value]:
    return {"local_time": f"{_local(event):%Y-%m-%dT%H:%M:%S}+0200"}


def _as_json(
    head: dict[str, Value], event: Event, parameters: dict[str, Value], *, is_of_strings: bool = False
) -> str:
    process: dict[str, Value] = {"pid": event.pid, "tid": event.tid}
    if is_of_strings:
        process = {name: _as_text(value) for name, value in process.items()}
    static: dict[str, Value] = {} if event.drive_name is None else {"drive_name": event.drive_name}
    line = {
        **head,
        "hostname": event.host,
        "program": event.program,
        "log_level": event.level,
        **process,
        "message": event.message,
        **static,
        "instance": INSTANCE,
        "sched_backend": "cephUser",
        **parameters,
    }
    # The time has more digits than a float.
    seconds, fraction = divmod(event.at_ns, SECOND_NS)
    rest = json.dumps(line, separators=(",", ":"), ensure_ascii=False)
    return f'{{"epoch_time":{seconds}.{fraction:09},{rest[1:]}'


def _pairs(event: Event, *, is_old: bool = False) -> str:
    message = event.message
    if is_old and event.program == "cta-frontend":
        message = message.removeprefix("In Scheduler::queueRetrieve(): ")
    values = {"LVL": event.level, "PID": event.pid, "TID": event.tid, "MSG": message, **event.parameters}
    pairs = "".join(f'{name}="{_as_text(value)}" ' for name, value in values.items())
    return f"{event.host} {event.program}: {pairs}"


def _as_text(value: Value) -> str:
    """Write a value as CTA does: flags as digits, null as nothing, no quotation marks, tabs or newlines."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return str(value).translate({ord('"'): "'", ord("\t"): " ", ord("\n"): " "})
