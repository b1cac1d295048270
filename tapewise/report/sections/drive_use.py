"""What the drives were used for."""

from tapewise.report.phrases import say_share, say_time
from tapewise.report.section import Facts, Finding, Section

# Drives are poorly used if they read or write for less than this share of the time that they are occupied.
LOW_RATIO = 0.5
FEWEST_MOUNTS = 100


def find(facts: Facts) -> Finding | None:
    """Say for which share of the time occupied drives read or wrote."""
    rows = [
        row
        for row in facts["drive_use"]
        if row["occupied_s"] is not None and row["transferring_s"] is not None
    ]
    mount_count = sum(row["mount_count"] for row in rows)
    occupied_s = sum(row["occupied_s"] for row in rows)
    if mount_count < FEWEST_MOUNTS or not occupied_s:
        return Finding(
            f"Too few mounts ({mount_count}, not {FEWEST_MOUNTS}) with known times to say what drives do",
            False,
        )
    ratio = sum(row["transferring_s"] for row in rows) / occupied_s
    is_part = len(rows) < len(facts["drive_use"])
    return Finding(
        f"Drives read or wrote for {say_share(ratio)} of the {say_time(occupied_s)} from the start of each"
        " mount until its cartridge was out of the drive"
        + (", of tasks with known transfer times" if is_part else ""),
        ratio < LOW_RATIO,
    )


SECTION = Section(
    name="drive_use",
    question="What are drives used for?",
    heading="Use of the drives",
    heads=(
        "type",
        "for",
        "task",
        "mounts",
        "files",
        "bytes",
        "occupied",
        "of all",
        "reading or writing",
        "idle",
    ),
    query="""
    SELECT tape_type, requester, task, mount_count, file_count, size_bytes, occupied_s, occupied_ratio,
        transferring_s, lazy_wait_s
    FROM mart.drive_usage(archive => %(archive)s, since => %(since)s, until => %(until)s)
    ORDER BY occupied_s DESC NULLS LAST, mount_count DESC, tape_type, requester, task
    """,
    needs=("tape_events",),
    note=(
        "A cartridge occupies a drive from the request to mount it until it is out of the drive. Idle is the"
        " time after the last file, until the request to dismount. Reading or writing is the sum of the times"
        " of the files."
    ),
    silence="No cartridge was mounted.",
    needs_detail=True,
    find=find,
)
