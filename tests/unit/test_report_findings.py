"""Findings say what independent arithmetic says, and only if their thresholds are passed."""

from bisect import bisect_right
from collections import Counter
from datetime import date, datetime, timedelta
from math import log10

import pytest

from tapewise.report.phrases import say_share, say_time, say_times
from tapewise.report.sections import (
    SECTIONS,
    classes,
    days,
    drive_use,
    envelopes,
    failures,
    listed_drives,
    mount_steps,
    mount_totals,
    mounts,
    open_time_bins,
    recalls,
    silences,
    size_shares,
    size_times,
    stage_times,
    tape_gets,
    times,
    user_curve,
    week,
)


def find(module, **facts):
    """Return the finding's sentence, and whether it is notable."""
    found = module.SECTION.find(facts)
    return found.sentence, found.is_notable


def make_days(sizes, grain="day"):
    """A get and a put on each day, which together moved the size."""
    return [
        {"grain": grain, "starts_on": date(2024, 1, 1) + timedelta(days=day), "direction": direction}
        | {"size_bytes": size / 2}
        for day, size in enumerate(sizes)
        for direction in ("get", "put")
    ]


def test_a_busy_day_is_one_of_three_medians():
    assert find(days, days=make_days([10] * 9 + [30])) == (
        "Wed 2024-01-10 moved 3.0 times the bytes of a median day",
        True,
    )
    assert find(days, days=make_days([10] * 9 + [29.9])) == (
        "No day is exceptional: the busiest moved 3.0 times the median's bytes",
        False,
    )
    assert find(days, days=make_days([10] * 8 + [900])) == (
        "Too few days with bytes (9, not 10) to say which is exceptional",
        False,
    )
    # Days without bytes have no part in the median.
    assert find(days, days=make_days([10] * 9 + [0] * 50 + [40]))[1]
    assert find(days, days=make_days([1] * 10 + [7], "week"))[0] == (
        "The week from 2024-01-11 moved 7.0 times the bytes of a median week"
    )


def make_week(counts, hour_count=2):
    """The hours of the week with their transfers, each `hour_count` times in service."""
    return [
        {
            "weekday_name": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][number // 24],
            "hour": number % 24,
            "transfer_count": count,
            "hour_count": hour_count,
            "mean_transfer_count": count / hour_count,
        }
        for number, count in enumerate(counts)
    ]


def test_a_busy_hour_of_the_week_is_one_of_three_means():
    counts = [10] * 168
    counts[24 + 14] = 31
    mean = sum(counts) / 168
    assert find(week, week=make_week(counts)) == (
        f"Tue 14:00 to 15:00 is the busiest hour of the week, with {31 / mean:.1f} times the mean",
        True,
    )
    counts[24 + 14] = 30
    assert find(week, week=make_week(counts)) == (
        "No hour of the week is exceptional: the busiest, Tue 14:00 to 15:00, has 3.0 times the mean hour's"
        " transfers",
        False,
    )
    level = [10] * 167 + [10 * 167 * 3 / 165]  # exactly three means
    assert find(week, week=make_week(level))[1]
    rarely = make_week([10] * 167 + [99])
    rarely[0] |= {"hour_count": 1, "mean_transfer_count": 10}
    assert find(week, week=rarely) == (
        "Too little to compare the hours of the week: some were in service in 1 week, not 2",
        False,
    )
    exact = make_week([10] * 166 + [0, 20])
    assert find(week, week=exact)[0].startswith("No hour of the week is exceptional")
    too_little = "Too little to compare the hours of the week: there are"
    few = make_week([9] * 167 + [99])
    count = sum(row["transfer_count"] for row in few)
    assert find(week, week=few) == (f"{too_little} {count:,} transfers, not 1,680", False)
    few[3]["hour_count"] = few[9]["hour_count"] = 0
    left = count - few[3]["transfer_count"] - few[9]["transfer_count"]
    assert find(week, week=few) == (
        f"{too_little} {left:,} transfers, not 1,680, and 2 of them were never in service",
        False,
    )
    assert find(week, week=make_week([10] * 167 + [99]))[1]


