"""Rates of transfers, as percentiles."""

from tapewise.report.section import Section

SECTION = Section(
    name="rates",
    question="How fast were transfers?",
    heading="Rates by percentile (within 1 %), of transfers that did not fail",
    heads=("interface", "direction", "transfers", "5 %", "25 %", "50 %", "75 %", "95 %"),
    query="""
    WITH bins AS (
        SELECT interface, direction, bin, sum(bin_count)::bigint AS bin_count
        FROM mart.selected_rates(archive => %(archive)s, since => %(since)s, until => %(until)s) AS cells
        CROSS JOIN unnest(cells.rate_bins, cells.rate_counts) AS parts (bin, bin_count)
        GROUP BY interface, direction, bin
    ),
    numbered AS (
        SELECT interface, direction, bin, sum(bin_count) OVER upto AS upto_count,
            (sum(bin_count) OVER whole)::bigint AS transfer_count
        FROM bins
        WINDOW whole AS (PARTITION BY interface, direction), upto AS (whole ORDER BY bin)
    )
    SELECT interface, direction, transfer_count,
        mart.histogram_value(min(bin) FILTER (WHERE upto_count >= 0.05 * transfer_count)) AS p5_bytes_per_s,
        mart.histogram_value(min(bin) FILTER (WHERE upto_count >= 0.25 * transfer_count)) AS p25_bytes_per_s,
        mart.histogram_value(min(bin) FILTER (WHERE upto_count >= 0.50 * transfer_count)) AS p50_bytes_per_s,
        mart.histogram_value(min(bin) FILTER (WHERE upto_count >= 0.75 * transfer_count)) AS p75_bytes_per_s,
        mart.histogram_value(min(bin) FILTER (WHERE upto_count >= 0.95 * transfer_count)) AS p95_bytes_per_s
    FROM numbered
    GROUP BY interface, direction, transfer_count
    ORDER BY interface, direction DESC
    """,
    note="Transfers of unknown size or time, and of 0 bytes, have no rate.",
    needs=("transfers", "sizes", "durations"),
    silence="No transfer of a known rate succeeded.",
)
