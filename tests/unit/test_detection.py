"""Each kind of log is detected as its own format, and rubbish has no format."""

import bz2
import gzip
import os
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.detection import scoring as detection
from tapewise.ingest.detection.choosing import read_formats
from tapewise.ingest.detection.scoring import (
    FormatFit,
    choose_format,
    describe_share,
    detect_format,
    detect_formats,
)
from tapewise.ingest.formats.registry import FORMATS
from tapewise.schema.errors import LogFileError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "logs"
NFT, HSI, PFTP = (FORMATS[name].examples[0] + "\n" for name in ("nft", "hsi", "pftp"))


def write(tmp_path: Path, content: str | bytes, name: str = "a.log") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def fits(found: detection.Detection) -> dict[str, int]:
    """Return how many lines each format fits, omitting formats that fit none."""
    return {fit.format.name: fit.fit_count for fit in found.fits if fit.fit_count}


def detected(path: Path) -> str | None:
    found = detect_format(path).format
    return None if found is None else found.name


@pytest.mark.study("ingest")
@pytest.mark.parametrize("log_format", FORMATS.values(), ids=FORMATS)
def test_the_examples_of_a_format_fit_only_that_format(log_format, tmp_path):
    path = write(tmp_path, "".join(f"{line}\n" for line in log_format.examples))
    assert fits(detect_format(path)) == {log_format.name: len(log_format.examples)}
    assert detected(path) == log_format.name


@pytest.mark.study("ingest")
@pytest.mark.parametrize("path", sorted(set(EXAMPLES.glob("*.log*")) | set(EXAMPLES.glob("*.gz"))), ids=str)
def test_the_example_logs_are_told_apart(path):
    assert detected(path) == path.name.partition(".")[0]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("hpss-nersc/hpssftplog.txt", "pftp"),
        ("hpss-nersc/hsilog.txt", "hsi"),
        ("llnl-unitree/cond.980505", "cond"),
        ("llnl-unitree/nft-971001.log", "nft"),
        ("llnl-unitree/stat.980505", "stat"),
        ("hpss-nersc/globuslogs.txt", "gridftp"),
        ("hpss-nersc/hpss_daily.txt", "hpss-daily"),
    ],
)
def test_real_logs_are_told_apart_from_each_other_and_from_what_cannot_be_read(sample_logs, name, expected):
    found = detect_format(sample_logs / name)
    assert fits(found) == ({expected: found.line_count} if expected else {})
    assert found.line_count > 0


def test_a_line_rejected_for_its_values_still_fits_the_format(tmp_path):
    lines = [
        "002718 97/13/05 14:07:31 ks 73400320 41.902",  # no such date
        "002718 97/11/05 14:07:31 ks 99999999999999999999 41.902",  # no such size
        "002718 97/11/05 14:07:31 kw 73400320 41.902",  # ignored, as the archive is not involved
        "002718 97/11/05 14:07:31 ks 73400320",  # not an NFT line
    ]
    found = detect_format(write(tmp_path, "\n".join(lines) + "\n"))
    assert (fits(found), found.line_count) == ({"nft": 3}, 4)


def test_blank_lines_do_not_count(tmp_path):
    found = detect_format(write(tmp_path, "\n \t\r\n" * 100 + NFT))
    assert (detected(found.path), found.line_count) == ("nft", 1)


@pytest.mark.study("ingest")
@pytest.mark.parametrize(
    "nft_count, other_count, expected",
    [(950, 50, "nft"), (951, 49, "nft"), (949, 51, None), (500, 500, None), (0, 1000, "hsi")],
)
@pytest.mark.parametrize("other", [HSI, "nonsense\n"])
def test_a_mixture_has_a_format_from_95_percent_on(tmp_path, nft_count, other_count, other, expected):
    path = write(tmp_path, NFT * nft_count + other * other_count)
    assert detected(path) == (None if expected == "hsi" and other != HSI else expected)


@given(
    line_count=st.integers(1, 2000),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=5),
)
def test_the_best_format_is_chosen_from_95_percent_on_if_no_other_exceeds_5(line_count, shares):
    counts = [round(share * line_count) for share in shares]
    found = choose_format(
        [FormatFit(f, count, line_count) for f, count in zip(FORMATS.values(), counts, strict=False)]
    )
    is_chosen = [count / line_count >= 0.95 for count in counts]
    is_excluded = [count / line_count <= 0.05 for count in counts]
    expected = [
        f
        for i, f in enumerate(list(FORMATS.values())[: len(counts)])
        if is_chosen[i] and all(is_excluded[j] for j in range(len(counts)) if j != i)
    ]
    assert found == (expected[0] if expected else None)