def make_sizes(direction, counts):
    """Counts of requests by size in bytes, as bins that begin there."""
    return [
        {"direction": direction, "size_from_bytes": size, "request_count": count, "size_bytes": size * count}
        for size, count in counts.items()
    ]


def test_bytes_are_concentrated_if_a_tenth_of_the_requests_has_half_of_them():
    gets = make_sizes("get", {1_000: 90, 1_000_000_000: 10})
    puts = make_sizes("put", {1_000_000: 100})
    assert find(size_shares, size_shares=gets + puts) == (
        "10 % of the gets, those of 1 GB or more, moved over 99 % of their bytes",
        True,
    )
    gets = make_sizes("get", {1_000: 89, 1_000_000_000: 11})
    assert find(size_shares, size_shares=gets + puts) == (
        "The bytes are not concentrated in few large files: 11 % of the gets, those of 1 GB or more, moved"
        " over 99 % of their bytes",
        False,
    )
    assert find(size_shares, size_shares=make_sizes("get", {1: 50, 10: 49}))[0] == (
        "Neither gets nor puts have 100 requests with a known size"
    )
    assert find(size_shares, size_shares=make_sizes("get", {0: 150})) == ("All files are empty", False)
    half = make_sizes("get", {100: 1, 1: 100}) + make_sizes("get", {0: 899})
    assert find(size_shares, size_shares=half) == (
        "Under 1 % of the gets, those of 100 B or more, moved 50 % of their bytes",
        True,
    )
    # Two large bins are needed for half of the bytes: 40 + 30 of 100.
    puts = make_sizes("put", {1: 30, 10: 3, 20: 2}) + make_sizes("put", {0: 100})
    assert find(size_shares, size_shares=puts) == (
        "4 % of the puts, those of 10 B or more, moved 70 % of their bytes",
        True,
    )


@pytest.mark.parametrize(
    "half_count, user_count, expected",
    [
        (3, 118, ("Half of the bytes came from 3 of 118 users", True)),
        (1, 10, ("Half of the bytes came from one of 10 users", True)),
        (2, 10, ("Half of the bytes came from 2 of 10 users", False)),
        (2, 19, ("Half of the bytes came from 2 of 19 users", False)),
        (1, 9, ("Too few users (9, not 10) to compare them", False)),
    ],
)
def test_use_is_concentrated_if_a_tenth_of_the_users_has_half(half_count, user_count, expected):
    rows = [
        {"quantity": name, "user_count": user_count, "half_count": half_count}
        for name in ("bytes", "requests")
    ]
    assert find(user_curve, user_curve=rows) == expected
    requests = find(user_curve, user_curve=rows[1:])
    assert requests == (expected[0].replace("bytes", "requests"), expected[1])


def make_transfers(failed, known, unknown=0):
    counts = {"transfer_count": known + unknown, "failures_unknown_count": unknown, "failed_count": failed}
    return [
        {"interface": "hsi", "direction": "put", **counts},
        {"interface": "nft", "direction": "get", "transfer_count": 9_999, "failures_unknown_count": 9_999}
        | {"failed_count": None},
    ]


def test_failures_are_notable_from_one_in_a_hundred():
    assert find(failures, transfers=make_transfers(10, 1_000, 5_000)) == (
        "1 % of the puts by hsi failed (10 of 1,000)",
        True,
    )
    assert find(failures, transfers=make_transfers(9, 1_000)) == (
        "No interface fails often: under 1 % of the puts by hsi failed, the most of any",
        False,
    )
    better = {"interface": "ftp", "direction": "get", "transfer_count": 100, "failures_unknown_count": 0}
    worst = [*make_transfers(10, 1000), better | {"failed_count": 0}]
    assert find(failures, transfers=worst)[0] == "1 % of the puts by hsi failed (10 of 1,000)"
    assert find(failures, transfers=make_transfers(99, 100))[1]
    # Many transfers, but few whose failure is known.
    assert find(failures, transfers=make_transfers(99, 99, 50_000)) == (
        "No interface has 100 transfers of which it is known whether they failed",
        False,
    )


