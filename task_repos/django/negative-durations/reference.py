"""Seconds of ISO 8601 durations whose sign is that of the whole, and the way back."""

import re

PATTERN = re.compile(r"([-+]?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")


def iso(stdin=""):
    return {"exit_code": 0, "stdout": "".join(f"{_seconds(line)}\n" for line in stdin.split())}


def _seconds(text):
    sign, *parts = PATTERN.fullmatch(text).groups()
    days, hours, minutes, seconds = (int(part or 0) for part in parts)
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return -whole if sign == "-" else whole


def written(stdin=""):
    lines = []
    for text in stdin.split():
        minutes, seconds = divmod(abs(int(text)), 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        sign = "-" if int(text) < 0 else ""
        lines.append(f"{sign}P{days}DT{hours:02d}H{minutes:02d}M{seconds:02d}S\n")
    return {"exit_code": 0, "stdout": "".join(lines)}