@pytest.mark.parametrize(
    "best, second, line_count, is_chosen",
    [(950, 0, 1000, True), (949, 0, 1000, False), (1000, 50, 1000, True), (1000, 51, 1000, False)],
)
def test_both_thresholds_from_both_sides(best, second, line_count, is_chosen):
    nft, hsi = FORMATS["nft"], FORMATS["hsi"]
    for order in ([0, 1], [1, 0]):
        both = [FormatFit(nft, best, line_count), FormatFit(hsi, second, line_count)]
        assert choose_format([both[i] for i in order]) == (nft if is_chosen else None)


@pytest.mark.parametrize(
    "fit_count, line_count, shown",
    [
        (94_999, 100_000, "94.9 %"), (5_001, 100_000, "5.1 %"), (99_999, 100_000, "99.9 %"),
        (1, 100_000, "0.1 %"), (0, 7, "0.0 %"), (7, 7, "100.0 %"), (19, 20, "95.0 %"),
    ],
)  # fmt: skip
def test_no_share_is_shown_as_if_it_reached_a_threshold(fit_count, line_count, shown):
    assert describe_share(FormatFit(FORMATS["nft"], fit_count, line_count)) == shown


@pytest.mark.parametrize("content", ["", "\n", "  \n\t\r\n\n"])
def test_an_empty_file_has_no_format(tmp_path, content):
    found = detect_format(write(tmp_path, content))
    assert (found.line_count, found.format) == (0, None)
    choices = read_formats([found.path])
    assert (choices.empty, choices.formats, choices.failures) == ([found.path], {}, {})


@pytest.mark.study("ingest")
def test_an_unfinished_first_line_counts_as_empty(tmp_path):
    path = write(tmp_path, NFT[:20])
    assert read_formats([path, path]).empty == [path]
    assert list(read_formats([path], is_complete=True).failures) == [path]
    for content in (NFT[:20] + "\n", "\n" * 2_000_000):  # one complete line, and a file that is only sampled
        assert list(read_formats([write(tmp_path, content)]).failures) == [path]


def test_an_unfinished_last_line_counts_only_if_it_is_the_only_one(tmp_path):
    found = detect_format(write(tmp_path, NFT + NFT[:20]))
    assert (fits(found), found.line_count) == ({"nft": 1}, 1)
    assert detected(write(tmp_path, NFT.strip())) == "nft"
    assert detected(write(tmp_path, NFT[:20])) is None


def test_binary_rubbish_has_no_format(tmp_path):
    found = detect_format(write(tmp_path, random.Random(7).randbytes(300_000)))
    assert (fits(found), found.format) == ({}, None)
    assert found.line_count > 100


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_a_compressed_file_is_decompressed(tmp_path, compress):
    path = write(tmp_path, compress((NFT * 10).encode()), "a.log.packed")
    assert detect_format(path).is_whole
    assert detected(path) == "nft"