def test_waits_are_notable_if_one_get_in_twenty_waited_a_minute():
    def ask(p95_s, request_count=100, step_s=None):
        rows = [
            {"quantity": "wait", "direction": direction, "request_count": request_count, "p95_s": late_s}
            | {"clock_step_s": step_s}
            for direction, late_s in (("put", 9_999), ("get", p95_s))
        ]
        return find(times, times=rows)

    gets = "in twenty of the 3,545 gets with a known wait waited"
    assert ask(540, 3_545) == (f"One {gets} longer than 9 min", True)
    assert ask(60, 3_545) == (f"One {gets} longer than 60 s", True)
    assert ask(59.9, 3_545) == (f"No long waits: nineteen {gets} 60 s or less", False)
    assert ask(0, 3_545, step_s=1) == (f"No long waits: nineteen {gets} less than 1 s", False)
    assert ask(1, 3_545, step_s=1) == (f"No long waits: nineteen {gets} 1 s or less", False)
    assert ask(540, 100)[1]
    assert ask(540, 99) == ("Fewer than 100 gets have a known wait", False)
    assert find(times, times=[]) == ("No get has a known wait", False)


def make_open_times(*counts):
    """Gets in SDSC's groups 1 to 4."""
    return [{"group_number": number, "request_count": count} for number, count in enumerate(counts, start=1)]


def test_long_opens_are_notable_from_one_in_twenty():
    assert find(open_time_bins, open_time_bins=make_open_times(90, 5, 4, 1)) == (
        "5 % of the 100 gets with an open time waited a minute or longer",
        True,
    )
    assert find(open_time_bins, open_time_bins=make_open_times(90, 6, 4, 0)) == (
        "4 % of the 100 gets with an open time waited a minute or longer",
        False,
    )
    assert find(open_time_bins, open_time_bins=make_open_times(90, 10, 0, 0)) == (
        "None of the 100 gets with an open time waited a minute for its file",
        False,
    )
    assert find(open_time_bins, open_time_bins=make_open_times(0, 0, 99, 0)) == (
        "Too few gets with an open time (99, not 100) to say how long they wait",
        False,
    )


def make_stages(times_s, bar_edges_s=(0, 1, 5, 10, 15, 20, 30, 50, 70, 100, 150, 300, 500, 700, 1000)):
    """Rows of stage_times: half of the stages of each time are of either interface."""
    rows = []
    for time_s, count in times_s.items():
        bar = bisect_right(bar_edges_s, time_s) - 1
        rows += [
            {
                **{"interface": interface, "bin": round(50 * log10(time_s)), "least_s": time_s},
                **{"bar_from_s": bar_edges_s[bar], "bar_to_s": bar_edges_s[bar + 1]},
                "stage_count": count // 2,
            }
            for interface in ("unitree", "hpss")
        ]
    return rows


def test_stages_are_slow_if_one_in_twenty_takes_ten_minutes():
    def ask(*counts, times_s=(40, 50, 60, 700)):
        return find(stage_times, stage_times=make_stages(dict(zip(times_s, counts, strict=True))))

    # The 95th of 100 is in the last bin, the 50th in the first.
    assert ask(50, 20, 24, 6) == (
        "The median stage took about 40 s, and the slowest twentieth 12 min or longer",
        True,
    )
    assert ask(48, 22, 26, 4) == (
        "The median stage took about 50 s, and the slowest twentieth 60 s or longer",
        False,
    )
    assert ask(50, 20, 24, 6, times_s=(40, 50, 60, 600))[1]
    assert not ask(50, 20, 24, 6, times_s=(40, 50, 60, 599))[1]
    assert ask(0, 0, 0, 98) == ("Too few stages (98, not 100) to say how long they take", False)


def test_stages_of_tape_servers_are_called_what_they_are():
    rows = make_stages({2: 120, 700: 80})
    cta = [row | {"interface": "cta"} for row in rows]
    late = "took about 2 s, and the slowest twentieth 12 min or longer; the times divide at "
    sentence, _ = find(stage_times, stage_times=cta)
    assert sentence.startswith(f"The median copy from the tape server's buffer to disk {late}")
    assert sentence.endswith("; the wait for the tape is not in it")
    sentence, _ = find(stage_times, stage_times=rows + cta)
    assert sentence.startswith(f"The median stage {late}")
    assert sentence.endswith("; stages of CTA count only from the tape server's buffer to disk")


def test_stages_have_a_colour_for_each_group_of_all_interfaces():
    times_s = {20: 400, 22: 600, 25: 400, 31: 12, 40: 400, 45: 600, 48: 400}
    panels = [panel.to_dict() for panel in stage_times.SECTION.draw({"stage_times": make_stages(times_s)})]
    for panel, interface in zip(panels, ("hpss", "unitree"), strict=True):
        bars, lines = panel["layer"]
        assert bars["encoding"]["color"]["scale"]["domain"] == ["below 35 s", "from 35 s"]
        (line,) = panel["datasets"][lines["data"]["name"]]
        assert line["at_s"] == pytest.approx(35, rel=0.03)
        # The line cuts the bar from 30 to 50 s.
        drawn = panel["datasets"][bars["data"]["name"]]
        assert [
            (bar["interface"], round(bar["from_s"]), round(bar["to_s"]), bar["group"], bar["stage_count"])
            for bar in drawn
        ] == [
            (interface, 20, 30, "below 35 s", 700),
            (interface, 30, 35, "below 35 s", 6),
            (interface, 35, 50, "from 35 s", 700),
        ]


def test_stages_of_a_single_group_have_one_colour():
    (bars, lines), _ = (
        panel.to_dict()["layer"]
        for panel in stage_times.SECTION.draw({"stage_times": make_stages({20: 400, 22: 600, 25: 400})})
    )
    assert bars["encoding"]["color"] == {"value": "#0072b2"}
    assert "values" not in lines["data"]


def make_silence(idle_s, explained_s=0.0, *, hour_unknown_count=0, is_edge=False):
    return {
        **{"hour_unknown_count": hour_unknown_count, "is_edge": is_edge},
        "started_local": datetime(2024, 2, 5, 7, 22),
        "idle_s": idle_s,
        "explained_s": explained_s,
        "is_explained": idle_s - explained_s < 3_600,
    }


def test_silences_are_notable_from_an_unexplained_day():
    assert find(silences, silences=[make_silence(86_400), make_silence(400_000, 399_000)]) == (
        "No transfer for 24 h from Mon 2024-02-05 07:22, and no recorded outage explains it",
        True,
    )
    assert find(silences, silences=[make_silence(86_399), make_silence(100_000, 50_000)]) == (
        "No day passed in unexplained silence: at most 23 h 59 min, in the silence from Mon 2024-02-05 07:22",
        False,
    )
    # The whole length is said, and how much of it outages explain.
    assert find(silences, silences=[make_silence(363_600, 180_000)]) == (
        "No transfer for 4.2 days from Mon 2024-02-05 07:22; recorded outages explain 2.1 days of it",
        True,
    )
    assert find(silences, silences=[make_silence(400_000, 399_000)]) == (
        "Recorded outages, or transfers whose hour is unknown, may explain all of these silences",
        False,
    )
    assert not find(silences, silences=[make_silence(86_400, hour_unknown_count=1)])[1]
    assert find(silences, silences=[make_silence(86_400, is_edge=True)]) == (
        "No transfer for at least 24 h around Mon 2024-02-05 07:22, and no recorded outage explains it",
        True,
    )
    assert not find(silences, silences=[make_silence(84_500, is_edge=True)])[1]


def make_hits(size_class, cached, uncached, low, high, unknown=0):
    return {
        **{"size_class": size_class, "cached_count": cached, "uncached_count": uncached},
        "unknown_count": unknown,
        **{"hit_ratio": cached / (cached + uncached), "hit_ratio_low": low, "hit_ratio_high": high},
    }