def test_the_beginning_middle_and_end_of_a_large_file_are_sampled(tmp_path, monkeypatch):
    monkeypatch.setattr(detection, "PIECE_BYTES", 10_000)
    for parts in ((NFT, HSI, HSI), (HSI, NFT, HSI), (HSI, HSI, NFT)):
        path = write(tmp_path, "".join(part * (100_000 // len(part)) for part in parts))
        found = detect_format(path)
        assert found.places == ("beginning", "middle", "end")
        assert set(fits(found)) == {"nft", "hsi"}
        assert found.format is None
        # Only complete lines within the three sampled pieces are counted.
        assert sum(fits(found).values()) == found.line_count < 3 * 10_000 / len(NFT)


def test_only_the_beginning_of_a_large_compressed_file_is_sampled(tmp_path, monkeypatch):
    monkeypatch.setattr(detection, "PIECE_BYTES", 10_000)
    path = write(tmp_path, gzip.compress((NFT * 1000 + HSI * 1000).encode()), "a.gz")
    found = detect_format(path)
    assert (found.places, set(fits(found))) == (("beginning",), {"nft"})


def test_no_line_is_sampled_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(detection, "PIECE_BYTES", 300)
    for size in range(880, 1000):
        lines = "".join(f"{number:06}\n" for number in range(300))[: size // 7 * 7 + 3]
        path = write(tmp_path, lines)
        with detection.open_log(path) as reader:
            _, pieces, _ = detection._take_pieces(reader)
        seen = Counter(b"".join(pieces).splitlines())
        assert max(seen.values()) == 1
        assert set(seen) <= set(lines.encode().splitlines()[:-1])


@pytest.mark.study("ingest")
def test_lines_of_megabytes_are_read_to_their_end(tmp_path):
    # An NFT line may be of any length, as any number of blanks may separate its fields.
    long = NFT.replace(" ks ", " ks" + " " * 3_000_000)
    found = detect_format(write(tmp_path, long + NFT * 20_000))
    assert (found.places, fits(found)) == (("beginning", "middle", "end"), {"nft": found.line_count})
    packed = detect_format(write(tmp_path, gzip.compress((long + NFT).encode()), "a.gz"))
    assert (packed.line_count, fits(packed)) == (1, {"nft": 1})


def test_an_endless_line_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(detection, "MAX_LINE_BYTES", 2_000_000)
    path = write(tmp_path, b"x" * 20_000_000)
    found = detect_format(path)
    assert (found.line_count, fits(found)) == (1, {})
    with detection.open_log(path) as reader:
        detection._take_pieces(reader)
        assert reader.progress_bytes < 4_000_000


def test_files_that_are_not_logs_are_reported_by_name(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    cut = write(tmp_path, gzip.compress(NFT.encode() * 1000)[:60], "cut.gz")
    for path, said in (
        (tmp_path, "is a folder"),
        (tmp_path / "absent", "No such file or directory"),
        (tmp_path / "pipe", "is not a regular file"),
        (cut, "the compressed file ends early"),
    ):
        with pytest.raises(LogFileError, match=said) as caught:
            detect_format(path)
        assert str(path) in caught.value.message


@pytest.mark.study("ingest")
def test_files_examined_together_are_examined_like_single_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detection, "TOGETHER_BYTES", 5000)
    contents = {
        name: "".join(f"{line}\n" for line in log_format.examples) * 3 for name, log_format in FORMATS.items()
    }
    contents |= {"empty": "", "unfinished": NFT[:20], "mixed": NFT * 3 + "nonsense\n" * 4}
    paths = [write(tmp_path, content, name) for name, content in contents.items()]
    paths[5:5] = [tmp_path / "missing"]
    together = list(detect_formats(paths))
    assert isinstance(together.pop(5), LogFileError)
    del paths[5]
    assert together == [detect_format(path) for path in paths]
    assert len({found.format for found in together if isinstance(found, detection.Detection)}) > 10


@pytest.mark.parametrize(
    "before, kept_by",
    [
        ("2024-03-05T09:14:22.250000+00:00 mover1 hsi[4711]: ", "rsyslog or journald"),
        ("2024-03-05T09:14:22+0000 mover1 hsi: ", "rsyslog or journald"),
        ("Mar  5 09:14:22 mover1 hsi[4711]: ", "syslog"),
        ("<134>Mar 15 09:14:22 mover1 hsi[4711]: ", "syslog"),
        ("May 04 11:23:01.123456 mover1 hsi[4711]: ", "syslog"),
        ("<134>1 2024-03-05T09:14:22Z mover1 hsi 4711 - - ", "syslog (RFC 5424)"),
        ('<134>1 - mover1 hsi 4711 - [a@1 b="c"][d@2 e="\\]"] ', "syslog (RFC 5424)"),
        ("2024-03-05T09:14:22.250000000Z stderr F ", "a container's runtime (CRI)"),
    ],
)  # fmt: skip
def test_what_known_programs_write_before_lines_is_found(before, kept_by, tmp_path):
    found = detect_format(write(tmp_path, (before + HSI) * 20 + "cut\n"))
    assert (found.format, found.behind_prefix.format) == (None, FORMATS["hsi"])
    assert found.known_prefix.kept_by == kept_by
    assert detect_format(write(tmp_path, before + HSI), found.known_prefix.pattern).format is FORMATS["hsi"]
    write(tmp_path, (before + HSI) * 20 + "cut\n")
    choices = read_formats([tmp_path / "a.log"])
    [failure] = choices.failures.values()
    assert f"--strip '{found.known_prefix.pattern}' (in" in failure.hint


def test_a_syslog_that_others_share_is_recognised(tmp_path):
    own = "Mar  5 09:14:22 mover1 hsi[4711]: " + HSI
    other = "Mar  5 09:14:22 mover1 sshd[17]: session opened\n"
    path = write(tmp_path, (own * 10 + other) * 10)
    said, options = detect_format(path).suggest_prefix()
    assert said.endswith("90.9 % are lines of hsi")
    assert options.endswith(" --format hsi")
    assert detect_format(write(tmp_path, own * 10 + other * 10)).suggest_prefix() is None


def test_no_prefix_is_suggested_where_one_was_given_or_nothing_fits_behind_it(tmp_path):
    behind = "2024-03-05T09:14:22Z mover1 hsi: "
    path = write(tmp_path, (behind + HSI) * 3)
    assert detect_format(path).known_prefix is not None
    assert detect_format(path, "none").known_prefix is None
    noise = detect_format(write(tmp_path, (behind + "noise\n") * 3))
    assert (noise.known_prefix, noise.behind_prefix) == (None, None)
    # A format whose own lines begin like syslog's is read as it is.
    own = write(tmp_path, "".join(f"{line}\n" for line in FORMATS["cta-syslog"].examples))
    assert (detected(own), detect_format(own).known_prefix) == ("cta-syslog", None)