def test_hit_ratios_differ_if_their_intervals_do_not_meet():
    small = make_hits("small", 90, 10, 0.82, 0.95)
    assert find(tape_gets, tape_gets=[small, make_hits("large", 30, 70, 0.22, 0.40)]) == (
        "90 % of the gets of small files found them on disk, but 30 % of those of large ones",
        True,
    )
    assert find(tape_gets, tape_gets=[small, make_hits("large", 80, 20, 0.71, 0.82)]) == (
        "Hit ratios of the size classes do not differ beyond chance",
        False,
    )
    too_few = (
        "For fewer than two size classes is it known of most gets, and of at least 100, where the file was"
    )
    assert find(tape_gets, tape_gets=[small, make_hits("large", 1, 98, 0.0, 0.05)]) == (too_few, False)
    assert find(tape_gets, tape_gets=[small, make_hits("large", 30, 70, 0.22, 0.40, 100)])[1]
    assert find(tape_gets, tape_gets=[small, make_hits("large", 30, 70, 0.22, 0.40, 101)]) == (too_few, False)
    assert find(tape_gets, tape_gets=[small, make_hits("unknown", 30, 70, 0.22, 0.40)]) == (too_few, False)


def make_line(latency_s, rate, r_squared=0.95, stratum_count=10):
    return {
        **{"interface": "nft", "direction": "get", "latency_s": latency_s, "rate_bytes_per_s": rate},
        **{"r_squared": r_squared, "stratum_count": stratum_count},
    }


def test_lines_of_two_points_are_not_drawn_next_to_rates():
    rows = [
        {
            **{"interface": "nft", "direction": "get", "mean_size_bytes": size_bytes},
            **{"p10_duration_s": 1.0, "p50_duration_s": 2.0, "p90_duration_s": 3.0, "transfer_count": 10},
        }
        for size_bytes in (1e6, 1e9)
    ]

    def ask(line):
        (panel,) = size_times.SECTION.draw({"size_times": rows, "envelopes": [line]})
        drawn = panel.to_dict()
        return drawn["layer"][2]["data"].get("values", drawn["datasets"][drawn["layer"][2]["data"]["name"]])

    assert ask(make_line(0.2, 1e7, stratum_count=2)) == []
    assert [row["rate"] for row in ask(make_line(0.2, 1e7, stratum_count=3))] == [
        pytest.approx(1e6 / 0.3),
        pytest.approx(1e9 / 100.2),
    ]
    # There is no rate where the line is below 0 s.
    assert [row["mean_size_bytes"] for row in ask(make_line(-0.2, 1e7))] == [1e9]


def test_latency_dominates_if_most_transfers_are_below_latency_times_rate():
    def ask(line, *counts):
        bins = [
            {"interface": "nft", "direction": "get", "size_to_bytes": edge, "transfer_count": count}
            for edge, count in zip((1_000_000, 2_000_000, 5_000_000), counts, strict=True)
        ]
        return find(envelopes, envelopes=[line], size_times=bins)

    sentence = (
        "More than half of the gets by nft are so small (below 2 MB) that latency takes longer than moving"
        " their data"
    )
    assert ask(make_line(0.2, 1e7), 3, 3, 5) == (sentence, True)
    assert ask(make_line(0.2, 1e7), 3, 2, 5) == (
        "On no interface does latency dominate most transfers",
        False,
    )
    # A bin that is partly above the break-even is not counted.
    assert not ask(make_line(0.19, 1e7), 3, 3, 5)[1]
    assert ask(make_line(0.2, 1e7, r_squared=0.9), 3, 3, 5)[1]
    # The interface with the largest share is named.
    other = make_line(0.1, 1e7) | {"interface": "pftp"}
    bins = [
        {"interface": name, "direction": "get", "size_to_bytes": edge, "transfer_count": count}
        for name, small, large in (("nft", 6, 4), ("pftp", 7, 3))
        for edge, count in ((1_000_000, small), (9_000_000, large))
    ]
    found = find(envelopes, envelopes=[make_line(0.2, 1e7), other], size_times=bins)
    assert found[0].startswith("More than half of the gets by pftp are so small (below 1 MB)")
    unclear = ("No interface has a clear lower envelope (R² of 0.9 over 10 strata)", False)
    assert ask(make_line(0.2, 1e7, r_squared=0.89), 3, 3, 5) == unclear
    assert ask(make_line(0.2, 1e7, stratum_count=9), 3, 3, 5) == unclear
    assert ask(make_line(0.2, None), 3, 3, 5) == unclear
    assert ask(make_line(0, 1e7), 3, 3, 5) == unclear


def test_mounts_are_poorly_used_below_two_files_each():
    def ask(*drives):
        rows = [
            {"drive": f"d{number}", "mount_count": count, "file_count": files}
            for number, (count, files) in enumerate(drives)
        ]
        # Cartridges that never reached a drive served no file.
        return find(mounts, mounts=[*rows, {"drive": None, "mount_count": 110, "file_count": 0}])

    assert ask((60, 60), (40, 139)) == ("A mount serves 2.0 files on average", True)
    assert ask((60, 60), (40, 140)) == ("A mount serves 2.0 files on average", False)
    assert ask((99, 99)) == ("Too few mounts (99, not 100) to say how well they are used", False)


def test_mounts_are_slow_if_one_in_twenty_takes_five_minutes():
    def ask(mount_count, late_s):
        rows = [
            {
                "step": step,
                "mount_count": mount_count + 100 * (step == "queue"),
                "p50_s": 60.0,
                "p95_s": late_s,
            }
            for step in ("queue", "mount and position")
        ]
        return find(mount_steps, mount_steps=rows)

    start = "The median mount took 60 s until the tape was at the first file"
    assert ask(100, 300.0) == (f"{start}, and the slowest twentieth 5 min or longer", True)
    assert ask(100, 299.9)[1] is False
    too_few = "Too few mounts ({}, not 100) with known times to say how long they take"
    assert ask(99, 300.0) == (too_few.format(99), False)
    assert find(mount_steps, mount_steps=[{"step": "dismount"}]) == (too_few.format(0), False)


def test_sessions_of_drives_are_poor_if_they_read_or_write_for_less_than_half_the_time():
    def ask(*rows):
        names = ("session_count", "duration_s", "transfer_ratio")
        return find(mount_totals, mount_totals=[dict(zip(names, row, strict=True)) for row in rows])

    shown = "Drives read or wrote for {} of the time from mount to dismount, by the totals of their sessions"
    # Sessions without known times say nothing.
    assert ask((60, 100.0, 0.2), (40, 300.0, 0.6), (900, None, None)) == (shown.format("50 %"), False)
    assert ask((60, 100.0, 0.2), (40, 300.0, 0.59)) == (shown.format("49 %"), True)
    too_few = "Too few sessions of drives (99, not 100) with known times to say how well they are used"
    assert ask((60, 100.0, 0.2), (39, 300.0, 0.2), (9, None, None)) == (too_few, False)


def test_drives_that_are_seldom_up_are_notable():
    def ask(*rows):
        names = ("listing_count", "up_ratio")
        return find(listed_drives, listed_drives=[dict(zip(names, row, strict=True)) for row in rows])

    shown = "Of {} drives, {} were up in less than 90 % of the listings"
    assert ask((10, 0.9), (20, 1.0), (9, 0.1), (30, None)) == (shown.format(2, 0), False)
    assert ask((10, 0.89), (20, 1.0)) == (shown.format(2, 1), True)
    assert ask((9, 0.1), (30, None))[0].startswith("Too few listings of drives (fewer than 10 of each)")


def test_a_class_is_notable_with_most_requests_and_few_bytes():
    def ask(request_ratio, size_ratio):
        shares = ((request_ratio, size_ratio), (1 - request_ratio, 1 - size_ratio))
        rows = [
            {"class_name": name, "interface": "nft", "request_ratio": requests, "size_ratio": size}
            | {"request_count": 100 * requests}
            for name, (requests, size) in zip(("small gets", "large gets"), shares, strict=True)
        ]
        return find(classes, classes=rows)

    shown = "“small gets” (nft) are 50 % of the requests and 10 % of the bytes"
    assert ask(0.5, 0.1) == (shown, True)
    assert ask(0.5, 0.11)[1] is False
    assert ask(0.4, 0.01)[0].endswith("“large gets” (nft) are 60 % of the requests and 99 % of the bytes")
    unknown = {"class_name": "small gets", "interface": "nft", "request_ratio": 1, "size_ratio": None}
    unknown["request_count"] = 100
    assert "and an unknown share of the bytes" in find(classes, classes=[unknown])[0]
    assert ask(0.51, 0.11)[0].startswith("No class has most of the requests and few bytes: ")
    assert find(classes, classes=[unknown | {"request_count": 99}]) == (
        "Too few requests in classes (99, not 100) to compare these",
        False,
    )


def test_numbers_are_said_as_people_say_them():
    assert [say_share(ratio) for ratio in (0, 0.004, 0.01, 0.5, 0.99, 0.996, 1)] == [
        *("0 %", "under 1 %", "1 %", "50 %", "99 %", "over 99 %", "100 %")
    ]
    assert [say_times(ratio) for ratio in (1, 3.44, 9.94, 9.95, 1234)] == [
        *("1.0 times", "3.4 times", "9.9 times", "10 times", "1,234 times")
    ]
    assert [say_time(time_s) for time_s in (0, 0.123, 45, 119, 120, 7_199, 9_000, 172_800, 1e7)] == [
        *("0 s", "0.12 s", "45 s", "119 s", "2 min", "120 min", "2.5 h", "2 days", "116 days")
    ]


def test_sections_have_names_of_their_own_and_figures_have_captions():
    names = Counter(section.name for section in SECTIONS)
    assert set(names.values()) == {1}
    for section in SECTIONS:
        assert section.heads or section.draw, section.name
        assert bool(section.draw) == bool(section.caption), section.name


def test_recalls_are_slow_if_one_in_twenty_takes_ten_minutes() -> None:
    def ask(*rows):
        names = ("timed_count", "p50_s", "p95_s")
        return find(recalls, recalls=[dict(zip(names, row, strict=True)) for row in rows])

    start = "The median recall took 60 s"
    assert ask((100, 60.0, 600.0), (99, 1.0, 2.0)) == (
        f"{start}, and the slowest twentieth 10 min or longer",
        True,
    )
    assert ask((100, 60.0, 599.9))[1] is False
    assert ask((100, 60.0, None)) == (f"{start}; more than one in twenty did not end", True)
    assert ask((100, None, None)) == ("Half of the recalls or more did not end", True)
    too_few = "Too few recalls (99, not 100) with known times to say how long they take"
    assert ask((99, 60.0, 600.0)) == (too_few, False)


def test_drives_are_poorly_used_if_they_read_or_write_for_less_than_half_the_time() -> None:
    def ask(*rows):
        names = ("mount_count", "occupied_s", "transferring_s")
        return find(drive_use, drive_use=[dict(zip(names, row, strict=True)) for row in rows])

    shown = (
        "Drives read or wrote for {} of the 100 s from the start of each mount until its cartridge was out"
        " of the drive"
    )
    # Mounts without known times say nothing.
    assert ask((60, 40.0, 10.0), (40, 60.0, 40.0), (9, None, None), (9, 50.0, None)) == (
        shown.format("50 %") + ", of tasks with known transfer times",
        False,
    )
    assert ask((60, 40.0, 10.0), (40, 60.0, 39.0)) == (shown.format("49 %"), True)
    too_few = "Too few mounts ({}, not 100) with known times to say what drives do"
    assert ask((99, 100.0, 10.0)) == (too_few.format(99), False)
    assert ask((100, 0.0, 0.0)) == (too_few.format(100), False)
