"""Written by docs/stub.py (`make docs`): do not edit."""

from collections.abc import Sequence
from datetime import date, datetime

import polars as pl

from tapewise.mart_calls import Ask

Moment = datetime | date | str
# A value, or a collection of values.
Values = object

class Mart:
    """Has a method for each view and function of `mart`, which returns a polars frame.

    What the descriptions call null is None here.
    """

    def __init__(self, ask: Ask) -> None: ...
    def access_ages(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_fresh: bool | None = None,
    ) -> pl.DataFrame:
        """One row per archive and age, and one with an unknown age if there are such gets.

        How old the data is that gets read: gets by the time since the put of the version that they
        read, as in mart.file_accesses, which has each get. Ages are in bins, so they are within 1/128
        (0.8 %) of the true ones.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: get (null = get); put returns no rows
            client: only this client machine, which takes as long as mart.file_accesses (null = all)
            class_of_service: only this class of service (null = all)
            is_fresh: follow the files for this answer, in place of the last recount

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            age_s: seconds from the put of the version to the end of the get (the middle of the bin),
                null for gets of versions whose put is not in the log
            get_count: gets that did not fail, of files whose names are in the log
            unknown_size_count: how many of them have a saturated or unknown size
            size_bytes: bytes moved, counting only known sizes
            newer_event_count: how many transfers and name-space events of the archive were loaded after
                the recount; null if the files were followed for this answer
            computed_at: when the recount began, null if the files were followed for this answer

        In SQL:

            SELECT archive, floor(age_s / 86400) AS age_days, sum(get_count) AS get_count, sum(size_bytes) AS size_bytes
            FROM mart.access_ages(since => now() - INTERVAL '1 month')
            GROUP BY archive, age_days
            ORDER BY archive, age_days
        """

    def account_usage(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        period: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, account and local day or month with events.

        How much each account moved, and how much of its data was deleted; only for people who may see
        names, since an account is a name. A delete is charged to the account that put the file, or to
        no account if the put is not in the log. Reads all events of the archive from the beginning.

        Args:
            archive: only this archive (null = all)
            since: only events at or after this time; the history of a file is still followed from its
                beginning (null = from the first)
            until: only events before this time, and only what was known by then (null = to the last)
            interface: only this interface (null = all)
            direction: get: only gets; put: everything except gets (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service; for deletes, that in which the file was put
                (null = all)
            period: day or month (null = month)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            account: account that was charged
            period: day or month
            put_count: puts that did not fail
            get_count: gets that did not fail
            failed_count: transfers that failed, according to logs that report failures; null if none of
                their logs do
            failures_unknown_count: transfers that are in no log that reports failures; failed_count
                covers the rest
            deleted_count: deleted files that the account had put
            user_count: number of distinct users
            put_bytes: bytes put, counting only known sizes
            get_bytes: bytes retrieved by gets
            deleted_bytes: bytes of the files deleted
            starts_on: local date of the day, or of the month's first day, in the archive's time zone

        In SQL:

            SELECT account, starts_on, put_bytes, get_bytes, deleted_bytes
            FROM mart.account_usage(since => now() - INTERVAL '3 months')
            ORDER BY account, starts_on
        """

    def activity(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        period: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, period in which transfers ended, interface and direction.

        Transfers, failures and bytes by day or another period, for all the time that the archive has
        known, including what it has forgotten (`tapewise forget`). A transfer counts in the period in
        which it ended. A period without transfers has no row, and a range means whole periods.
        Transfers whose time of day is unknown are counted in days and longer periods, but in no hour
        and no ten minutes.

        Args:
            archive: only this archive (null = all)
            since: only periods that end after this time (null = from the first)
            until: only periods that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            period: ten_minutes, hour, day, week, month, quarter or year, by the archive's own clock; a
                week begins on Monday

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            period: the period that was asked for
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            transfer_count: transfers that ended in the period, failed ones included
            failed_count: how many of them failed, according to logs that report failures; null if none
                of their logs do
            failures_unknown_count: how many of them are in no log that reports failures; failed_count
                covers the rest
            saturated_count: how many of them have a saturated size, so size_bytes is a lower bound
            size_bytes: bytes of the transfers that did not fail, counting only known sizes; null where
                no size is known. All bytes of a transfer are counted when it ended, however long it
                took, so a sum over ten minutes is not a rate and may exceed what the network can carry
                (mart.load_over_time spreads them over the time they took)
            unknown_size_count: transfers that did not fail but have no size
            duration_s: total seconds of the transfers that did not fail, counting only known durations;
                null where no duration is known
            unknown_duration_count: transfers that did not fail but have no duration
            starts_at: when the period begins; if clocks go back across midnight, the day has two
                midnights and begins at the second
            starts_on: local date on which the period begins

        In SQL:

            SELECT archive, starts_on, direction, sum(transfer_count) AS transfer_count, sum(size_bytes) AS size_bytes
            FROM mart.activity(since => now() - INTERVAL '1 month', period => 'day')
            WHERE kind = 'measured'
            GROUP BY archive, starts_on, direction
            ORDER BY archive, starts_on, direction
        """

    def activity_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        interface: Values = None,
        direction: Values = None,
        transfer_count: Values = None,
        failed_count: Values = None,
        failures_unknown_count: Values = None,
        saturated_count: Values = None,
        size_bytes: Values = None,
        unknown_size_count: Values = None,
        duration_us: Values = None,
        unknown_duration_count: Values = None,
        is_time_of_day_unknown: Values = None,
        cell_at: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and ten minutes of local time in which transfers
        ended; transfers whose time of day is unknown have rows of their own.

        The rollup from which mart.activity is computed; it has far fewer rows than there are transfers.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone (IANA name)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            transfer_count: transfers that ended in the cell, failed ones included
            failed_count: how many of them failed, according to logs that report failures
            failures_unknown_count: how many of them are in no log that reports failures; failed_count
                covers the rest
            saturated_count: how many of them have a saturated size
            size_bytes: bytes of the transfers that did not fail, counting only known sizes; all bytes
                of a transfer are counted when it ended, so this is not a rate
            unknown_size_count: transfers that did not fail but have no size
            duration_us: total microseconds of the transfers that did not fail, counting only known
                durations; an integer, so a recount always gives the same sum
            unknown_duration_count: transfers that did not fail but have no duration
            is_time_of_day_unknown: whether the time of day of these transfers is unknown, in which case
                cell_at is noon by their source's clock
            cell_at: when the ten minutes begin

        In SQL:

            SELECT cell_at, interface, direction, transfer_count
            FROM mart.activity_cells
            WHERE archive = 'llnl'
                AND cell_at >= '1998-04-02 America/Los_Angeles'
                AND cell_at < '1998-04-03 America/Los_Angeles'
            ORDER BY cell_at, interface, direction
        """

    def answers(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        function_name: Values = None,
        arguments: Values = None,
        row_count: Values = None,
        answer: Values = None,
        has_names: Values = None,
        took_s: Values = None,
        is_current: Values = None,
        computed_at: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, function and arguments whose answer is kept.

        The answers that `tapewise refresh` and the nightly run have computed for functions that take
        long, and how old they are. A function returns a kept answer as long as nothing has changed
        since, and else computes it.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            function_name: name of the function
            arguments: all arguments but the archive, by name; those that are null are left out
            row_count: number of rows of the answer; null if they have names
            answer: the rows, as an array of objects; null if they have names, which mart.kept_names
                shows
            has_names: whether the rows have names of accounts or paths
            took_s: how long it took to compute
            is_current: whether nothing has changed since that the answer depends on
                (mart.archive_states); else it is not used
            computed_at: when it was computed

        In SQL:

            SELECT function_name, arguments, row_count, is_current, computed_at
            FROM mart.answers
            WHERE archive = 'hpss'
            ORDER BY function_name, computed_at
        """

    def archive_facts(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        fact: Values = None,
        is_held: Values = None,
    ) -> pl.DataFrame:
        """One row per archive and kind of fact.

        What the logs of an archive contain, whatever their format. It comes from what loads note, so no
        fact is read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            fact: what mart's views need from a log (transfers, sizes, open_times, deletes, ...)
            is_held: whether the logs contain any of it

        In SQL:

            SELECT fact
            FROM mart.archive_facts
            WHERE archive = 'hpss' AND NOT is_held
        """

    def archive_states(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        settings_hash: Values = None,
        sources_hash: Values = None,
        files_hash: Values = None,
        rows_hash: Values = None,
        outages_hash: Values = None,
        changes_hash: Values = None,
        recounts_hash: Values = None,
        preparations_hash: Values = None,
        simulations_hash: Values = None,
        state: Values = None,
    ) -> pl.DataFrame:
        """One row per archive.

        A digest of all that the answers about an archive depend on: which rows were loaded, moved or
        dropped, the settings of the archive and of its sources, what people recorded, what was
        prepared, and the views and functions themselves. As long as it is the same, the same question
        has the same answer.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            settings_hash: of the archive's own settings
            sources_hash: of its sources; null if it has none, as below
            files_hash: of the files that were read, and of the times of their events
            rows_hash: of how many rows each load wrote, by table and month, and how many of them are
                still there
            outages_hash: of the outages
            changes_hash: of the configuration changes
            recounts_hash: of the last recount of files (mart.file_recounts)
            preparations_hash: of the prepared envelopes (mart.envelope_preparations)
            simulations_hash: of the simulation that made it (mart.simulation_runs)
            state: a digest of all these, of the views and functions, and of PostgreSQL's version

        In SQL:

            SELECT archive, state FROM mart.archive_states ORDER BY archive
        """

    def archive_summaries(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source_count: Values = None,
        transfer_count: Values = None,
        data_until: Values = None,
        data_until_local: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive.

        What an archive's warehouse holds, in one row. It is read from cells and from what loads note,
        and from no fact.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: its time zone (IANA name)
            source_count: sources that are counted
            transfer_count: transfers, failed ones included
            data_until: last line of the counted sources; null if nothing was loaded
            data_until_local: the same by the archive's own clock
            first_on: local date on which the first transfer ended; null without transfers
            last_on: local date on which the last transfer ended; null without transfers

        In SQL:

            SELECT archive, kind, transfer_count, first_on, last_on, data_until
            FROM mart.archive_summaries
            ORDER BY archive
        """

    def archives(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        created_at: Values = None,
        retained_since: Values = None,
        client_cells_since: Values = None,
        has_client_cells: Values = None,
    ) -> pl.DataFrame:
        """One row per archive.

        The archives that the warehouse knows, and whether their logs are real.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: measured (real logs), synthetic (logs made up for examples and tests) or simulated;
                data of different kinds is never added together
            timezone: the archive's time zone (IANA name), in which days, weekdays and hours are counted
            created_at: when the archive was added to the warehouse
            retained_since: the time from which individual transactions are kept (`tapewise forget`
                removes earlier ones); earlier times are covered only by mart.activity and by what is
                counted by day. Null if nothing is forgotten
            client_cells_since: the first local day of which single clients are counted, if earlier days
                were forgotten before; otherwise null
            has_client_cells: whether loads also count each client machine separately (`tapewise
                archives clients`), so that what functions of mart are asked about one client need not
                read its transfers

        In SQL:

            SELECT archive, kind, timezone FROM mart.archives ORDER BY kind, archive
        """

    def are_open_boundaries(
        self,
        *,
        boundaries_s: Sequence[float],
    ) -> pl.DataFrame:
        """True or false; false if there is no boundary.

        Whether bins of mart.time_bin suffice to sort open times into groups between these boundaries,
        and to see which times are within a factor of 1.25 of one.

        Args:
            boundaries_s: the boundaries in seconds

        In SQL:

            SELECT mart.are_open_boundaries(ARRAY[8, 60, 130]) AS are_sdsc_boundaries
        """

    def arrival_dispersion(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
        bins_s: Sequence[int] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, width of bins and, as asked for, interface and direction in which there
        were requests.

        How unevenly requests come in: the index of dispersion, which is the variance of the requests
        per bin over their mean, for bins from a minute to a day. It is 1 for independent requests at an
        even rate (Poisson); how it grows with the bins shows for how long a burst lasts. Bins are
        counted from local midnight. Only bins wholly within the span count, of a day that clocks
        shorten or lengthen only whole ones, and a bin of which recorded outages cover half or more is
        left out. The span is from the group's first request to its last one, or to an edge of the range
        that its log goes beyond; both are of any client. Bins without requests count.

        Args:
            archive: only this archive (null = all)
            since: only requests asked for at or after this time (null = from the first)
            until: only requests asked for before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of interface and direction; default both. With anything else, there are no
                rows
            bins_s: seconds of the bins, each from 1 to 86,400; default a minute, ten minutes, an hour
                and a day. Where they do not divide the day, its rest is left out

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...); null unless grouped by it
            direction: put or get; null unless grouped by it
            bin_s: seconds of a bin
            bin_count: bins that count, with or without requests
            outage_bin_count: bins of the span that were left out because of recorded outages
            request_count: requests in the bins that count
            unplaced_count: requests of which only the day is known, and which are in no bin
            mean_count: mean number of requests of a bin; null without bins
            variance: variance of the number of requests; null where there are fewer than two bins
            dispersion_ratio: index of dispersion, variance over mean_count; null where there are fewer
                than two bins, or no request is in one
            max_count: requests of the fullest bin; null without bins
            from_at: when the span begins; null if no request has a time of day
            to_at: when it ends; null if no request has a time of day

        In SQL:

            SELECT interface, direction, bin_s, bin_count, dispersion_ratio
            FROM mart.arrival_dispersion(archive => 'llnl', since => now() - INTERVAL '1 year')
            ORDER BY interface, direction, bin_s
        """

    def arrival_edges(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per archive and, as asked for, interface and direction that have transfers.

        Which edges of a range the log of an archive, interface or direction goes beyond, for
        mart.arrival_dispersion. There, the quiet time between an edge and the nearest request is known
        to be quiet. Forgotten time is outside the range. Transfers of any client count.

        Args:
            archive: only this archive (null = all)
            since: beginning of the range (null = none)
            until: end of the range (null = none)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: accepted for uniformity; transfers of any client count
            class_of_service: only this class of service (null = all)
            grouped_by: any of interface and direction; default both

        Columns:
            archive: name of the archive
            interface: the program that moved the files (ftp, nft, hsi, ...); null unless grouped by it
            direction: put or get; null unless grouped by it
            from_at: since, or when the archive's detail begins if that is later; null if transfers
                ended on no local day before it
            to_at: until; null if transfers ended on no local day that begins at or after it

        In SQL:

            SELECT archive, interface, direction, from_at, to_at
            FROM mart.arrival_edges(since => now() - INTERVAL '1 month')
        """

    def arrivals(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per request of which there is a transfer.

        When requests were asked for, for mart.arrival_dispersion and mart.interarrivals. Failed
        requests are among them, because they also came in; jobs and opens alone are not, because they
        may not have been to move anything.

        Args:
            archive: only this archive (null = all)
            since: only requests asked for, and ended, at or after this time (null = from the first)
            until: only requests asked for before this time, whenever they ended (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of interface and direction; default both. It decides which of these columns
                have values. With anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...); null unless
                grouped by it
            direction: put or get; null unless grouped by it
            is_time_of_day_unknown: whether only the day is known
            asked_at: when it was requested, as in mart.workload_requests

        In SQL:

            SELECT archive, interface, direction, count(*) AS request_count
            FROM mart.arrivals(since => now() - INTERVAL '1 day')
            GROUP BY archive, interface, direction
        """

    def ascending_edges(
        self,
        *,
        edges: Sequence[float],
    ) -> pl.DataFrame:
        """The edges, or an empty array if there are none.

        Edges of ranges as the functions of mart use them, whose argument may name them in any order:
        ascending, each once, and without nulls.

        Args:
            edges: the edges, in any order

        In SQL:

            SELECT mart.ascending_edges('{7, 1, 30, 7}') AS edges
        """

    def bins_left_out(
        self,
        *,
        starts_at: Moment,
        ends_at: Moment,
        from_at: Moment,
        to_at: Moment,
        outages_began: Sequence[Moment],
        outages_ended: Sequence[Moment],
        bin_s: int,
    ) -> pl.DataFrame:
        """One row per bin that is left out.

        The bins of a day that mart.arrival_dispersion leaves out: those that are not wholly in the span
        of the log, and those of which recorded outages cover half or more. Bins are counted from the
        day's beginning; a rest of the day that is shorter than a bin is none.

        Args:
            starts_at: when the day begins
            ends_at: when the next day begins
            from_at: beginning of the span
            to_at: end of the span
            outages_began: when recorded outages began (null = there are none)
            outages_ended: when they ended, in the same order; null for one that has not
            bin_s: seconds of a bin

        Columns:
            bin_number: number of the bin in its day, from 0
            is_outage: whether outages leave it out; false if the span does

        In SQL:

            SELECT bin_number, is_outage
            FROM mart.bins_left_out(
                '1998-05-01 00:00-07', '1998-05-02 00:00-07', '1998-05-01 00:30-07', '1998-05-03 00:00-07', NULL, NULL, 3600
            )
        """

    def burst_requests(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        idle_s: float | None = None,
        measure: str | None = None,
    ) -> pl.DataFrame:
        """One row per request of a known user that did not fail.

        The requests of known users, divided into bursts. A burst is a batch of one user's requests,
        with pauses of at most idle_s in which the user has nothing under way. Failed requests are left
        out. A burst that crosses an edge of the range becomes two.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            idle_s: idle seconds after which a user's next request begins a new burst (null = 60)
            measure: which time is paired with the size, service or open, as in mart.workload_requests;
                null = service

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get
            user_id: number of the user in the warehouse
            burst_number: number of the burst among those of the user on this interface and in this
                direction; null where the time of day is unknown
            place: position of the request within its burst, from 1; null if burst_number is null
            size_bytes: bytes moved, null if not known
            gap_s: seconds from the previous request of the burst to this one, both by asked_at; null
                for the first
            size_log10: decimal logarithm of size_bytes, null where that is not positive
            time_log10: decimal logarithm of the seconds of the measure, null where that time is not
                positive
            set_apart: why it is in no class, as in mart.workload_requests; null for a request in a
                class
            is_time_of_day_unknown: whether the time of day is unknown; if so, the request is in no
                burst
            asked_at: when it was requested, as in mart.workload_requests; null where the time of day is
                unknown
            ended_at: when the transfer ended

        In SQL:

            SELECT interface, direction, percentile_cont(0.5) WITHIN GROUP (ORDER BY gap_s) AS median_gap_s
            FROM mart.burst_requests(since => now() - INTERVAL '1 month')
            GROUP BY interface, direction
        """

    def bypassed_days(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        class_of_service: Values = None,
        is_whole: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, class of service, and days in a row that a bypass covers wholly, or in
        part.

        The local days on which staging was bypassed, or a class of service was tape-only
        (mart.config_changes), and whether all day. What is counted by day (mart.hit_cells) is judged by
        these days; of days that a bypass covers in part, requests must be read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            class_of_service: the class of service that the bypass applies to, null if it applies to all
            is_whole: true if each of the days is covered wholly, false if each is covered in part
            first_on: local date of the first of the days, in the archive's own zone
            last_on: local date of the last of the days, null if the bypass has no end

        In SQL:

            SELECT archive, class_of_service, is_whole, first_on, last_on
            FROM mart.bypassed_days
            ORDER BY archive, first_on
        """

    def bypassed_spans(
        self,
        *,
        archive: Values = None,
        class_of_service: Values = None,
        whole_days: Values = None,
        part_days: Values = None,
    ) -> pl.DataFrame:
        """One row per archive and class of service that a bypass names, and one per archive for all other
        classes, if a bypass applies to all classes.

        The days of mart.bypassed_days for each class of service, as values to look days up in.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            class_of_service: the class of service, whose days include those of bypasses that apply to
                all classes; null for the classes without a row of their own
            whole_days: local days on which staging was bypassed all day
            part_days: local days of which a bypass covers a part, and no bypass the whole

        In SQL:

            SELECT archive, class_of_service, whole_days, part_days
            FROM mart.bypassed_spans
            ORDER BY archive, class_of_service
        """

    def cache_curves(
        self,
        *,
        study: Values = None,
        pool: Values = None,
        policy: Values = None,
        capacity_bytes: Values = None,
        is_as_in_file: Values = None,
        is_policy_as_in_file: Values = None,
        get_count: Values = None,
        miss_count: Values = None,
        miss_ratio: Values = None,
        miss_bytes: Values = None,
        first_count: Values = None,
        crowded_count: Values = None,
        plain_miss_count: Values = None,
        too_large_count: Values = None,
        left_out_get_count: Values = None,
        archive: Values = None,
        kind: Values = None,
        is_made_up: Values = None,
        options: Values = None,
        replayed_at: Values = None,
    ) -> pl.DataFrame:
        """One row per study, pool, rule and size.

        Miss-ratio curves of kept studies: how many gets of the study's archive a disk of each size, or
        a pool of it, would have missed, as `tapewise simulate cache --keep` has replayed them. A curve
        needs no machine besides its disk, so it says nothing about waits.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            study: name of the study
            pool: the pool of the machine's disk whose size this is, and whose files' gets are counted;
                null for curves of a whole disk, which has all files
            policy: rule by which the disk or pool chooses the files to drop, or its formula
            capacity_bytes: size of the disk or pool
            is_as_in_file: whether the disk or pool has this size in the study's machine file
            is_policy_as_in_file: whether the disk or pool has this rule in the study's machine file
            get_count: gets that were replayed and counted
            miss_count: of these, gets that did not find their file on the disk
            miss_ratio: miss_count as a share of get_count
            miss_bytes: bytes of the misses
            first_count: of the misses, those that are the first use of their file in the log, which any
                disk misses
            crowded_count: puts and gets that found no room, because too many files were locked; null if
                no file was ever locked
            plain_miss_count: misses without water marks and locks; null if no file was ever locked, or
                for rules other than lru
            too_large_count: of the misses, those for files that the disk or pool never keeps, because
                they are larger than it (or, for s3fifo, not smaller than a tenth of it); null if the
                curve was kept by an earlier version, which did not count them
            left_out_get_count: gets that a run of the study's machine with this disk or pool leaves
                out, because their file is larger than the machine or the pool accepts; null if no run
                was made (`--waits`), or the curve was kept by an earlier version
            archive: the archive whose puts and gets were replayed
            kind: kind of that archive (measured, synthetic, simulated)
            is_made_up: whether its logs are made up, so that the curve says nothing about a real
                archive
            options: the marks and times of the disk and the range of gets, as JSON; `empty_start` if no
                file was ever locked
            replayed_at: when the curves were computed

        In SQL:

            SELECT pool, policy, capacity_bytes, miss_ratio
            FROM mart.cache_curves
            WHERE study = 'hpss on LLNL UniTree 1998'
            ORDER BY pool, policy, capacity_bytes
        """

    def cache_hits(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and group in which there were gets; the groups are those asked for.

        How often gets found their file on disk. If the logs show neither that a file was on disk nor
        that it was not, the get is counted as unknown, and nothing is guessed. hit_ratio covers the
        gets with evidence (cache_evidence of mart.requests), and unknown_ratio is the share of gets
        without evidence. If the logs of an archive contain no evidence, its hit_ratio is null and its
        unknown_ratio is 1. Only successful gets count; an open without a logged transfer counts as a
        get. In a simulated archive, gets requested before its run became steady do not count (if it
        never did, no gets count). A range means whole local days. Days whose detail the archive has
        forgotten (`tapewise forget`) are covered, except for one client of an archive that counts no
        single clients (mart.archives), and except days that were forgotten before the warehouse had
        mart.hit_cells. On a forgotten day within which a staging bypass began or ended, gets are
        unknown unless a stage or their log is evidence. A get of which a cache had some bytes is
        neither hit nor miss here, but unknown; mart.cache_read_days has its bytes.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; only gets can hit, so null and get are equivalent, and
                put returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: all (one row per archive), day, month, size_class, interface or
                class_of_service; with anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            grouped_by: the grouping that was asked for; of the columns below, only the one of that name
                is filled
            size_class: SDSC's size classes, where 1 MB is 10^6 bytes - small (below 2 MB), medium (from
                2 to below 200 MB), large (from 200 MB to 1 GB, both included), huge (above 1 GB); null
                where the size is not known
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            class_of_service: class of service, null if the logs do not say
            get_count: successful gets
            cached_count: gets whose file was on disk
            uncached_count: gets whose file was not on disk: those that joined a stage and those that
                started one (misses)
            joined_count: how many of the uncached gets waited for a stage that another request had
                started; null where this is unknown, as in all logs so far. Such gets then count as
                misses (or as hits, where the only evidence is that no stage was logged)
            unknown_count: gets whose source (disk or tape) is unknown
            bypassed_count: how many of the unknown gets are unknown because staging was bypassed, or
                because their class of service is tape-only
            saturated_count: cached and uncached gets whose size is at the limit of the log's counter,
                so their bytes are a lower bound
            cached_bytes: bytes of the cached gets
            uncached_bytes: bytes of the uncached gets
            hit_ratio: cached_count / (cached_count + uncached_count) (0 to 1), where uncached_count
                includes joined gets; null without evidence
            hit_ratio_low: lower end of the 95 % Wilson interval, which treats gets as independent. Gets
                of one batch resemble each other, so the real uncertainty is at least this large
            hit_ratio_high: upper end of the 95 % Wilson interval
            byte_hit_ratio: cached_bytes / (cached_bytes + uncached_bytes) (0 to 1); null without
                evidence or bytes
            unknown_ratio: unknown_count over get_count (0 to 1)
            starts_on: local date on which the day or month begins, in the archive's time zone; null for
                other groupings
            first_on: local date of the first day, within the range, on which such a get ended
            last_on: local date of the last such day

        In SQL:

            SELECT archive, starts_on, get_count, hit_ratio, hit_ratio_low, hit_ratio_high, unknown_ratio
            FROM mart.cache_hits(since => now() - INTERVAL '1 month', grouped_by => 'day')
            WHERE kind = 'measured'
            ORDER BY archive, starts_on
        """

    def cache_read_days(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        interface: Values = None,
        read_count: Values = None,
        hit_count: Values = None,
        partial_count: Values = None,
        miss_count: Values = None,
        hit_bytes: Values = None,
        missed_bytes: Values = None,
        bypassed_bytes: Values = None,
        byte_hit_ratio: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, interface and local day with such reads.

        How many bytes of the reads of a day a cache had (mart.cache_reads). Days without such reads
        have no row, and neither have archives whose logs report no such bytes; mart.cache_hits counts
        gets whose file was on disk as a whole. Days whose detail the archive has forgotten (`tapewise
        forget`) are not covered.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that read the files (xrootd, ...)
            read_count: reads, without those that the log calls failed
            hit_count: how many of the reads found all their bytes in the cache
            partial_count: how many found some of them
            miss_count: how many found none
            hit_bytes: bytes that were in the cache
            missed_bytes: bytes that were fetched into the cache
            bypassed_bytes: bytes that were read past the cache
            byte_hit_ratio: hit_bytes over the sum of hit_bytes, missed_bytes and bypassed_bytes (0 to
                1); null if no byte was read
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT archive, starts_on, read_count, partial_count, byte_hit_ratio
            FROM mart.cache_read_days
            WHERE starts_on >= CURRENT_DATE - 30
            ORDER BY archive, starts_on
        """

    def cache_reads(
        self,
        *,
        cache_read_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        outcome: Values = None,
        size_bytes: Values = None,
        hit_bytes: Values = None,
        missed_bytes: Values = None,
        bypassed_bytes: Values = None,
        byte_hit_ratio: Values = None,
        is_failed: Values = None,
        is_time_ambiguous: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per read of a file, from open to close.

        Reads through a cache, as reported by counted sources whose logs say how many bytes of each read
        the cache had. One read may be both hit and miss, so these are no hits or misses of
        mart.cache_hits. Each read is a get of mart.transfers, too. Filter on ended_at, so that months
        outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            cache_read_id: number of the row in the warehouse, for `tapewise explain row`; changes when
                the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of logs that reported it
            interface: the program that read the file (xrootd, ...)
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, null if the log does not say
            outcome: hit (the cache had all bytes), miss (it had none) or partial (it had some); null if
                no byte was read
            size_bytes: bytes read, the sum of the three below; a file may be read in part, or more than
                once
            hit_bytes: bytes that were in the cache
            missed_bytes: bytes that were fetched into the cache
            bypassed_bytes: bytes that were read past the cache
            byte_hit_ratio: hit_bytes over size_bytes (0 to 1), null if no byte was read
            is_failed: whether the read failed, null if the log does not say
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            ended_at: when the file was closed

        In SQL:

            SELECT archive, outcome, count(*) AS read_count, sum(hit_bytes) / nullif(sum(size_bytes), 0) AS byte_hit_ratio
            FROM mart.cache_reads
            WHERE ended_at >= now() - INTERVAL '1 month'
            GROUP BY archive, outcome
            ORDER BY archive, outcome
        """

    def class_days(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        model: str | None = None,
    ) -> pl.DataFrame:
        """One row per workload model, archive, interface, direction, class and local day on which it has
        requests.

        How many requests were in each class of a workload model on each local day of the archive. Some
        requests are set apart: those that failed, those whose size or time is unknown, zero or
        saturated, and those for which the model has no classes (mart.transfer_classes gives the
        reason). Such requests are in no class and are not counted in the ratios.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            model: only this workload model (null = all)

        Columns:
            model: name of the model
            archive: name of the archive that the requests belong to, which need not be the model's
            kind: kind of that archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, unitree, ...)
            direction: put or get
            class_number: number of the class, as in mart.workload_classes
            class_name: description of the class in words
            request_count: requests of this class that ended on this day
            size_bytes: bytes moved by them
            request_ratio: request_count over the day's requests in all classes of the model, archive,
                interface and direction (0 to 1)
            starts_on: local date on which the day begins, in the archive's time zone

        In SQL:

            SELECT starts_on, class_name, request_count, request_ratio
            FROM mart.class_days(model => 'spring', since => now() - INTERVAL '1 month', direction => 'get')
            ORDER BY archive, interface, starts_on, class_number
        """

    def client_day_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        client: Values = None,
        transfer_count: Values = None,
        failed_count: Values = None,
        saturated_count: Values = None,
        size_bytes: Values = None,
        unknown_size_count: Values = None,
        duration_us: Values = None,
        unknown_duration_count: Values = None,
        ambiguous_count: Values = None,
        day_only_count: Values = None,
        coarse_count: Values = None,
        below_clock_count: Values = None,
        flagged_saturated_count: Values = None,
        inconsistent_count: Values = None,
        rated_size_bytes: Values = None,
        rated_duration_us: Values = None,
        hours: Values = None,
        hour_transfer_counts: Values = None,
        hour_failed_counts: Values = None,
        hour_size_bytes: Values = None,
        hour_unknown_size_counts: Values = None,
        rate_bins: Values = None,
        rate_counts: Values = None,
        ten_minute_offsets: Values = None,
        ten_minute_counts: Values = None,
        ten_minute_marks: Values = None,
        rest_size_bins: Values = None,
        rest_size_counts: Values = None,
        rest_saturated_counts: Values = None,
        rest_size_bytes: Values = None,
        largest: Values = None,
        longest: Values = None,
        rate_bytes_per_s: Values = None,
        is_failure_logged: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, client and local day on
        which transfers ended.

        The rows of mart.day_cells for each client machine, in archives that count single clients
        (`tapewise archives clients`); other archives have none. What names no client is in none either.
        Days whose detail was forgotten before the archive began to count single clients are missing,
        and so are clients whose names were forgotten since. mart.selected_days reads these rows if it
        is asked for one client.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days and hours are counted
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service as in the log; null where the log has none
            client: name of the client machine
            transfer_count: transfers that ended on the day, failed ones included
            failed_count: how many of them failed, as far as logs report it
            saturated_count: how many of the others have a saturated size
            size_bytes: bytes of those that did not fail, as far as sizes are known; all bytes of a
                transfer count on the day it ended
            unknown_size_count: how many did not fail and have no size
            duration_us: total microseconds of those that did not fail, as far as durations are known;
                an integer, so that sums equal any recount
            unknown_duration_count: how many did not fail and have no duration
            ambiguous_count: how many have is_time_ambiguous of mart.transfers, failed ones included
            day_only_count: how many have is_time_of_day_unknown, failed ones included
            coarse_count: how many have is_duration_coarse, failed ones included
            below_clock_count: how many have is_duration_below_clock, failed ones included
            flagged_saturated_count: how many have is_size_saturated, failed ones included
            inconsistent_count: how many have is_rate_inconsistent, failed ones included
            rated_size_bytes: bytes of those counted in rate_counts
            rated_duration_us: total microseconds of those counted in rate_counts
            hours: the hours of the local clock (0 to 23) in which transfers ended, ascending; transfers
                of which only the day is known are in none
            hour_transfer_counts: for each of the hours, how many transfers ended in it, failed ones
                included
            hour_failed_counts: for each of the hours, how many of them failed
            hour_size_bytes: for each of the hours, the bytes of those that did not fail, as far as
                sizes are known
            hour_unknown_size_counts: for each of the hours, how many did not fail and have no size
            rate_bins: bins of the rates of those that did not fail and have a rate, a duration and an
                unsaturated size, ascending (mart.histogram_bin); mart.histogram_value is within 1/128
                of each rate in its bin
            rate_counts: for each of the bins, how many rates are in it
            ten_minute_offsets: the ten minutes of the local clock in which transfers ended, ascending:
                how many minutes after the day begins in UTC they begin (negative if before it);
                transfers of which only the day is known are in none
            ten_minute_counts: for each of the ten_minute_offsets, how many transfers ended in it,
                failed ones included
            ten_minute_marks: the ten minutes as 336 bits, one for each ten minutes from 16 hours before
                the day begins in UTC. bit_or joins those of several cells
            rest_size_bins: bins of the sizes (mart.size_bin) of those that did not fail and are not in
                mart.size_cells, because their duration is unknown, zero or too coarse, or their size is
                saturated, ascending. Empty on days whose detail was forgotten before the warehouse
                counted them
            rest_size_counts: for each of the rest_size_bins, how many transfers are in it
            rest_saturated_counts: for each of the rest_size_bins, how many of them have a saturated
                size
            rest_size_bytes: for each of the rest_size_bins, their bytes
            largest: the largest file of those that did not fail: its bytes; the microseconds from when
                it was moved to 1970 (UTC), so that of equally large files the earliest has the greatest
                array; 1 if the size is saturated; 1 if only the day is known. Null where no size is
                known, or where the log reports parts of files
            longest: the longest transfer of those that did not fail: its seconds; the microseconds from
                its end to 1970 (UTC); 1 if only the day is known. Null where no duration is known
            rate_bytes_per_s: always null here; the rate itself in mart.selected_days, where a row is
                one transfer
            is_failure_logged: whether their log reports failures, or another log reports them for any
                part of the day
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT client, sum(transfer_count) AS transfer_count
            FROM mart.client_day_cells
            WHERE archive = 'llnl' AND starts_on >= current_date - 30
            GROUP BY client
            ORDER BY client
        """

    def client_hit_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        client: Values = None,
        has_stages: Values = None,
        codes: Values = None,
        get_counts: Values = None,
        size_bytes: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, class of service, client and local day on which such
        gets ended.

        The rows of mart.hit_cells for each client machine, in archives that count single clients
        (`tapewise archives clients`); other archives have none. What names no client is in none either.
        Days whose detail was forgotten before the archive began to count single clients are missing,
        and so are clients whose names were forgotten since. mart.selected_hits reads these rows if it
        is asked for one client.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the gets
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: always get
            class_of_service: class of service of the gets (mart.requests); null where no log has one
            client: name of the client machine
            has_stages: whether the archive records stages at all; otherwise a missing one is no
                evidence
            codes: numbers for the evidence of the gets, ascending (mart.hit_evidence)
            get_counts: for each of the codes, how many gets have it
            size_bytes: for each of the codes, the bytes of its gets, as far as their sizes are known
            starts_on: local date of the day on which the gets ended, in the archive's own zone

        In SQL:

            SELECT client, sum(cardinality(codes)) AS code_count
            FROM mart.client_hit_cells
            WHERE archive = 'llnl' AND starts_on >= current_date - 30
            GROUP BY client
            ORDER BY client
        """

    def client_open_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        client: Values = None,
        route_id: Values = None,
        span: Values = None,
        codes: Values = None,
        request_counts: Values = None,
        open_us: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, client, span and local day,
        month or year in which such requests ended.

        The rows of mart.open_cells for each client machine, in archives that count single clients
        (`tapewise archives clients`); other archives have none. What names no client is in none either.
        Days whose detail was forgotten before the archive began to count single clients are missing,
        and so are clients whose names were forgotten since. mart.selected_opens reads these rows if it
        is asked for one client.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the requests
            interface: the program that opened the files (ftp, hsi, ...)
            direction: put or get, null if the log of opens does not say
            class_of_service: class of service of the requests (mart.requests); null where no log has
                one
            client: name of the client machine
            route_id: number of the source, interface, direction, class of service and client
            span: day, month or year
            codes: numbers for the open times, ascending (mart.open_entries)
            request_counts: for each of the codes, how many requests have it
            open_us: for each of the codes, the sum of their open times in microseconds
            starts_on: local date of the first day of the span, in the archive's own zone

        In SQL:

            SELECT client, sum(entries.request_count) AS request_count
            FROM mart.client_open_cells
            CROSS JOIN LATERAL mart.open_entries(codes, request_counts, open_us) AS entries
            WHERE archive = 'sdsc' AND span = 'month' AND entries.bin >= mart.time_bin(60)
            GROUP BY client
            ORDER BY client
        """

    def client_request_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        client: Values = None,
        span: Values = None,
        request_count: Values = None,
        below_clock_count: Values = None,
        negative_count: Values = None,
        size_bins: Values = None,
        size_counts: Values = None,
        duration_bins: Values = None,
        duration_counts: Values = None,
        wait_bins: Values = None,
        wait_counts: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        waited_s: Values = None,
        starts_on: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, client, span and local day,
        month or year in which such requests ended.

        The rows of mart.request_cells for each client machine, in archives that count single clients
        (`tapewise archives clients`); other archives have none. What names no client is in none either.
        Days whose detail was forgotten before the archive began to count single clients are missing,
        and so are clients whose names were forgotten since. mart.selected_request_days reads these rows
        if it is asked for one client.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service of the requests (mart.requests); null where no log has
                one
            client: name of the client machine
            span: day, month or year
            request_count: requests that ended on the day, or in the month or year
            below_clock_count: how many of them have is_wait_below_clock of mart.requests
            negative_count: how many of them have is_wait_negative of mart.requests
            size_bins: bins of the sizes in bytes, as far as they are known: first those with several
                requests, then those with one, each ascending (mart.histogram_bin); mart.histogram_value
                is within 1/128 of each size in its bin
            size_counts: for each of the size_bins, how many requests have a size in it
            duration_bins: bins of the transfer times in seconds, as far as they are known, ordered in
                the same way
            duration_counts: for each of the duration_bins, how many requests have a transfer time in it
            wait_bins: bins of the waits in seconds (waited_s of mart.requests), as far as they are
                known, ordered in the same way
            wait_counts: for each of the wait_bins, how many requests have a wait in it
            size_bytes: always null here; the size itself in mart.selected_request_days, where a row is
                one request
            duration_s: always null here; as size_bytes
            waited_s: always null here; as size_bytes
            starts_on: local date of the day, or of the first day of the month or year, in the archive's
                own zone
            first_on: local date of the first day with such requests; as starts_on for a day
            last_on: local date of the last day with such requests; as starts_on for a day

        In SQL:

            SELECT client, sum(request_count) AS request_count
            FROM mart.client_request_cells
            WHERE archive = 'llnl' AND span = 'day' AND starts_on >= current_date - 30
            GROUP BY client
            ORDER BY client
        """

    def client_size_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        client: Values = None,
        span: Values = None,
        size_bins: Values = None,
        size_bytes: Values = None,
        shortest_s: Values = None,
        time_size_bins: Values = None,
        time_bins: Values = None,
        time_counts: Values = None,
        duration_s: Values = None,
        starts_on: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, client, span and local day,
        month or year with such transfers.

        The rows of mart.size_cells for each client machine, in archives that count single clients
        (`tapewise archives clients`); other archives have none. What names no client is in none either.
        Days whose detail was forgotten before the archive began to count single clients are missing,
        and so are clients whose names were forgotten since. mart.selected_sizes reads these rows if it
        is asked for one client.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service as in the log; null where the log has none
            client: name of the client machine
            span: day, month or year
            size_bins: bins of the sizes of the transfers (mart.size_bin), ascending
            size_bytes: for each of the size_bins, the bytes of its transfers
            shortest_s: for each of the size_bins, the seconds of the shortest transfer
            time_size_bins: a histogram of sizes and durations has pairs of bins: first those with
                several transfers, then those with one, each ascending; for each pair, the bin of the
                size (mart.size_bin)
            time_bins: for each pair, the bin of the duration (mart.histogram_bin); mart.histogram_value
                is within 1/128 of each duration in its bin
            time_counts: for each pair, how many transfers are in it
            duration_s: always null here; the duration itself in mart.selected_sizes, where a row is one
                transfer
            starts_on: local date of the day, or of the first day of the month or year, in the archive's
                own zone
            first_on: local date of the first day with such transfers
            last_on: local date of the last such day

        In SQL:

            SELECT client, sum(cardinality(time_bins)) AS bin_count
            FROM mart.client_size_cells
            WHERE archive = 'llnl' AND span = 'month'
            GROUP BY client
            ORDER BY client
        """

    def client_user_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        client: Values = None,
        span: Values = None,
        user_ids: Values = None,
        request_counts: Values = None,
        size_bytes: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, client, span and local day,
        month or year with such requests.

        The rows of mart.user_cells for each client machine, in archives that count single clients
        (`tapewise archives clients`); other archives have none. What names no client is in none either.
        Days whose detail was forgotten before the archive began to count single clients are missing,
        and so are clients whose names were forgotten since. mart.selected_users reads these rows if it
        is asked for one client.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service of the requests (mart.requests); null where no log has
                one
            client: name of the client machine
            span: day, month or year
            user_ids: numbers of the users in the warehouse: first those with several requests, then
                those with one, each ascending
            request_counts: for each of the user_ids, how many requests the user made
            size_bytes: for each of the user_ids, the bytes moved by these requests, counting only known
                sizes
            starts_on: local date of the day, or of the first day of the month or year, in the archive's
                own zone

        In SQL:

            SELECT client, sum(cardinality(user_ids)) AS user_count
            FROM mart.client_user_cells
            WHERE archive = 'llnl' AND span = 'month'
            GROUP BY client
            ORDER BY client
        """

    def clients(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        client: Values = None,
    ) -> pl.DataFrame:
        """One row per archive and client machine.

        The client machines that the logs of an archive name, from whichever lines. It is read at once,
        however many transfers there are, so the dashboards' filters list it.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            client: name of the client machine, as `client` in mart.transfers

        In SQL:

            SELECT client FROM mart.clients WHERE archive = 'llnl' ORDER BY client
        """

    def cold_data(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
        idle_days: Sequence[float] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, range of days without use, and group in which there are files; the groups
        are those asked for.

        How long the files that an archive holds have not been used, in files and bytes. A use is a put,
        a copy or a get. It has the files that the log mentions and that were not deleted or
        overwritten; all others were last used before the log begins, if they exist, so nothing is known
        about them. Files of which the log has no use, because it only mentions that they were renamed,
        are in a row of their own. Reads all events of the archive from the beginning.

        Args:
            archive: only this archive (null = all)
            since: only files first seen at or after this time (null = from the first)
            until: what was known before this time (null = at the end of the log)
            interface: only files that this interface put, or whose log first mentions them (null = all)
            direction: put: files that were put or copied, or first mentioned by a rename; get: files
                first mentioned by a get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of class_of_service and user; default none. With anything else, there are no
                rows
            idle_days: the edges of the ranges, in any order, in days of 86,400 s

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            user_id: number of the user who put the files, or who is first mentioned with them; null if
                the log does not say, and unless grouped by it
            class_of_service: class of service; null if the log does not say, and unless grouped by it
            idle_from_days: days from the last use to the end of the log that the files of this row have
                at least; null for files of which the log has no use
            idle_to_days: and that they do not reach; null in the last range, and for files of which the
                log has no use
            file_count: files
            size_bytes: their bytes, counting only known sizes
            unknown_size_count: files with an unknown size
            never_read_count: how many of these files were put or copied, but never got
            never_read_bytes: bytes of these
            log_ends_at: the last event before `until`, to which the days are counted

        In SQL:

            SELECT archive, class_of_service, idle_from_days, idle_to_days, file_count, size_bytes
            FROM mart.cold_data(grouped_by => '{class_of_service}')
            ORDER BY archive, class_of_service, idle_from_days
        """

    def cold_files(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        idle_days: Sequence[float] | None = None,
    ) -> pl.DataFrame:
        """One row per version of a file that is kept.

        The files that an archive holds according to the log, each with the range of days in which it
        has not been used; mart.cold_data and mart.project_cold_data add them up. Files that the log
        does not mention are missing, and so are files that were deleted or overwritten. Reads all
        events of the archive from the beginning.

        Args:
            archive: only this archive (null = all)
            since: only files first seen at or after this time (null = from the first)
            until: what was known before this time (null = at the end of the log)
            interface: only files that this interface put, or whose log first mentions them (null = all)
            direction: put: files that were put or copied, or first mentioned by a rename; get: files
                first mentioned by a get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            idle_days: the edges of the ranges, in any order, in days of 86,400 s

        Columns:
            version_id: the version, as in mart.file_versions
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            user_id: number of the user who put the file, or who is first mentioned with it; null if the
                log does not say
            class_of_service: class of service, null if the log does not say
            idle_from_days: days from the last put, copy or get of the file to the end of the log, which
                are at least these; null if the log has none of them
            idle_to_days: and less than these; null in the last range, and if the log has no use of the
                file
            size_bytes: size of the file, null if it is unknown
            is_never_read: whether the file was put or copied, but never got
            first_seen_at: when the log first mentions the version
            log_ends_at: the last event before `until`, to which the days are counted

        In SQL:

            SELECT version_id, user_id, size_bytes, first_seen_at
            FROM mart.cold_files(archive => 'llnl', idle_days => '{365}')
            WHERE idle_from_days = 365
            ORDER BY size_bytes DESC
            LIMIT 10
        """

    def compare_archives(
        self,
        *,
        a: str | None = None,
        b: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        replicate_count: int | None = None,
        b_since: Moment | None = None,
        b_until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per direction, quantity and statistic that either archive has.

        Compares two archives of any kind (measured, synthetic or simulated) and shows where they differ
        by more than chance. Days (or other blocks of time) are resampled. Days that both sides have in
        common are drawn together, so archives with the same requests are compared request by request,
        and other archives are compared as independent samples. The interval is the difference plus or
        minus t standard errors. Holm's method corrects for testing several figures at once, apart for
        the headlines and the details. A simulated archive counts from the time its run became steady;
        if it never did, there are no rows. For all time, `tapewise refresh` keeps the part of each
        archive (mart.comparison_figures).

        Args:
            a: the first archive
            b: the second archive
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so a block must
                be longer than a burst of requests (null = local days of archive a)
            replicate_count: how many times the blocks are resampled (null = 200)
            b_since: only requests of b that ended at or after this time; if this or b_until is given,
                since and until only apply to a (null = from the first)
            b_until: only requests of b that ended before this time (null = to the last)

        Columns:
            a: the first archive
            b: the second archive
            direction: put, get, or all
            quantity: what is compared, as in mart.compared_means and mart.compared_quantiles
            statistic: mean, per day, share, dispersion, geometric mean, per block, p50, p90 or p99
            unit: unit of the values
            a_value: the exact statistic of a; null if a does not have it, or if it is not known
            b_value: the exact statistic of b; null if b does not have it, or if it is not known
            difference: b_value minus a_value
            difference_low: lower end of the 95 % interval of the difference; null where the figure is
                not compared
            difference_high: upper end of the 95 % interval of the difference; null where the figure is
                not compared
            a_count: requests of a that the statistic is computed from
            b_count: requests of b that the statistic is computed from
            block_count: blocks that contain any of these requests, on the side that has fewer such
                blocks
            p_value: two-sided probability that chance alone gives a difference this far from zero; 1
                where there is no difference, 0 where the difference is the same in all blocks
            adjusted_p_value: p_value adjusted by Holm's method and doubled, over the compared headlines
                or the compared details; figures that are the same on both sides in all replicates are
                not counted
            is_headline: whether the figure is a headline (means and loads of both directions together,
                and the share found on disk) or a detail
            is_different: whether adjusted_p_value is below 0.05; null where the figure is not compared
            set_apart: why the figure is not compared - only in a, only in b, not known (the number
                under way, if a log never records when a transfer began), one block (chance can be
                judged only from several), too few (a quantile needs five requests beyond it); null
                where it is compared
            a_began_at: when the first counted request of a was made
            a_ended_at: when the last counted request of a ended
            b_began_at: when the first counted request of b was made
            b_ended_at: when the last counted request of b ended

        In SQL:

            SELECT direction, quantity, statistic, a_value, b_value, difference_low, difference_high
            FROM mart.compare_archives('llnl', 'rebuilt')
            WHERE is_different
        """

    def compare_mixes(
        self,
        *,
        a: str | None = None,
        b: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        replicate_count: int | None = None,
        b_since: Moment | None = None,
        b_until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per direction and quantity that either archive has.

        Why the means of two archives, or of two periods of one, differ - because the same requests took
        longer or less long (service), or because other requests were made (mix). The difference of the
        means is the sum of both. For the first part, the requests of b are weighted so that they have
        the mix of directions, classes of service and sizes that those of a have. More requests at a
        time also make the same requests slower, and that counts as service; mart.compare_archives has
        the requests per day. Intervals are computed as there.

        Args:
            a: the first archive
            b: the second archive, or the first one again
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days of archive a)
            replicate_count: how many times the blocks are resampled (null = 200)
            b_since: only requests of b that ended at or after this time; if this or b_until is given,
                since and until only apply to a (null = from the first)
            b_until: only requests of b that ended before this time (null = to the last)

        Columns:
            a: the first archive
            b: the second archive
            direction: put, get, or all
            quantity: what is compared, as in mart.compared_mixes
            statistic: mean, or share (0 to 1)
            unit: s or 1
            a_count: requests of a that a_value is computed from
            b_count: requests of b that b_value is computed from
            a_common_ratio: share of a_count whose kind (direction, class of service, bin of sizes) b
                has too; the others count as mix
            b_common_ratio: share of b_count whose kind a has too
            block_count: blocks that contain any of these requests, on the side that has fewer such
                blocks
            a_value: the mean or share of a; null if a has no such requests
            b_value: the mean or share of b; null if b has no such requests
            same_mix_value: what it would be in b with the mix of a (a_value plus service_difference)
            difference: b_value minus a_value
            difference_low: lower end of the 95 % interval of difference; null if either side has fewer
                than two blocks
            difference_high: upper end of the 95 % interval of difference
            service_difference: the part of difference by which requests of the same kind took longer in
                b; null if no kind is on both sides
            service_difference_low: lower end of its 95 % interval
            service_difference_high: upper end of its 95 % interval
            mix_difference: the other part of difference, because of other directions, classes of
                service or sizes
            mix_difference_low: lower end of its 95 % interval
            mix_difference_high: upper end of its 95 % interval

        In SQL:

            SELECT direction, quantity, a_value, same_mix_value, b_value, service_difference_low, service_difference_high
            FROM mart.compare_mixes('sdsc', 'sdsc', until => '1998-09-01 00:00-07', b_since => '1998-09-15 00:00-07')
        """

    def compared_blocks(
        self,
        *,
        a: str | None = None,
        b: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        b_since: Moment | None = None,
        b_until: Moment | None = None,
        timezone: str | None = None,
        asked_from: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per side, direction, quantity, statistic and block that overlaps the side's time span;
        none if the denominator is 0, except of the dispersion.

        The blocks of time that a comparison uses, and what each adds to the figures that
        mart.compared_means draws. A figure is the factor times the sum of the numerators, divided by
        the sum of the denominators; the dispersion and the geometric mean are computed from this ratio.
        Blocks without any request are included. The first block begins with the first request, and the
        last block ends when the last request ends.

        Args:
            a: the first archive
            b: the second archive (null = only a)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days of archive a)
            b_since: only requests of b that ended at or after this time; if this or b_until is given,
                since and until only apply to a (null = from the first)
            b_until: only requests of b that ended before this time (null = to the last)
            timezone: whose days are the blocks (null = that of archive a)
            asked_from: as if this was when the run of the other archive became steady, if that is not a
                simulated one (null = from the first)

        Columns:
            side: a or b
            direction: put, get, or all; put and get only if either side has any, or if there is no b
            quantity: what is measured, as in mart.compared_means
            statistic: mean, per day, share, dispersion, geometric mean or per block
            unit: unit of the figure
            factor: by what the ratio is multiplied
            numerator: the sum over the block, as a whole number - transfers, requests, bytes or
                microseconds (for transfers under way, of all of them together); for the dispersion, the
                squares of the numbers of requests in each hour; for the size, billionths of its natural
                logarithm; null if it is not known (the number under way, if there are transfers of the
                side and direction, but none has a known start)
            denominator: requests, or microseconds of the block; for users per block, 1
            request_count: requests of the block that the numerator is computed from
            block_us: microseconds of the block that lie within the side's time span
            block_at: when the block begins
            span_began_at: when the first request of the side was made
            span_ended_at: when the last request of the side ended

        In SQL:

            SELECT side, direction, sum(numerator) / sum(denominator) AS mean_under_way
            FROM mart.compared_blocks('llnl', 'rebuilt')
            WHERE quantity = 'under way'
            GROUP BY side, direction
        """

    def compared_means(
        self,
        *,
        a: str | None = None,
        b: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        replicate_count: int | None = None,
        b_since: Moment | None = None,
        b_until: Moment | None = None,
        timezone: str | None = None,
        asked_from: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per side, direction, quantity, statistic and replicate.

        Means, shares and counts per day of two archives, their load in a few figures (how unevenly
        requests come, how large they are, how many users make them and when, and how soon files are
        used again), and what all these would have been with other days (or other blocks of time). Each
        block is drawn the number of times that mart.poisson_weight gives, which is the same on both
        sides.

        Args:
            a: the first archive
            b: the second archive (null = only a)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days of archive a)
            replicate_count: how many times the blocks are resampled (null = 200)
            b_since: only requests of b that ended at or after this time; if this or b_until is given,
                since and until only apply to a (null = from the first)
            b_until: only requests of b that ended before this time (null = to the last)
            timezone: whose days are the blocks (null = that of archive a)
            asked_from: as if this was when the run of the other archive became steady, if that is not a
                simulated one (null = from the first)

        Columns:
            side: a or b
            direction: put, get, or all
            quantity: what is measured - requests, bytes, under way (transfers at a time), none under
                way, transfer time, open time (of one direction), stage time (once per stage), found on
                disk (hits; of gets with evidence), joined a stage (another request's; of gets for which
                that is known), total time (from request to end); and for simulated archives the time by
                cause, as in mart.request_waits - wait for user limit, wait for port, wait for file,
                wait for drive, load of tape, wait for room, latency, staging alone, transfer alone
                (with tries that failed, and the waits between them), contention; and of both directions
                together size, users, of the busiest user (of the requests whose user is known), from 8
                to 18 h (by the clock of archive a), file used the day before (gets whose file was asked
                for within the 24 hours before them, of the gets whose file is known)
            statistic: mean, per day, share (0 to 1; for a cause, of the requests that waited for it at
                all), dispersion (the variance of the number of requests in an hour, divided by its
                mean; 1 for independent requests), geometric mean (of what has bytes), or per block
                (users in a day or other block in which the user of any request is known)
            unit: s, 1/day, bytes/day, bytes or 1
            replicate: number of the replicate; 0 is the logged data, with each block drawn once
            request_count: requests that the value is computed from, each counted as often as its block
                was drawn
            block_count: blocks that contain any of these requests; for the dispersion, all blocks
            value: the statistic of this replicate, in the unit; null if none of the blocks was drawn,
                or if it is unknown (the number under way, if no transfer has a known start)
            span_began_at: when the first request of the side was made
            span_ended_at: when the last request of the side ended

        In SQL:

            SELECT side, quantity, statistic, value, unit
            FROM mart.compared_means('llnl', 'rebuilt', replicate_count => 0)
            WHERE direction = 'get'
        """

    def compared_mixes(
        self,
        *,
        a: str | None = None,
        b: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        replicate_count: int | None = None,
        b_since: Moment | None = None,
        b_until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per direction, quantity and replicate.

        Means and shares of two archives, or of two periods of one, and by how much the mean would
        differ if both had the mix of requests of a. Requests are of the same kind if they have the same
        direction, class of service and bin of sizes (mart.size_bin). The replicates show what the
        values would have been with other days (or other blocks of time), as in mart.compared_means.

        Args:
            a: the first archive
            b: the second archive, or the first one again
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days of archive a)
            replicate_count: how many times the blocks are resampled (null = 200)
            b_since: only requests of b that ended at or after this time; if this or b_until is given,
                since and until only apply to a (null = from the first)
            b_until: only requests of b that ended before this time (null = to the last)

        Columns:
            direction: put, get, or all
            quantity: what is measured - transfer time, stage time (of gets), total time, found on disk
                (of gets)
            statistic: mean, or share (0 to 1)
            unit: s or 1
            replicate: number of the replicate; 0 is the logged data, with each block drawn once
            a_count: requests of a that a_value is computed from, each counted as often as its block was
                drawn
            b_count: requests of b that b_value is computed from, each counted as often as its block was
                drawn
            a_common_count: those of a_count whose kind b has too
            b_common_count: those of b_count whose kind a has too
            block_count: blocks that contain any of these requests, on the side that has fewer such
                blocks
            a_value: the mean or share of a, in the unit; null if a has no such requests
            b_value: the mean or share of b, in the unit; null if b has no such requests
            service_difference: mean over those of a_common_count of the mean of their kind in b minus
                that in a; null if no kind is on both sides

        In SQL:

            SELECT direction, quantity, a_value, b_value, service_difference
            FROM mart.compared_mixes('sdsc', 'sdsc', until => '1998-09-01 00:00-07', b_since => '1998-09-15 00:00-07',
                replicate_count => 0)
        """

    def compared_quantiles(
        self,
        *,
        a: str | None = None,
        b: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        replicate_count: int | None = None,
        b_since: Moment | None = None,
        b_until: Moment | None = None,
        timezone: str | None = None,
        asked_from: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per side, direction, quantity, statistic and replicate.

        Quantiles of the times of two archives, and what they would have been with other days (or other
        blocks of time). A quantile is the smallest time that the given share of the requests did not
        exceed. To sort the requests only once, a replicate's quantile is looked up among all requests,
        shifted by as much as the share of requests below it has moved.

        Args:
            a: the first archive
            b: the second archive (null = only a)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days of archive a)
            replicate_count: how many times the blocks are resampled (null = 200)
            b_since: only requests of b that ended at or after this time; if this or b_until is given,
                since and until only apply to a (null = from the first)
            b_until: only requests of b that ended before this time (null = to the last)
            timezone: whose days are the blocks (null = that of archive a)
            asked_from: as if this was when the run of the other archive became steady, if that is not a
                simulated one (null = from the first)

        Columns:
            side: a or b
            direction: put, get, or all
            quantity: what is measured - transfer time, open time (of one direction), stage time (of
                gets), total time
            statistic: p50, p90 or p99
            unit: s
            replicate: number of the replicate; 0 is the logged data, with each block drawn once
            request_count: requests that the value is computed from, each counted as often as its block
                was drawn
            block_count: blocks that contain any of these requests
            value: the statistic of this replicate, in the unit; null if none of the blocks was drawn
            span_began_at: when the first request of the side was made
            span_ended_at: when the last request of the side ended

        In SQL:

            SELECT side, direction, quantity, statistic, value
            FROM mart.compared_quantiles('llnl', 'rebuilt', replicate_count => 0)
        """

    def compared_requests(
        self,
        *,
        a: str | None = None,
        b: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        b_since: Moment | None = None,
        b_until: Moment | None = None,
        timezone: str | None = None,
        asked_from: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per side and request that moved a file.

        The requests that a comparison of two archives uses, with the block of time that each belongs
        to. Requests that failed or have no known transfer are left out. Requests made before a
        simulated archive's run became steady are left out on both sides, except that an archive that
        had ended by then is from another time and is kept whole. If either side is a simulated archive
        that never became steady, there are no rows.

        Args:
            a: the first archive
            b: the second archive (null = only a)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days of archive a)
            b_since: only requests of b that ended at or after this time; if this or b_until is given,
                since and until only apply to a (null = from the first)
            b_until: only requests of b that ended before this time (null = to the last)
            timezone: whose days are the blocks (null = that of archive a)
            asked_from: as if this was when the run of the other archive became steady, if that is not a
                simulated one (null = from the first)

        Columns:
            side: a or b; an archive may be compared with itself
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: time zone of archive a, whose days are the blocks
            transfer_id: the transfer, as in mart.transfers
            direction: put or get
            class_of_service: class of service, null if the log does not report it
            user_id: the user, as in mart.requests; null if the log does not say
            file_key: key of the file's path, as in mart.requests; null if the log does not say
            size_bytes: bytes moved
            duration_s: seconds the transfer took, as logged
            open_s: seconds it took to open the file, as logged; null where it is not
            stage_s: seconds the stage took, as logged; null where there was none
            total_s: seconds from the request until the transfer ended; null if not known, or if
                is_total_negative
            is_total_negative: whether, according to its times, the request ended clock_step_s (of
                mart.requests) or more before it was made; if so, two clocks disagree
            is_cached: whether a get found its file on disk, as in mart.requests
            is_joined: whether the request waited for a stage that another request had started, as in
                mart.requests
            asked_at: when the request was made; where that is not known, when the transfer began or,
                failing that, ended
            started_at: when the transfer began; null if not known
            ended_at: when the transfer ended
            block_at: start of the block of time in which the request was made
            span_began_at: when the first request of the side was made, on any interface
            span_ended_at: when the last request of the side ended, on any interface

        In SQL:

            SELECT side, block_at, count(*) AS request_count
            FROM mart.compared_requests('llnl', 'rebuilt')
            GROUP BY side, block_at
        """

    def comparison_figures(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        replicate_count: int | None = None,
        timezone: str | None = None,
        asked_from: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive, direction, quantity and statistic; put, get and all, even if there are no
        requests in one of the directions.

        What an archive adds to a comparison with any other - its means, shares, counts per day and
        quantiles, and what they would have been with other days (or other blocks of time).
        mart.compare_archives puts those of two archives beside each other. `tapewise refresh` keeps
        them once for each archive.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days)
            replicate_count: how many times the blocks are resampled (null = 200)
            timezone: whose days are the blocks (null = that of the archive)
            asked_from: when the run of a simulated archive that it is compared with became steady;
                requests made before that are left out, unless all were (null = from the first)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            direction: put, get, or all
            quantity: what is measured, as in mart.compared_means and mart.compared_quantiles
            statistic: mean, per day, share, dispersion, geometric mean, per block, p50, p90 or p99
            unit: unit of the values
            block_count: blocks that contain any of these requests; for the dispersion, all blocks
            request_counts: requests that the value is computed from, by replicate; the first is that of
                the logged data, with each block drawn once
            values_drawn: the statistic by replicate; null if none of the blocks was drawn, or if it is
                unknown
            span_began_at: when the first request of the archive was made
            span_ended_at: when the last request of the archive ended

        In SQL:

            SELECT direction, quantity, statistic, values_drawn[1] AS value, unit
            FROM mart.comparison_figures('llnl', replicate_count => 0)
        """

    def comparison_kinds(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        block_s: float | None = None,
        replicate_count: int | None = None,
        timezone: str | None = None,
        asked_from: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive, direction, class of service, bin of sizes and quantity that is known of any
        request.

        What an archive adds to a comparison of means in which both archives have the same mix of
        requests (mart.compared_mixes) - how long requests of each kind took together, and what that
        would have been with other days (or other blocks of time). Requests are of the same kind if they
        have the same direction, class of service and bin of sizes (mart.size_bin). `tapewise refresh`
        keeps this once for each archive.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            block_s: length of a block in seconds; requests of one block stay together, so it must be
                longer than a burst of requests (null = local days)
            replicate_count: how many times the blocks are resampled (null = 200)
            timezone: whose days are the blocks (null = that of the archive)
            asked_from: when the run of a simulated archive that it is compared with became steady;
                requests made before that are left out, unless all were (null = from the first)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            direction: put or get
            class_of_service: class of service, null if the log does not report it
            size_bin: number of the bin of sizes, as in mart.size_bin
            quantity: what is measured - transfer time, stage time (of gets), total time, found on disk
                (of gets)
            statistic: mean, or share (0 to 1)
            unit: s or 1
            factor: by what the amounts are multiplied to be in the unit
            direction_block_count: blocks that contain any requests of the direction of which the
                quantity is known
            block_count: blocks that contain any requests of which it is known
            request_counts: requests of which it is known, by replicate; the first is that of the logged
                data, with each block drawn once
            amounts: their microseconds or, for the share, those found on disk, by replicate

        In SQL:

            SELECT direction, size_bin, factor * amounts[1] / request_counts[1] AS mean_s
            FROM mart.comparison_kinds('sdsc', replicate_count => 0)
            WHERE quantity = 'transfer time'
        """

    def compute_forecast(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        is_fresh: bool | None = None,
        years: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive with recorded compute power, and calendar year after the last day with
        events.

        What an archive will hold and move if that stays proportional to the compute power that it
        serves (mart.compute_power, plans included), as the German climate computing centre planned its
        own. What is written, kept and read for each sustained flop/s is fitted to the weeks of the
        range whose compute power is recorded. Only for archives whose data come from such computers.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time are fitted (null = from the first)
            until: only local days that begin before this time are fitted (null = to the last)
            is_fresh: follow the files for this answer, in place of the last recount
            years: how many years to come after the current one, at most 1000

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            day_count: local days that were fitted, in weeks whose compute power is known on each day
            week_count: calendar weeks of these days
            net_bytes_per_flop_per_s_year: net bytes added in a year for each flop/s (DKRZ's first rule
                says 1,000); null if the power was 0
            kept_ratio: net bytes added for each byte put or copied (DKRZ's second rule says .75); null
                if nothing was
            bytes_read_per_byte_written: bytes read for each byte written (DKRZ's third rule says 3);
                null if nothing was written
            peak_rate_per_mean_rate: rate of the busiest ten minutes over the mean rate
                (mart.load_over_time; DKRZ plans with 10); null where no durations are known
            flop_per_s: mean compute power of the row's days
            net_bytes_per_day: bytes put and copied a day, minus those deleted and replaced; expected
            net_bytes_per_day_low: lower end of its 95 % interval, for the mean of these days; null with
                fewer than two weeks
            net_bytes_per_day_high: upper end of its 95 % interval; null with fewer than two weeks
            held_bytes: bytes held at the end of the row's last day; null without an opening balance
                (mart.growth)
            held_bytes_low: lower end of its 95 % interval; null without an opening balance, or with
                fewer than two weeks
            held_bytes_high: upper end of its 95 % interval; null without an opening balance, or with
                fewer than two weeks
            written_bytes_per_day: bytes put a day, as far as sizes are known; null where none is
            moved_bytes_per_day: bytes put and got a day; null where no size of one of the two is known
            mean_rate_bytes_per_s: moved_bytes_per_day over a day's 86,400 s
            peak_rate_bytes_per_s: the mean rate times peak_rate_per_mean_rate, the rate to provide for
                the busiest ten minutes
            observed_on: last local day with events in the range
            starts_on: first day of the row, January 1 except in the current year
            ends_on: last day of the year

        In SQL:

            SELECT ends_on, flop_per_s, held_bytes, written_bytes_per_day, moved_bytes_per_day, peak_rate_bytes_per_s
            FROM mart.compute_forecast('hpss')
            ORDER BY ends_on
        """

    def compute_power(
        self,
        *,
        compute_power_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        flop_per_s: Values = None,
        note: Values = None,
        recorded_at: Values = None,
        starts_on: Values = None,
        ends_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive and day from which another compute power holds.

        The computers that an archive serves, as people recorded them with `tapewise compute-power add`:
        how many floating-point operations a second they sustain, from when. Plans for days to come are
        recorded the same way. mart.compute_forecast calculates from them what the archive will hold and
        move.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            compute_power_id: number of the entry, for `tapewise compute-power remove`
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            flop_per_s: floating-point operations a second that all these computers sustain together
            note: what is known about it
            recorded_at: when the entry was recorded
            starts_on: local date from which it holds, in the archive's own zone
            ends_on: last local date on which it holds; null if no other entry follows

        In SQL:

            SELECT archive, flop_per_s, starts_on, ends_on, note
            FROM mart.compute_power
            ORDER BY archive, starts_on
        """

    def concurrency(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and number of transfers under way that occurred.

        How long 0, 1, 2 and more transfers were under way at the same time, and how many transfers
        began while so many were. The share of time and the share of transfers at a limit (13 ports,
        say) differ, because transfers come in crowds: both are given, for each number alone and for it
        and all greater ones. A transfer is under way from start to end as logged; one that begins when
        another ends does not overlap it; of several that begin at the same time, each counts all of
        them. A transfer that takes no time counts itself and those under way. Time is counted from the
        first transfer of the log to its last one, and in the whole range if the log extends beyond it;
        recorded outages count as time with none. An archive whose log gives no start of any transfer
        has no row.

        Args:
            archive: only this archive (null = all)
            since: only what was under way at or after this time (null = from the first)
            until: only what was under way before this time (null = to the last)
            interface: only transfers of this interface (null = all)
            direction: put or get (null = both)
            client: only transfers of this client machine (null = all)
            class_of_service: only transfers of this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            under_way: the number of transfers under way at the same time
            lasting_s: seconds in which exactly so many were under way
            lasting_ratio: lasting_s over all time (0 to 1)
            at_least_s: seconds in which so many or more were under way
            at_least_ratio: at_least_s over all time (0 to 1), the share of time at this limit
            begun_count: transfers that began in the range, and with which exactly so many were under
                way, themselves included
            begun_ratio: begun_count over all transfers that began in the range (0 to 1)
            begun_at_least_count: transfers that began in the range, and with which so many or more were
                under way
            begun_at_least_ratio: begun_at_least_count over all transfers that began in the range (0 to
                1), the share of transfers at this limit
            unplaced_count: transfers of the range whose start or time of day is unknown. They are not
                counted elsewhere, so more may have been under way. Of those without a time of day, all
                clients count
            is_wait_included: whether durations of some of the transfers hold the wait for a port (NFT;
                mart.holds_port_wait), so that what is under way are requests in progress, not ports in
                use

        In SQL:

            SELECT under_way, at_least_ratio, begun_at_least_count, begun_at_least_ratio
            FROM mart.concurrency(
                archive => 'llnl', interface => 'nft', since => '1998-04-02 America/Los_Angeles',
                until => '1998-04-09 America/Los_Angeles'
            )
            WHERE under_way = 13
        """

    def config_changes(
        self,
        *,
        config_change_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        change_kind: Values = None,
        class_of_service: Values = None,
        note: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
        recorded_at: Values = None,
    ) -> pl.DataFrame:
        """One row per period in which an archive was known to be configured differently.

        Configuration changes that people recorded with `tapewise config-changes add`. The archive does
        not log them, although they change what logged times mean. While staging is bypassed, and in a
        tape-only class of service, the time to open a file does not include a mount. Changes may
        overlap.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            config_change_id: number of the change, for `tapewise config-changes remove`
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            change_kind: staging bypass, tape only or other
            class_of_service: the class of service that the change applies to, null if it applies to all
            note: what is known about the change
            started_at: when this configuration began to apply (1985-01-01 if it always did)
            ended_at: when this configuration ceased to apply, null if it still does
            recorded_at: when the change was recorded

        In SQL:

            SELECT archive, change_kind, class_of_service, started_at, ended_at, note
            FROM mart.config_changes
            ORDER BY archive, started_at
        """

    def coverage(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        view_name: Values = None,
        state: Values = None,
        why: Values = None,
    ) -> pl.DataFrame:
        """One row per archive and view or function that logs feed.

        Which views and functions of mart an archive's logs can feed, and what the logs lack for the
        others. A format may be able to report more than its lines have contained so far. Views of data
        that is entered by people, calculated or simulated have no row. Neither do archives without
        logs.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            view_name: name of the view or function in mart
            state: fed, partly (some columns stay null, or some rows are missing) or not
            why: what the archive's logs do not contain; null if the view is fed

        In SQL:

            SELECT view_name, state, why
            FROM mart.coverage
            WHERE archive = 'hpss' AND state <> 'fed'
            ORDER BY state, view_name
        """

    def daily_activity(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, local day with transfers and, unless asked for otherwise, interface and
        direction.

        Transfers, failures and bytes by local day. The days are those of mart.activity, but they can be
        filtered by class of service and by client. A range means whole days. A day without transfers
        has no row. Days whose detail the archive has forgotten (`tapewise forget`) are covered, except
        for one client of an archive that counts no single clients (mart.archives), and those forgotten
        before the warehouse had mart.day_cells. A log that reports another's failures does so for all
        of its first and last day; with a client whose transfers are read, from its first to its last
        line.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of interface and direction; default both. '{}' counts each day once. With
                anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...); null unless grouped by it
            direction: put or get; null unless grouped by it
            transfer_count: transfers that ended on the day, failed ones included
            failed_count: how many of them failed, as far as logs report failures; null where none of
                their logs does
            failures_unknown_count: how many of them come from logs that report no failures, where no
                other log reports failures either; failed_count covers the remaining ones
            saturated_count: how many of those that did not fail have a saturated size, so size_bytes is
                a lower bound
            size_bytes: bytes of the transfers that did not fail, as far as sizes are known; null where
                no size is known. All bytes of a transfer count on the day it ended
            unknown_size_count: how many did not fail and have no size
            duration_s: total seconds of the transfers that did not fail, as far as durations are known;
                null where no duration is known
            unknown_duration_count: how many did not fail and have no duration
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT archive, starts_on, direction, sum(transfer_count) AS transfer_count, sum(size_bytes) AS size_bytes
            FROM mart.daily_activity(since => now() - INTERVAL '1 month', class_of_service => '4')
            WHERE kind = 'measured'
            GROUP BY archive, starts_on, direction
            ORDER BY archive, starts_on, direction
        """

    def daily_figures(
        self,
        *,
        daily_report_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        system: Values = None,
        section: Values = None,
        user_id: Values = None,
        gateway: Values = None,
        client: Values = None,
        application: Values = None,
        storage_class: Values = None,
        storage_class_number: Values = None,
        drive_type: Values = None,
        library: Values = None,
        to_library: Values = None,
        vsn: Values = None,
        figure: Values = None,
        value: Values = None,
        is_total: Values = None,
        reported_on: Values = None,
    ) -> pl.DataFrame:
        """One row per figure of a day's report.

        The figures of the site's own daily report, unconverted. Gigabytes (`_gb`) stay the report's own
        gigabytes, because a report does not say whether they are 10^9 or 2^30 bytes. A column that
        names what a figure is about is null in sections that are about something else, and in totals.
        If a day's report was corrected, each figure comes from the row read last; a row that the
        corrected report omits is kept.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            daily_report_id: number of the row in the warehouse, for `tapewise explain row`; changes
                when the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of reports
            system: which of several systems the figure is about (NERSC has Archive and Hpss), null if
                it is about all of them
            section: io_by_gateway, io_by_client, io_by_application, io_by_user, accounting, migration,
                tape_drives, free_slots, library_drives, cartridge_moves or volumes
            user_id: number of the user in the warehouse; only in section io_by_user
            gateway: name of HPSS's gateway machine; only in section io_by_gateway
            client: name of the client machine, or group of machines; only in section io_by_client
            application: the program that moved the files (hsi, htar, gftp, ...); only in section
                io_by_application, and in each row of io_by_user
            storage_class: name of the storage class; only in section migration
            storage_class_number: number of the storage class; only in section migration
            drive_type: type of tape drive; only in sections tape_drives and library_drives
            library: library, or part of one, as the report names it (such as 1,4 for an LSM); only in
                sections free_slots, library_drives and cartridge_moves (the one that the cartridges
                left)
            to_library: where the cartridges went, named in the same way as library; only in section
                cartridge_moves
            vsn: the cartridge (its volume serial number); only in section volumes
            figure: what was counted, with its unit (put_count, put_gb, mounted_s, locked_ratio, ...)
            value: value of the figure
            is_total: whether the figure is the report's own total of its rows
            reported_on: the day that the report covers

        In SQL:

            SELECT archive, reported_on, system, drive_type, value AS mount_count
            FROM mart.daily_figures
            WHERE section = 'tape_drives' AND figure = 'mount_count'
            ORDER BY archive, reported_on, system, drive_type
        """

    def day_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        transfer_count: Values = None,
        failed_count: Values = None,
        saturated_count: Values = None,
        size_bytes: Values = None,
        unknown_size_count: Values = None,
        duration_us: Values = None,
        unknown_duration_count: Values = None,
        ambiguous_count: Values = None,
        day_only_count: Values = None,
        coarse_count: Values = None,
        below_clock_count: Values = None,
        flagged_saturated_count: Values = None,
        inconsistent_count: Values = None,
        rated_size_bytes: Values = None,
        rated_duration_us: Values = None,
        hours: Values = None,
        hour_transfer_counts: Values = None,
        hour_failed_counts: Values = None,
        hour_size_bytes: Values = None,
        hour_unknown_size_counts: Values = None,
        rate_bins: Values = None,
        rate_counts: Values = None,
        ten_minute_offsets: Values = None,
        ten_minute_counts: Values = None,
        ten_minute_marks: Values = None,
        rest_size_bins: Values = None,
        rest_size_counts: Values = None,
        rest_saturated_counts: Values = None,
        rest_size_bytes: Values = None,
        largest: Values = None,
        longest: Values = None,
        rate_bytes_per_s: Values = None,
        is_failure_logged: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service and local day on which
        transfers ended.

        The rollup by local day, which charts read in place of the transfers: a thousand times fewer
        rows. It also covers the days whose detail the archive has forgotten (`tapewise forget`), except
        those forgotten before the warehouse had this rollup. For a range, and for one client, use
        mart.selected_days.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days and hours are counted
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service as in the log; null where the log has none
            transfer_count: transfers that ended on the day, failed ones included
            failed_count: how many of them failed, as far as logs report it
            saturated_count: how many of the others have a saturated size
            size_bytes: bytes of those that did not fail, as far as sizes are known; all bytes of a
                transfer count on the day it ended
            unknown_size_count: how many did not fail and have no size
            duration_us: total microseconds of those that did not fail, as far as durations are known;
                an integer, so that sums equal any recount
            unknown_duration_count: how many did not fail and have no duration
            ambiguous_count: how many have is_time_ambiguous of mart.transfers, failed ones included
            day_only_count: how many have is_time_of_day_unknown, failed ones included
            coarse_count: how many have is_duration_coarse, failed ones included
            below_clock_count: how many have is_duration_below_clock, failed ones included
            flagged_saturated_count: how many have is_size_saturated, failed ones included
            inconsistent_count: how many have is_rate_inconsistent, failed ones included
            rated_size_bytes: bytes of those counted in rate_counts
            rated_duration_us: total microseconds of those counted in rate_counts
            hours: the hours of the local clock (0 to 23) in which transfers ended, ascending; transfers
                of which only the day is known are in none
            hour_transfer_counts: for each of the hours, how many transfers ended in it, failed ones
                included
            hour_failed_counts: for each of the hours, how many of them failed
            hour_size_bytes: for each of the hours, the bytes of those that did not fail, as far as
                sizes are known
            hour_unknown_size_counts: for each of the hours, how many did not fail and have no size
            rate_bins: bins of the rates of those that did not fail and have a rate, a duration and an
                unsaturated size, ascending (mart.histogram_bin); mart.histogram_value is within 1/128
                of each rate in its bin
            rate_counts: for each of the bins, how many rates are in it
            ten_minute_offsets: the ten minutes of the local clock in which transfers ended, ascending:
                how many minutes after the day begins in UTC they begin (negative if before it);
                transfers of which only the day is known are in none
            ten_minute_counts: for each of the ten_minute_offsets, how many transfers ended in it,
                failed ones included
            ten_minute_marks: the ten minutes as 336 bits, one for each ten minutes from 16 hours before
                the day begins in UTC. bit_or joins those of several cells
            rest_size_bins: bins of the sizes (mart.size_bin) of those that did not fail and are not in
                mart.size_cells, because their duration is unknown, zero or too coarse, or their size is
                saturated, ascending. Empty on days whose detail was forgotten before the warehouse
                counted them
            rest_size_counts: for each of the rest_size_bins, how many transfers are in it
            rest_saturated_counts: for each of the rest_size_bins, how many of them have a saturated
                size
            rest_size_bytes: for each of the rest_size_bins, their bytes
            largest: the largest file of those that did not fail: its bytes; the microseconds from when
                it was moved to 1970 (UTC), so that of equally large files the earliest has the greatest
                array; 1 if the size is saturated; 1 if only the day is known. Null where no size is
                known, or where the log reports parts of files
            longest: the longest transfer of those that did not fail: its seconds; the microseconds from
                its end to 1970 (UTC); 1 if only the day is known. Null where no duration is known
            rate_bytes_per_s: always null here; the rate itself in mart.selected_days, where a row is
                one transfer
            is_failure_logged: whether their log reports failures, or another log reports them for any
                part of the day
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT starts_on, interface, direction, sum(transfer_count) AS transfer_count
            FROM mart.day_cells
            WHERE archive = 'llnl' AND starts_on >= current_date - 30
            GROUP BY starts_on, interface, direction
            ORDER BY starts_on, interface, direction
        """

    def day_variance(
        self,
        *,
        amounts: Sequence[float],
        day_counts: Sequence[float],
    ) -> pl.DataFrame:
        """Variance per day, in the amount's unit squared; null with fewer than two spans.

        How much an amount per day varies by chance, from sums over spans of days. Days of one week
        resemble each other, so with weeks as spans, what is expected of h days to come varies by h
        times this, and the mean of d days by this divided by d.

        Args:
            amounts: the amount of each span; null if it is not known
            day_counts: the days of each span; null if the amount is not known

        In SQL:

            SELECT mart.day_variance('{70, 140, 10}', '{7, 7, 1}') AS variance_per_day
        """

    def disk_open_times(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and bin that contains requests, or one row without a
        bin if all requests were bypassed.

        How long files on disk took to open, in bins of 100 ms. Open times below 7 s count as disk,
        because no file at SDSC was seen to come from tape that fast. (mart.cache_hits uses a limit of 8
        s, the first boundary of mart.open_time_clusters.) In all other respects the function is the
        same as mart.open_times.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both, and opens of unknown direction)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that opened the file (ftp, hsi, ...)
            direction: put or get, null if the log of opens does not say
            open_floor_s: open time in seconds, truncated to a tenth (0.4 is 400 to 499.999 ms); null
                where all requests of the archive, interface and direction were bypassed
            request_count: requests whose open time is in this bin
            running_count: requests whose open time is in this bin or a shorter one
            bypassed_count: requests with an open time below 7 s that were left out, because staging was
                bypassed or their class of service is tape-only; the same in each row of an archive,
                interface and direction
            unknown_count: requests of the archive, interface and direction that were left out, because
                a bypass covers a part of their day, and the detail that would show which requests it
                covers is forgotten; the same in each row of that combination
            request_ratio: request_count over all requests of the archive, interface and direction that
                opened in less than 7 s (0 to 1), excluding bypassed requests
            running_ratio: running_count over the same total; 1 in the last row

        In SQL:

            SELECT archive, interface, open_floor_s, request_count, request_ratio
            FROM mart.disk_open_times(
                since => '1998-02-01 America/Los_Angeles',
                until => '1998-04-01 America/Los_Angeles',
                direction => 'get'
            )
            ORDER BY archive, interface, open_floor_s
        """

    def drive_hours(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
        period: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, drive and period between the drive's first and last mount.

        How long each drive was occupied and what it did, by local hour or day (drive utilisation, busy
        ratio). All periods from the first mount of the drive to its last are returned, also idle ones.
        Ratios are over calendar time, because no log says when drives were up. The seconds of the steps
        add up to occupied_s. A range means whole local days.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)
            period: hour or day, by the archive's own clock; with anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            period: the period that was asked for
            drive: the physical drive
            mount_count: mounts that began in the period
            unfinished_count: mounts without a dismount whose last event was in the period; the drive
                may have been occupied for longer than occupied_s says
            untimed_count: files whose seconds are not in transferring_s, because the log does not say
                when the tape was positioned or when they ended
            period_s: seconds of the period, the calendar's (a day has 23 or 25 hours where clocks
                change)
            occupied_s: seconds that cartridges occupied a drive, from the start of a mount (its
                request, or the first event in the drive where no request is known) to its dismount;
                while the drive still held another cartridge, only that one occupied it. An unfinished
                mount ends with its last event. Null if no log of the archive reports dismounts
            mounting_s: seconds of these until the tape was positioned to the first file (robot, loading
                and positioning); mounts whose positioning is unknown are in other_s. Null if no log
                reports positioning
            transferring_s: seconds of these during which a file was read or written, from positioned to
                transferred; null if no log of the archive reports both times, or if all files are
                untimed
            lazy_wait_s: seconds of these after the last file, until the dismount was requested, with
                the cartridge idle in the drive; null if no log of the archive reports both times
            dismounting_s: seconds of these from the request to dismount until the cartridge was out of
                the drive; null if no log of the archive reports both times
            other_s: the rest of occupied_s - between two files (positioning, or idle with the cartridge
                in), and steps that the logs do not report
            occupied_ratio: occupied_s over period_s (0 to 1), calendar time; null like occupied_s
            transferring_ratio: transferring_s over period_s (0 to 1), calendar time; null like
                transferring_s
            lazy_wait_ratio: lazy_wait_s over period_s (0 to 1), calendar time; null like lazy_wait_s
            is_edge: whether the first or last event of the drive's mounts is in the period; the drive
                or its log may cover only part of it
            starts_at: when the period begins
            starts_on: the local date

        In SQL:

            SELECT archive, drive, sum(occupied_s) / sum(period_s) AS occupied_ratio, sum(transferring_s) / sum(period_s) AS transferring_ratio
            FROM mart.drive_hours(since => now() - INTERVAL '1 month', period => 'day')
            WHERE NOT is_edge
            GROUP BY archive, drive
            ORDER BY archive, drive
        """

    def drive_usage(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, type of cartridge, requester and task.

        What the drives were used for: drive hours by type of cartridge, requester and task. Each mount
        belongs to the requester for whom the cartridge was mounted. Times are cut at the range, counts
        are of mounts that began in it. A range means whole local days.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            tape_type: type of the cartridges, null if the log does not say
            requester: for whom the cartridges were mounted (client or repacker), null if the log does
                not say
            task: stage (from tape to disk), migration (from disk to tape), or both, according to the
                files of the mount in the range; null if none is known
            mount_count: mounts that began in the range
            unfinished_count: how many of these mounts have no dismount, so occupied_s may be too small
            file_count: files read or written during these mounts, failed ones included; null if no log
                of the archive reports files
            untimed_count: files read or written in the range whose seconds are not in transferring_s,
                because the log does not say when the tape was positioned or when they ended
            size_bytes: bytes of the files of these mounts that did not fail, null where there are none
            occupied_s: seconds that these mounts occupied a drive, from the start of a mount (its
                request, or the first event in the drive where no request is known) to its dismount;
                while the drive still held another cartridge, only that one occupied it. An unfinished
                mount ends with its last event. Null if no log of the archive reports dismounts
            mounting_s: seconds of these until the tape was positioned to the first file (robot, loading
                and positioning); mounts whose positioning is unknown are in other_s. Null if no log
                reports positioning
            transferring_s: seconds of these during which a file was read or written, from positioned to
                transferred; null if no log of the archive reports both times, or if all files are
                untimed
            lazy_wait_s: seconds of these after the last file, until the dismount was requested, with
                the cartridge idle in the drive; null if no log of the archive reports both times
            dismounting_s: seconds of these from the request to dismount until the cartridge was out of
                the drive; null if no log of the archive reports both times
            other_s: the rest of occupied_s - between two files (positioning, or idle with the cartridge
                in), and steps that the logs do not report
            occupied_ratio: occupied_s over that of all mounts of the archive that were asked for (0 to
                1), null if that is 0 or unknown

        In SQL:

            SELECT archive, tape_type, requester, task, mount_count, occupied_s / 3600 AS drive_h, transferring_s / occupied_s AS transferring_ratio
            FROM mart.drive_usage(since => now() - INTERVAL '1 month')
            ORDER BY archive, occupied_s DESC
        """

    def drives(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        interface: Values = None,
        location: Values = None,
        tape_type: Values = None,
        drive: Values = None,
        mount_count: Values = None,
        unfinished_count: Values = None,
        first_mount_at: Values = None,
        last_event_at: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, drive, interface, location and type of cartridge that it held.

        The drives that cartridges were mounted in, according to mart.mounts, and since when they are
        known. No log says when a drive was put into service, so this is when it was first and last
        used.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            interface: the program that served the tapes (unitree, ...)
            location: where the cartridges are kept, as the log names it
            tape_type: type of the cartridges, null if the log does not say
            drive: the physical drive
            mount_count: mounts in this drive
            unfinished_count: how many of them have no dismount
            first_mount_at: when the first of them began (its request, or the first event in the drive)
            last_event_at: when the last event of these mounts happened

        In SQL:

            SELECT archive, drive, tape_type, mount_count, first_mount_at, last_event_at
            FROM mart.drives
            ORDER BY archive, drive, tape_type
        """

    def drives_busy(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
        grouped_by: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, group and number of drives that were busy at once; the groups are those
        asked for.

        How many drives were busy (occupied) at once, and for how much of the time; also for none. The
        time is the calendar's, from the first event of tapes to the last, within the range; it is not
        known how many drives were up. A count that never occurred has no row. Archives without any
        known dismount have no rows. A range means whole local days.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)
            grouped_by: all (one group per archive), tape_type or location; with anything else, there
                are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            grouped_by: the grouping that was asked for; of the two columns below, only the one of that
                name is filled
            location: where the cartridges are kept, as the log names it
            tape_type: type of the cartridges, null if the log does not say
            drive_count: drives of the group that were used in the range
            busy_count: how many of them were busy at once
            span_s: seconds during which so many were busy; unfinished mounts count up to their last
                event
            time_ratio: span_s over the time that the logs cover within the range (0 to 1)

        In SQL:

            SELECT archive, tape_type, busy_count, drive_count, span_s / 3600 AS span_h, time_ratio
            FROM mart.drives_busy(since => now() - INTERVAL '1 month', grouped_by => 'tape_type')
            ORDER BY archive, tape_type, busy_count
        """

    def drives_needed(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
        growth_ratio: float | None = None,
        busy_ratio: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive whose log covers a whole day with mounts.

        How many drives a multiple of what was read and written needs. The hours that drives were
        occupied grow in proportion to the bytes, because files and mounts are taken to be of the same
        kinds as in the range. Days to come are taken to be like those of the range; growth is only what
        growth_ratio says. In a study with made-up campaigns, the interval holds the mean of the days to
        come in more than 90 %; where the load drifts for weeks, in 85 %. Archives without any known
        dismount have no rows. Only days that the log covers whole count, so its first and its last day
        do not.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type, for drives that serve only these (null = all)
            drive: only this drive (null = all)
            growth_ratio: bytes to come for each byte of the range, 1 for as many (0 or more; otherwise
                nothing is known of needs)
            busy_ratio: share of the time that drives may be occupied on average (more than 0, at most
                1; otherwise nothing is known of needs); the more it is, the longer requests wait

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            day_count: local days that count
            week_count: calendar weeks of these days
            drive_count: drives that were used on these days
            mount_count: mounts that began on these days
            size_bytes: bytes of the files of these mounts that did not fail, null where there are none
            mounts_per_day: mount_count over day_count
            bytes_per_day: size_bytes over day_count, null where no bytes are known
            drive_s_per_mount: seconds that drives were occupied, over mount_count
            bytes_per_drive_s: bytes for each second that a drive was occupied, mounting and waiting
                included; null where no bytes are known
            drive_hours_per_day: hours that drives were occupied on a day, on average
            drive_hours_per_day_low: lower end of the 95 % interval of the mean of as many days to come,
                at least 0; null with fewer than 56 days
            drive_hours_per_day_high: upper end of this interval; null with fewer than 56 days
            busiest_hour_drive_count: drives occupied in the busiest hour, on average over the hour
            needed_count: drives that are occupied for busy_ratio of the time with growth_ratio times
                these hours, rounded up; null where either ratio is out of its range
            needed_count_low: lower end of its 95 % interval; null with fewer than 56 days
            needed_count_high: upper end of its 95 % interval; null with fewer than 56 days
            busiest_hour_needed_count: drives that serve growth_ratio times the busiest hour without
                queues, rounded up
            busiest_at: beginning of the busiest hour, of several the first
            first_on: first local day that counts
            last_on: last local day that counts

        In SQL:

            SELECT archive, bytes_per_day, drive_hours_per_day, needed_count_low, needed_count, needed_count_high
            FROM mart.drives_needed(since => now() - INTERVAL '3 months', growth_ratio => 1.5)
            ORDER BY archive
        """

    def envelope_choices(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        has_default_sizes: bool | None = None,
        is_fresh: bool | None = None,
    ) -> pl.DataFrame:
        """One row per archive.

        Whether mart.lower_envelopes and mart.residual_blocks compute their answer from the transfers,
        or return one that `tapewise refresh` has prepared. They compute it if the arguments select at
        most 300,000 transfers; a transfer of the range that they do not select counts a fifteenth. The
        numbers are those of whole days and of all clients. Otherwise they return the last answer that
        was prepared for the same transfers, or no rows if there is none.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            has_default_sizes: whether strata and blocks have their default sizes and outliers are
                apart; only such answers are prepared
            is_fresh: whether to compute the answer, however long it takes

        Columns:
            archive: name of the archive
            preparation_id: the answer that is returned, as in mart.envelope_preparations; null if it is
                computed, and if none was prepared
            transfer_count: how many transfers computing it would read at most; those of all clients
            newer_count: transfers that were added to the range and class since the answer was prepared,
                those of all clients and failed ones included; negative if transfers were removed; null
                without a prepared answer
            is_fresh: whether the answer is computed from the transfers
            computed_at: when the prepared answer was computed; null without one

        In SQL:

            SELECT archive, is_fresh, preparation_id, newer_count, computed_at
            FROM mart.envelope_choices(archive => 'llnl', client => 'cray')
        """

    def envelope_points(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        stratum_size: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and full stratum.

        The points of the lower envelope. Transfers are sorted by size and divided into strata, and the
        fastest transfer of each full stratum is a point. Slower transfers waited for something; these
        waited least or not at all.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            stratum_size: transfers in a stratum (null or below 1 = 100 for puts, 25 for gets)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            stratum: number of the stratum by size, from 1
            size_bytes: size in bytes of the fastest transfer of the stratum (of several equally fast
                ones, the largest)
            duration_s: seconds that the fastest transfer of the stratum took

        In SQL:

            SELECT direction, size_bytes, duration_s
            FROM mart.envelope_points(
                archive => 'llnl',
                since => '1998-04-02 America/Los_Angeles',
                until => '1998-04-10 America/Los_Angeles'
            )
            ORDER BY direction, stratum
        """

    def envelope_preparations(
        self,
        *,
        preparation_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        counted_count: Values = None,
        transfer_count: Values = None,
        took_s: Values = None,
        since: Values = None,
        until: Values = None,
        first_ended_at: Values = None,
        last_ended_at: Values = None,
        computed_at: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, range, client and class of service that were prepared.

        The questions about envelopes and residuals whose answers `tapewise refresh` has prepared,
        because they read too many transfers to be computed while somebody waits. mart.lower_envelopes
        and mart.residual_blocks return these answers, marked is_prepared.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            preparation_id: number of the preparation
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            client: only transfers of this client machine; null if of all
            class_of_service: only transfers of this class of service; null if of all
            counted_count: transfers that mart.day_cells counted in the range and class when the answer
                was computed, those of all clients and failed ones included; if it counts another number
                now, the answer is out of date
            transfer_count: transfers that were read
            took_s: seconds that it took
            since: only transfers that ended at or after this time; null if from the first
            until: only transfers that ended before this time; null if to the last
            first_ended_at: when the first transfer that was read ended; null if there was none
            last_ended_at: when the last transfer that was read ended; null if there was none
            computed_at: when the answer was computed

        In SQL:

            SELECT archive, since, until, client, class_of_service, transfer_count, computed_at
            FROM mart.envelope_preparations
            ORDER BY archive, computed_at
        """

    def envelope_strata(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        stratum_size: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and stratum, and one for the transfers that the filter
        leaves out.

        The transfers sorted by size and divided into strata, with the fastest transfer of each stratum.
        mart.envelope_points and mart.lower_envelopes are computed from this function. Only successful
        transfers with a duration and an unsaturated size are included. Transfers that the filter leaves
        out (those of less than 10 s by a coarse clock, and those of zero duration) share one row
        without a stratum.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            stratum_size: transfers in a stratum (null or below 1 = 100 for puts, 25 for gets)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            stratum_size: transfers in a full stratum
            stratum: number of the stratum by size, from 1; null for transfers that the filter leaves
                out
            transfer_count: transfers in the row
            size_bytes: size in bytes of the fastest transfer of the stratum (of several equally fast
                ones, the largest)
            duration_s: seconds that the fastest transfer of the stratum took
            is_filtered: whether the row is for transfers that the filter leaves out
            is_full: whether the stratum is full; the last one by size usually is not, and is then not
                used

        In SQL:

            SELECT archive, direction, stratum, transfer_count, is_full
            FROM mart.envelope_strata(
                since => '1998-04-02 America/Los_Angeles',
                until => '1998-04-10 America/Los_Angeles'
            )
            ORDER BY archive, direction, stratum
        """

    def envelope_transfers(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per transfer.

        The transfers from which the lower envelope and the residuals are computed: successful transfers
        with a duration and an unsaturated size. Transfers that the filter leaves out (those of less
        than 10 s by a coarse clock, and those of zero duration) are flagged.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            transfer_id: number of the transfer, as in mart.transfers
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            size_bytes: bytes moved
            duration_s: seconds the transfer took
            is_filtered: whether the filter leaves this transfer out
            is_outlier: whether the file is larger than 4 GB, or smaller than 1 GB and took more than
                1000 s (1 GB is 10^9 bytes); LLNL discarded these before it looked at residuals
            ended_at: when the transfer ended
            group_number: number that identifies the archive, interface and direction within this
                result; used because integers sort faster than names

        In SQL:

            SELECT direction, is_filtered, count(*) AS transfer_count, sum(size_bytes) AS size_bytes
            FROM mart.envelope_transfers(
                since => '1998-04-03 America/Los_Angeles',
                until => '1998-04-10 America/Los_Angeles'
            )
            GROUP BY direction, is_filtered
        """

    def f_quantile(
        self,
        *,
        probability: float,
        numerator_df: float,
        denominator_df: float,
    ) -> pl.DataFrame:
        """The value below which F lies with this probability; 0 for probability 0, and infinity for
        probability 1.

        The quantile of the F distribution: F is below f_quantile(0.95, ...) with a probability of 95 %.
        The relative error is at most 1e-10. No number is close enough to 1 to request a quantile far
        out in the upper tail; for an upper tail p, use 1 / f_quantile(p, denominator_df, numerator_df).

        Args:
            probability: probability of a smaller F (0 to 1, else null)
            numerator_df: degrees of freedom of the numerator, 0.1 to 1e10 (else null)
            denominator_df: degrees of freedom of the denominator, with the same limits

        In SQL:

            SELECT mart.f_quantile(0.95, 1, 164) AS f, 1 / mart.f_quantile(1e-20, 164, 1) AS far_out
        """

    def f_tail(
        self,
        *,
        f: float,
        numerator_df: float,
        denominator_df: float,
    ) -> pl.DataFrame:
        """The probability that F is larger than f (0 to 1); null for an invalid F or invalid degrees of
        freedom.

        The p-value of an analysis of variance. The relative error is at most 1e-10. A result below the
        smallest representable number is 0.

        Args:
            f: the ratio of two mean squares, at least 0 (else null)
            numerator_df: degrees of freedom of the numerator, 0.1 to 1e10 (else null)
            denominator_df: degrees of freedom of the denominator, with the same limits

        In SQL:

            SELECT mart.f_tail(1649.172, 1, 164) AS p
        """

    def failures(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
        retry_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive, kind of attempt (transfer or tape operation) and group in which there were
        any; the groups are those asked for.

        How many transfers and tape operations failed, how many of these were retried, and how many a
        retry made good (mart.retries, mart.tape_attempts). Transfers and tape operations are counted in
        different rows, because most files have both. Where no log reports failures (those of NFT, FTP
        and PFTP do not), the counts and ratios are null; mart.transfers has is_failure_logged. A
        failure is neither retried nor not retried if its user or file is not known, or if the logs end
        sooner than retry_s after it. Days whose detail the archive has forgotten (`tapewise forget`)
        are not covered; mart.activity has their number of failed transfers.

        Args:
            archive: only this archive (null = all)
            since: only attempts that ended at or after this time (null = from the first)
            until: only attempts that ended before this time; their retries may be later (null = to the
                last)
            interface: only this interface (null = all); a retry may come by another one
            direction: put or get (null = both)
            client: only this client machine (null = all); a retry may come from another one. Tape
                servers do not name it, so only transfers are counted then
            class_of_service: only this class of service (null = all); a retry may be in another one
            grouped_by: any of code, client, volume, drive, interface, direction, class_of_service, and
                month or day (if both are given, day); default none, which is one row per archive and
                kind of attempt. With anything else, there are no rows
            retry_s: a retry must end within this many seconds of the end of what failed (null = 86400;
                infinity or NaN = no limit)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            counted_per: transfer (between a client and the archive) or tape operation (a file read or
                written)
            interface: the program that moved the file or served the tapes; null unless grouped by it
            direction: put (or a file written to tape) or get (or a file read from tape); null unless
                grouped by it
            client: name of the client machine, null for tape operations, if the logs do not say, and
                unless grouped by it
            class_of_service: class of service; null if the logs do not say, and unless grouped by it
            status_code: the log's own code for the failure, as in mart.transfers; null for tape
                operations, if the log has none, and unless grouped by code
            status_text: the log's own words for the failure (error codes), as in mart.transfers; null
                like status_code
            vsn: the cartridge; null for transfers, where it is not known, and unless grouped by volume
            drive: the drive; null for transfers, where it is not known, and unless grouped by it
            attempt_count: transfers or tape operations of the group, failed ones included. If grouped
                by code, the rows of all codes of a group have the same, because only failures have a
                code
            unknown_count: of how many of these no log says whether they failed (unfinished operations
                are among them)
            failed_count: how many failed (with this code); null if none of their logs reports failures
            retried_count: how many of the failed were retried within retry_s; null like failed_count
            not_retried_count: how many of the failed were not; null like failed_count
            made_good_count: how many of the failed had a retry that succeeded; null like failed_count
            not_made_good_count: how many of the failed had none, retried or not; null like failed_count
            failed_ratio: failed_count over attempt_count - unknown_count (0 to 1); null like
                failed_count
            retried_ratio: retried_count over retried_count + not_retried_count (0 to 1); null without
                any
            made_good_ratio: made_good_count over made_good_count + not_made_good_count (0 to 1); null
                without any
            starts_on: local date on which the month or day begins, in the archive's time zone; null
                unless grouped by one of them
            first_on: local date of the first of these attempts (if grouped by code, of those that
                failed with it)
            last_on: local date of the last of them

        In SQL:

            SELECT archive, status_code, status_text, failed_count, failed_ratio, made_good_ratio
            FROM mart.failures(since => now() - INTERVAL '1 month', grouped_by => '{code}')
            WHERE counted_per = 'transfer'
            ORDER BY archive, failed_count DESC
        """

    def figure_trends(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        section: str | None = None,
        days_ahead: int | None = None,
    ) -> pl.DataFrame:
        """One row per figure, and per system, user, machine, library and so on that the report gives it
        for.

        Whether each figure of the site's own daily report rises or falls, and what it is expected to be
        some days later if it goes on like that: a straight line through the weeks, by least squares.
        The 95 % intervals come from how much the weeks differ from the line. What changes otherwise,
        such as a figure that doubles every year or a step after an upgrade, is not seen; give a range
        that begins after it. Of a hundred figures without a trend, about five are called rising or
        falling by chance. Days whose report lacks the figure do not count, and not as 0.

        Args:
            archive: only this archive (null = all)
            since: only days that began at or after this time (null = from the first)
            until: only days that began before this time (null = to the last)
            section: only this section of the report, as in mart.daily_figures (null = all)
            days_ahead: how many days after the last reported one the figure is expected for, at most
                36525

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of reports
            system: as in mart.daily_figures
            section: as in mart.daily_figures
            user_id: as in mart.daily_figures
            gateway: as in mart.daily_figures
            client: as in mart.daily_figures
            application: as in mart.daily_figures
            storage_class: as in mart.daily_figures
            storage_class_number: as in mart.daily_figures
            drive_type: as in mart.daily_figures
            library: as in mart.daily_figures
            to_library: as in mart.daily_figures
            vsn: as in mart.daily_figures
            figure: what was counted, with its unit, as in mart.daily_figures
            is_total: whether the figure is the report's own total of its rows
            day_count: days whose report has the figure
            week_count: calendar weeks with such a day
            mean: mean of these days
            change_per_day: by how much the figure changes a day, in its own unit; null with fewer than
                two weeks
            change_per_day_low: lower end of its 95 % interval; null with fewer than three weeks
            change_per_day_high: upper end of its 95 % interval; null with fewer than three weeks
            verdict: rising or falling (the interval of the change does not contain 0), no trend, or not
                known (fewer than three weeks)
            expected: the figure on expected_on, by the line; null with fewer than two weeks; may be
                below 0 or above 1
            expected_low: lower end of the 95 % interval for the mean of seven days around expected_on;
                null with fewer than three weeks
            expected_high: upper end of that interval; null with fewer than three weeks
            first_reported_on: first of these days
            last_reported_on: last of these days
            expected_on: days_ahead days after last_reported_on

        In SQL:

            SELECT section, figure, system, storage_class, mean, change_per_day, expected_low, expected, expected_high
            FROM mart.figure_trends('hpss', days_ahead => 90)
            WHERE verdict IN ('rising', 'falling')
            ORDER BY section, figure, system, storage_class
        """

    def file_accesses(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per get that did not fail, of a file whose path is in the log.

        Gets, with the age of the data that they read. The age is counted from the put of the version
        that was read, even if it has been renamed since; an overwrite resets it. Reads all events of
        the archive from the beginning. The function lists single gets, so it is not meant for all time:
        mart.access_ages has the ages of all gets.

        Args:
            archive: only this archive (null = all)
            since: only events at or after this time; the history of a file is still followed from its
                beginning (null = from the first)
            until: only events before this time, and only what was known by then (null = to the last)
            interface: only this interface (null = all)
            direction: get (null = get); put returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            transfer_id: the get, as in mart.transfers
            version_id: the version that it read, as in mart.file_versions
            origin: how the version came into being (put, copy, or not in the log)
            interface: the program that moved the file (ftp, hsi, ...)
            user_id: number of the user, null if the log does not say
            client: name of the client machine, null if the log does not say
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path at that time
            size_bytes: bytes moved, null if the log does not say
            age_s: seconds from the put of the version to the end of this get, null if its put is not in
                the log
            earlier_get_count: number of earlier gets of the version in the log
            since_last_get_s: seconds since the previous get of the version, null for its first get
            put_at: when the version was put, null if that is not in the log
            ended_at: when the get ended

        In SQL:

            SELECT archive, count(*) AS get_count, count(*) FILTER (WHERE earlier_get_count > 0) AS reread_count,
                percentile_cont(0.5) WITHIN GROUP (ORDER BY age_s) / 86400 AS median_age_days
            FROM mart.file_accesses(since => now() - INTERVAL '1 month')
            GROUP BY archive
            ORDER BY archive
        """

    def file_days(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        put_count: Values = None,
        copy_count: Values = None,
        deleted_count: Values = None,
        overwritten_count: Values = None,
        unknown_size_count: Values = None,
        new_name_count: Values = None,
        unnamed_count: Values = None,
        put_bytes: Values = None,
        copied_bytes: Values = None,
        deleted_bytes: Values = None,
        overwritten_bytes: Values = None,
        age_bins: Values = None,
        age_get_counts: Values = None,
        age_unknown_size_counts: Values = None,
        age_bytes: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service and local day with puts,
        gets, copies, deletes or overwrites.

        What happened to files, as the last recount found it (mart.file_recounts), summed by local day.
        It keeps the days whose detail the archive has forgotten (`tapewise forget`). For answers that
        are as new as the logs, use mart.selected_file_days.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the events
            interface: the program that caused them (ftp, nft, hsi, ...)
            direction: get: gets of files whose names are in the log; put: everything else
            class_of_service: class of service of the line, for deleted and overwritten files that of
                the file (version_class of mart.file_histories); null where neither is known
            put_count: files put
            copy_count: files made by a copy within the archive
            deleted_count: files deleted
            overwritten_count: files replaced by a put, copy or rename to their name, according to the
                log
            unknown_size_count: how many of all these have a saturated or unknown size
            new_name_count: puts and copies to names that the log had not mentioned before
            unnamed_count: puts, copies and deletes that cannot be followed because their lines do not
                name the file
            put_bytes: bytes put, counting only known sizes
            copied_bytes: bytes of the copies
            deleted_bytes: bytes deleted
            overwritten_bytes: bytes replaced
            age_bins: bins of the ages of data that gets read (seconds since the put of the version),
                ascending (mart.histogram_bin); the last one is null for gets of versions whose put is
                not in the log
            age_get_counts: for each of the bins, how many gets are in it
            age_unknown_size_counts: for each of the bins, how many of its gets have a saturated or
                unknown size
            age_bytes: for each of the bins, the bytes moved by its gets, counting only known sizes
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT starts_on, sum(put_bytes) AS put_bytes FROM mart.file_days
            WHERE archive = 'llnl'
            GROUP BY starts_on
            ORDER BY starts_on
        """

    def file_events(
        self,
        *,
        event_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        log_file_id: Values = None,
        line_number: Values = None,
        interface: Values = None,
        event: Values = None,
        user_id: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        new_file_key: Values = None,
        size_bytes: Values = None,
        is_size_saturated: Values = None,
        happened_at: Values = None,
    ) -> pl.DataFrame:
        """One row per put, get, delete, rename or copy that did not fail.

        What happened to files, combining transfers and name-space events. Only events that come from
        counted sources and did not fail are included. Reads and writes within files (is_of_parts of
        mart.transfers) are left out. Each rename involves two names; mart.file_histories follows
        renames. Filter on happened_at, so that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            event_id: number of the transfer or name-space event in the warehouse; changes when the
                source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported it
            log_file_id: number of the log file; together with line_number it orders events of the same
                second
            line_number: number of the line in its file
            interface: the program that requested the event (ftp, nft, hsi, ...)
            event: put, get, delete, rename or copy
            user_id: number of the user in the warehouse, null if the log does not say
            client: name of the client machine as the log gives it, null if the log does not say
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, null if the log has no paths
            new_file_key: 64-bit key of the new path in a rename or copy, else null
            size_bytes: bytes moved, or the size of the file that was deleted or copied; null if the log
                does not say
            is_size_saturated: whether the size is at the limit of the log's counter (2^31 - 1), so that
                the file may be larger
            happened_at: when the event happened; for a transfer, when it ended

        In SQL:

            SELECT archive, event, count(*) AS event_count
            FROM mart.file_events
            WHERE happened_at >= now() - INTERVAL '1 month'
            GROUP BY archive, event
            ORDER BY archive, event
        """

    def file_fates(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
        after_days: Sequence[float] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, time after the put, and group in which files were put; the groups are those
        asked for.

        How many files are never read, how long it takes until they are read for the first time, and how
        long they live. Each figure is given after some times from the put (after_days), once of the
        puts that the log follows that long and, as an estimate, of all puts (mart.incidences). Only
        files whose put or copy is in the log are counted. Reads all events of the archive from the
        beginning.

        Args:
            archive: only this archive (null = all)
            since: only files put at or after this time (null = from the first)
            until: only events before this time, and only what was known by then (null = to the last)
            interface: only files put by this interface (null = all)
            direction: accepted for uniformity; null and put are equivalent, and get returns no rows
            client: only files put by this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of month (of the put), class_of_service and user; default none. With
                anything else, there are no rows
            after_days: days of 86,400 s from the put

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            user_id: number of the user who put the files; null if the log does not say, and unless
                grouped by it
            class_of_service: class of service; null if the log does not say, and unless grouped by it
            after_days: the days from the put
            put_count: files put or copied
            put_bytes: their bytes; as in all columns of bytes, only known sizes count
            followed_count: how many of them were put at least after_days before the log ends
            followed_bytes: bytes of these
            read_count: followed files that were read within after_days
            read_bytes: bytes of these
            ended_count: followed files that were deleted or overwritten within after_days, whether they
                had been read or not
            ended_bytes: bytes of these
            never_read_ratio: share of the followed files that were not read within after_days; null if
                none is followed
            never_read_bytes_ratio: share of their bytes; null like it
            estimated_read_ratio: estimated share of all files that is read within after_days; deleting
                or overwriting a file is another end, after which it cannot be read. Null if no file is
                followed that long
            estimated_read_bytes_ratio: estimated share of the bytes
            estimated_survival_ratio: estimated share of all files that is not deleted or overwritten
                within after_days (Kaplan and Meier); null if no file is followed that long
            estimated_survival_bytes_ratio: estimated share of the bytes
            starts_on: first day of the month of the puts, in the archive's time zone; null unless
                grouped by month

        In SQL:

            SELECT archive, starts_on, after_days, put_count, followed_count, never_read_ratio, estimated_read_ratio
            FROM mart.file_fates(grouped_by => '{month}')
            ORDER BY archive, starts_on, after_days
        """

    def file_histories(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        slice_number: int | None = None,
        slice_count: int | None = None,
    ) -> pl.DataFrame:
        """One row per version of a file and event that concerned it.

        What happened to each version of each file, followed through renames. A put or copy creates a
        version; it ends with a delete, or with another put, rename or copy to its name. If a file was
        put before the log begins, or in a way that the log does not report, its version begins with the
        first event that mentions it. Reads all events of the archive from the beginning, whatever the
        range.

        Args:
            archive: only this archive (null = all)
            since: only events at or after this time; the history of a file is still followed from its
                beginning (null = from the first)
            until: only events before this time, and only what was known by then (null = to the last)
            interface: only this interface (null = all)
            direction: get: only gets; put: everything except gets (null = both)
            client: only this client machine (null = all)
            class_of_service: only events whose lines give this class of service (null = all)
            slice_number: with slice_count, only one part of the files: 0 for those that were ever
                renamed, 1 to slice_count for the others, by their keys (null = all)
            slice_count: into how many parts the files that were never renamed are divided (null = do
                not divide)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported the event
            version_id: event_id of the put or copy that created the version or, if that is not in the
                log, of the first event that mentions it
            event_number: 1 for the first event of the version
            event_id: the event, as in mart.file_events; a rename or put that replaced a file concerns
                two versions
            event: put, copy, get, rename, delete or overwrite (replaced by another)
            origin: how the version came into being (put, copy, or not in the log)
            interface: the program that caused the event
            user_id: number of the user who caused the event, null if the log does not say
            client: name of the client machine, null if the log does not say
            class_of_service: class of service of the event's line, null if the log does not say; HSI's
                deletes give 0 for any class
            version_class: class of service of the version: that of its put or copy. If these are not in
                the log, that of the first get that gives one, or of its delete unless it gives 0. Null
                if that is not known
            file_key: 64-bit key of the version's path before this event
            size_bytes: bytes moved, or the size that this event gives for the file; null if the log
                does not say, or if the size is saturated
            version_bytes: size of the version when it was put; if that is unknown, the largest size
                that the log gives for it
            is_name_new: whether this is a put or copy to a name that the log had not mentioned before,
                which may therefore have replaced a file
            born_at: when the version was put or created by a copy, null if that is not in the log
            happened_at: when the event happened

        In SQL:

            SELECT event, count(*) AS event_count
            FROM mart.file_histories(until => now())
            WHERE origin = 'not in the log'
            GROUP BY event
            ORDER BY event
        """

    def file_recounts(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        event_count: Values = None,
        newer_event_count: Values = None,
        is_used: Values = None,
        last_event_at: Values = None,
        computed_at: Values = None,
    ) -> pl.DataFrame:
        """One row per archive whose files have been counted.

        When the files of each archive were last followed through their histories and counted by day
        (`tapewise refresh` and each nightly run do this), and how much has been loaded since. What is
        dropped, read again or forgotten ends a recount; until the next one, the archive has no row
        here.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            event_count: how many transfers and name-space events were counted, failed ones included
            newer_event_count: how many more have been loaded since
            is_used: whether functions answer from the recount: nothing was loaded since, or there are
                too many events to follow them for an answer (200,000 or more)
            last_event_at: when the last event that was counted happened; null if there was none
            computed_at: when the recount began

        In SQL:

            SELECT archive, event_count, newer_event_count, computed_at FROM mart.file_recounts ORDER BY archive
        """

    def file_successors(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        together_s: float | None = None,
        top_count: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive and pair of files of which the second followed the first, for the most
        frequent pairs.

        Which files users ask for together: for each pair of files, how often a user's get of the second
        followed that user's get of the first (mart.get_successions). Gets of the same file, one after
        another, count as one. Only the top_count most frequent pairs are returned. A file is identified
        by its path: a renamed file has a new key, and a file that replaces another keeps the key.

        Args:
            archive: only this archive (null = all)
            since: only gets that ended at or after this time (null = from the first)
            until: only gets that ended before this time (null = to the last)
            interface: only gets by this interface (null = all); other gets are not seen, so they are
                not between two of these
            direction: get (null = get); put returns no rows
            client: only gets by this client machine (null = all); others are not seen
            class_of_service: only gets of this class of service (null = all); others are not seen
            together_s: seconds from the end of a get to the beginning of the user's next one, up to
                which the next one follows it (null = 60, the pause that ends a burst in
                mart.burst_requests)
            top_count: how many pairs of each archive to return, those that occur most often (null =
                100)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            pair_rank: place of the pair in the archive, from 1; keys decide between pairs that occur
                equally often
            file_key: 64-bit key of the path of the first file
            successor_key: 64-bit key of the path of the file that followed it
            last_transfer_id: get of the first file when the pair last occurred; with last_ended_at,
                those who may see names find the path in mart.transfer_names
            last_successor_id: get of the second file when the pair last occurred
            pair_count: how often a get of the second file followed one of the first
            user_count: users by whom it did
            file_get_count: gets of the first file, repeated ones counted once
            successor_get_count: gets of the second file, repeated ones counted once, whatever they
                followed
            confidence_ratio: share of the gets of the first file that the second one followed
            last_ended_at: when last_transfer_id ended
            last_at: when last_successor_id began, or ended if its start is not known

        In SQL:

            SELECT file_key, successor_key, pair_count, user_count, confidence_ratio
            FROM mart.file_successors('llnl', since => now() - INTERVAL '1 month')
            ORDER BY pair_rank
            LIMIT 10
        """

    def file_versions(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per version of a file, from its put or copy to its delete or overwrite.

        How long files lived, how often they were retrieved, and how they ended, as known at `until`.
        Reads all events of the archive from the beginning.

        Args:
            archive: only this archive (null = all)
            since: only versions first seen at or after this time (null = from the first)
            until: only events before this time, and only what was known by then (null = to the last)
            interface: only this interface (null = all)
            direction: put: versions that were put or copied, or first mentioned by a delete or rename;
                get: versions first mentioned by a get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            version_id: event_id of the put or copy that created the version or, if that is not in the
                log, of the first event that mentions it
            origin: how the version came into being (put, copy, or not in the log)
            fate: deleted, overwritten, or kept, according to the log
            interface: the interface that put the version, or whose log first mentions it
            user_id: number of the user who put the version, or who is first mentioned with it; null if
                the log does not say
            client: name of the client machine, null if the log does not say
            class_of_service: class of service in which the version was put; if that is not in the log,
                as version_class of mart.file_histories
            file_key: 64-bit key of the version's first path in the log
            last_file_key: 64-bit key of the version's last path
            size_bytes: size of the version when it was put; if that is unknown, the largest size that
                the log gives for it, null if it gives none
            get_count: number of gets of the version
            rename_count: number of renames of the version
            lifetime_s: seconds from the version's put to its end, null while it is kept or if its put
                is not in the log
            put_at: when the version was put or copied, null if that is not in the log
            first_seen_at: when the log first mentions the version
            first_get_at: when the version was first got, null if the log has no get of it
            last_used_at: when the version was put, copied or got for the last time, null if the log has
                none of these
            ended_at: when the version was deleted or overwritten, null while it is kept

        In SQL:

            SELECT archive, fate, count(*) AS version_count, sum(size_bytes) AS size_bytes,
                count(*) FILTER (WHERE get_count = 0) AS never_got_count
            FROM mart.file_versions(until => now())
            GROUP BY archive, fate
            ORDER BY archive, fate
        """

    def flagged_transfers(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface and flag, including flags that no transfer has.

        How many transfers are doubtful, and why, by the flags (is_...) of mart.transfers. Failed
        transfers are included, and a transfer may have several flags. A range means whole local days.
        Days whose detail the archive has forgotten (`tapewise forget`) are covered, except for one
        client of an archive that counts no single clients (mart.archives), and except days that were
        forgotten before the warehouse had mart.day_cells.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            flag: time ambiguous, time of day unknown, duration coarse, duration below clock, size
                saturated, rate inconsistent or failed, as in the columns of mart.transfers
            flagged_count: transfers that have the flag; null for failed where no log reports failures
            transfer_count: all transfers of the archive and interface, with and without flags
            flagged_ratio: flagged_count over transfer_count (0 to 1), but for failed over the transfers
                whose log reports failures; null where flagged_count is null
            first_on: local date of the first day on which a transfer of the archive and interface ended
            last_on: local date of the last such day

        In SQL:

            SELECT archive, interface, flag, flagged_count, flagged_ratio
            FROM mart.flagged_transfers(since => now() - INTERVAL '1 month')
            WHERE kind = 'measured' AND flagged_count > 0
            ORDER BY archive, interface, flagged_count DESC
        """

    def get_successions(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        together_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per get of a known user and file that did not fail.

        Gets, each with the get that follows it: the next one of the same user, on any interface and
        client, if it overlaps this one, or begins at most together_s after its end. Only the next get
        counts; the one after that is in the row of the next. A get of the same file counts, too. Gets
        that failed, and those without a user, path or time of day, are left out, and so are reads
        within files. Has a row per get; give a range (since, until), because the gets of each user have
        to be sorted.

        Args:
            archive: only this archive (null = all)
            since: only gets that ended at or after this time (null = from the first)
            until: only gets that ended before this time (null = to the last)
            interface: only gets by this interface (null = all); other gets are not seen, so they are
                not between two of these
            direction: get (null = get); put returns no rows
            client: only gets by this client machine (null = all); others are not seen
            class_of_service: only gets of this class of service (null = all); others are not seen
            together_s: seconds from the end of a get to the beginning of the user's next one, up to
                which the next one follows it (null = 60, the pause that ends a burst in
                mart.burst_requests)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            transfer_id: the get, as in mart.transfers
            user_id: number of the user in the warehouse
            file_key: 64-bit key of the file's path in the archive
            successor_id: the get that follows it, as in mart.transfers; null if none does
            successor_key: key of the path of the file that follows; file_key if the same file is read
                again; null if none follows
            pause_s: seconds from the end of this get to the beginning of the next one, 0 if they
                overlap; null if none follows
            started_at: when the get began, or ended if its start is not known
            ended_at: when the get ended
            successor_at: when the get that follows began, or ended if its start is not known; null if
                none follows

        In SQL:

            SELECT user_id, file_key, successor_key, pause_s
            FROM mart.get_successions('llnl', since => now() - INTERVAL '1 day')
            WHERE successor_key <> file_key
            ORDER BY successor_at DESC
            LIMIT 10
        """

    def growth(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        class_of_service: str | None = None,
        is_fresh: bool | None = None,
        period: str | None = None,
        grouped_by: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, class of service if asked for, and period from the first day with events to
        the last.

        How much an archive held at the end of each period, all in all or by class of service. The
        opening balance is the last listing of the catalogue before the first event
        (mart.listed_totals), to which what was put and copied is added, and from which what was deleted
        and overwritten is subtracted. Without such a listing, only the changes are known. Later
        listings are shown beside. Answers come from the last recount, as those of mart.net_growth do.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time; what is held still counts from the opening
                (null = from the first)
            until: only local days that begin before this time (null = to the last); sizes that a put
                does not give may come from later gets
            class_of_service: only this class of service (null = all)
            is_fresh: follow the files for this answer, in place of the last recount
            period: day, week (from Monday) or month; with anything else, there are no rows
            grouped_by: all (one row per archive and period) or class_of_service; with anything else,
                there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            period: day, week or month
            grouped_by: the grouping that was asked for; class_of_service is only filled if it is that
            class_of_service: class of service in which files were put; what was deleted or replaced
                counts in that of the file, whatever its line says. Null if not asked for, and where
                neither a line nor the listing gives one, as for files from before the log that HSI
                deletes. Days whose detail was forgotten before revision 0044 of the schema have what
                was removed under the class of the line
            day_count: local days of the period in the range, with or without changes
            added_count: files put, and made by a copy within the archive
            removed_count: files deleted or replaced
            unknown_size_count: how many of all these have a saturated or unknown size, so net_bytes is
                less than certain
            new_name_count: puts and copies to names that the log had not mentioned before, so it is not
                known what they replaced
            unnamed_count: puts, copies and deletes that cannot be followed because their lines do not
                name the file
            opening_bytes: bytes held when the period began; null as held_bytes is
            added_bytes: bytes put and copied, counting only known sizes
            removed_bytes: bytes deleted and replaced, counting only known sizes
            net_bytes: added minus removed bytes
            held_bytes: bytes held at the end of the period, of this class if asked for; null if no
                listing was made before the first event, or it does not give their bytes
            held_count: files held at the end of the period; null if no listing was made before the
                first event, or it does not give their files
            listed_bytes: bytes of the last listing in the period, the opening one excepted; null if
                there is none
            listed_count: files of that listing; null if there is none
            drift_bytes: listed_bytes minus the bytes held at the local midnight nearest to the listing:
                what the log does not know, plus the changes of at most half a day; null if one of the
                two is
            newer_event_count: how many transfers and name-space events of the archive were loaded after
                the recount; null if the files were followed for this answer
            computed_at: when the recount began, null if the files were followed for this answer
            opening_listed_at: when the listing was made that is the opening balance; null if there is
                none
            listed_at: when the last listing in the period was made, the opening one excepted; null if
                there is none
            starts_on: first local day of the period in the range
            ends_on: last local day of the period in the range

        In SQL:

            SELECT archive, starts_on, ends_on, opening_bytes, added_bytes, removed_bytes, held_bytes, listed_bytes, drift_bytes
            FROM mart.growth()
            ORDER BY archive, starts_on
        """

    def growth_forecast(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        class_of_service: str | None = None,
        is_fresh: bool | None = None,
        months: int | None = None,
        grouped_by: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, class of service if asked for, and calendar month after the last day with
        events.

        What an archive will hold in the months to come if it grows as it did, all in all or by class of
        service. Growth per day is the mean of all weeks in the range (mart.growth), and the 95 %
        intervals come from how much the weeks differ. Data that are neither added nor removed as
        before, like those of a new experiment, are not expected.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time are a measure of growth (null = from the
                first)
            until: only local days that begin before this time (null = to the last)
            class_of_service: only this class of service (null = all)
            is_fresh: follow the files for this answer, in place of the last recount
            months: how many months to come, at most 1200
            grouped_by: all (one row per archive and month) or class_of_service; with anything else,
                there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            grouped_by: the grouping that was asked for; class_of_service is only filled if it is that
            class_of_service: class of service, as in mart.growth; null if not asked for, and where
                neither a line nor the listing gives one
            day_count: local days from the first to the last in the range
            week_count: calendar weeks of these days
            verdict: growing, or not growing (as much was removed as added, or more)
            net_bytes_per_day: bytes put and copied a day, minus those deleted and replaced; expected of
                every month
            net_bytes_per_day_low: lower end of its 95 % interval, for the mean of this month; null with
                fewer than two weeks
            net_bytes_per_day_high: upper end of its 95 % interval; null with fewer than two weeks
            grown_bytes: net bytes added from observed_on to the end of the month
            grown_bytes_low: lower end of its 95 % interval; null with fewer than two weeks
            grown_bytes_high: upper end of its 95 % interval; null with fewer than two weeks
            held_bytes: bytes held at the end of the month; null without an opening balance, and below 0
                if all would be gone before
            held_bytes_low: lower end of its 95 % interval; null without an opening balance, or with
                fewer than two weeks
            held_bytes_high: upper end of its 95 % interval; null without an opening balance, or with
                fewer than two weeks
            observed_on: last local day in the range
            starts_on: first day of the month
            ends_on: last day of the month

        In SQL:

            SELECT starts_on, net_bytes_per_day, held_bytes_low, held_bytes, held_bytes_high
            FROM mart.growth_forecast('hpss', months => 6)
            ORDER BY starts_on
        """

    def histogram_bin(
        self,
        *,
        value: float,
    ) -> pl.DataFrame:
        """The number of the bin (0 to 32,767); null for null.

        The bin of a number in the histograms of mart.day_cells. Each factor of two has 64 bins of equal
        width. Larger numbers are in later bins. Numbers up to 2^-256 (8.6e-78) are in bin 0, and the
        last bin also has all numbers from 2^256 on. Loads compute the same, to the bit.

        Args:
            value: the number

        In SQL:

            SELECT mart.histogram_bin(rate_bytes_per_s) AS rate_bin, count(*) AS transfer_count
            FROM mart.selected_transfers(archive => 'llnl', since => now() - INTERVAL '1 day')
            GROUP BY rate_bin
            ORDER BY rate_bin
        """

    def histogram_value(
        self,
        *,
        bin: int,
    ) -> pl.DataFrame:
        """The middle of the bin, 0 for bin 0; null for null.

        The number that represents a bin of mart.histogram_bin. It is the middle of the bin, and so
        within 1/128 (0.8 %) of each number in it, unless it is the first or the last bin.

        Args:
            bin: the number of the bin

        In SQL:

            SELECT mart.histogram_value(mart.histogram_bin(1000)) AS about_1000
        """

    def hit_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        has_stages: Values = None,
        codes: Values = None,
        get_counts: Values = None,
        size_bytes: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, class of service and local day on which such gets ended.

        Gets counted by local day and by what the logs say about where their files were, which charts
        read in place of the requests. It has the evidence, and no verdict, because a bypass of staging
        may be recorded later (mart.bypassed_days). mart.hit_evidence takes a row apart, and
        mart.selected_hits judges the evidence as mart.requests does. Only gets that did not fail are
        counted, and opens of files to be read without a logged transfer; in a simulated archive, only
        those requested once its run was steady. The days whose detail the archive has forgotten
        (`tapewise forget`) are covered too, except those forgotten before the warehouse had this
        rollup.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the gets
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: always get
            class_of_service: class of service of the gets (mart.requests); null where no log has one
            has_stages: whether the archive records stages at all; otherwise a missing one is no
                evidence
            codes: numbers for the evidence of the gets, ascending (mart.hit_evidence)
            get_counts: for each of the codes, how many gets have it
            size_bytes: for each of the codes, the bytes of its gets, as far as their sizes are known
            starts_on: local date of the day on which the gets ended, in the archive's own zone

        In SQL:

            SELECT starts_on, interface, evidence.is_staged, evidence.open_floor_s, sum(evidence.get_count) AS get_count
            FROM mart.hit_cells
            CROSS JOIN LATERAL mart.hit_evidence(codes, get_counts, size_bytes) AS evidence
            WHERE archive = 'llnl' AND starts_on >= current_date - 30
            GROUP BY starts_on, interface, evidence.is_staged, evidence.open_floor_s
            ORDER BY starts_on, interface, evidence.is_staged, evidence.open_floor_s
        """

    def hit_evidence(
        self,
        *,
        codes: Sequence[int],
        get_counts: Sequence[int],
        size_bytes: Sequence[float],
    ) -> pl.DataFrame:
        """One row per code, which is a kind of evidence.

        Takes a row of mart.hit_cells apart. A code has one bit or a few for each column, and above them
        the days (`HIT_CODE` in schema/writing/hit_cells.py).

        Args:
            codes: codes of a row of mart.hit_cells
            get_counts: its get_counts
            size_bytes: its size_bytes

        Columns:
            is_staged: whether the gets have a stage, or joined one
            is_logged_as_cached: whether the log itself says that the files were on disk; null if it
                does not say
            has_persona: whether the lines of their transfers have a persona (then a missing stage may
                be evidence)
            open_floor_s: how long the files took to open, in whole seconds (rounded down); 10 for 10 s
                and more, null where it is unknown
            is_time_of_day_unknown: whether only the day of the gets is known
            is_size_saturated: whether the sizes are at the limit of the log's counter
            size_class: small, medium, large or huge (mart.size_class); null where the size is not known
            is_joined: whether the gets joined a stage that another request had started; null where this
                is unknown
            days_ago: how many local days before the day of their end the gets were opened (or else were
                started, or ended): at that time mart.requests looks whether staging was bypassed
            get_count: how many gets there are
            size_bytes: the bytes of those whose size is known

        In SQL:

            SELECT evidence.is_staged, evidence.open_floor_s, sum(evidence.get_count) AS get_count
            FROM mart.hit_cells
            CROSS JOIN LATERAL mart.hit_evidence(codes, get_counts, size_bytes) AS evidence
            GROUP BY evidence.is_staged, evidence.open_floor_s
            ORDER BY evidence.is_staged, evidence.open_floor_s
        """

    def hits_by_age(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
        age_days: Sequence[float] | None = None,
        least_bytes: int | None = None,
        most_bytes: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive, range of ages and group in which there were gets; the groups are those
        asked for.

        How often gets found their file on disk, by the time since the file's last use, which is the
        newer of its put and its last get. It shows how long a cache keeps files, and what a larger one
        might keep. Successful gets are counted, as in mart.cache_hits; hit_ratio is that of the gets
        with evidence. Files are followed through all events of the archive from the beginning.

        Args:
            archive: only this archive (null = all)
            since: only gets that ended at or after this time (null = from the first)
            until: only gets that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; only gets can hit, so null and get are equivalent, and
                put returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of class_of_service, size (bins that begin at 1, 2 and 5 times each power of
                ten), and month or day (if both are given, day); default none. With anything else, there
                are no rows
            age_days: the edges of the ranges of ages, in any order, in days of 86,400 s
            least_bytes: only gets of at least this size (null = all, and those of unknown size)
            most_bytes: only gets of at most this size (null = all, and those of unknown size)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            class_of_service: class of service; null if the logs do not say, and unless grouped by it
            size_from_bytes: smallest size in the bin; null where the size is not known, and unless
                grouped by size
            size_to_bytes: size at which the next bin begins; null like size_from_bytes
            last_use: in the log; before the log, if the log has no earlier put or get of the file; or
                unknown, if the get does not name its file, or has no transfer of its own
            age_from_days: days since the last use, which the gets of this row have at least; null
                unless it is in the log
            age_to_days: and which they do not reach; null in the last range, and unless the last use is
                in the log
            get_count: successful gets
            cached_count: gets whose file was on disk
            uncached_count: gets whose file was not on disk
            unknown_count: gets whose source (disk or tape) is unknown
            cached_bytes: bytes of the cached gets, counting only known sizes
            uncached_bytes: bytes of the uncached gets, counting only known sizes
            hit_ratio: cached_count / (cached_count + uncached_count) (0 to 1); null without evidence
            starts_on: local date of the day, or of the month's first day, in the archive's time zone;
                null unless grouped by one

        In SQL:

            SELECT archive, last_use, age_from_days, age_to_days, get_count, hit_ratio
            FROM mart.hits_by_age(since => now() - INTERVAL '1 month')
            ORDER BY archive, last_use DESC, age_from_days
        """

    def holds_port_wait(
        self,
        *,
        kind: str,
        interface: str,
    ) -> pl.DataFrame:
        """True where durations hold the wait.

        Whether the logged durations of an interface hold the wait for a port. Those of UniTree's NFT
        do, so its transfers from start to end are requests in progress, which may be more than there
        are ports. A simulated transfer begins when it gets its port. It is not known of other
        interfaces, for which the answer is false.

        Args:
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the file (ftp, nft, hsi, ...)

        In SQL:

            SELECT DISTINCT archive, interface
            FROM mart.activity(since => now() - INTERVAL '1 month')
            WHERE mart.holds_port_wait(kind, interface)
        """

    def hour_months(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        week_hours: Values = None,
        transfer_counts: Values = None,
        failed_counts: Values = None,
        size_bytes: Values = None,
        unknown_size_counts: Values = None,
        is_failure_logged: Values = None,
        starts_on: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service and local month in which
        transfers ended at a known hour.

        The hours of mart.day_cells added up by local month and hour of the week, which
        mart.hour_profiles reads in place of the days. Days whose detail the archive has forgotten
        (`tapewise forget`) are covered, except those forgotten before the warehouse had mart.day_cells.
        For a range, use mart.selected_hours.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service of the transfers; null where no log has one
            week_hours: hours of the week on which transfers ended, ascending: 0 is Monday from midnight
                to one o'clock, 167 the last hour of Sunday. Transfers of which only the day is known
                are in none
            transfer_counts: for each of the week_hours, transfers that ended in it
            failed_counts: for each of the week_hours, how many of them failed
            size_bytes: for each of the week_hours, bytes of those that did not fail, as far as they are
                known
            unknown_size_counts: for each of the week_hours, how many of those that did not fail have no
                known size
            is_failure_logged: as in mart.day_cells for all days of the month with transfers; null if it
                holds for some of them only, because another log that reports the failures begins or
                ends within the month
            starts_on: local date of the first day of the month, in the archive's own zone
            first_on: local date of the first day of the month on which such a transfer ended
            last_on: local date of the last such day

        In SQL:

            SELECT starts_on, interface, sum(part.transfer_count) AS night_count
            FROM mart.hour_months
            CROSS JOIN unnest(week_hours, transfer_counts) AS part (week_hour, transfer_count)
            WHERE archive = 'llnl' AND part.week_hour % 24 < 6
            GROUP BY starts_on, interface
            ORDER BY starts_on, interface
        """

    def hour_profiles(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, weekday and hour.

        How transfers are spread over the hours of the week, by the archive's own clock. An archive that
        has any transfers in the answer has all 168 hours, including those without transfers. Sums
        depend on how often an hour of the week was in service, so compare hours by mean_transfer_count.
        The hours in service run from the first to the last transfer of the interface and direction
        within the range; they include each hour that clocks repeat and leave out those that clocks
        skip. An hour that recorded outages cover by half or more is not in service, unless a transfer
        ended in it. Nor is any hour of a local day on which no transfer of the archive ended, because
        an idle archive looks the same as one that is down or has no log. A range means whole local
        days. Days whose detail the archive has forgotten (`tapewise forget`) are covered, except for
        one client of an archive that counts no single clients (mart.archives), and except days that
        were forgotten before the warehouse had mart.day_cells.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            weekday: 1 (Monday) to 7 (Sunday)
            weekday_name: Mon to Sun
            hour: hour of the local clock (0 to 23)
            transfer_count: transfers that ended in the hour, failed ones included, summed over all
                weeks
            failed_count: how many of them failed, as far as logs report failures; null where none of
                their logs does
            failures_unknown_count: how many of them come from logs that report no failures, where no
                other log reports failures either; failed_count covers the remaining ones
            size_bytes: bytes of the transfers that did not fail, as far as sizes are known; null where
                no size is known; a saturated size counts as logged
            hour_count: how many hours of this weekday and hour were in service
            mean_transfer_count: transfer_count over hour_count; null where no such hour was in service
            first_on: local date of the first day on which such a transfer of the archive ended,
                whatever its weekday
            last_on: local date of the last such day

        In SQL:

            SELECT archive, weekday_name, hour, mean_transfer_count, hour_count
            FROM mart.hour_profiles(since => now() - INTERVAL '1 year')
            WHERE kind = 'measured'
            ORDER BY archive, weekday, hour
        """

    def idle_intervals(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        shortest_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive and gap of at least shortest_s.

        The gaps during which no transfer was under way, and how much of each gap is explained by
        outages that people recorded with `tapewise outages add`. A failed transfer counts as activity,
        because the archive answered. Opens, deletes and the transfers of uncounted sources do not. A
        gap that crosses an edge of the range is returned whole, so it also appears in the result for
        the adjacent range. To measure such gaps, the query also reads a margin of a day (or shortest_s,
        if that is longer) before `since` and after `until`. A gap that extends beyond the margin is cut
        off there and flagged is_edge. Gaps of less than 20 minutes are looked for among all transfers,
        so give a range with shortest_s below 600; those of all time that last 600 s or more are kept by
        `tapewise refresh`. A transfer that was under way at `until` and ended after the margin is not
        seen. No gaps are reported before the first transfer in the warehouse, after the last one, or in
        a period that the archive has forgotten (`tapewise forget`).

        Args:
            archive: only this archive (null = all)
            since: only gaps that end after this time (null = from the first transfer)
            until: only gaps that begin before this time (null = to the last transfer)
            interface: only transfers of this interface are activity (null = all)
            direction: only puts or gets are activity (null = both)
            client: only transfers of this client machine are activity (null = all)
            class_of_service: only transfers of this class of service are activity (null = all)
            shortest_s: only gaps of this length or more (null = 600; at SDSC, a gap of 10 to 20 minutes
                very likely meant trouble)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            last_transfer_id: the transfer that ended last before the gap; of several, the one that
                began first
            last_interface: interface of that transfer
            last_direction: direction of that transfer
            last_client: client machine of that transfer, null if the log does not say
            next_transfer_id: the transfer that began first after the gap; of several, the one that
                ended first
            next_interface: interface of that transfer
            next_direction: direction of that transfer
            next_client: client machine of that transfer, null if the log does not say
            outage_notes: notes of the recorded outages that overlap the gap, in order of their start;
                null if there are none
            idle_s: length of the gap; a lower bound where is_edge
            explained_s: seconds of the gap that are covered by recorded outages; overlapping outages
                are not counted twice
            explained_ratio: explained_s over idle_s (0 to 1)
            hour_unknown_count: transfers whose time of day is unknown, on the local days that the gap
                touches. Each may have been under way during the gap, so the gap may be shorter or not
                exist. The count covers only the requested interface, direction and class, but all
                clients
            is_explained: whether every part of the gap that is not covered by recorded outages is
                shorter than shortest_s
            is_edge: whether the gap extends beyond what was read, so that the last or next transfer is
                not known; query a longer range to find it
            is_time_ambiguous: whether the last or next transfer has a local time that is ambiguous
                because of daylight saving. The earlier of the two possible times is assumed, unless the
                order of the lines in the file decides, so the gap may be an hour shorter or not exist
            started_at: when the last transfer ended
            ended_at: when the next transfer began or, if the log does not say, when it ended
            started_local: started_at in the archive's local time
            ended_local: ended_at in the archive's local time

        In SQL:

            SELECT archive, started_local, ended_local, idle_s, explained_ratio, outage_notes
            FROM mart.idle_intervals(
                since => '1998-08-01 America/Los_Angeles',
                until => '1998-09-01 America/Los_Angeles'
            )
            WHERE NOT is_explained AND kind = 'measured'
            ORDER BY idle_s DESC
        """

    def idle_windows(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and local day between its first and its last transfer.

        How many ten-minute windows of each local day are idle. A window is idle if no transfer, failed
        or not, ended in it, even if one was under way all the time. Figure 5 of the paper cited below
        counts log lines in this way; mart.idle_intervals shows when no transfer was under way. Windows
        follow the archive's clock. Days that the range covers only in part are returned whole. All
        windows of a day without any transfer are idle, provided that the warehouse holds transfers
        before and after it. If a log gives only the day of a transfer, it is not known which windows of
        that day are idle, so the counts of the day are null.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first transfer)
            until: only local days that begin before this time (null = to the last transfer)
            interface: only transfers of this interface (null = all)
            direction: put or get (null = both)
            client: only transfers of this client machine (null = all); if given, the query reads the
                transfers instead of mart.day_cells, unless the archive counts single clients
                (mart.archives)
            class_of_service: only transfers of this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            window_count: number of ten-minute windows in the local day (144, or 138 or 150 if clocks
                change by an hour)
            idle_count: windows in which no transfer ended; null if hour_unknown_count is not 0
            idle_ratio: idle_count over window_count (0 to 1); null if hour_unknown_count is not 0
            explained_count: idle windows that are at least half covered by recorded outages; null if
                hour_unknown_count is not 0
            unexplained_count: idle_count minus explained_count; null if hour_unknown_count is not 0
            repeated_count: idle windows in the second pass of the hour that is repeated when clocks go
                back. A log in local time does not distinguish the two passes, and all its lines are
                assigned to the first, so these windows look idle; null if hour_unknown_count is not 0
            hour_unknown_count: transfers that ended on this day at an unknown hour, because the log
                gives only the day
            is_edge: whether this is the first or last day for which the warehouse has transfers; the
                logs may cover only part of it
            starts_on: the local date

        In SQL:

            SELECT archive, starts_on, window_count, idle_count, explained_count, unexplained_count
            FROM mart.idle_windows(
                since => '1998-08-01 America/Los_Angeles',
                until => '1998-09-01 America/Los_Angeles'
            )
            WHERE NOT is_edge
            ORDER BY archive, starts_on
        """

    def ignored_lines(
        self,
        *,
        log_file_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        reason: Values = None,
        line_count: Values = None,
    ) -> pl.DataFrame:
        """One row per log file and reason for which some of its lines were ignored.

        Why lines were deliberately ignored.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            log_file_id: number of the log file in the warehouse, as in mart.log_files
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that the file belongs to
            reason: why the lines were ignored
            line_count: number of lines

        In SQL:

            SELECT archive, source, reason, sum(line_count) AS line_count
            FROM mart.ignored_lines
            GROUP BY archive, source, reason
            ORDER BY archive, source, reason
        """

    def in_words(
        self,
        *,
        value: float,
        unit: str,
    ) -> pl.DataFrame:
        """The number, rounded, and the unit that fits its magnitude (22.2 GB, 1.5 min, 71.0 %, 1,234);
        null for null.

        A number with its unit, as a person would write it. kB, MB, GB, TB and PB are powers of ten.

        Args:
            value: the number
            unit: bytes, s (seconds), h (hours), ratio (0 to 1, written in %), or any other word, of a
                count; null for none

        In SQL:

            SELECT archive, starts_on, direction, mart.in_words(sum(size_bytes)::double precision, 'bytes') AS moved
            FROM mart.daily_activity(since => now() - INTERVAL '1 month')
            GROUP BY archive, starts_on, direction
            ORDER BY archive, starts_on, direction
        """

    def incidences(
        self,
        *,
        watched_s: Sequence[float],
        ends: Sequence[int],
        weights: Sequence[float],
    ) -> pl.DataFrame:
        """One row per distinct time, ascending.

        How large a share has had an event after each time, although some were watched for a shorter
        time than others. incidence_ratio is the estimate of Aalen and Johansen, in which other ends
        compete with the event; without other ends it is 1 minus the estimate of Kaplan and Meier. The
        three arrays have an element for each thing that is watched; elements without a time are left
        out.

        Args:
            watched_s: seconds from the beginning until the event, the other end, or the last moment at
                which neither had happened
            ends: 1 if the event happened then, 2 if something else ended it, 0 if it was not watched
                any longer (censored)
            weights: how much each counts, for example 1 or its bytes

        Columns:
            after_s: the time
            at_risk_weight: weight of what was watched at least as long
            event_weight: weight of the events at this time
            survival_ratio: estimated share that after this time has had neither the event nor another
                end (0 to 1)
            incidence_ratio: estimated share that has had the event by this time (0 to 1)

        In SQL:

            SELECT after_s, survival_ratio, incidence_ratio
            FROM mart.incidences(ARRAY[10, 20, 20, 30], ARRAY[1, 0, 2, 1], ARRAY[1, 1, 1, 1])
            ORDER BY after_s
        """

    def incidences_at(
        self,
        *,
        watched_s: Sequence[float],
        ends: Sequence[int],
        weights: Sequence[float],
        after_s: Sequence[float],
    ) -> pl.DataFrame:
        """One row per time, unless nothing was watched that long and some had not ended until then.

        The estimates of mart.incidences after given times.

        Args:
            watched_s: as in mart.incidences
            ends: as in mart.incidences
            weights: as in mart.incidences
            after_s: the times

        Columns:
            after_s: the time
            survival_ratio: estimated share that after this time has had neither the event nor another
                end (0 to 1)
            incidence_ratio: estimated share that has had the event by this time (0 to 1)

        In SQL:

            SELECT after_s, survival_ratio, incidence_ratio
            FROM mart.incidences_at(ARRAY[10, 20, 20, 30], ARRAY[1, 0, 2, 1], ARRAY[1, 1, 1, 1], ARRAY[15, 25])
            ORDER BY after_s
        """

    def interarrivals(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per archive and, as asked for, interface and direction in which there were requests.

        How long it takes from one request to the next: quantiles, mean and coefficient of variation.
        For independent requests at an even rate (Poisson), the coefficient is 1; a larger one means
        bursts. The requests are those of mart.arrivals, by when they were asked for. A gap that a
        recorded outage touches is left out. Only requests in the range have gaps, so the first one of
        the range has none.

        Args:
            archive: only this archive (null = all)
            since: only requests asked for at or after this time (null = from the first)
            until: only requests asked for before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of interface and direction; default both. Fewer groups have shorter gaps,
                because a gap is then that between any two requests of the group. With anything else,
                there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...); null unless grouped by it
            direction: put or get; null unless grouped by it
            request_count: requests whose time of day is known
            unplaced_count: requests of which only the day is known, and which have no gaps
            gap_count: gaps between consecutive requests; all figures below are theirs
            outage_gap_count: gaps that were left out, because a recorded outage touches them
            zero_count: gaps of zero length. In logs of whole seconds, these are requests of the same
                second, and a quantile of 0 reads as "< 1 s"
            mean_s: mean gap; null if there is none
            stddev_s: standard deviation of the gaps; null if there are fewer than two
            variation_ratio: coefficient of variation, stddev_s over mean_s; null if there are fewer
                than two gaps, or if all are zero
            p50_s: seconds that 50 % of the gaps do not exceed; null if there is none
            p90_s: seconds that 90 % of the gaps do not exceed; null if there is none
            p99_s: seconds that 99 % of the gaps do not exceed; null if there is none
            max_s: the longest gap; null if there is none

        In SQL:

            SELECT archive, interface, direction, p50_s, p99_s, variation_ratio
            FROM mart.interarrivals(since => now() - INTERVAL '1 month')
            ORDER BY archive, interface, direction
        """

    def is_answered(
        self,
        *,
        function_name: str | None = None,
        archive: str | None = None,
        arguments: str | None = None,
    ) -> pl.DataFrame:
        """Whether all rows are kept.

        Whether a function need not compute because its answer is kept, and is current, for the archive,
        or for each of all archives.

        Args:
            function_name: name of the function
            archive: name of the archive; null for all
            arguments: the other arguments, as in mart.answers

        In SQL:

            SELECT mart.is_answered('concurrency', 'hpss', '{}') AS is_answered
        """

    def kept_answers(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        function_name: Values = None,
        arguments: Values = None,
        state: Values = None,
        answer: Values = None,
        has_names: Values = None,
        took_s: Values = None,
        computed_at: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, function and arguments whose answer is kept.

        The answers that `tapewise refresh` and the nightly run have computed for functions that take
        long, with what the archive held then. mart.answers says which of them are used.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            function_name: name of the function
            arguments: all arguments but the archive, by name; those that are null are left out
            state: what the archive held, as in mart.archive_states
            answer: the rows, as an array of objects; null if they have names, which mart.kept_names
                shows
            has_names: whether the rows have names of accounts or paths
            took_s: how long it took to compute
            computed_at: when it was computed

        In SQL:

            SELECT function_name, answer -> 0 AS first_row FROM mart.kept_answers WHERE archive = 'hpss'
        """

    def kept_names(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        function_name: Values = None,
        arguments: Values = None,
        answer: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, function and arguments whose answer is kept and has names.

        The rows of those kept answers that have names of accounts or paths; only for people who may see
        names. mart.answers says how old they are, and whether they are used.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            function_name: name of the function
            arguments: all arguments but the archive, by name; those that are null are left out
            answer: the rows, as an array of objects

        In SQL:

            SELECT function_name, answer -> 0 AS first_row FROM mart.kept_names WHERE archive = 'hpss'
        """

    def line_fates(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        format: Values = None,
        fate: Values = None,
        reason: Values = None,
        line_count: Values = None,
        line_ratio: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, fate and reason for which there are lines; every source has a row
        for loaded lines, even if it has none.

        What became of the lines of each source's log files, in total. The line counts of mart.log_files
        are broken down by the reasons of mart.ignored_lines and mart.rejected_reasons. Uncounted
        sources are included; sources with no files read are not.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that the lines belong to
            format: format of the log
            fate: what became of the lines - loaded (stored as rows), held (already in the warehouse),
                ignored (deliberately skipped) or rejected
            reason: why lines were ignored or rejected; null for loaded and held
            line_count: number of lines
            line_ratio: line_count over all lines of the source (0 to 1); null if it has none

        In SQL:

            SELECT archive, source, fate, reason, line_count, line_ratio
            FROM mart.line_fates
            WHERE kind = 'measured'
            ORDER BY archive, source, fate, line_count DESC
        """

    def line_statistics(
        self,
        *,
        point_count: int,
        latency_s: float,
        latency_se_s: float,
        slope_s_per_byte: float,
        slope_se_s_per_byte: float,
        regression_squares_s2: float,
        residual_squares_s2: float,
    ) -> pl.DataFrame:
        """One row.

        The figures that a regression table prints next to the line: t and p, 95 % intervals, R and the
        analysis of variance, computed from coefficients, standard errors and sums of squares.
        mart.lower_envelopes gets its columns from this function, and you can use it to check the
        figures of a printed table.

        Args:
            point_count: points that the line is fitted to (n)
            latency_s: intercept of the line in seconds
            latency_se_s: standard error of the intercept in seconds
            slope_s_per_byte: slope of the line in seconds per byte (null = there is no line, and all
                columns are null)
            slope_se_s_per_byte: standard error of the slope in seconds per byte
            regression_squares_s2: sum of squares that the line explains, in square seconds
            residual_squares_s2: sum of squares of the residuals, in square seconds

        Columns:
            rate_bytes_per_s: 1 / slope; null where the slope is not positive
            r: multiple R, the square root of r_squared, never negative; null under the same conditions
                as r_squared
            r_squared: share of the sum of squares that the line explains (0 to 1); null where there is
                none to explain
            adjusted_r_squared: r_squared corrected for what a line explains by chance; null with fewer
                than 3 points
            residual_se_s: standard error of the regression in seconds; null with fewer than 3 points
            latency_t: latency over its standard error; null where that is zero or null
            latency_p: two-sided probability of a t this large if the latency were zero (0 to 1)
            latency_low_s: lower end of the 95 % interval of the latency, in seconds; null with fewer
                than 3 points
            latency_high_s: upper end of the 95 % interval of the latency, in seconds; null under the
                same conditions as latency_low_s
            slope_t: slope over its standard error; null where that is zero or null
            slope_p: two-sided probability of a t this large if the slope were zero (0 to 1)
            slope_low_s_per_byte: lower end of the 95 % interval of the slope, in seconds per byte; null
                with fewer than 3 points
            slope_high_s_per_byte: upper end of the 95 % interval of the slope, in seconds per byte;
                null under the same conditions as slope_low_s_per_byte
            rate_low_bytes_per_s: 1 / slope_high_s_per_byte; null where slope_low_s_per_byte is not
                positive
            rate_high_bytes_per_s: 1 / slope_low_s_per_byte; null where that is not positive
            regression_df: degrees of freedom of the line (1)
            residual_df: degrees of freedom of the residuals (point_count - 2); null with fewer than 2
                points
            total_df: total degrees of freedom (point_count - 1); null with fewer than 2 points
            total_squares_s2: regression_squares_s2 + residual_squares_s2
            regression_mean_square_s2: regression_squares_s2 / regression_df
            residual_mean_square_s2: residual_squares_s2 / residual_df; null with fewer than 3 points
            f: ratio of the two mean squares (regression over residual); null where the residuals are
                zero
            f_p: probability of an f this large if the slope were zero (0 to 1), called significance F
                in regression tables; the same as slope_p

        In SQL:

            SELECT latency_low_s, latency_high_s, rate_low_bytes_per_s, rate_high_bytes_per_s, f, f_p
            FROM mart.line_statistics(166, 0.756034485, 0.058893727, 2.14378e-7, 5.27894e-9, 772.36085, 76.80653322)
        """

    def listed_ages(
        self,
        *,
        archive: str | None = None,
        until: Moment | None = None,
        class_of_service: str | None = None,
        state: str | None = None,
        location: str | None = None,
        age_days: Sequence[float] | None = None,
    ) -> pl.DataFrame:
        """One row per archive and range of ages in which its listing has files.

        What lies on disk by age: files and bytes of the last listing of files (mart.snapshots) by the
        time since their last use. Only a listing can say this, because no log that is read here reports
        which files were purged from disk. The listing must be one of the files on disk, or name these
        by their state or location. All items with the same listed_at are one listing, so it must be
        complete.

        Args:
            archive: only this archive (null = all)
            until: the last listing made before this time (null = the last one)
            class_of_service: only files of this class of service (null = all)
            state: only files with this state, as the listing names it (null = all)
            location: only files with this location, as the listing names it (null = all)
            age_days: the edges of the ranges, in any order, in days of 86,400 s

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            age_from_days: days from the last use to the listing that the files of this row have at
                least; null for files of which the listing does not say when they were last used
            age_to_days: and that they do not reach; null in the last range, and for files whose last
                use is unknown
            file_count: files
            unknown_size_count: how many of these have an unknown size
            size_bytes: their bytes, counting only known sizes; null if none is known
            file_ratio: share of the files that were selected
            size_ratio: share of their bytes, null where no size is known
            listed_at: when the listing was made

        In SQL:

            SELECT age_from_days, age_to_days, file_count, size_bytes, listed_at
            FROM mart.listed_ages(archive => 'hpss', age_days => '{1,10,100}')
            ORDER BY age_from_days
        """

    def listed_totals(
        self,
        *,
        archive: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, listing and class of service.

        How much an archive held according to listings of its accounts or, where accounts were never
        listed, of its files (mart.snapshots). All items with the same listed_at are one listing, so it
        must be complete.

        Args:
            archive: only this archive (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            item_kind: what was listed (account or file)
            class_of_service: class of service, null if the listing does not say
            file_count: files of all items; null if that of any item is not known
            size_bytes: bytes of all items; null if that of any item is not known
            listed_at: when the listing was made

        In SQL:

            SELECT archive, listed_at, sum(file_count) AS file_count, sum(size_bytes) AS size_bytes
            FROM mart.listed_totals()
            GROUP BY archive, listed_at
            ORDER BY archive, listed_at
        """

    def load_over_time(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        period: str | None = None,
        grouped_by: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, period and, if asked for, interface and direction.

        How many transfers were under way, and how fast bytes moved, by ten minutes, hour, day or
        longer. A transfer is under way from start to end as logged, and its bytes are spread evenly
        over that time, so the greatest mean rate of ten minutes is a peak that the archive reached.
        (mart.activity counts all bytes of a transfer when it ended.) A transfer that ends when another
        begins does not overlap it. Transfers that cross an edge of the range or of a period count with
        the part within it. Failed transfers are under way, but move no bytes. Every period has a row,
        even without transfers, from the first transfer of the log to its last one; the last period ends
        with the last transfer, and the first one begins with the first (period_s). Days that the
        archive has forgotten are not shown. Each answer is computed from the transfers of the range,
        about three seconds of the server's time for a million.

        Args:
            archive: only this archive (null = all)
            since: only what was under way at or after this time (null = from the first)
            until: only what was under way before this time (null = to the last)
            interface: only transfers of this interface (null = all)
            direction: put or get (null = both)
            client: only transfers of this client machine (null = all)
            class_of_service: only transfers of this class of service (null = all)
            period: ten_minutes, hour, day, week, month, quarter or year, by the archive's own clock; a
                week begins on Monday
            grouped_by: all (one row per archive and period), interface, direction or
                interface_and_direction; the maxima of a group are its own, so the maximum of all is not
                their sum

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            period: the period that was asked for
            interface: the program that moved the files (ftp, nft, hsi, ...); null unless grouped by it
            direction: put or get; null unless grouped by it
            begun_count: transfers that began in the period
            unknown_duration_count: transfers that ended in the period, but whose start is unknown; they
                are not among those under way
            hour_unknown_count: transfers of the period, or of the local day to which it belongs, whose
                time of day is unknown; they are not among those under way either. The count covers all
                clients
            transfer_s: seconds that transfers were under way in the period, added up over the
                transfers. A lower bound if unknown_duration_count or hour_unknown_count is not 0; null
                if nothing else is known of the period
            mean_under_way: transfer_s over period_s; the mean number of transfers under way; null as
                transfer_s
            max_under_way: the greatest number of transfers under way at the same time; null as
                transfer_s
            period_s: seconds of the period that the range and the log cover
            busy_s: seconds of them in which at least one transfer was under way; null as transfer_s
            outage_s: seconds of them that are covered by recorded outages. They count in period_s like
                any other time
            size_bytes: bytes that were moved in the period. Bytes of a transfer that took no time count
                when it ended; null where no size or no duration is known
            unspread_bytes: bytes of the transfers of unknown_duration_count, which are not in
                size_bytes, because it is not known when they were moved
            mean_rate_bytes_per_s: size_bytes over period_s
            max_rate_bytes_per_s: the greatest sum of the rates of the transfers under way at the same
                time, if each moves its bytes evenly. Short transfers, whose durations are coarse, can
                make it larger than any link; the greatest mean of ten minutes is a safer peak
            is_size_lower_bound: whether sizes or durations of some transfers are unknown, or sizes are
                at the limit of the log's counter, so that bytes and rates are lower bounds
            is_wait_included: whether durations of some of the transfers hold the wait for a port (NFT;
                mart.holds_port_wait), so that what is under way are requests in progress, not ports in
                use
            starts_at: when the period begins
            starts_on: local date on which the period begins

        In SQL:

            SELECT starts_at, mean_under_way, max_under_way, mean_rate_bytes_per_s
            FROM mart.load_over_time(since => now() - INTERVAL '1 week', period => 'ten_minutes')
            WHERE kind = 'measured'
            ORDER BY mean_rate_bytes_per_s DESC NULLS LAST
            LIMIT 10
        """

    def local_periods(
        self,
        *,
        from_at: Moment,
        last_at: Moment,
        timezone: str,
        period: str,
    ) -> pl.DataFrame:
        """One row per hour or day; none if the span ends before it begins.

        The hours or days of a local clock that a span of time touches. Days begin at local midnight,
        and hours are counted from there, so a day has 23 or 25 of them where clocks change. Where
        midnight comes twice, a day begins at the second.

        Args:
            from_at: beginning of the span
            last_at: the last moment that is in the span
            timezone: the time zone of the clock
            period: hour or day; with anything else, there are no rows

        Columns:
            starts_at: when the period begins
            ends_at: when the next one begins
            starts_on: the local date

        In SQL:

            SELECT starts_at, ends_at, starts_on
            FROM mart.local_periods('1996-10-26 12:00+02', '1996-10-27 12:00+01', 'Europe/Berlin', 'day')
            ORDER BY starts_at
        """

    def log_f_area(
        self,
        *,
        log_f: float,
        numerator_df: float,
        denominator_df: float,
    ) -> pl.DataFrame:
        """One row.

        The basis of every quantile and tail of F and Student's t: the height of the density of ln F at
        a point, and the area to the right of the point divided by that height. The height is relative
        to the centre (F = 1), where the density is highest; for the area to the left, exchange the
        degrees of freedom. The area is summed over 281 strips, and is accurate to 1e-10 or better.

        Args:
            log_f: natural logarithm of F, at least 0 (below 0, the row is null)
            numerator_df: degrees of freedom of the numerator, 0.1 to 1e10 (else the row is null)
            denominator_df: degrees of freedom of the denominator, with the same limits

        Columns:
            log_height: natural logarithm of the height, 0 at the centre and falling
            width: area over height

        In SQL:

            SELECT log_height, width FROM mart.log_f_area(ln(3.9), 1, 164)
        """

    def log_f_quantile(
        self,
        *,
        lower_tail: float,
        upper_tail: float,
        numerator_df: float,
        denominator_df: float,
    ) -> pl.DataFrame:
        """The natural logarithm of the F that has these tails; infinite where one of them is 0.

        The logarithm of a quantile of F, from which f_quantile and student_t_quantile are computed.
        Both tails are passed, because a small tail cannot be calculated from a large one.

        Args:
            lower_tail: probability that F is smaller (0 to 1, else null)
            upper_tail: probability that F is larger, 1 - lower_tail
            numerator_df: degrees of freedom of the numerator, 0.1 to 1e10 (else null)
            denominator_df: degrees of freedom of the denominator, with the same limits

        In SQL:

            SELECT exp(mart.log_f_quantile(0.95, 0.05, 1, 164)) AS f
        """

    def log_f_tail(
        self,
        *,
        log_f: float,
        numerator_df: float,
        denominator_df: float,
    ) -> pl.DataFrame:
        """The probability that ln F is larger (0 to 1), with a small relative error because it is summed
        from that end.

        The upper tail of F. It takes the logarithm of F, because F itself may be too large for a
        number. f_tail and student_t_tail use this function.

        Args:
            log_f: natural logarithm of F; infinite is allowed
            numerator_df: degrees of freedom of the numerator, 0.1 to 1e10 (else null)
            denominator_df: degrees of freedom of the denominator, with the same limits

        In SQL:

            SELECT mart.log_f_tail(ln(3.9), 1, 164) AS p
        """

    def log_files(
        self,
        *,
        log_file_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        format: Values = None,
        format_version: Values = None,
        program_version: Values = None,
        path: Values = None,
        log_date_from: Values = None,
        line_count: Values = None,
        loaded_count: Values = None,
        held_count: Values = None,
        ignored_count: Values = None,
        rejected_count: Values = None,
        read_bytes: Values = None,
        waiting_bytes: Values = None,
        is_counted: Values = None,
        log_date: Values = None,
        first_event_at: Values = None,
        last_event_at: Values = None,
        first_read_at: Values = None,
        last_read_at: Values = None,
    ) -> pl.DataFrame:
        """One row per log file (identified by its path and its content at the time).

        The log files that were read, and the balance of their lines: line_count = loaded_count +
        held_count + ignored_count + rejected_count. Uncounted sources are included.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            log_file_id: number of the log file in the warehouse
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that the file belongs to
            format: format of the log
            format_version: version of the parser that read it
            program_version: version of Tapewise that read it
            path: where the log file was when it was read
            log_date_from: where log_date comes from (name, --date, time of change, pattern, list); null
                if there is none, or if the file was read before this was recorded
            line_count: number of newlines in the bytes read, counted independently of the parser
            loaded_count: lines that were stored as rows
            held_count: lines that were already in the warehouse
            ignored_count: lines skipped deliberately (mart.ignored_lines gives the reasons)
            rejected_count: lines that could not be parsed into a record (mart.rejected_reasons gives
                the reasons)
            read_bytes: bytes read, decompressed
            waiting_bytes: bytes after the last newline, which wait for the rest of their line
            is_counted: false if another source of the archive reports the same transfers and is the one
                counted
            log_date: the date assigned to its lines, in the source's time zone; null if the lines have
                dates of their own
            first_event_at: earliest event in the file, null if there is none
            last_event_at: latest event in the file (the later of two possible times in the hour that is
                repeated when clocks go back), null if there is none
            first_read_at: when the file was first read
            last_read_at: when the file was last read

        In SQL:

            SELECT archive, source, path, line_count, rejected_count
            FROM mart.log_files
            WHERE rejected_count > 0
            ORDER BY rejected_count DESC, log_file_id
        """

    def lower_envelopes(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        stratum_size: int | None = None,
        is_fresh: bool | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface and direction that has transfers.

        How the hardware performs when nobody waits. Latency and rate come from a line fitted to the
        fastest transfer of each stratum of sizes. Each interface has its own line, because it has its
        own machine, network and clock. Only successful transfers with a duration and an unsaturated
        size are used. Transfers of less than 10 s by a coarse clock (whole seconds, or 0.499) are left
        out, as are transfers of zero duration, and the last stratum by size if it is not full. For more
        than 300,000 transfers, the function returns lines that `tapewise refresh` has prepared
        (is_prepared), or none if these transfers were not prepared (mart.envelope_choices).

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            stratum_size: transfers in a stratum (null or below 1 = 100 for puts, 25 for gets)
            is_fresh: whether to compute the lines from all transfers, however long it takes

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            stratum_size: transfers in a stratum
            stratum_count: full strata, which are the points of the regression (n)
            transfer_count: transfers that pass the filter, including those of the last stratum
            filtered_count: transfers left out by the filter
            latency_s: intercept of the line in seconds; null if sizes do not vary or there are fewer
                than 2 strata
            slope_s_per_byte: slope of the line in seconds per byte; null under the same conditions as
                latency_s
            rate_bytes_per_s: 1 / slope; null where the slope is not positive
            r_squared: share of the variance that the line explains (0 to 1); null where durations do
                not vary
            latency_se_s: standard error of latency_s in seconds; null with fewer than 3 strata
            slope_se_s_per_byte: standard error of the slope in seconds per byte; null with fewer than 3
                strata
            residual_se_s: standard error of the regression in seconds (n - 2 degrees of freedom); null
                with fewer than 3 strata
            latency_low_s: lower end of the 95 % interval of the latency, in seconds; null with fewer
                than 3 strata
            latency_high_s: upper end of the 95 % interval of the latency, in seconds; null under the
                same conditions as latency_low_s
            slope_low_s_per_byte: lower end of the 95 % interval of the slope, in seconds per byte; null
                with fewer than 3 strata
            slope_high_s_per_byte: upper end of the 95 % interval of the slope, in seconds per byte;
                null under the same conditions as slope_low_s_per_byte
            rate_low_bytes_per_s: 1 / slope_high_s_per_byte; null where slope_low_s_per_byte is not
                positive
            rate_high_bytes_per_s: 1 / slope_low_s_per_byte; null where that is not positive
            latency_t: latency over its standard error; null where that is zero or null
            latency_p: two-sided probability of a t this large if the latency were zero (0 to 1)
            slope_t: slope over its standard error; null where that is zero or null
            slope_p: two-sided probability of a t this large if the slope were zero (0 to 1)
            r: multiple R, the square root of r_squared, never negative; null under the same conditions
                as r_squared
            adjusted_r_squared: r_squared corrected for what a line explains by chance; null with fewer
                than 3 strata
            regression_df: degrees of freedom of the line (1)
            residual_df: degrees of freedom of the residuals (stratum_count - 2)
            total_df: total degrees of freedom (stratum_count - 1)
            regression_squares_s2: sum of squares that the line explains, in square seconds
            residual_squares_s2: sum of squares of the residuals, in square seconds
            total_squares_s2: sum of these two, which is the sum of squares of the durations about their
                mean
            regression_mean_square_s2: regression_squares_s2 / regression_df
            residual_mean_square_s2: residual_squares_s2 / residual_df; null with fewer than 3 strata
            f: ratio of the two mean squares (regression over residual); null where the residuals are
                zero
            f_p: probability of an f this large if the slope were zero (0 to 1), called significance F
                in regression tables; the same as slope_p
            newer_count: 0 if the line was computed now; otherwise the transfers that were added since
                it was prepared, those of all clients and failed ones included (negative if some were
                removed)
            is_prepared: whether the line was prepared by `tapewise refresh`, and not computed now
            computed_at: when the line was prepared; null if it was computed for this answer

        In SQL:

            SELECT
                interface, direction, stratum_count, latency_low_s, latency_s, latency_high_s,
                rate_low_bytes_per_s, rate_bytes_per_s, rate_high_bytes_per_s, r_squared
            FROM mart.lower_envelopes(
                archive => 'llnl',
                since => '1998-04-02 America/Los_Angeles',
                until => '1998-04-10 America/Los_Angeles'
            )
            ORDER BY interface, direction
        """

    def migrations(
        self,
        *,
        migration_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        operation: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        vsn: Values = None,
        drive: Values = None,
        copy_number: Values = None,
        status_code: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        queue_s: Values = None,
        is_failed: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        is_duration_coarse: Values = None,
        is_duration_below_clock: Values = None,
        started_at: Values = None,
        migrated_at: Values = None,
    ) -> pl.DataFrame:
        """One row per attempt to write a file from disk to tape, successful or not.

        Files written from disk to tape, including failed attempts, as reported by counted sources whose
        logs have a line for each file. Filter on migrated_at, so that months outside the range are not
        read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            migration_id: number of the row in the warehouse, for `tapewise explain row`; changes when
                the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported it
            interface: the program that wrote the file (dcache, ...)
            operation: the operation as the log names it (store, ...)
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, null if the log does not say
            vsn: the cartridge to which the file was written (its volume serial number), null if the log
                does not say
            drive: the drive, null if the log does not say
            copy_number: which of the file's copies on tape it is, null if the log does not say
            status_code: the log's own code for how the migration ended, null if it has none
            size_bytes: bytes written, null if the log does not say
            duration_s: seconds it took to write the file (tape access and copying), null if the log
                does not say
            queue_s: seconds that the file waited in the queue beforehand, null if the log does not say
            is_failed: whether the attempt failed
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_duration_coarse: whether the duration is in whole seconds, or 0.499 for less than one
            is_duration_below_clock: whether the duration is below the resolution of the source's clock
            started_at: when writing began; migrated_at - duration_s if the log gives only the end, null
                without a duration
            migrated_at: when the file was on tape

        In SQL:

            SELECT archive, count(*) AS migration_count, sum(size_bytes) AS size_bytes, max(queue_s) AS longest_queue_s
            FROM mart.migrations
            WHERE NOT is_failed AND migrated_at >= now() - INTERVAL '1 month'
            GROUP BY archive
            ORDER BY archive
        """

    def month_peaks(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        transfer_count: Values = None,
        ten_minutes: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, local month with transfers whose time of day is known, and what is counted:
        everything, an interface, a direction, an interface and direction, or a class of service.

        The busiest ten minutes of each local month: of an archive as a whole, of each interface, of
        each direction, of each interface and direction, and of each class of service. mart.records
        reads them in place of the ten minutes of mart.day_cells. Do not add up rows of this view,
        because the same transfers count in several. Days whose detail the archive has forgotten
        (`tapewise forget`) are covered, except those forgotten before the warehouse had mart.day_cells.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...); null in rows of all
                interfaces together
            direction: put or get; null in rows of both together
            class_of_service: class of service; null in rows of all classes together
            transfer_count: how many transfers ended in the busiest ten minutes of the month, failed
                ones included
            ten_minutes: when these ten minutes begin, in minutes since 1970-01-01 00:00 UTC, as in
                mart.day_cells; of equally busy ones, the first
            starts_on: local date of the first day of the month, in the archive's own zone

        In SQL:

            SELECT starts_on, transfer_count, to_timestamp(ten_minutes * 60) AS busiest_at
            FROM mart.month_peaks
            WHERE archive = 'llnl' AND interface IS NULL AND direction IS NULL AND class_of_service IS NULL
            ORDER BY transfer_count DESC
            LIMIT 10
        """

    def monthly_rates(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per archive, local month with such transfers, interface and direction.

        How fast files moved, by local month, interface and direction. Only transfers with a rate are
        included. Failed transfers, saturated sizes, unknown sizes and durations, and zero durations
        without a logged rate are left out of the counts and sums too. A month without any such transfer
        has no row. A range means whole local days. Percentiles are read from histograms, and differ
        from the exact ones, which is_exact gives, by at most 1/128 (0.8 %). Days whose detail the
        archive has forgotten (`tapewise forget`) are covered, except for one client of an archive that
        counts no single clients (mart.archives) or exact percentiles, and except days that were
        forgotten before the warehouse had mart.day_cells.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: exact percentiles, from the transfers themselves, which takes longer

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            transfer_count: transfers that ended in the month and have a rate
            size_bytes: bytes of these transfers
            duration_s: total seconds of these transfers
            mean_rate_bytes_per_s: size_bytes over duration_s, so long transfers weigh more; null where
                the durations sum to zero
            p10_rate_bytes_per_s: the rate (rate_bytes_per_s of mart.transfers) below which a tenth of
                these transfers lie
            p50_rate_bytes_per_s: the median of their rates
            p90_rate_bytes_per_s: the rate below which nine tenths of these transfers lie
            starts_on: local date on which the month begins, in the archive's own zone
            first_on: local date of the first day of the month, within the range, on which such a
                transfer ended
            last_on: local date of the last such day

        In SQL:

            SELECT archive, interface, direction, starts_on, p10_rate_bytes_per_s, p50_rate_bytes_per_s, p90_rate_bytes_per_s
            FROM mart.monthly_rates(since => now() - INTERVAL '2 years')
            WHERE kind = 'measured'
            ORDER BY archive, interface, direction, starts_on
        """

    def morning_attempts(
        self,
        *,
        archive: str | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive with a closed day, kind of attempt, interface, direction, client, class of
        service, and code of failures; and without a code, where none of a class failed but some of
        another one did.

        Attempts of the last closed day (mart.morning_days), and how many of them failed, in the
        smallest groups that mart.morning_failures adds up. Counted as in mart.failures. Where no
        transfer or tape operation of a client, interface and direction failed, there are no rows.

        Args:
            archive: only this archive (null = all)
            until: as it was at this time, if the logs reach further (null = to the last line)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            counted_per: transfer (between a client and the archive) or tape operation (a file read or
                written)
            interface: the program that moved the file or served the tapes
            direction: put (or a file written to tape) or get (or a file read from tape)
            client: name of the client machine, null for tape operations and if the logs do not say
            class_of_service: class of service; null if the logs do not say
            status_code: the log's own code for the failure, as in mart.failures; null if it has none
            status_text: the log's own words for the failure, as in mart.failures; null if it has none
            attempt_count: attempts of the group, failed ones included. All codes of a class share them,
                and each row repeats them
            unknown_count: of how many of these no log says whether they failed; repeated like
                attempt_count
            failed_count: how many failed (with this code); null if none of their logs reports failures
            made_good_count: how many of the failed had a retry that succeeded; null like failed_count
            not_made_good_count: how many of the failed had none, retried or not; null like failed_count
            starts_on: local date of the last closed day, in the archive's own zone

        In SQL:

            SELECT archive, client, class_of_service, status_code, failed_count, attempt_count
            FROM mart.morning_attempts()
            ORDER BY archive, client, class_of_service, status_code
        """

    def morning_days(
        self,
        *,
        archive: str | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive and day.

        The last closed day of an archive, and the same weekdays of the four weeks before, with which it
        is compared. The last closed day is the last local day that ended before the data do, that is,
        before the last line of the counted logs. Days that the logs do not cover whole are left out.

        Args:
            archive: only this archive (null = all)
            until: as it was at this time, if the logs reach further (null = to the last line)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            weeks_ago: 0 for the last closed day, 1 to 4 for the same weekdays before
            starts_at: when the day begins
            ends_at: when the day ends
            data_until: how far the data reach
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT archive, weeks_ago, starts_on, data_until
            FROM mart.morning_days()
            ORDER BY archive, weeks_ago
        """

    def morning_failures(
        self,
        *,
        archive: str | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive with a closed day, kind of attempt, code, interface, direction and client
        with failures.

        What failed on the last closed day (mart.morning_days), by the log's own code, interface,
        direction and client: how many transfers and tape operations, out of how many attempts, and how
        many a retry made good. Counted as in mart.failures, and a retry may have come another way than
        what is asked for. Logs that report no failures are missing.

        Args:
            archive: only this archive (null = all)
            until: as it was at this time, if the logs reach further (null = to the last line)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all); tape servers do not name it, so only
                transfers are counted then
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            counted_per: transfer (between a client and the archive) or tape operation (a file read or
                written)
            interface: the program that moved the files or served the tapes
            direction: put (or files written to tape) or get (or files read from tape)
            client: name of the client machine, null for tape operations and if the logs do not say
            status_code: the log's own code for the failure, as in mart.failures; null if it has none
            status_text: the log's own words for the failure, as in mart.failures; null if it has none
            attempt_count: attempts of this client by this interface and direction, failed ones
                included; the rows of all codes have the same, because only failures have a code
            unknown_count: of how many of these no log says whether they failed
            failed_count: how many failed with this code
            made_good_count: how many of the failed had a retry that succeeded
            not_made_good_count: how many of the failed had none, retried or not
            failed_ratio: failed_count over attempt_count - unknown_count (0 to 1)
            made_good_ratio: made_good_count over made_good_count + not_made_good_count (0 to 1); null
                without any
            starts_on: local date of the last closed day, in the archive's own zone

        In SQL:

            SELECT archive, failed_count, failed_ratio, made_good_count, status_text, interface, direction, client
            FROM mart.morning_failures()
            ORDER BY failed_count DESC, archive, status_text, client
            LIMIT 10
        """

    def morning_figures(
        self,
        *,
        archive: str | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive with a closed day, and figure.

        What to look at in the morning: figures of the last closed day, next to the same weekdays of the
        four weeks before. The last closed day is the last local day that ended before the data do. What
        is not known is null, and the sentence says why. Recalls are the stages that did not fail, where
        there are logs of stages; elsewhere, the gets that took 8 s or longer to open. Their time is
        that of the stage, or of the open.

        Args:
            archive: only this archive (null = all)
            until: as it was at this time, if the logs reach further (null = to the last line)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            figure_number: 1 to 9, the order of the figures
            figure: transfers (failed ones included), bytes put, bytes got, failed transfers, hit ratio,
                recalls, median and 95 % quantile of the recall time, or hours in which no transfer
                ended (ten minutes at a time, without recorded outages)
            unit: bytes, s, h or ratio (0 to 1); null for a count
            value: the figure of the last closed day; null if it is not known
            usual_value: its median over the same weekdays of the four weeks before, as far as it is
                known; null if of none
            usual_low: least of these
            usual_high: greatest of these
            usual_day_count: of how many of these days it is known
            change: value - usual_value
            change_ratio: change over usual_value; null if that is 0
            unknown_count: for how many transfers, gets or stages of the day it is not known; value is
                without them
            sentence: how the value compares with these days (mart.in_words), how many are not known, or
                why the value is not known
            data_until: how far the data reach
            starts_on: local date of the last closed day, in the archive's own zone

        In SQL:

            SELECT archive, starts_on, figure, mart.in_words(value, unit) AS value, sentence
            FROM mart.morning_figures()
            ORDER BY archive, figure_number
        """

    def morning_values(
        self,
        *,
        archive: str | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive, day and figure.

        The figures of mart.morning_figures on each day of mart.morning_days. They are read from cells,
        and from no fact, unless a staging bypass covers part of a day. Recalls are the stages that did
        not fail, where there are logs of stages; elsewhere, the gets that took 8 s or longer to open.

        Args:
            archive: only this archive (null = all)
            until: as it was at this time, if the logs reach further (null = to the last line)

        Columns:
            archive: name of the archive
            weeks_ago: 0 for the last closed day, 1 to 4 for the same weekdays before
            figure_number: number of the figure, as in mart.morning_figures
            value: value of the figure; null if it is not known
            unknown_count: for how many transfers, gets or stages of the day it is not known; value is
                without them
            is_inferred: whether recalls are only inferred from open times

        In SQL:

            SELECT archive, weeks_ago, value AS transfer_count
            FROM mart.morning_values()
            WHERE figure_number = 1
            ORDER BY archive, weeks_ago
        """

    def mount_days(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, type of cartridge and local day with mounts.

        Mounts by local day and type of cartridge: how many, for how many files and bytes, and how many
        cartridges were mounted again soon after (remounts). All columns but unanswered_count are of the
        mounts that began on the day. A remount is the next mount of the same cartridge in any drive,
        counted from the dismount to the beginning of the next mount; only mounts with 24 hours of log
        after their dismount are considered. A day without mounts or requests for them has no row. A
        range means whole local days.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all); the remount may be in any drive

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            tape_type: type of the cartridges, null if the log does not say
            mount_count: mounts that reached a drive; sessions that mounted nothing are none
            volume_count: different cartridges that were mounted
            mounts_per_volume: mount_count over volume_count (total over unique mounts); null without
                mounts
            unanswered_count: requests to mount on this day after which the cartridge reached no drive;
                none for a drive that is asked for, which they do not name
            unfinished_count: mounts without a dismount; null if no log of the archive reports dismounts
            counted_count: mounts whose number of files is known
            file_count: files read or written during these mounts, failed ones included; null if no
                number is known
            one_file_count: mounts for one file, failed or not; null if no number is known
            no_file_count: mounts for which a file was positioned to, but none was read or written; null
                if no number is known
            size_bytes: bytes of the files that did not fail, null where there are none
            files_per_mount: file_count over counted_count, null if that is 0
            bytes_per_mount: size_bytes over counted_count, null if that is 0 or no bytes are known
            saved_count: mounts that the lazy wait saved - files requested after the files before them
                in the mount had ended and before the dismount was requested; null if no log of the
                archive reports when files were requested
            followed_count: mounts that were dismounted with at least 24 hours of log after the
                dismount; null if no log of the archive reports dismounts
            remount_1h_count: how many of these were followed by a mount of the same cartridge within 1
                hour; null like followed_count
            remount_24h_count: how many of these were followed by a mount of the same cartridge within
                24 hours; null like followed_count
            remount_1h_ratio: remount_1h_count over followed_count (0 to 1), null if that is 0 or
                unknown
            remount_24h_ratio: remount_24h_count over followed_count (0 to 1), null if that is 0 or
                unknown
            starts_on: the local date

        In SQL:

            SELECT archive, starts_on, tape_type, mount_count, files_per_mount, saved_count, remount_1h_ratio, remount_24h_ratio
            FROM mart.mount_days(since => now() - INTERVAL '1 month')
            ORDER BY archive, starts_on, tape_type
        """

    def mount_failures(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
        grouped_by: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and cartridge or drive that was used, also without failures; which of the
        two is asked for.

        Which cartridges or drives had the most failed files (suspect media and drives). A cartridge
        that failed in several drives is suspect, and so is a drive that failed with several cartridges.
        Archives whose logs do not say whether files failed have no rows. Mounts count on the day on
        which they began. A range means whole local days.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)
            grouped_by: volume or drive; with anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            grouped_by: the grouping that was asked for
            vsn: the cartridge (its volume serial number), null if grouped by drive
            drive: the physical drive, null if grouped by volume
            tape_type: type of the cartridge, null if the log does not say; of a drive that held
                several, one of them
            place: place in the archive, by failed_count and then failed_ratio; the worst is 1, equal
                ones have the same place
            mount_count: mounts of the cartridge or in the drive
            unfinished_count: how many of them have no dismount; null if no log of the archive reports
                dismounts
            file_count: files read or written, failed ones included
            failed_count: how many of these files failed
            failed_mount_count: mounts during which at least one file failed
            failed_with_count: in how many drives files of the cartridge failed, or of how many
                cartridges files failed in the drive
            failed_ratio: failed_count over file_count (0 to 1), null without files
            failed_ratio_low: lower end of the 95 % Wilson interval, which treats files as independent.
                Files of one mount resemble each other, so the real uncertainty is at least this large
            failed_ratio_high: upper end of the 95 % Wilson interval
            last_failed_on: local date on which the last mount with a failed file began, null if none
                failed

        In SQL:

            SELECT archive, place, vsn, failed_count, file_count, failed_with_count, last_failed_on
            FROM mart.mount_failures(since => now() - INTERVAL '3 months', grouped_by => 'volume')
            WHERE failed_count > 0
            ORDER BY archive, place
            LIMIT 20
        """

    def mount_steps(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
        requester: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, view, type of cartridge and step that is known at least once.

        How long the steps of mounts took: queue, mount and position, transfer, lazy wait, dismount and
        others, each as a column of mart.mounts, mart.tape_operations or mart.mount_summaries measures
        it. Failed and unfinished mounts are included with the steps that are known; totals of sessions
        that mounted nothing are not. Quantiles are logged values. A range means whole local days, on
        which the mount or operation had its last event.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)
            requester: only those requested by client or repacker (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            view_name: the view that has the step: mounts (of each mount), tape_operations (of each
                file) or mount_summaries (of each mount, as a log totals it)
            tape_type: type of the cartridges, null if the log does not say
            step: the step, named like its column in that view, without _s; mount of mart.mounts
                includes positioning
            step_count: how often it is known how long the step took
            unknown_count: rows of the view for which the step is not known, or did not occur
            mean_s: mean in seconds
            shortest_s: shortest in seconds
            p10_s: seconds that 10 % did not exceed
            p50_s: median in seconds
            p90_s: seconds that 90 % did not exceed
            p95_s: seconds that 95 % did not exceed
            p99_s: seconds that 99 % did not exceed
            longest_s: longest in seconds

        In SQL:

            SELECT archive, tape_type, step, step_count, mean_s, p50_s, p95_s, longest_s
            FROM mart.mount_steps(since => now() - INTERVAL '1 month')
            WHERE view_name = 'mounts'
            ORDER BY archive, tape_type, step
        """

    def mount_summaries(
        self,
        *,
        mount_summary_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        operation: Values = None,
        mount_key: Values = None,
        task: Values = None,
        requester: Values = None,
        vsn: Values = None,
        tape_type: Values = None,
        drive: Values = None,
        location: Values = None,
        class_of_service: Values = None,
        status_code: Values = None,
        is_mounted: Values = None,
        is_failed: Values = None,
        file_count: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        mount_s: Values = None,
        position_s: Values = None,
        transfer_s: Values = None,
        flush_s: Values = None,
        wait_s: Values = None,
        unload_s: Values = None,
        dismount_s: Values = None,
        is_time_ambiguous: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per session of a drive with a cartridge; sessions that mounted nothing are included
        (is_mounted).

        The totals of mounts, as logs report them in one line at the end of each: how long its steps
        took, and how much was read or written. They come from counted sources. Mounts that are derived
        from single events are in mart.mounts; CTA reports both. Filter on ended_at, so that months
        outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            mount_summary_id: number of the row in the warehouse, for `tapewise explain row`; changes
                when the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of logs that reported it
            interface: the program that served the tapes (cta, ...)
            operation: the operation as the log names it
            mount_key: the log's own name for the mount, null if it has none
            task: whether files were read (stage) or written (migration), null if neither or not known
            requester: for whom the cartridge was mounted (client or repacker), null if the log does not
                say
            vsn: the cartridge (its volume serial number), null if the log does not say
            tape_type: type of the cartridge, null if the log does not say
            drive: the drive, null if the log does not say
            location: the library, as the log names it; null if the log does not say
            class_of_service: class of service (CTA's tape pool), null if the log does not say
            status_code: the log's own code for the outcome, null if it has none
            is_mounted: whether the cartridge was mounted; a session that ended without a mount is no
                mount. Null if the log does not say
            is_failed: whether the session failed, null if the log does not say
            file_count: files read or written, null if the log does not say
            size_bytes: bytes of these files, null if the log does not say
            duration_s: seconds of the whole session, from the mount to the dismount; null if the log
                does not say
            mount_s: seconds until the cartridge was mounted and its drive ready, null if the log does
                not say
            position_s: seconds of positioning, null if the log does not say
            transfer_s: seconds of reading or writing, null if the log does not say
            flush_s: seconds of writing the drive's buffer to tape, null if the log does not say
            wait_s: seconds that the drive waited for data, memory, orders or reports (all that the log
                reports, added up); null if the log does not say
            unload_s: seconds of unloading, null if the log does not say
            dismount_s: seconds from unloaded until the cartridge was back in the library, null if the
                log does not say
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            started_at: ended_at - duration_s, null without a duration
            ended_at: when the session ended, according to its line

        In SQL:

            SELECT drive, count(*) AS mount_count, sum(file_count) AS file_count, sum(duration_s) / 3600 AS drive_h,
                sum(mount_s + unload_s + dismount_s) / sum(duration_s) AS share_of_mounting
            FROM mart.mount_summaries
            WHERE is_mounted AND ended_at >= now() - INTERVAL '1 month'
            GROUP BY drive
            ORDER BY drive
        """

    def mounts(
        self,
        *,
        mount_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        interface: Values = None,
        vsn: Values = None,
        tape_type: Values = None,
        drive: Values = None,
        location: Values = None,
        requester: Values = None,
        is_unfinished: Values = None,
        missing: Values = None,
        transfer_count: Values = None,
        failed_count: Values = None,
        repacker_count: Values = None,
        size_bytes: Values = None,
        queue_s: Values = None,
        mount_s: Values = None,
        position_s: Values = None,
        transfer_s: Values = None,
        lazy_wait_s: Values = None,
        dismount_s: Values = None,
        stay_s: Values = None,
        is_time_ambiguous: Values = None,
        received_at: Values = None,
        mount_requested_at: Values = None,
        mounted_at: Values = None,
        positioned_at: Values = None,
        transferred_at: Values = None,
        dismount_requested_at: Values = None,
        dismounted_at: Values = None,
        first_event_at: Values = None,
        last_event_at: Values = None,
    ) -> pl.DataFrame:
        """One row per mount of a cartridge in a drive, from the request to mount it to its dismount, as
        far as the logs show.

        The mounts of cartridges in drives, derived from the tape events of counted sources. The steps
        of a mount are queue, mount and position (one step, because few logs report the mount alone),
        transfers, the wait for another request (lazy wait), and dismount. Unfinished mounts are
        included, with the steps that are known. Filter on last_event_at, so that months outside the
        range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            mount_id: number of its first event, a row of core.tape_events, for `tapewise explain row`;
                changes when the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            interface: the program that served the tapes (unitree, ...)
            vsn: the cartridge (its volume serial number)
            tape_type: type of the cartridge, null if the log does not say
            drive: the physical drive, null where the cartridge never reached one
            location: where the cartridge is kept, as the log names it
            requester: for whom the cartridge was mounted (client or repacker), according to its request
                or, failing that, its first file; null if the log does not say
            is_unfinished: whether there is no dismount (yet), because the cartridge is still in the
                drive or the line is lost
            missing: the steps for which the logs have no event, null where none is missing; mounted_at
                is not one of them, because few logs report it
            transfer_count: files read or written during the mount, failed ones included; null where no
                event of a file is known (a library's log has none)
            failed_count: how many of these files failed; null like transfer_count
            repacker_count: how many of these files the repacker requested; null like transfer_count
            size_bytes: bytes of the files that did not fail, null where there are none
            queue_s: seconds from received_at to the request to mount; null if either time is not known
            mount_s: seconds from the request to mount until the tape was positioned to the first file,
                null if either time is not known
            position_s: seconds of these from mounted_at until the tape was positioned to the first
                file, null if either time is not known
            transfer_s: seconds of reading and writing, from positioned to transferred, of the files for
                which both times are known
            lazy_wait_s: seconds in the drive from the end of the last file to the request to dismount,
                null if either time is not known
            dismount_s: seconds from the request to dismount to the dismount; null if either time is not
                known
            stay_s: seconds in the drive, from mounted_at to dismounted_at; null if either time is not
                known
            is_time_ambiguous: whether one of its events has a local time that occurs twice (or never)
                because of daylight saving
            received_at: when the file request that led to the mount was made
            mount_requested_at: when the mount was requested
            mounted_at: when the cartridge was in the drive; null if the log does not say
            positioned_at: when the cartridge was mounted and positioned to the first file
            transferred_at: when the last file was read or written
            dismount_requested_at: when the dismount was requested
            dismounted_at: when the cartridge was dismounted
            first_event_at: when its first event happened
            last_event_at: when its last event happened

        In SQL:

            SELECT tape_type, requester, count(*) AS mount_count, avg(mount_s) AS mean_mount_s, avg(lazy_wait_s) AS mean_lazy_wait_s
            FROM mart.mounts
            WHERE last_event_at >= now() - INTERVAL '1 month'
            GROUP BY tape_type, requester
            ORDER BY tape_type, requester
        """

    def namespace_events(
        self,
        *,
        namespace_event_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        event_kind: Values = None,
        operation: Values = None,
        user_id: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        new_file_key: Values = None,
        status_code: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        is_failed: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        happened_at: Values = None,
    ) -> pl.DataFrame:
        """One row per operation on the name space that moved no data between a client and the archive.

        Deletes, renames and copies within the archive, including failed ones, from counted sources.
        Filter on happened_at, so that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            namespace_event_id: number of the row in the warehouse, for `tapewise explain row`; changes
                when the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported it
            interface: the program that requested the change (ftp, nft, hsi, ...)
            event_kind: delete, rename or copy
            operation: the operation as the log names it
            user_id: number of the user in the warehouse, null if the log does not say
            client: name of the client machine as the log gives it, null if the log does not say
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name
            new_file_key: 64-bit key of the new path in a rename or copy, else null
            status_code: the log's own code for the outcome, null if it has none
            size_bytes: size of the file in bytes, null if the log does not say
            duration_s: seconds the operation took, null if the log does not say
            is_failed: whether the operation failed
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            happened_at: when the event happened

        In SQL:

            SELECT archive, event_kind, count(*) AS event_count
            FROM mart.namespace_events
            WHERE NOT is_failed AND happened_at >= now() - INTERVAL '1 month'
            GROUP BY archive, event_kind
            ORDER BY archive, event_kind
        """

    def net_growth(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_fresh: bool | None = None,
    ) -> pl.DataFrame:
        """One row per archive and local day with changes.

        How much the archive grew: data put and copied, minus data deleted and overwritten. If a file
        was put before the log begins, its delete is counted with the size that the delete reports. What
        cannot be known is counted separately: sizes that no line reports, names that the log had not
        mentioned before (a put may have replaced a file there), and lines that do not name the file. A
        day without changes has no row. Answers come from the last recount (mart.file_recounts), as
        those of mart.selected_file_days do.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last); sizes that a put
                does not give may come from later gets
            interface: only this interface (null = all)
            direction: get: only gets; put: everything except gets (null = both)
            client: only this client machine, for which files are followed again, which takes long (null
                = all)
            class_of_service: only files of this class of service, as in mart.growth (null = all)
            is_fresh: follow the files for this answer, in place of the last recount

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            put_count: files put
            copy_count: files made by a copy within the archive
            deleted_count: files deleted
            overwritten_count: files replaced by a put, copy or rename to their name, according to the
                log
            unknown_size_count: how many of all these have a saturated or unknown size
            new_name_count: puts and copies to names that the log had not mentioned before, so it is not
                known what they replaced
            unnamed_count: puts, copies and deletes that cannot be followed because their lines do not
                name the file
            put_bytes: bytes put, counting only known sizes
            copied_bytes: bytes of the copies
            deleted_bytes: bytes deleted
            overwritten_bytes: bytes replaced
            net_bytes: put and copied bytes minus deleted and overwritten ones
            newer_event_count: how many transfers and name-space events of the archive were loaded after
                the recount; null if the files were followed for this answer
            computed_at: when the recount began, null if the files were followed for this answer
            starts_on: local date of the day, in the archive's time zone

        In SQL:

            SELECT archive, starts_on, put_bytes, deleted_bytes, overwritten_bytes, net_bytes,
                sum(net_bytes) OVER (PARTITION BY archive ORDER BY starts_on) AS growth_bytes
            FROM mart.net_growth(since => now() - INTERVAL '1 month')
            ORDER BY archive, starts_on
        """

    def not_on_tape(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        required_copy_count: int | None = None,
        moments: Sequence[Moment] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, moment within its logs of tape, and number of copies up to the largest that
        a put needs.

        What was put and not yet on tape at each of some moments: files and bytes that a broken disk
        would lose. The puts are those of mart.tape_puts. Where files need several copies, the row of
        two copies has those with fewer than two on tape. Files that were put before the log of puts
        begins are not counted, and it is unknown how many of them were not on tape.

        Args:
            archive: only this archive (null = all)
            since: only files put at or after this time (null = from the first)
            until: only files put before this time (null = to the last); what happened to them later is
                known
            interface: only this interface (null = all)
            direction: accepted for uniformity; null and put are equivalent, and get returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            required_copy_count: how many copies on tape a file needs, where no log says so
            moments: the moments (null = when the logs of tape end)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            copy_count: the row is about files with fewer than this number of copies on tape, among
                those that need as many
            file_count: these files, as far as is known
            size_bytes: their bytes, counting only known sizes
            unknown_size_count: how many of these files have an unknown size
            unknown_count: files of which it is unknown whether they were on tape, because they were put
                before the logs of tape begin, or because they cannot be found on tape
            unknown_bytes: their bytes, counting only known sizes
            longest_wait_s: seconds since the oldest put of the files of file_count; null if there is
                none
            happened_at: the moment

        In SQL:

            SELECT archive, happened_at, copy_count, file_count, size_bytes
            FROM mart.not_on_tape(moments => ARRAY(SELECT generate_series(now() - INTERVAL '7 days', now(), INTERVAL '1 day')))
            ORDER BY archive, happened_at, copy_count
        """

    def open_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        route_id: Values = None,
        span: Values = None,
        codes: Values = None,
        request_counts: Values = None,
        open_us: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service and local day, month or year
        in which such requests ended: months and years count again what their days count.

        Requests counted by local day, month and year, and by open time, which charts read in place of
        the requests. mart.open_entries takes a row apart, and mart.selected_opens also looks whether
        staging was bypassed. Only requests that did not fail and have an open time are counted. The
        days whose detail the archive has forgotten (`tapewise forget`) are covered too, except those
        forgotten before the warehouse had this rollup.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the requests
            interface: the program that opened the files (ftp, hsi, ...)
            direction: put or get, null if the log of opens does not say
            class_of_service: class of service of the requests (mart.requests); null where no log has
                one
            route_id: number of the source, interface, direction and class of service
            span: day, month or year
            codes: numbers for the open times, ascending (mart.open_entries)
            request_counts: for each of the codes, how many requests have it
            open_us: for each of the codes, the sum of their open times in microseconds
            starts_on: local date of the first day of the span, in the archive's own zone

        In SQL:

            SELECT starts_on, interface, sum(entries.request_count) AS request_count
            FROM mart.open_cells
            CROSS JOIN LATERAL mart.open_entries(codes, request_counts, open_us) AS entries
            WHERE archive = 'sdsc' AND span = 'month' AND entries.bin >= mart.time_bin(60)
            GROUP BY starts_on, interface
            ORDER BY starts_on, interface
        """

    def open_entries(
        self,
        *,
        codes: Sequence[int],
        request_counts: Sequence[int],
        open_us: Sequence[float],
    ) -> pl.DataFrame:
        """One row per code, which is a bin of open times and what else the requests have in common.

        Takes a row of mart.open_cells apart (`OPEN_CODE` in schema/writing/open_cells.py).

        Args:
            codes: codes of a row of mart.open_cells
            request_counts: its request_counts
            open_us: its open_us

        Columns:
            bin: bin of the open times (mart.time_bin)
            is_sized: whether the sizes of the files are known, and below the limit of the log's counter
            days_ago: how many local days before the day of their end the requests were opened (or else
                were started, or ended): at that time mart.requests looks whether staging was bypassed
            request_count: how many requests there are
            open_us: the sum of their open times, in microseconds

        In SQL:

            SELECT mart.time_bin_edge(entries.bin) AS open_from_s, sum(entries.request_count) AS request_count
            FROM mart.open_cells
            CROSS JOIN LATERAL mart.open_entries(codes, request_counts, open_us) AS entries
            WHERE span = 'year'
            GROUP BY open_from_s
            ORDER BY open_from_s
        """

    def open_time_bins(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, bin of open time and group with requests, and one per empty bin between the
        first and the last bin of the archive; a bin that contains a boundary (7 to 10 s, 50 to 70 s,
        100 to 150 s) can have two rows.

        How long gets of all sizes took to open, on a logarithmic axis, and which of SDSC's four groups
        each open time falls into. The boundaries are SDSC's (8, 60 and 130 s), as in
        mart.open_time_clusters(boundaries_s => '{8,60,130}'). SDSC derived them from files of about 100
        MB, so a large file may take longer to stage than the name of its group suggests. Only
        successful requests with an open time are counted, as in mart.open_times. Bypassed requests,
        whose open time does not include staging, are left out. Requests with an unknown or saturated
        size are included. A range means whole days, as in mart.open_times.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; the groups are of gets only, so null and get are
                equivalent, and put returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            group_number: number of the group by open time, from 1
            group_name: disk (below 8 s), seek (below 60 s), library (below 130 s), shelf or contention
            open_from_s: lower edge of the bin (inclusive) - 1, 1.5, 2, 3, 5 and 7 times each power of
                ten, from 0.1 s; 0 for shorter times
            open_to_s: upper edge of the bin (exclusive); null for the last bin (from 7e8 s)
            request_count: requests of the group in this bin
            request_ratio: request_count over the archive's requests in all bins (0 to 1)

        In SQL:

            SELECT archive, open_from_s, open_to_s, group_name, request_count, request_ratio
            FROM mart.open_time_bins(
                since => '1998-03-01 America/Los_Angeles',
                until => '1998-04-01 America/Los_Angeles'
            )
            ORDER BY archive, open_from_s, group_number
        """

    def open_time_clusters(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        size_from_bytes: int | None = None,
        size_to_bytes: int | None = None,
        boundaries_s: Sequence[float] | None = None,
        staging_rate_bytes_per_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per group, including empty groups, of each archive that has such requests.

        How gets divide by open time into SDSC's four groups. The file was on disk, on a tape that was
        already mounted (seek), on a tape that the library mounted, or on a tape that came from the
        shelf or was delayed by other requests. SDSC derived the boundaries 8, 60 and 130 s from files
        of 90 to 110 MB. Because open times include the staging of the whole file, the boundaries are
        valid for these sizes only. For other sizes, pass a staging rate, which moves the last two
        boundaries, or pass your own boundaries; if you pass an empty array, mart.open_time_valleys
        finds them in the data. A group runs from its boundary (inclusive) to the next (exclusive). Only
        successful requests with an open time and an unsaturated size are counted; bypassed requests are
        left out and counted separately. A range means whole days of the archive's own clock. For files
        of all sizes (size_from_bytes => 0) and boundaries that are edges of bins
        (mart.are_open_boundaries), open times are read from cells (mart.selected_opens), which takes
        milliseconds and covers forgotten days, except for one client of an archive that counts no
        single clients (mart.archives). Otherwise they are read from the requests, and `tapewise
        refresh` keeps the answer for SDSC's sizes and all time.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; the groups are of gets only, so null and get are
                equivalent, and put returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            size_from_bytes: only files of at least this size (null = from 0; 90 MB if size_to_bytes is
                null too)
            size_to_bytes: only files of at most this size (null = any size; 110 MB if size_from_bytes
                is null too)
            boundaries_s: boundaries in seconds, in any number and order, used for all sizes; if the
                array is empty, they are found in the data (null = derived from the staging rate if it
                is given; otherwise SDSC's if the sizes are within 90 to 110 MB; otherwise found in the
                data)
            staging_rate_bytes_per_s: bytes per second from tape to disk. For each request, the
                boundaries 60 and 130 s, which are valid for 100 MB, move by (size - 100 MB) / rate, but
                not below 8 s. The boundary at 8 s does not move, because nothing is staged in less time
                (null = unknown; not used if boundaries_s is given)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            group_number: number of the group by open time, from 1
            group_name: disk, seek, library, and 'shelf or contention', in this order, if there are
                three boundaries (and, where they were found in the data, the first group is on disk);
                else null. Where boundaries were given or found, the first group is also named disk if
                at least 95 % of it opened in less than 8 s
            boundaries_by: given, SDSC, staging rate or valleys (found in the data)
            from_s: open time at which the group begins; if a staging rate moves it, the value for a
                file of 100 MB
            to_s: open time at which the next group begins; if a staging rate moves it, the value for a
                file of 100 MB; null for the last group
            request_count: requests in the group
            doubtful_count: how many of them could equally belong to another group: those within a
                factor of 1.25 of a boundary and, with a staging rate, those that took longer than a
                disk would, but less than their staging alone would
            bypassed_count: requests of the archive that were left out, because staging was bypassed or
                their class of service is tape-only; the same in each row of the archive
            unknown_count: requests of the archive that were left out, because a bypass covers a part of
                their day, and the detail that would show which requests it covers is forgotten; the
                same in each row of the archive
            request_ratio: request_count over the requests of all groups of the archive (0 to 1)
            doubtful_ratio: doubtful_count over request_count (0 to 1); null in an empty group
            min_open_s: shortest open time in the group, or the beginning of its bin (mart.time_bin) if
                open times are read from mart.open_cells
            max_open_s: longest open time in the group, or the beginning of its bin
            mean_open_s: mean open time in the group

        In SQL:

            SELECT archive, group_name, request_count, request_ratio, min_open_s, max_open_s, mean_open_s, doubtful_ratio
            FROM mart.open_time_clusters(
                since => '1998-03-01 America/Los_Angeles',
                until => '1998-04-01 America/Los_Angeles'
            )
            ORDER BY archive, group_number
        """

    def open_time_valleys(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        size_from_bytes: int | None = None,
        size_to_bytes: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive and valley; an archive whose open times form a single hump has no row.

        Where open times separate into groups, that is, the deepest valleys (at most three) in the
        density of log10(open time). The density is counted in bins of 0.02 and smoothed with a Gaussian
        of standard deviation 0.08. A minimum of the density is a valley if it meets three conditions:
        it lies at 2 s or above; its density is at most 0.8 times that of the lower of the two
        neighbouring peaks, and at least three standard errors below that; and each of the two humps
        holds at least 2 % of the requests. On each side, the peak is searched for as far as the curve
        stays above the minimum. Bypassed requests and saturated sizes are left out.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = get)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            size_from_bytes: only files of at least this size (null = all, including those of unknown
                size)
            size_to_bytes: only files of at most this size (null = all, including those of unknown size)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            valley_number: number of the valley by open time, from 1
            request_count: requests of the archive from which the density was computed
            boundary_s: open time at the valley, to within half a bin (2 %)
            lower_peak_s: open time of the highest point below the valley
            upper_peak_s: open time of the highest point above the valley
            depth_ratio: density in the valley over the density at the lower peak (0 to 1; 0 is a clean
                gap)
            sigma_count: how many standard errors the valley is below the lower peak

        In SQL:

            SELECT archive, valley_number, boundary_s, lower_peak_s, upper_peak_s, depth_ratio, request_count
            FROM mart.open_time_valleys(size_from_bytes => 200000000, size_to_bytes => 1000000000)
            ORDER BY archive, valley_number
        """

    def open_times(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction (unless asked for otherwise) and whole second of open
        time that occurs, or one row without a second if all requests were bypassed.

        How long files took to open, by whole second. A file on disk opens at once; a file on tape opens
        after a mount. Only successful requests with a logged open time are included; those without one
        are left out, not guessed. A get reported by both an open and a transfer counts once. While
        staging is bypassed, and for tape-only classes of service, open times do not include a mount;
        these requests are left out and counted in bypassed_count. A range means whole days of the
        archive's own clock. Open times are read from cells (mart.selected_opens), which also cover
        forgotten days, except for one client of an archive that counts no single clients
        (mart.archives).

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both, and opens of unknown direction)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of interface and direction; default both. '{}' counts all of an archive's
                requests together. With anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that opened the file (ftp, hsi, ...); null unless grouped by it
            direction: put or get; null if the log of opens does not say, and unless grouped by it
            open_floor_s: open time in seconds, truncated (0 is 0 to 0.999999 s); null where all
                requests of the group were bypassed
            request_count: requests whose open time is in this second
            running_count: requests whose open time is in this second or a shorter one
            bypassed_count: requests of the group (archive, interface and direction) that were left out,
                because staging was bypassed or their class of service is tape-only; the same in each
                row of the group
            unknown_count: requests of the group that were left out, because a bypass covers a part of
                their day, and the detail that would show which requests it covers is forgotten; the
                same in each row of the group
            request_ratio: request_count over all requests of the group (0 to 1), excluding bypassed
                requests
            running_ratio: running_count over the same total; 1 in the last row

        In SQL:

            SELECT archive, interface, open_floor_s, request_count, running_count, running_ratio, bypassed_count
            FROM mart.open_times(
                since => '1998-02-01 America/Los_Angeles',
                until => '1998-04-01 America/Los_Angeles',
                direction => 'get'
            )
            ORDER BY archive, interface, open_floor_s
        """

    def opens(
        self,
        *,
        open_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        operation: Values = None,
        user_id: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        server: Values = None,
        status_code: Values = None,
        open_s: Values = None,
        is_failed: Values = None,
        is_cached: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        opened_at: Values = None,
    ) -> pl.DataFrame:
        """One row per open of a file.

        Files opened, including failed opens, as reported by counted sources whose logs have a separate
        line for the open. Filter on opened_at, so that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            open_id: number of the row in the warehouse, for `tapewise explain row`; changes when the
                source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported it
            interface: the program that opened the file (ftp, hsi, ...)
            direction: put if the file was opened for writing, get if for reading, null if the log does
                not say
            operation: the operation as the log names it
            user_id: number of the user in the warehouse, null if the log does not say
            client: name of the client machine as the log gives it, null if the log does not say
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name
            server: the archive's machine that opened the file, or its pseudonym; null if the log does
                not say
            status_code: the log's own code for the outcome, null if it has none
            open_s: seconds it took to open the file (with staging on, this includes mount, seek and
                staging), null if not logged
            is_failed: whether the open failed
            is_cached: whether the file was on disk, according to the log; null if it does not say
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            opened_at: when the open completed

        In SQL:

            SELECT archive, interface, count(*) AS open_count, max(open_s) AS longest_open_s
            FROM mart.opens
            WHERE NOT is_failed AND opened_at >= now() - INTERVAL '1 month'
            GROUP BY archive, interface
            ORDER BY archive, interface
        """

    def outages(
        self,
        *,
        outage_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        outage_kind: Values = None,
        note: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
        recorded_at: Values = None,
    ) -> pl.DataFrame:
        """One row per period in which an archive was known to be out of service.

        Outages that people recorded with `tapewise outages add`; no log reports them. Outages may
        overlap.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            outage_id: number of the outage, for `tapewise outages remove`
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            outage_kind: scheduled or unscheduled
            note: what is known about the outage
            started_at: when the archive went out of service
            ended_at: when it was back in service, null if it is not yet
            recorded_at: when the outage was recorded

        In SQL:

            SELECT archive, outage_kind, started_at, ended_at, note
            FROM mart.outages
            WHERE started_at < now() AND coalesce(ended_at, 'infinity') >= now() - INTERVAL '1 month'
            ORDER BY archive, started_at
        """

    def path_folder(
        self,
        *,
        path: str,
        depth: int,
    ) -> pl.DataFrame:
        """The first levels of the folder (/home/kim for /home/kim/a/b/file at depth 2), or the whole
        folder if it has fewer; / for a file in the root, . for a relative path without a folder, and
        null for null.

        The folder of a file, cut to its first levels, by which mart.project_shares and
        mart.project_cold_data add up projects. Several slashes count as one.

        Args:
            path: the path of the file, with the file's own name
            depth: how many levels of folders (null or below 1 = 2)

        In SQL:

            SELECT mart.path_folder('/home/kim/a/b/file', 2) AS folder
        """

    def poisson_weight(
        self,
        *,
        replicate: int,
        block_number: int,
    ) -> pl.DataFrame:
        """A weight from the Poisson distribution of mean 1 (0 to 9).

        How often a replicate of a bootstrap draws a block. The same two numbers give the same weight on
        every machine, because the weight is taken from a digest of the numbers, not from a random
        number.

        Args:
            replicate: number of the replicate
            block_number: number of the block, such as the second at which it begins

        In SQL:

            SELECT mart.poisson_weight(replicate, 19980501) AS weight, count(*) AS replicate_count
            FROM generate_series(1, 1000) AS replicate
            GROUP BY weight
        """

    def popularity(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        top_ratios: Sequence[float] | None = None,
    ) -> pl.DataFrame:
        """One row per archive with gets of files whose paths are in the log, and share of its files
        (top_ratios).

        Which share of the gets goes to the most popular files: those with the most gets in the range.
        Files are versions, as in mart.file_accesses: one that is replaced and read again counts as
        another. Files without a get in the range are not counted. Reads all events of the archive from
        the beginning, and none whose detail the archive has forgotten (`tapewise forget`).

        Args:
            archive: only this archive (null = all)
            since: only gets that ended at or after this time (null = from the first)
            until: only gets that ended before this time (null = to the last)
            interface: only gets by this interface (null = all)
            direction: get (null = get); put returns no rows
            client: only gets by this client machine (null = all)
            class_of_service: only gets of this class of service (null = all)
            top_ratios: which shares of the files, each above 0 and at most 1; others have no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            top_ratio: one of top_ratios
            file_count: files with gets in the range
            top_file_count: how many of them are the most popular ones, file_count times top_ratio
                rounded up
            get_count: gets of all these files
            top_get_count: gets of the most popular ones
            top_get_ratio: share of the gets that go to them
            fewest_get_count: gets of the file among them that has the fewest; others may have as many

        In SQL:

            SELECT archive, top_ratio, file_count, top_get_ratio
            FROM mart.popularity(since => now() - INTERVAL '1 month')
            ORDER BY archive, top_ratio
        """

    def prepared_blocks(
        self,
        *,
        preparation_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        interface: Values = None,
        direction: Values = None,
        block_size: Values = None,
        block: Values = None,
        transfer_count: Values = None,
        smallest_bytes: Values = None,
        mean_bytes: Values = None,
        largest_bytes: Values = None,
        mean_residual_s: Values = None,
        p99_residual_s: Values = None,
        is_outlier: Values = None,
        is_full: Values = None,
    ) -> pl.DataFrame:
        """One row per preparation, interface, direction and block, and one for the outliers.

        The blocks of residuals that `tapewise refresh` has computed. mart.envelope_preparations says
        for which transfers and when; mart.residual_blocks returns them.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            preparation_id: the preparation, as in mart.envelope_preparations
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            block_size: as in mart.residual_blocks
            block: as in mart.residual_blocks
            transfer_count: as in mart.residual_blocks
            smallest_bytes: as in mart.residual_blocks
            mean_bytes: as in mart.residual_blocks
            largest_bytes: as in mart.residual_blocks
            mean_residual_s: as in mart.residual_blocks
            p99_residual_s: as in mart.residual_blocks
            is_outlier: as in mart.residual_blocks
            is_full: as in mart.residual_blocks

        In SQL:

            SELECT preparations.since, preparations.until, blocks.interface, blocks.direction, count(*) AS block_count
            FROM mart.prepared_blocks AS blocks
            INNER JOIN mart.envelope_preparations AS preparations ON blocks.preparation_id = preparations.preparation_id
            GROUP BY preparations.since, preparations.until, blocks.interface, blocks.direction
        """

    def prepared_envelopes(
        self,
        *,
        preparation_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        interface: Values = None,
        direction: Values = None,
        stratum_size: Values = None,
        stratum_count: Values = None,
        transfer_count: Values = None,
        filtered_count: Values = None,
        latency_s: Values = None,
        slope_s_per_byte: Values = None,
        latency_se_s: Values = None,
        slope_se_s_per_byte: Values = None,
        regression_squares_s2: Values = None,
        residual_squares_s2: Values = None,
    ) -> pl.DataFrame:
        """One row per preparation, interface and direction that has transfers.

        The lines that `tapewise refresh` has computed. mart.envelope_preparations says for which
        transfers and when; mart.lower_envelopes adds the other statistics, which follow from these
        columns.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            preparation_id: the preparation, as in mart.envelope_preparations
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            stratum_size: as in mart.lower_envelopes
            stratum_count: as in mart.lower_envelopes
            transfer_count: as in mart.lower_envelopes
            filtered_count: as in mart.lower_envelopes
            latency_s: as in mart.lower_envelopes
            slope_s_per_byte: as in mart.lower_envelopes
            latency_se_s: as in mart.lower_envelopes
            slope_se_s_per_byte: as in mart.lower_envelopes
            regression_squares_s2: as in mart.lower_envelopes
            residual_squares_s2: as in mart.lower_envelopes

        In SQL:

            SELECT preparations.since, preparations.until, lines.interface, lines.direction, lines.latency_s
            FROM mart.prepared_envelopes AS lines
            INNER JOIN mart.envelope_preparations AS preparations ON lines.preparation_id = preparations.preparation_id
            WHERE lines.archive = 'llnl' AND preparations.client IS NULL
            ORDER BY preparations.since, lines.interface, lines.direction
        """

    def project_cold_data(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        held_by: str | None = None,
        path_depth: int | None = None,
        idle_days: Sequence[float] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, account or folder, and range of days without use in which it has files.

        How long the files of each account, or of each folder (project), have not been used, in files
        and bytes; only for people who may see names. The account is the one that put the file, or whose
        get first mentions it, and the folder is the one of that time: a file that was renamed later
        stays where it was. Otherwise as mart.cold_data, which has the same by user and class of
        service. Reads all events of the archive from the beginning.

        Args:
            archive: only this archive (null = all)
            since: only files first seen at or after this time (null = from the first)
            until: what was known before this time (null = at the end of the log)
            interface: only files that this interface put, or whose log first mentions them (null = all)
            direction: put: files that were put or copied, or first mentioned by a rename; get: files
                first mentioned by a get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            held_by: account or path; anything else returns no rows
            path_depth: how many levels of folders a project has, as in mart.path_folder (null or below
                1 = 2)
            idle_days: the edges of the ranges, in any order, in days of 86,400 s

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            holder: the account, or the folder; null if the log does not say, and for files that a copy
                made or a rename first mentions
            idle_from_days: days from the last use to the end of the log that the files of this row have
                at least; null for files of which the log has no use
            idle_to_days: and that they do not reach; null in the last range, and for files of which the
                log has no use
            file_count: files
            size_bytes: their bytes, counting only known sizes
            unknown_size_count: files with an unknown size
            never_read_count: how many of these files were put or copied, but never got
            never_read_bytes: bytes of these
            log_ends_at: the last event before `until`, to which the days are counted

        In SQL:

            SELECT holder AS project, sum(file_count) AS file_count, sum(size_bytes) AS size_bytes
            FROM mart.project_cold_data(archive => 'llnl', held_by => 'path', path_depth => 3, idle_days => '{90}')
            WHERE idle_from_days = 90
            GROUP BY holder
            ORDER BY size_bytes DESC
        """

    def project_shares(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        shared_by: str | None = None,
        ranked_by: str | None = None,
        path_depth: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive and account or folder with requests.

        Which accounts, or which folders of files (projects), have the most requests or bytes, over all
        interfaces; only for people who may see names. Only requests that moved a file and did not fail
        are counted, and what has no known account or path is in no row and in no ratio. Shares of
        users, clients and classes of service, which are no names of projects, are in mart.shares. Reads
        the requests of the range, so none is found on days whose detail the archive has forgotten
        (`tapewise forget`).

        Args:
            archive: only this archive (null = all)
            since: only requests whose transfer ended at or after this time (null = from the first)
            until: only requests whose transfer ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            shared_by: account or path; anything else returns no rows
            ranked_by: requests or bytes; anything else returns no rows
            path_depth: how many levels of folders a project has, as in mart.path_folder (null or below
                1 = 2)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            holder: the account that was charged, or the folder; each level of it is a pseudonym where
                names are pseudonyms
            holder_rank: 1 for the holder of the most requests or bytes (ranked_by); where these are
                equal, the one with more of the other is first
            holder_count: how many holders the archive has in the range
            request_count: requests that moved a file and did not fail
            unknown_size_count: how many of these have an unknown size
            size_bytes: bytes moved by these requests, counting only known sizes
            request_ratio: the holder's share of the requests of all holders
            size_ratio: the holder's share of the bytes of all holders, null where there are none
            running_request_ratio: share of the requests that come from this holder and all holders
                ranked above
            running_size_ratio: share of the bytes that come from this holder and all holders ranked
                above, null where there are none
            first_at: when the first of the holder's transfers ended
            last_at: when the last one ended

        In SQL:

            SELECT holder AS project, request_count, size_bytes, running_size_ratio
            FROM mart.project_shares(
                archive => 'llnl', since => now() - INTERVAL '1 month', shared_by => 'path', ranked_by => 'bytes', path_depth => 3
            )
            WHERE holder_rank <= 10
            ORDER BY holder_rank
        """

    def quantile_places(
        self,
        *,
        value_count: int,
        percent: int,
    ) -> pl.DataFrame:
        """One row.

        Which of a number of sorted values is their quantile, and which two are the ends of its 95 %
        interval: the exact order-statistic (binomial) interval. It assumes nothing about the
        distribution of the values, except that they are independent. Each end misses the true quantile
        with a probability of at most 2.5 %. Places begin at 1, the smallest value.

        Args:
            value_count: how many values there are
            percent: percentage of the values that do not exceed the quantile (1 to 99, else null)

        Columns:
            place: place of the quantile, the smallest value that the given percentage of the values do
                not exceed; null without values
            low_place: place of the lower end; null where even the smallest value may be above the
                quantile
            high_place: place of the upper end; null where even the largest value may be below the
                quantile

        In SQL:

            SELECT place, low_place, high_place FROM mart.quantile_places(1000, 95)
        """

    def rate_months(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        rated_count: Values = None,
        rated_size_bytes: Values = None,
        rated_duration_us: Values = None,
        rate_bins: Values = None,
        rate_counts: Values = None,
        starts_on: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service and local month with rates.

        The rates of mart.day_cells added up by local month, which mart.monthly_rates reads in place of
        the days. Days whose detail the archive has forgotten (`tapewise forget`) are covered, except
        those forgotten before the warehouse had mart.day_cells. For a range, use mart.selected_rates.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service of the transfers; null where no log has one
            rated_count: transfers that ended in the month and have a rate (mart.monthly_rates says
                which have none)
            rated_size_bytes: bytes of these transfers
            rated_duration_us: microseconds of these transfers
            rate_bins: bins of their rates in bytes per second, ascending (mart.histogram_bin);
                mart.histogram_value is within 1/128 of each rate in its bin
            rate_counts: for each of the rate_bins, how many rates are in it
            starts_on: local date of the first day of the month, in the archive's own zone
            first_on: local date of the first day of the month on which such a transfer ended
            last_on: local date of the last such day

        In SQL:

            SELECT starts_on, interface, direction, sum(rated_count) AS rated_count
            FROM mart.rate_months
            WHERE archive = 'llnl'
            GROUP BY starts_on, interface, direction
            ORDER BY starts_on, interface, direction
        """

    def recall_batches(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        together_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive, local day on which recalls ended, and type of tape.

        Recalls that could have been batched, and files asked for together, as tape servers report it
        (mart.tape_recalls). A recall could have been batched if it was asked for before its cartridge's
        last mount ended, and was served by a later mount. The last mount may have been for writing or
        for the repacker, or may have tried the recall in vain. Each recall is counted once per stage.
        Logs that do not say when a file was asked for (SAM-QFS, dCache) have no recalls here.

        Args:
            archive: only this archive (null = all)
            since: only recalls whose last line is from this time or later (null = from the first)
            until: only recalls whose last line is from before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; only gets are recalls, so null and get are equivalent,
                and put returns no rows
            client: tape servers do not know the client, so there are no rows if one is given
            class_of_service: only this class of service (null = all)
            together_s: how many seconds apart two recalls of a cartridge may have been asked for to
                count as asked for together (default 60)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            tape_type: type of the cartridge, null if the logs do not say
            recall_count: recalls whose cartridge is known, unfinished and failed ones included
            volume_count: cartridges that these recalls asked for
            unasked_count: recalls of which it is not known when they were asked for
            mounted_count: recalls whose mount is known
            mount_count: mounts that served recalls, each on the day of its first recall
            batchable_count: recalls that were asked for before their cartridge's last mount ended, but
                were served by a later one; null if no recall has a known mount and request
            batchable_mount_count: mounts that such recalls alone caused, so that the mount before could
                have saved them; null like batchable_count
            together_count: recalls that were asked for together with another one of the same cartridge;
                null if no request is known
            together_group_count: groups of recalls of one cartridge asked for together, each on the day
                of its first recall; null like together_count
            starts_on: local date on which the recalls ended, in the archive's time zone

        In SQL:

            SELECT archive, tape_type, starts_on, recall_count, mount_count, batchable_count, batchable_mount_count, together_count
            FROM mart.recall_batches(since => now() - INTERVAL '1 month')
            ORDER BY archive, tape_type, starts_on
        """

    def recall_latencies(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
        target_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive, way of counting (per stage or per request) and group in which there were
        recalls; the groups are those asked for.

        How long recalls took: quantiles with their intervals, the steps of the tape servers, and the
        share over a target. The recalls are those of mart.recalls, counted once per stage and, in other
        rows, once per waiting request. Each recall is in exactly one of timed_count, unfinished_count,
        failed_count, cancelled_count, unknown_count and negative_count. The quantiles are those of
        timed and unfinished recalls. An unfinished recall counts as longer than all others, because
        only a lower bound of its latency is known (it is censored); a quantile among them is null.
        Where recalls are only inferred from open times of 8 s or longer (inferred_count), shorter ones
        are unknown, so no share over a lower target is given.

        Args:
            archive: only this archive (null = all)
            since: only recalls whose last line is from this time or later (null = from the first)
            until: only recalls whose last line is from before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; only gets are recalls, so null and get are equivalent,
                and put returns no rows
            client: only this client machine (null = all). Logs of stages and tape servers do not name
                it, so only requests are counted then
            class_of_service: only this class of service (null = all)
            grouped_by: any of size, class_of_service, interface, evidence and month, day or hour (of
                several, the shortest); default none, which is one row per archive and way of counting.
                With anything else, there are no rows
            target_s: seconds that a recall should take at most, for over_target_ratio (null = no
                target)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            counted_per: stage (each file brought from tape once) or request (each request that waited
                for one)
            interface: the program that served the tapes or, where counted_per is request, moved the
                file; null unless grouped by it
            class_of_service: class of service; null if the logs do not say, and unless grouped by it
            evidence: what reports the recalls, as in mart.recalls; null unless grouped by it
            size_from_bytes: smallest size in the bin - 0 (empty files), or a power of ten; null where
                the size is not known, and unless grouped by size
            size_to_bytes: size at which the next bin begins; null like size_from_bytes
            recall_count: all recalls
            timed_count: recalls that succeeded and whose latency is known
            unfinished_count: recalls of which the logs do not say (yet) that they succeeded or failed
            failed_count: recalls that failed; null if the logs say of none of the recalls whether it
                failed
            cancelled_count: recalls that were cancelled; null if the logs say of none of the recalls
                whether it was (they count as unfinished then)
            unknown_count: recalls that succeeded, but whose latency is not known
            negative_count: recalls that seem to have ended before they were asked for, because two
                clocks disagree
            below_clock_count: recalls that are shorter than their clock's step (they are in
                timed_count)
            first_byte_count: recalls whose end is only the first byte to the client, because staging
                was bypassed or no line says when the file was on disk (they are in timed_count)
            inferred_count: recalls that are only inferred from their open time
            clock_step_s: the step of the clock, if any recall is shorter than it (read a quantile below
                the step as "< 1 s"); null if none is
            inferred_from_s: 8 if any recall is only inferred from its open time, because shorter ones
                cannot be recognised; else null
            p50_s: latency that 50 % of the timed and unfinished recalls do not exceed; null if it is
                among the unfinished ones
            p50_low_s: lower end of its 95 % interval by the exact order-statistic (binomial) method,
                which treats recalls as independent; null if there are too few recalls
            p50_high_s: upper end of its 95 % interval by the exact order-statistic (binomial) method;
                null if there are too few recalls, or if it is among the unfinished ones
            p90_s: latency that 90 % of the timed and unfinished recalls do not exceed; null if it is
                among the unfinished ones
            p90_low_s: lower end of its 95 % interval by the exact order-statistic (binomial) method,
                which treats recalls as independent; null if there are too few recalls
            p90_high_s: upper end of its 95 % interval by the exact order-statistic (binomial) method;
                null if there are too few recalls, or if it is among the unfinished ones
            p95_s: latency that 95 % of the timed and unfinished recalls do not exceed; null if it is
                among the unfinished ones
            p95_low_s: lower end of its 95 % interval by the exact order-statistic (binomial) method,
                which treats recalls as independent; null if there are too few recalls
            p95_high_s: upper end of its 95 % interval by the exact order-statistic (binomial) method;
                null if there are too few recalls, or if it is among the unfinished ones
            p99_s: latency that 99 % of the timed and unfinished recalls do not exceed; null if it is
                among the unfinished ones
            p99_low_s: lower end of its 95 % interval by the exact order-statistic (binomial) method,
                which treats recalls as independent; null if there are too few recalls
            p99_high_s: upper end of its 95 % interval by the exact order-statistic (binomial) method;
                null if there are too few recalls, or if it is among the unfinished ones
            over_target_count: recalls that took longer than target_s, unfinished ones included; null
                without a target, if it is below inferred_from_s, or if it is below clock_step_s
            over_target_ratio: over_target_count over the timed and unfinished recalls (0 to 1); null
                like it
            queue_count: timed recalls whose queue is known
            mean_queue_s: mean seconds in the queue of these
            mount_count: timed recalls whose mount is known
            mean_mount_s: mean seconds from the request to mount until the tape was positioned, of these
            position_count: timed recalls of which it is known how long it took to position the tape
            mean_position_s: mean seconds, of those of mount_s, from when the cartridge was in the drive
            transfer_count: timed recalls whose reading from tape is known
            mean_transfer_s: mean seconds of reading from tape, of these
            starts_on: local date on which the month or day begins, or the day of the hour, in the
                archive's time zone; null unless grouped by one of them
            starts_at: when the hour begins; null unless grouped by hour. Hours in which no recall ended
                have no row
            first_on: local date of the first day on which such a recall ended
            last_on: local date of the last such day

        In SQL:

            SELECT archive, counted_per, size_from_bytes, starts_on, timed_count, p50_s, p95_s, p95_low_s, p95_high_s, over_target_ratio
            FROM mart.recall_latencies(since => now() - INTERVAL '1 year', grouped_by => '{size,month}', target_s => 600)
            ORDER BY archive, counted_per, size_from_bytes, starts_on
        """

    def recalls(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per recall, once per stage and once per waiting request.

        Files that were brought from tape to disk for someone, counted once per stage, and once per
        waiting request. Filter on counted_per, because most recalls appear in both. Stages come from
        tape servers (mart.tape_recalls) or, on local days on which they report none for the same
        interface, from logs of stages (mart.stages, and mart.stage_starts for those without an end).
        Waiting requests come from the logs of transfers (the gets of mart.requests that did not find
        their file on disk) or, on days on which they report none, from tape servers. Gets without
        evidence are no recalls, and neither are reads for the repacker. In a simulated archive,
        requests made before its run became steady are left out. Days whose detail the archive has
        forgotten (`tapewise forget`) are not covered.

        Args:
            archive: only this archive (null = all)
            since: only recalls whose last line is from this time or later (null = from the first)
            until: only recalls whose last line is from before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; only gets are recalls, so null and get are equivalent,
                and put returns no rows
            client: only this client machine (null = all). Logs of stages and tape servers do not name
                it, so only requests are counted then
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            counted_per: stage (each file brought from tape once) or request (each request that waited
                for one)
            evidence: what reports the recall - tape operation, stage, log or open time (the last three
                are cache_evidence of mart.requests, where counted_per is request). A recall with open
                time is only inferred, because the open took 8 s or longer
            operation_id: the operation, as in mart.tape_operations; null where none reports the recall
            stage_id: the stage, as in mart.stages; null where none is known
            transfer_id: the transfer, as in mart.transfers; null where none is known
            mount_id: the mount, as in mart.mounts; null where none is known
            interface: the program that served the tapes or, where counted_per is request, moved the
                file
            class_of_service: class of service, null if the logs do not say
            vsn: the cartridge (its volume serial number), null where it is not known
            tape_type: type of the cartridge, null where it is not known
            size_bytes: bytes of the file or fragment, null if the logs do not say
            recall_s: the recall latency - seconds from asked_at until readable_at; null if the recall
                failed or is unfinished, if one of the times is not known, or if is_negative. If a log
                of stages does not say how long a file was in the queue, it is the time of the stage
                alone
            clock_step_s: 1 if one of the two times comes from a clock of whole seconds, else 0; the
                exact length of a recall shorter than this step is unknown
            queue_s: seconds in the queue, before the mount was requested or the stage began; null where
                counted_per is request, and if not known
            mount_s: seconds from the request to mount until the tape was positioned, as in
                mart.tape_recalls; null if not known
            position_s: seconds of these from when the cartridge was in the drive; null if not known
            transfer_s: seconds of reading from tape, null if not known
            is_failed: whether the recall failed; null if it is unfinished or cancelled, and if the logs
                do not say
            is_cancelled: whether the recall was cancelled (it never became readable); null if the logs
                do not say. Logs of stages that report when stages begin also report this
                (mart.stage_starts)
            is_unfinished: whether the logs do not say (yet) that the file became readable, and it did
                not fail and was not cancelled; only a lower bound of its latency is known
            is_below_clock: whether recall_s is shorter than clock_step_s; a quantile in this range is
                shown as "< 1 s"
            is_negative: whether, according to its times, the file was readable clock_step_s or more
                before it was asked for, because two clocks disagree
            is_first_byte: whether readable_at is only when the transfer to the client began, because
                staging was bypassed or no line says when the file was on disk
            asked_at: when the file was asked for; null if not known
            readable_at: when the file was readable on disk; null if the recall failed or is unfinished
            ended_at: when the recall's last event happened, or its request ended (ended_at of
                mart.requests); the day of a recall is the day of this time

        In SQL:

            SELECT archive, counted_per, evidence, count(*) AS recall_count, max(recall_s) AS longest_s
            FROM mart.recalls(since => now() - INTERVAL '1 month')
            GROUP BY archive, counted_per, evidence
            ORDER BY archive, counted_per, evidence
        """

    def reconciliation(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        system: Values = None,
        interface: Values = None,
        figure: Values = None,
        reported: Values = None,
        found: Values = None,
        difference: Values = None,
        ratio: Values = None,
        is_every_system: Values = None,
        has_log: Values = None,
        reported_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, reported day, system (or all), interface (or all) and figure.

        The site's daily report compared with sums from the logs, by day, for each system that the
        report names and for all of them together (is_every_system). The same sums are compared with
        each system and with all together, so select one of these. A report's gigabyte is taken as 10^9
        bytes; if the ratio is 1.074 throughout, the report's gigabyte is 2^30 bytes. Reports do not say
        whether they count failed transfers; here failed transfers are not counted. Filter on archive
        and reported_on.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            system: the system that the report names, null where it names none or all are taken together
            interface: the application, named like the interface of the transfers; null for all
                together, and for figures without one
            figure: put_count, put_bytes, get_count, get_bytes, copy_count, copy_bytes, mount_count,
                migrated_count, migrated_bytes, purged_count or purged_bytes (no log reports purges)
            reported: the figure in the report
            found: the sum from the logs; null if the archive has no log of it for that day
            difference: found minus reported
            ratio: found over reported, null where the reported figure is null or 0
            is_every_system: whether the row covers all systems of the report together
            has_log: whether a log of the interface (or any log, if interface is null) covers the day,
                that is, whether the day lies between the first and the last day in that log
            reported_on: the day that the report covers, in the archive's time zone

        In SQL:

            SELECT reported_on, interface, figure, reported, found, ratio
            FROM mart.reconciliation
            WHERE is_every_system AND has_log
            ORDER BY reported_on, interface, figure
        """

    def recorded_changes(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        change: Values = None,
        class_of_service: Values = None,
        note: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
        started_local: Values = None,
        ended_local: Values = None,
    ) -> pl.DataFrame:
        """One row per outage or change.

        Outages and changes of the configuration that people recorded, together. No log reports them.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            change: scheduled outage, unscheduled outage, staging bypass, tape only or other
            class_of_service: the class of service that it applies to, null if it applies to all
            note: what is known about it
            started_at: when it began
            ended_at: when it ended, null if it has not
            started_local: when it began, by the archive's own clock
            ended_local: when it ended, by the archive's own clock

        In SQL:

            SELECT archive, change, note, started_local, ended_local
            FROM mart.recorded_changes
            ORDER BY archive, started_local
        """

    def records(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and record.

        The days on which the most transfers ended, the most bytes were put, and the most bytes were
        got; the ten minutes in which the most transfers ended; the largest file put and got; and the
        longest transfer. All bytes of a transfer count at the time it ended, however long it took, so
        none of these is a rate (mart.load_over_time has the highest rate of ten minutes). Of equal
        records, the earliest is shown. Failed transfers count as transfers, but not towards bytes, the
        largest file or the longest transfer; a part of a file does not count as a file. A record has no
        row if there is nothing to show (for example, because no file was put). A range means whole
        local days. Days whose detail the archive has forgotten (`tapewise forget`) are covered, except
        for one client of an archive that counts no single clients (mart.archives), and except days that
        were forgotten before the warehouse had mart.day_cells.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            record_number: 1 to 7, the order in which to show them
            record: what the record is, in words; with '(at least)' where one of the sizes is at the
                limit of the log's counter, so value is a lower bound
            value: how many, or how much
            unit: transfers, bytes or s
            interface: the program that moved the file; null for records of a day or of ten minutes,
                which cover all interfaces
            direction: put or get; null for records that cover both
            happened_on: local date, in the archive's own zone
            happened_at: when the day or the ten minutes of the local clock begin, or when the transfer
                ended; null where the time of day is unknown. Such transfers count in no ten minutes;
                mart.flagged_transfers counts them (day_only_count)

        In SQL:

            SELECT archive, record, value, unit, happened_on
            FROM mart.records(since => now() - INTERVAL '1 year')
            WHERE kind = 'measured'
            ORDER BY archive, record_number
        """

    def reject_news(
        self,
        *,
        archive: str | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive, source and reason.

        Why lines were rejected, and whether the reason is new. It is new if all files with such lines
        begin on the last closed day or later (mart.morning_days). In a file that began before, such a
        line may be of any day, so it is not new.

        Args:
            archive: only this archive (null = all)
            until: without files that begin at this time or later (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs
            reason: why the lines could not be parsed
            line_count: such lines in all these files
            file_count: files with such lines
            is_new: whether all these files begin on the last closed day or later; null if one has no
                event, or if there is no closed day
            first_file_at: first event of the first of these files
            first_file_on: its local date, in the archive's own zone

        In SQL:

            SELECT archive, source, reason, line_count, first_file_on
            FROM mart.reject_news()
            WHERE is_new
            ORDER BY archive, source, reason
        """

    def rejected_reasons(
        self,
        *,
        log_file_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        reason: Values = None,
        line_count: Values = None,
        first_line_number: Values = None,
    ) -> pl.DataFrame:
        """One row per log file and reason for which some of its lines were rejected.

        Why lines could not be parsed into records. `tapewise explain line` shows the line itself to
        people who may see it.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            log_file_id: number of the log file in the warehouse, as in mart.log_files
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that the file belongs to
            reason: why the lines could not be parsed
            line_count: number of lines
            first_line_number: number of the first such line in the file, counted from 1

        In SQL:

            SELECT archive, source, reason, sum(line_count) AS line_count
            FROM mart.rejected_reasons
            GROUP BY archive, source, reason
            ORDER BY archive, source, reason
        """

    def related_archives(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        related_archive: Values = None,
        related_kind: Values = None,
        relation: Values = None,
    ) -> pl.DataFrame:
        """One row per archive and related archive.

        Which archives to compare with each other. The archives related to an archive are itself,
        archives simulated from its requests (or from a workload model or trace of them) and, if it is
        simulated, the archive that its requests come from. If one simulation was made from another,
        both the earlier simulation and the archive behind it are origins. Archives that are not in the
        warehouse are not included.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of the archive (measured, synthetic, simulated)
            related_archive: name of the related archive
            related_kind: kind of the related archive (measured, synthetic, simulated)
            relation: how the two are related - itself, simulated from it, or its origin

        In SQL:

            SELECT related_archive, related_kind, relation
            FROM mart.related_archives
            WHERE archive = 'llnl'
            ORDER BY related_kind, related_archive
        """

    def repack_waits(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, type of cartridge, task, and whether the repacker held a drive.

        How long clients waited for tapes that they requested while the repacker held drives, and
        otherwise. The repacker holds a drive while a cartridge that was mounted for it occupies one for
        the same type of cartridge. The wait is from the request until the tape was positioned; requests
        that never got that far are counted, but have no wait. Times of day with much repacking may
        differ in other ways, too, so the difference is not all due to the repacker. Quantiles are
        logged values. A range means whole local days, on which the files were requested.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only requests to this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only files that this drive served (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            tape_type: type of the cartridges, null if the log does not say
            task: stage (from tape to disk) or migration (from disk to tape)
            is_repacking: whether the repacker held a drive for this type of cartridge when the file was
                requested; unfinished mounts count up to their last event
            request_count: requests of clients for files
            unfinished_count: how many of them have no event when the tape was positioned, so their wait
                is unknown
            mounted_count: how many of them had a cartridge mounted; for others it was in a drive
                already
            mean_s: mean wait in seconds, null if no wait is known
            p50_s: median of the waits in seconds
            p90_s: wait in seconds that 90 % did not exceed
            p95_s: wait in seconds that 95 % did not exceed
            p99_s: wait in seconds that 99 % did not exceed
            longest_s: longest wait in seconds

        In SQL:

            SELECT archive, tape_type, task, is_repacking, request_count, mean_s, p50_s, p95_s
            FROM mart.repack_waits(since => now() - INTERVAL '1 month')
            ORDER BY archive, tape_type, task, is_repacking
        """

    def reported_transfers(
        self,
        *,
        archive_id: Values = None,
        transfer_id: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per request of several lines that has a transfer, also of sources that are not counted.

        Which transfers a request of several lines reports (with an open, a stage, a job, ...), so that
        mart.requests shows the request and not also the transfer.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive_id: number of the archive in the warehouse
            transfer_id: the transfer, as in mart.transfers
            ended_at: when the transfer, and so the request, ended

        In SQL:

            SELECT count(*) AS reported_count
            FROM mart.reported_transfers
            WHERE ended_at >= now() - INTERVAL '1 month'
        """

    def request_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        span: Values = None,
        request_count: Values = None,
        below_clock_count: Values = None,
        negative_count: Values = None,
        size_bins: Values = None,
        size_counts: Values = None,
        duration_bins: Values = None,
        duration_counts: Values = None,
        wait_bins: Values = None,
        wait_counts: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        waited_s: Values = None,
        starts_on: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, span and local day, month
        or year in which such requests ended.

        Requests counted by local day, month and year, which charts read in place of the requests: a
        thousand times fewer rows. Months and years are the sums of their days, so add up rows of one
        span only. Only requests that moved a file and did not fail are counted; in a simulated archive,
        only those made once its run was steady. The days whose detail the archive has forgotten
        (`tapewise forget`) are covered too, except those forgotten before the warehouse had this
        rollup. For a range, and for one client, use mart.selected_request_days.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service of the requests (mart.requests); null where no log has
                one
            span: day, month or year
            request_count: requests that ended on the day, or in the month or year
            below_clock_count: how many of them have is_wait_below_clock of mart.requests
            negative_count: how many of them have is_wait_negative of mart.requests
            size_bins: bins of the sizes in bytes, as far as they are known: first those with several
                requests, then those with one, each ascending (mart.histogram_bin); mart.histogram_value
                is within 1/128 of each size in its bin
            size_counts: for each of the size_bins, how many requests have a size in it
            duration_bins: bins of the transfer times in seconds, as far as they are known, ordered in
                the same way
            duration_counts: for each of the duration_bins, how many requests have a transfer time in it
            wait_bins: bins of the waits in seconds (waited_s of mart.requests), as far as they are
                known, ordered in the same way
            wait_counts: for each of the wait_bins, how many requests have a wait in it
            size_bytes: always null here; the size itself in mart.selected_request_days, where a row is
                one request
            duration_s: always null here; as size_bytes
            waited_s: always null here; as size_bytes
            starts_on: local date of the day, or of the first day of the month or year, in the archive's
                own zone
            first_on: local date of the first day with such requests; as starts_on for a day
            last_on: local date of the last day with such requests; as starts_on for a day

        In SQL:

            SELECT starts_on, interface, direction, sum(request_count) AS request_count
            FROM mart.request_cells
            WHERE archive = 'llnl' AND span = 'day' AND starts_on >= current_date - 30
            GROUP BY starts_on, interface, direction
            ORDER BY starts_on, interface, direction
        """

    def request_figures(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and quantity.

        Mean, standard deviation, extremes and quantiles of how long requests took: their transfer,
        their stage, and the whole request. The requests are those of mart.request_quantiles (which
        reads a rollup, and has sizes and waits): those that moved a file and did not fail, without the
        warm-up of a simulated archive. A quantile is the smallest value that the given share of the
        requests did not exceed. Each answer is computed from the requests of the range.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both, separately)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            quantity: transfer time (as logged), stage time (of requests that started or joined a
                stage), or total time (from the request to the end of the transfer)
            request_count: requests for which the quantity is known; all other figures are theirs
            unknown_count: requests for which it is not known
            negative_count: requests that seem to have ended before they were made, because two clocks
                disagree; they are in none of the other numbers
            mean_s: mean in seconds; null if none is known
            deviation_s: standard deviation in seconds; null with fewer than two
            min_s: shortest time in seconds; null if none is known
            p1_s: seconds that 1 % of the requests did not exceed; null if none is known
            p5_s: seconds that 5 % of the requests did not exceed; null if none is known
            p10_s: seconds that 10 % of the requests did not exceed; null if none is known
            p50_s: seconds that 50 % of the requests did not exceed; null if none is known
            p90_s: seconds that 90 % of the requests did not exceed; null if none is known
            p95_s: seconds that 95 % of the requests did not exceed; null if none is known
            p99_s: seconds that 99 % of the requests did not exceed; null if none is known
            max_s: longest time in seconds; null if none is known

        In SQL:

            SELECT direction, quantity, request_count, mean_s, deviation_s, min_s, p50_s, p99_s, max_s
            FROM mart.request_figures(archive => 'llnl', interface => 'nft', since => now() - INTERVAL '1 month')
            ORDER BY direction, quantity
        """

    def request_quantiles(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per archive, direction, quantity and percent.

        Quantiles of sizes, transfer times and waits. As in mart.compare_archives, the requests are
        those that moved a file and did not fail. In a simulated archive, requests made before its run
        became steady are left out (all of them, if it never did). A quantile is the smallest value that
        the given share of the requests did not exceed. Requests for which a quantity is unknown are not
        in its quantiles or in their request_count; a size at the limit of the log's counter is used as
        logged. A range means whole local days. Quantiles are read from histograms, and differ from the
        exact ones, which is_exact gives, by at most 1/128 (0.8 %). Days whose detail the archive has
        forgotten (`tapewise forget`) are covered, except for one client of an archive that counts no
        single clients (mart.archives) or exact quantiles, and except days that were forgotten before
        the warehouse had mart.request_cells.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both, separately)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: exact quantiles, from the requests themselves, which takes longer

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            direction: put or get
            quantity: what is measured - size, transfer time (as logged), wait (waited_s of
                mart.requests, from the request until the transfer started)
            unit: unit of the value (bytes or s)
            percent: percentage of requests that do not exceed the value (1, 5, 10, 25, 50, 75, 90, 95,
                99)
            request_count: requests for which the quantity is known
            value: the quantile, in the unit
            clock_step_s: the step of the clock, if any waits are shorter than it (read a value below
                the step as "< 1 s"); null for other quantities, and if no wait is shorter
            below_clock_count: requests whose wait is shorter than their clock's step (they are in
                request_count); null for other quantities
            negative_count: requests that seem to have begun before they were submitted, because two
                clocks disagree (they are not in request_count); null for other quantities
            zero_count: requests for which the value is 0 (or less than 8.6e-78), which a logarithmic
                axis cannot show
            first_on: local date of the first day, within the range, on which such a request ended
            last_on: local date of the last such day

        In SQL:

            SELECT archive, direction, percent, value AS wait_s
            FROM mart.request_quantiles(since => now() - INTERVAL '1 month')
            WHERE quantity = 'wait'
            ORDER BY archive, direction, percent
        """

    def request_waits(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        transfer_id: Values = None,
        user_wait_s: Values = None,
        port_wait_s: Values = None,
        file_wait_s: Values = None,
        drive_wait_s: Values = None,
        load_wait_s: Values = None,
        space_wait_s: Values = None,
        latency_s: Values = None,
        staging_s: Values = None,
        transfer_s: Values = None,
        contention_s: Values = None,
    ) -> pl.DataFrame:
        """One row per request of a simulated archive.

        How simulated requests spent their time, by cause. The columns add up to the time from the
        submission of the request to its end. Only simulated archives provide this for each request.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the simulated archive
            kind: kind of archive; simulated
            transfer_id: the transfer, as in mart.transfers and mart.requests
            user_wait_s: seconds that the request waited because its user was at the limit of concurrent
                transfers
            port_wait_s: seconds that the request waited for a port
            file_wait_s: seconds that the request waited for another request that was staging or writing
                the same file
            drive_wait_s: seconds that its stage waited for a tape drive
            load_wait_s: seconds that its stage waited for the tape to be loaded; where the machine's
                cartridges have an identity, also for the drive to move to the file
            space_wait_s: seconds that the request waited for space on disk
            latency_s: seconds before the first byte, once the request had its port
            staging_s: seconds that moving its bytes from tape to disk would take without other requests
            transfer_s: seconds that moving its bytes between client and disk would take without other
                requests; of a request whose transfer failed, also the tries that failed and the time
                until the next one
            contention_s: how many seconds longer staging and transfer took because other requests used
                the same networks and chains

        In SQL:

            SELECT direction, avg(user_wait_s) AS mean_user_wait_s, avg(port_wait_s) AS mean_port_wait_s,
                avg(drive_wait_s) AS mean_drive_wait_s, avg(contention_s) AS mean_contention_s
            FROM mart.request_waits
            INNER JOIN mart.requests USING (archive, transfer_id)
            WHERE archive = 'rebuilt'
            GROUP BY direction
        """

    def requested_copies(
        self,
        *,
        start_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        copy_count: Values = None,
        began_at: Values = None,
    ) -> pl.DataFrame:
        """One row per start of a transfer that gives a number of copies.

        How many copies on tape a put asked for, as the start of its transfer says. Filter on began_at,
        so that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            start_id: the start, as in mart.requests
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            copy_count: how many copies on tape were asked for
            began_at: when the transfer began

        In SQL:

            SELECT archive, copy_count, count(*) AS start_count
            FROM mart.requested_copies
            WHERE began_at >= now() - INTERVAL '1 month'
            GROUP BY archive, copy_count
            ORDER BY archive, copy_count
        """

    def requests(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        transfer_id: Values = None,
        twin_transfer_id: Values = None,
        open_id: Values = None,
        stage_id: Values = None,
        job_id: Values = None,
        start_id: Values = None,
        reported_by: Values = None,
        missing: Values = None,
        interface: Values = None,
        direction: Values = None,
        user_id: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        capability_key: Values = None,
        persona: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        open_s: Values = None,
        stage_s: Values = None,
        waited_s: Values = None,
        clock_step_s: Values = None,
        is_failed: Values = None,
        is_size_saturated: Values = None,
        is_of_parts: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        is_wait_below_clock: Values = None,
        is_wait_negative: Values = None,
        is_staging_bypassed: Values = None,
        is_cached: Values = None,
        cache_evidence: Values = None,
        is_joined: Values = None,
        is_warm_up: Values = None,
        submitted_at: Values = None,
        opened_at: Values = None,
        staged_at: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per transfer of a counted source, with the job, start, stage and open that belong to it;
        and one row per job (put or get), start or open of a counted source that belongs to no transfer.

        What users requested of the archive, combining everything that its logs report: when the request
        was made, how long it waited, whether the file was staged from tape, and when it was moved. A
        movement that two logs report appears once. Filter on ended_at, so that months outside the range
        are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of logs that counts the request
            transfer_id: the transfer, as in mart.transfers; null where none is known
            twin_transfer_id: the line of another, uncounted log that reports the same transfer
            open_id: the open, as in mart.opens; null where the log has no line for it
            stage_id: the stage that the request started or joined, as in mart.stages; null where there
                is none
            job_id: the job, as in mart.unitree_jobs; null where there is none
            start_id: the line that records the request for the transfer; null where there is none
            reported_by: the lines that report the request - job, start, open, stage, transfer, twin
                (the same transfer in another log)
            missing: the lines that the log should have but lacks (start, stage, transfer); null if none
                is missing or if this is unknown. If the transfer is missing, the request is unfinished
                or the line is lost
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get, null if the log does not say
            user_id: number of the user in the warehouse, null if the logs do not say
            client: name of the client machine as the log gives it, null if the logs do not say
            class_of_service: class of service, null if the logs do not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name; derived with a secret of this warehouse
            capability_key: 64-bit key of UniTree's name of the file, as in mart.tape_operations; null
                if the log does not say
            persona: UniTree's number of the job; it is reused, sometimes within a day
            size_bytes: bytes moved
            duration_s: seconds the transfer took, as logged
            open_s: seconds it took to open the file (with staging on, this includes mount, seek and
                staging), null if not logged
            stage_s: seconds taken by the stage that the request started, as logged
            waited_s: seconds from the request until the transfer started: queue, mount, seek and stage
                together; null if either time is not known, or if is_wait_negative
            clock_step_s: 1 if one of the two times of the wait has no fraction of a second and so comes
                from a clock of whole seconds, else 0; the exact length of a wait shorter than this step
                is unknown
            is_failed: whether the transfer failed; null where the logs do not say
            is_size_saturated: whether the size is at the limit of the log's counter (2^31 - 1), so that
                the file may be larger
            is_of_parts: whether its log reports reads and writes within files, as in mart.transfers
            is_time_ambiguous: whether one of its lines has a local time that occurs twice (or never)
                because of daylight saving; if so, its times and the waits calculated from them may be
                an hour off
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_wait_below_clock: whether the wait is shorter than clock_step_s; if so, waited_s is an
                estimate between 0 and that step, and a quantile in this range is shown as "< 1 s"
            is_wait_negative: whether, according to its times, the transfer started clock_step_s or more
                before it was requested; if so, two clocks disagree, and waited_s is null
            is_staging_bypassed: whether staging was bypassed at the time, or the class of service is
                tape-only, as recorded with `tapewise config-changes`; if so, open times and missing
                stages are no evidence
            is_cached: whether a get found its file on disk (a hit) and not on tape (joined a stage, or
                a miss); null for puts, and where this is unknown
            cache_evidence: the evidence for is_cached - stage (it started or joined one, so it was not
                on disk), log (a line says whether it was), no stage (its log records stages and has
                none for it), open time (below 8 s is disk); null where there is none
            is_joined: whether a get waited for a stage that another request had started; null for puts
                and where this is unknown, as in all logs so far. Such a get of a measured archive then
                counts as a miss, or as a hit where cache_evidence is 'no stage'
            is_warm_up: whether the request was made in a simulated archive before its run became
                steady, or at any time if it never did; figures on how the archive served its users
                leave such requests out
            submitted_at: when the request was made; null if not known
            opened_at: when the open completed; null if not known
            staged_at: when the file was on disk; null where it was not staged
            started_at: when the transfer began; null if not known
            ended_at: when the transfer ended; for a job or an open without a transfer, when the job or
                the open ended

        In SQL:

            SELECT interface, reported_by, count(*) AS request_count, avg(waited_s) AS mean_waited_s
            FROM mart.requests
            WHERE direction = 'get' AND ended_at >= now() - INTERVAL '1 month'
            GROUP BY interface, reported_by
            ORDER BY interface, reported_by
        """

    def requests_and_transfers(
        self,
        *,
        archive_id: Values = None,
        single_transfer_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        transfer_id: Values = None,
        twin_transfer_id: Values = None,
        open_id: Values = None,
        stage_id: Values = None,
        job_id: Values = None,
        start_id: Values = None,
        reported_by: Values = None,
        missing: Values = None,
        interface: Values = None,
        direction: Values = None,
        user_id: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        capability_key: Values = None,
        persona: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        open_s: Values = None,
        stage_s: Values = None,
        waited_s: Values = None,
        clock_step_s: Values = None,
        is_failed: Values = None,
        is_size_saturated: Values = None,
        is_of_parts: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        is_wait_below_clock: Values = None,
        is_wait_negative: Values = None,
        is_staging_bypassed: Values = None,
        is_cached: Values = None,
        cache_evidence: Values = None,
        is_joined: Values = None,
        is_warm_up: Values = None,
        submitted_at: Values = None,
        opened_at: Values = None,
        staged_at: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per transfer of a counted source, whether a request of several lines reports it or not;
        and one row per request of a counted source that several lines report, or a job, start or open
        without a transfer.

        The rows of mart.requests before it leaves out transfers that a request of several lines
        reports. Only mart.requests_between reads this view; ask mart.requests or
        mart.selected_requests.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive_id: number of the archive in the warehouse
            single_transfer_id: the transfer, if the row is of a transfer alone; null if it is of a
                request that several lines report
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of logs that counts the request
            transfer_id: the transfer, as in mart.transfers; null where none is known
            twin_transfer_id: the line of another, uncounted log that reports the same transfer
            open_id: the open, as in mart.opens; null where the log has no line for it
            stage_id: the stage that the request started or joined, as in mart.stages; null where there
                is none
            job_id: the job, as in mart.unitree_jobs; null where there is none
            start_id: the line that records the request for the transfer; null where there is none
            reported_by: the lines that report the request - job, start, open, stage, transfer, twin
                (the same transfer in another log)
            missing: the lines that the log should have but lacks (start, stage, transfer); null if none
                is missing or if this is unknown. If the transfer is missing, the request is unfinished
                or the line is lost
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get, null if the log does not say
            user_id: number of the user in the warehouse, null if the logs do not say
            client: name of the client machine as the log gives it, null if the logs do not say
            class_of_service: class of service, null if the logs do not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name; derived with a secret of this warehouse
            capability_key: 64-bit key of UniTree's name of the file, as in mart.tape_operations; null
                if the log does not say
            persona: UniTree's number of the job; it is reused, sometimes within a day
            size_bytes: bytes moved
            duration_s: seconds the transfer took, as logged
            open_s: seconds it took to open the file (with staging on, this includes mount, seek and
                staging), null if not logged
            stage_s: seconds taken by the stage that the request started, as logged
            waited_s: seconds from the request until the transfer started: queue, mount, seek and stage
                together; null if either time is not known, or if is_wait_negative
            clock_step_s: 1 if one of the two times of the wait has no fraction of a second and so comes
                from a clock of whole seconds, else 0; the exact length of a wait shorter than this step
                is unknown
            is_failed: whether the transfer failed; null where the logs do not say
            is_size_saturated: whether the size is at the limit of the log's counter (2^31 - 1), so that
                the file may be larger
            is_of_parts: whether its log reports reads and writes within files, as in mart.transfers
            is_time_ambiguous: whether one of its lines has a local time that occurs twice (or never)
                because of daylight saving; if so, its times and the waits calculated from them may be
                an hour off
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_wait_below_clock: whether the wait is shorter than clock_step_s; if so, waited_s is an
                estimate between 0 and that step, and a quantile in this range is shown as "< 1 s"
            is_wait_negative: whether, according to its times, the transfer started clock_step_s or more
                before it was requested; if so, two clocks disagree, and waited_s is null
            is_staging_bypassed: whether staging was bypassed at the time, or the class of service is
                tape-only, as recorded with `tapewise config-changes`; if so, open times and missing
                stages are no evidence
            is_cached: whether a get found its file on disk (a hit) and not on tape (joined a stage, or
                a miss); null for puts, and where this is unknown
            cache_evidence: the evidence for is_cached - stage (it started or joined one, so it was not
                on disk), log (a line says whether it was), no stage (its log records stages and has
                none for it), open time (below 8 s is disk); null where there is none
            is_joined: whether a get waited for a stage that another request had started; null for puts
                and where this is unknown, as in all logs so far. Such a get of a measured archive then
                counts as a miss, or as a hit where cache_evidence is 'no stage'
            is_warm_up: whether the request was made in a simulated archive before its run became
                steady, or at any time if it never did; figures on how the archive served its users
                leave such requests out
            submitted_at: when the request was made; null if not known
            opened_at: when the open completed; null if not known
            staged_at: when the file was on disk; null where it was not staged
            started_at: when the transfer began; null if not known
            ended_at: when the transfer ended; for a job or an open without a transfer, when the job or
                the open ended

        In SQL:

            SELECT single_transfer_id IS NOT NULL AS is_single, count(*) AS row_count
            FROM mart.requests_and_transfers
            WHERE archive = 'llnl' AND ended_at >= now() - INTERVAL '1 month'
            GROUP BY is_single
            ORDER BY is_single
        """

    def requests_between(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per request that ended in the range, with the columns of mart.requests.

        The rows of mart.requests that ended in a range. mart.requests and mart.selected_requests read
        requests through this function. Months outside the range are not read, neither of transfers nor
        of requests that report them.

        Args:
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of logs that counts the request
            transfer_id: the transfer, as in mart.transfers; null where none is known
            twin_transfer_id: the line of another, uncounted log that reports the same transfer
            open_id: the open, as in mart.opens; null where the log has no line for it
            stage_id: the stage that the request started or joined, as in mart.stages; null where there
                is none
            job_id: the job, as in mart.unitree_jobs; null where there is none
            start_id: the line that records the request for the transfer; null where there is none
            reported_by: the lines that report the request - job, start, open, stage, transfer, twin
                (the same transfer in another log)
            missing: the lines that the log should have but lacks (start, stage, transfer); null if none
                is missing or if this is unknown. If the transfer is missing, the request is unfinished
                or the line is lost
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get, null if the log does not say
            user_id: number of the user in the warehouse, null if the logs do not say
            client: name of the client machine as the log gives it, null if the logs do not say
            class_of_service: class of service, null if the logs do not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name; derived with a secret of this warehouse
            capability_key: 64-bit key of UniTree's name of the file, as in mart.tape_operations; null
                if the log does not say
            persona: UniTree's number of the job; it is reused, sometimes within a day
            size_bytes: bytes moved
            duration_s: seconds the transfer took, as logged
            open_s: seconds it took to open the file (with staging on, this includes mount, seek and
                staging), null if not logged
            stage_s: seconds taken by the stage that the request started, as logged
            waited_s: seconds from the request until the transfer started: queue, mount, seek and stage
                together; null if either time is not known, or if is_wait_negative
            clock_step_s: 1 if one of the two times of the wait has no fraction of a second and so comes
                from a clock of whole seconds, else 0; the exact length of a wait shorter than this step
                is unknown
            is_failed: whether the transfer failed; null where the logs do not say
            is_size_saturated: whether the size is at the limit of the log's counter (2^31 - 1), so that
                the file may be larger
            is_of_parts: whether its log reports reads and writes within files, as in mart.transfers
            is_time_ambiguous: whether one of its lines has a local time that occurs twice (or never)
                because of daylight saving; if so, its times and the waits calculated from them may be
                an hour off
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_wait_below_clock: whether the wait is shorter than clock_step_s; if so, waited_s is an
                estimate between 0 and that step, and a quantile in this range is shown as "< 1 s"
            is_wait_negative: whether, according to its times, the transfer started clock_step_s or more
                before it was requested; if so, two clocks disagree, and waited_s is null
            is_staging_bypassed: whether staging was bypassed at the time, or the class of service is
                tape-only, as recorded with `tapewise config-changes`; if so, open times and missing
                stages are no evidence
            is_cached: whether a get found its file on disk (a hit) and not on tape (joined a stage, or
                a miss); null for puts, and where this is unknown
            cache_evidence: the evidence for is_cached - stage (it started or joined one, so it was not
                on disk), log (a line says whether it was), no stage (its log records stages and has
                none for it), open time (below 8 s is disk); null where there is none
            is_joined: whether a get waited for a stage that another request had started; null for puts
                and where this is unknown, as in all logs so far. Such a get of a measured archive then
                counts as a miss, or as a hit where cache_evidence is 'no stage'
            is_warm_up: whether the request was made in a simulated archive before its run became
                steady, or at any time if it never did; figures on how the archive served its users
                leave such requests out
            submitted_at: when the request was made; null if not known
            opened_at: when the open completed; null if not known
            staged_at: when the file was on disk; null where it was not staged
            started_at: when the transfer began; null if not known
            ended_at: when the transfer ended; for a job or an open without a transfer, when the job or
                the open ended

        In SQL:

            SELECT archive, count(*) AS request_count
            FROM mart.requests_between(since => now() - INTERVAL '1 day')
            GROUP BY archive
            ORDER BY archive
        """

    def requests_of_day(
        self,
        *,
        archive: str,
        timezone: str,
        ended_on: Moment,
    ) -> pl.DataFrame:
        """One row per request.

        Requests that ended on one local day, as mart.requests has them. mart.selected_hits and
        mart.selected_opens read it for days of which their cells are not enough, because a staging
        bypass covers a part of them.

        Args:
            archive: the archive
            timezone: its zone, whose days are counted
            ended_on: the day

        Columns:
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the request
            interface: the program that moved or opened the file (ftp, nft, hsi, ...)
            direction: put or get, null if the log of opens does not say
            class_of_service: class of service; null where no log has one
            size_bytes: size of the file; null where it is not known
            open_s: how long the file took to open; null where it is not known
            is_failed: whether the request failed; null where this is unknown
            is_size_saturated: whether the size is at the limit of the log's counter
            is_staging_bypassed: whether staging was bypassed when the file was opened, or its class of
                service is tape-only
            is_cached: for a get, whether the file was on disk; null if this is unknown
            is_joined: whether the request joined a stage that another one had started; null where this
                is unknown
            is_warm_up: whether a simulated archive received the request before its run became steady

        In SQL:

            SELECT interface, is_cached, count(*) AS get_count
            FROM mart.requests_of_day('llnl', 'America/Los_Angeles', current_date - 1)
            WHERE direction = 'get' AND NOT is_failed
            GROUP BY interface, is_cached
            ORDER BY interface, is_cached
        """

    def residual_blocks(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        stratum_size: int | None = None,
        block_size: int | None = None,
        keep_outliers: bool | None = None,
        is_fresh: bool | None = None,
        lines: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and block, and one for the outliers.

        How long transfers waited, by size. The residual is the duration minus (latency + slope * size),
        with the latency and slope that mart.lower_envelopes finds for the same transfers. Transfers are
        sorted by size and divided into blocks. Outliers have a row of their own, without a block; these
        are files above 4 GB, and files below 1 GB that took more than 1000 s (1 GB is 10^9 bytes).
        Transfers that the filter of the envelope leaves out (filtered_count of mart.lower_envelopes)
        are not included here either. For more than 300,000 transfers, the function returns blocks that
        `tapewise refresh` has prepared (is_prepared), or none if these transfers were not prepared
        (mart.envelope_choices).

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            stratum_size: transfers in a stratum of the envelope (null or below 1 = 100 for puts, 25 for
                gets)
            block_size: transfers in a block (null or below 1 = 1000 for puts, 200 for gets)
            keep_outliers: whether outliers are sorted into the blocks like other transfers (null =
                false)
            is_fresh: whether to compute the blocks from all transfers, however long it takes
            lines: lines to measure from, as a list of objects with archive, interface, direction,
                latency_s and slope_s_per_byte; transfers without a line are left out (null = those of
                mart.lower_envelopes)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            block_size: transfers in a full block
            block: number of the block by size, from 1; null for the outliers
            transfer_count: transfers in the row
            smallest_bytes: size of the smallest transfer in the row
            mean_bytes: mean size of the transfers in the row
            largest_bytes: size of the largest transfer in the row
            mean_residual_s: mean residual in seconds; null where there is no line
            p99_residual_s: 99th percentile of the residuals in seconds, interpolated linearly between
                two transfers; null where there is no line
            newer_count: 0 if the row was computed now; otherwise the transfers that were added since it
                was prepared, those of all clients and failed ones included (negative if some were
                removed)
            is_outlier: whether the row is for the outliers
            is_full: whether the block is full; the last one by size usually is not. It is kept because
                it holds the largest files, but with few transfers the 99th percentile says little more
                than the slowest of them
            is_prepared: whether the row was prepared by `tapewise refresh`, and not computed now
            computed_at: when the row was prepared; null if it was computed for this answer

        In SQL:

            SELECT interface, direction, block, transfer_count, mean_bytes, mean_residual_s, p99_residual_s
            FROM mart.residual_blocks(
                archive => 'llnl',
                since => '1998-04-02 America/Los_Angeles',
                until => '1998-04-10 America/Los_Angeles'
            )
            WHERE NOT is_outlier
            ORDER BY interface, direction, block
        """

    def residuals(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        stratum_size: int | None = None,
        is_fresh: bool | None = None,
    ) -> pl.DataFrame:
        """One row per transfer that the envelope uses.

        How long each transfer waited: its residual, which is its duration minus (latency + slope *
        size), with the latency and slope that mart.lower_envelopes finds for the same transfers.
        Transfers that the filter of the envelope leaves out (filtered_count of mart.lower_envelopes)
        have no row. For more than 300,000 transfers, the function uses the line that `tapewise refresh`
        has prepared (is_prepared), and returns no rows if none was prepared for these transfers
        (mart.envelope_choices). The function lists single transfers and reads all of the range, so it
        is not meant for all time: mart.residual_blocks has their mean and 99th percentile by size.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            stratum_size: transfers in a stratum of the envelope (null or below 1 = 100 for puts, 25 for
                gets)
            is_fresh: whether to fit the line to all transfers, however long it takes

        Columns:
            transfer_id: number of the transfer, as in mart.transfers
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            size_bytes: bytes moved
            duration_s: seconds the transfer took
            envelope_s: seconds that the line gives for this size; null where there is no line
            residual_s: seconds above the line, so how long the transfer waited; below zero if the
                transfer is faster than the line; null where there is no line
            newer_count: 0 if the line was computed now; otherwise the transfers that were added since
                it was prepared, those of all clients and failed ones included (negative if some were
                removed)
            is_outlier: whether the file is larger than 4 GB, or smaller than 1 GB and took more than
                1000 s (1 GB is 10^9 bytes); LLNL discarded these from its figures, but the line is
                fitted to them too
            is_prepared: whether the line was prepared by `tapewise refresh`, and not computed now
            ended_at: when the transfer ended
            computed_at: when the line was prepared; null if it was computed for this answer

        In SQL:

            SELECT transfer_id, size_bytes, duration_s, residual_s
            FROM mart.residuals(
                archive => 'llnl',
                since => '1998-04-02 America/Los_Angeles',
                until => '1998-04-10 America/Los_Angeles',
                direction => 'put'
            )
            WHERE NOT is_outlier
            ORDER BY residual_s DESC
            LIMIT 10
        """

    def retries(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        retry_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per transfer that failed.

        The transfers that failed, with their retries. A retry is a transfer in the same direction by
        the same user (by the same persona, if the user is not known) with the same file_key or, if the
        failed one has none, with the same size; or one of the same job. It ends after the failed
        transfer, or at the same time if it succeeded. Retries are looked for among the transfers that
        the arguments select. Of all time, they are kept by `tapewise refresh` if no more than 100,000
        transfers failed.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            retry_s: a retry must end within this many seconds of the end of the failed transfer (null =
                86400; infinity or NaN = no limit)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            transfer_id: the failed transfer, as in mart.transfers
            interface: the program that moved the file (ftp, nft, hsi, ...)
            direction: put or get
            user_id: number of the user in the warehouse, null if the logs do not say
            client: name of the client machine, null if the logs do not say
            class_of_service: class of service, null if the logs do not say
            size_bytes: bytes moved, null if the logs do not say
            is_retried: whether there was a retry; null if its user or file is not known, or if none was
                seen but the logs (or the range) end sooner than retry_s after it
            is_made_good: whether a retry succeeded; null like is_retried
            retried_at: when the first retry ended; null if none is known
            made_good_at: when the first retry that succeeded ended; null if none is known
            ended_at: when the failed transfer ended

        In SQL:

            SELECT interface, direction, count(*) AS failed_count, count(*) FILTER (WHERE is_made_good) AS made_good_count
            FROM mart.retries(since => now() - INTERVAL '1 month')
            GROUP BY interface, direction
            ORDER BY interface, direction
        """

    def room(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per kind of room, library and type of cartridge.

        When the room for more data ends, if it is used as fast as it was - blank cartridges, free slots
        and purchased capacity, each for itself, because any of them may end first. Cartridges that were
        bought or ejected change the level, but not the rate. The dates have 95 % intervals, from how
        much the use of room varied from week to week.

        Args:
            archive: only this archive (null = all)
            since: only listings and days that began at or after this time (null = from the first)
            until: only listings and days that began before this time (null = to the last)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of listings or reports
            room: blank cartridges, free slots, or purchased capacity, as in mart.room_changes
            library: the library, or part of one, as the listing or report names it; null if it does not
                say
            tape_type: type of the cartridges; null for free slots, and if the listing does not say
            level: how much room there was at the last observation - cartridges, slots or bytes
            day_count: days from the first to the last observation; null if there is only one
            week_count: calendar weeks in which observations after the first one were made
            used_per_day: room used a day; negative if more became free; null if there is only one
                observation
            used_per_day_low: lower end of its 95 % interval; null with fewer than two weeks
            used_per_day_high: upper end of its 95 % interval; null with fewer than two weeks
            added: room on cartridges that were taken in, minus that on ejected ones; 0 for free slots
            intake_count: cartridges that were taken in; for free slots, by how many there were fewer,
                summed over the days with fewer
            eject_count: cartridges that were ejected; for free slots, by how many there were more on
                days with more
            days_left: days after observed_on until the level is 0 at used_per_day; null if that is 0 or
                less, or not known
            days_left_low: lower end of its 95 % interval, for the use of that many days to come; null
                with fewer than two weeks
            days_left_high: upper end of its 95 % interval; null with fewer than two weeks, and if the
                room may never end, because the interval of used_per_day includes 0
            verdict: running out, not running out (nothing is used, or more becomes free), none left, or
                not known
            observed_on: day of the last observation
            runs_out_on: the day that is days_left after observed_on; null if it is a century away
            runs_out_on_low: the day that is days_left_low after observed_on; null if it is a century
                away
            runs_out_on_high: the day that is days_left_high after observed_on; null if it is a century
                away

        In SQL:

            SELECT room, library, tape_type, level, used_per_day, verdict, runs_out_on_low, runs_out_on, runs_out_on_high
            FROM mart.room('hpss')
            ORDER BY days_left NULLS LAST
        """

    def room_changes(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per day with a listing or report, and kind of room, library and type of cartridge.

        How much room there was for more data, day by day, and what changed it. Blank cartridges and
        purchased capacity come from listings of the catalogue (mart.snapshots), of which the last one
        of each local day counts; free slots come from the site's daily report (mart.daily_figures).
        What used room is kept apart from what cartridges brought that were taken in, or took away that
        were ejected.

        Args:
            archive: only this archive (null = all)
            since: only listings and days that began at or after this time (null = from the first)
            until: only listings and days that began before this time (null = to the last)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of listings or reports
            room: blank cartridges (nothing was written on them since they were bought or repacked),
                free slots, or purchased capacity (what the cartridges that are not full can still hold,
                in bytes)
            library: the library, or part of one, as the listing or report names it; null if it does not
                say
            tape_type: type of the cartridges; null for free slots, and if the listing does not say
            day_count: days since the observation before, null for the first one
            level: how much room there was - cartridges, slots or bytes
            used: room used since the observation before, negative if more became free, on cartridges
                that were there both times; for free slots, all of the change; null for the first
                observation
            added: room on cartridges taken in since the observation before, minus that on ejected ones;
                0 for free slots; null for the first observation
            intake_count: cartridges that were taken in since the observation before (from another part
                of the library, too); for free slots, by how many there are fewer; null for the first
                observation
            eject_count: cartridges that were ejected since the observation before; for free slots, by
                how many there are more; null for the first observation
            observed_on: the local day of the listing, or the day that the report covers

        In SQL:

            SELECT observed_on, library, level AS free_slots, intake_count, eject_count
            FROM mart.room_changes('hpss')
            WHERE room = 'free slots'
            ORDER BY library, observed_on
        """

    def routes(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        route_id: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
    ) -> pl.DataFrame:
        """One row per source, interface, direction and class of service of which anything is counted, and
        per client machine of it in archives that count single clients.

        The ways by which files moved: what is counted by day (mart.day_cells and others) is counted for
        each of them.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the transfers, opens or stages
            route_id: number of the route
            interface: the program that moved, opened or staged the files (ftp, nft, hsi, ...)
            direction: put or get, null if a log of opens does not say
            class_of_service: class of service; null where no log has one

        In SQL:

            SELECT source, interface, direction, class_of_service
            FROM mart.routes
            WHERE archive = 'llnl'
            ORDER BY source, interface, direction, class_of_service
        """

    def selected_days(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per cell: a row of mart.day_cells, or one transfer with a client or if exact. Several
        rows may have the same day, interface and direction, so they are to be added up.

        The rows of mart.day_cells that the arguments select. A range means whole days of the archive's
        own clock: all those that it touches. Without a client, these are the stored cells. With a
        client, they are its own cells (mart.client_day_cells), if the archive counts single clients.
        Otherwise, or if asked to be exact, each transfer is a cell of its own: this reads the
        transfers, which takes longer, and finds none on days whose detail the archive has forgotten.
        Functions of mart that count by day read this one, so they all select the same transfers.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: read the transfers, so that rates are known exactly

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days and hours are counted
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service as in the log; null where the log has none
            transfer_count: transfers that ended on the day, failed ones included
            failed_count: how many of them failed, as far as logs report it
            saturated_count: how many of the others have a saturated size
            size_bytes: bytes of those that did not fail, as far as sizes are known; all bytes of a
                transfer count on the day it ended
            unknown_size_count: how many did not fail and have no size
            duration_us: total microseconds of those that did not fail, as far as durations are known;
                an integer, so that sums equal any recount
            unknown_duration_count: how many did not fail and have no duration
            ambiguous_count: how many have is_time_ambiguous of mart.transfers, failed ones included
            day_only_count: how many have is_time_of_day_unknown, failed ones included
            coarse_count: how many have is_duration_coarse, failed ones included
            below_clock_count: how many have is_duration_below_clock, failed ones included
            flagged_saturated_count: how many have is_size_saturated, failed ones included
            inconsistent_count: how many have is_rate_inconsistent, failed ones included
            rated_size_bytes: bytes of those counted in rate_counts
            rated_duration_us: total microseconds of those counted in rate_counts
            hours: the hours of the local clock (0 to 23) in which transfers ended, ascending; transfers
                of which only the day is known are in none
            hour_transfer_counts: for each of the hours, how many transfers ended in it, failed ones
                included
            hour_failed_counts: for each of the hours, how many of them failed
            hour_size_bytes: for each of the hours, the bytes of those that did not fail, as far as
                sizes are known
            hour_unknown_size_counts: for each of the hours, how many did not fail and have no size
            rate_bins: bins of the rates of those that did not fail and have a rate, a duration and an
                unsaturated size, ascending (mart.histogram_bin); mart.histogram_value is within 1/128
                of each rate in its bin
            rate_counts: for each of the bins, how many rates are in it
            ten_minute_offsets: the ten minutes of the local clock in which transfers ended, ascending:
                how many minutes after the day begins in UTC they begin (negative if before it);
                transfers of which only the day is known are in none
            ten_minute_counts: for each of the ten_minute_offsets, how many transfers ended in it,
                failed ones included
            ten_minute_marks: the ten minutes as 336 bits, one for each ten minutes from 16 hours before
                the day begins in UTC. bit_or joins those of several cells
            rest_size_bins: bins of the sizes (mart.size_bin) of those that did not fail and are not in
                mart.size_cells, because their duration is unknown, zero or too coarse, or their size is
                saturated, ascending. Empty on days whose detail was forgotten before the warehouse
                counted them
            rest_size_counts: for each of the rest_size_bins, how many transfers are in it
            rest_saturated_counts: for each of the rest_size_bins, how many of them have a saturated
                size
            rest_size_bytes: for each of the rest_size_bins, their bytes
            largest: the largest file of those that did not fail: its bytes; the microseconds from when
                it was moved to 1970 (UTC), so that of equally large files the earliest has the greatest
                array; 1 if the size is saturated; 1 if only the day is known. Null where no size is
                known, or where the log reports parts of files
            longest: the longest transfer of those that did not fail: its seconds; the microseconds from
                its end to 1970 (UTC); 1 if only the day is known. Null where no duration is known
            rate_bytes_per_s: always null here; the rate itself in mart.selected_days, where a row is
                one transfer
            is_failure_logged: whether their log reports failures, or another log reports them for any
                part of the day
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT starts_on, sum(transfer_count) AS transfer_count, sum(size_bytes) AS size_bytes
            FROM mart.selected_days(archive => 'llnl', since => now() - INTERVAL '1 month', direction => 'get')
            GROUP BY starts_on
            ORDER BY starts_on
        """

    def selected_file_days(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_fresh: bool | None = None,
        slice_number: int | None = None,
        slice_count: int | None = None,
    ) -> pl.DataFrame:
        """One row per row of mart.file_days or, if the files were followed for this answer, per event.
        Several rows may have the same day, so they are to be added up.

        What happened to files, by the archive's own local days. Without a client, an archive is
        answered from its last recount (mart.file_recounts), within milliseconds, unless it has few
        events and more were loaded since. Otherwise its files are followed through all their events, as
        mart.file_histories does. A range means whole days: all those that it touches. Functions that
        count files by day read this one.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last); sizes that a put
                does not give may come from later gets
            interface: only this interface (null = all)
            direction: get: only gets; put: everything except gets (null = both)
            client: only this client machine, which is never answered from a recount (null = all)
            class_of_service: only this class of service, as in the column (null = all)
            is_fresh: follow the files for this answer, in place of the recount; days whose detail is
                forgotten still come from it
            slice_number: with slice_count, only one part of the files that are followed, as in
                mart.file_histories
            slice_count: into how many parts files are divided (null = do not divide)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the events
            interface: the program that caused them (ftp, nft, hsi, ...)
            direction: get: gets of files whose names are in the log; put: everything else
            class_of_service: class of service of the line, for deleted and overwritten files that of
                the file (version_class of mart.file_histories); null where neither is known
            put_count: files put
            copy_count: files made by a copy within the archive
            deleted_count: files deleted
            overwritten_count: files replaced by a put, copy or rename to their name, according to the
                log
            unknown_size_count: how many of all these have a saturated or unknown size
            new_name_count: puts and copies to names that the log had not mentioned before
            unnamed_count: puts, copies and deletes that cannot be followed because their lines do not
                name the file
            put_bytes: bytes put, counting only known sizes
            copied_bytes: bytes of the copies
            deleted_bytes: bytes deleted
            overwritten_bytes: bytes replaced
            age_bins: as in mart.file_days; one bin if the row is one get
            age_get_counts: for each of the bins, how many gets are in it
            age_unknown_size_counts: for each of the bins, how many of its gets have a saturated or
                unknown size
            age_bytes: for each of the bins, the bytes moved by its gets, counting only known sizes
            newer_event_count: how many transfers and name-space events of the archive were loaded after
                the recount; null if the files were followed for this answer
            computed_at: when the recount began, null if the files were followed for this answer
            starts_on: local date of the day, in the archive's own zone

        In SQL:

            SELECT interface, sum(put_count) AS put_count, sum(unnamed_count) AS unnamed_count
            FROM mart.selected_file_days(since => now() - INTERVAL '1 month', direction => 'put')
            GROUP BY interface
            ORDER BY interface
        """

    def selected_hits(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per kind of evidence of a cell, or one get that is read from the requests. Several rows
        may have the same day and interface, so they are to be added up.

        Gets that did not fail, and whether their files were on disk, as far as the logs show it
        (is_cached of mart.requests). A range means whole days of the archive's own clock: all those
        that it touches. Without a client, gets are read from mart.hit_cells, except on days of which a
        staging bypass covers a part (mart.bypassed_days): then those of these days are read from the
        requests. If their detail is forgotten, is_cached is null unless a stage or the log is evidence.
        With a client, gets are read from its own cells (mart.client_hit_cells), if the archive counts
        single clients and no bypass covers a part of a day. Otherwise, all gets are read from the
        requests, which takes longer, and finds none on days whose detail the archive has forgotten.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; all rows are gets, so null and get are equivalent, and
                put returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the gets
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: always get
            class_of_service: class of service; null where no log has one
            size_class: small, medium, large or huge (mart.size_class); null where the size is not known
            get_count: how many gets there are
            is_cached: whether their files were on disk; null if this is unknown
            is_joined: whether they joined a stage that another request had started; null where this is
                unknown
            is_staging_bypassed: whether staging was bypassed when they were opened, or their class of
                service is tape-only; null on a forgotten day of which a bypass covers a part
            is_size_saturated: whether their sizes are at the limit of the log's counter
            size_bytes: the bytes of those whose size is known
            starts_on: local date of the day on which they ended, in the archive's own zone

        In SQL:

            SELECT starts_on, is_cached, sum(get_count) AS get_count
            FROM mart.selected_hits(archive => 'llnl', since => now() - INTERVAL '1 month')
            GROUP BY starts_on, is_cached
            ORDER BY starts_on, is_cached
        """

    def selected_hours(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per hour of a cell: of a month or day of a source, interface, direction and class of
        service, or of one transfer that is read. Several rows may have the same weekday and hour, so
        they are to be added up.

        The transfers that the arguments select, by hour of the week, in as few rows as possible: from
        mart.hour_months for the months that are wholly in the range, and from mart.day_cells for other
        days. A range means whole days of the archive's own clock: all those that it touches. For one
        client there are only days (mart.client_day_cells), or single transfers if its archive counts no
        single clients (mart.archives). Transfers of which only the day is known are left out.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            is_failure_logged: as in mart.day_cells
            weekday: 1 (Monday) to 7 (Sunday), in the archive's own zone
            hour: 0 to 23, by the archive's own clock
            transfer_count: transfers that ended in the hour
            failed_count: how many of them failed
            size_bytes: bytes of those that did not fail, as far as they are known
            unknown_size_count: how many of those that did not fail have no known size
            first_on: local date of the first day of the cell with such transfers, in whatever hour
            last_on: local date of the last such day

        In SQL:

            SELECT hour, sum(transfer_count) AS transfer_count
            FROM mart.selected_hours(archive => 'llnl', direction => 'get')
            WHERE weekday <= 5
            GROUP BY hour
            ORDER BY hour
        """

    def selected_mounts(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
    ) -> pl.DataFrame:
        """One row per mount that reached a drive and occupies it in the range.

        The mounts that functions of drives count, and when each occupied its drive. The only place that
        applies the first seven arguments of these functions to mounts. Requests after which the
        cartridge reached no drive are left out. If a mount was requested while another cartridge was in
        the drive, it occupies the drive from when that one has left, so a drive is never occupied twice
        at a time. A range means whole local days; a mount is returned if it occupies its drive on one
        of them, so `until` cannot leave out months of the logs.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)

        Columns:
            mount_id: the mount, as in mart.mounts
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            interface: the program that served the tapes (unitree, ...)
            location: where the cartridge is kept, as the log names it
            tape_type: type of the cartridge, null if the log does not say
            drive: the physical drive
            vsn: the cartridge (its volume serial number)
            requester: for whom the cartridge was mounted (client or repacker), null if the log does not
                say
            transfer_count: files read or written during the mount, failed ones included; null where no
                event of a file is known
            failed_count: how many of these files failed; null like transfer_count
            size_bytes: bytes of the files that did not fail, null where there are none
            is_unfinished: whether there is no dismount (yet), because the cartridge is still in the
                drive or the line is lost
            is_begun: whether it began to occupy its drive on a day of the range, so that each mount
                counts once
            occupied_from: when the mount began to occupy its drive: at its request, or at the first
                event in the drive where no request is known, but not before the cartridges that were in
                the drive earlier have left it. If the mount began before the range, those that left
                before the range are not considered
            positioned_at: when the tape was positioned to the first file, null if that is not known
            idle_from: when the last file was read or written and the lazy wait began, null if that is
                not known
            dismount_requested_at: when the dismount was requested, null if that is not known
            dismounted_at: when the cartridge was dismounted, null while unfinished
            occupied_until: when it was dismounted or, failing that, its last event; then the drive was
                occupied at least until then
            range_from: when the first local day of the range begins (null without since)
            range_until: when the last local day of the range ends (null without until)

        In SQL:

            SELECT archive, drive, vsn, occupied_from, occupied_until
            FROM mart.selected_mounts(since => now() - INTERVAL '1 day')
            ORDER BY archive, drive, occupied_from
        """

    def selected_opens(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per bin of open time and route (source, interface, direction, class of service), or one
        request that is read from mart.requests. Several rows may have the same bin, so they are to be
        added up.

        Requests that did not fail and have an open time. A range means whole days of the archive's own
        clock: all those that it touches. Without a client, they are read from mart.open_cells, except
        on days of which a staging bypass covers a part (mart.bypassed_days): then those of these days
        are read from the requests. If their detail is forgotten, is_staging_bypassed is null. For one
        client, they are read from mart.client_open_cells if the archive counts single clients
        (mart.archives) and no bypass covers a part of any day; otherwise, or if they are to be exact,
        all are read from the requests, which takes longer, and finds none on days whose detail the
        archive has forgotten.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both, and opens of unknown direction)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: whether to read the requests, so that open_s and size_bytes are known

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that opened the files (ftp, hsi, ...)
            direction: put or get, null if the log of opens does not say
            class_of_service: class of service; null where no log has one
            open_from_s: shortest time of the bin (mart.time_bin_edge)
            open_s: how long the file took to open; null if it is not read from a request
            request_count: how many requests there are
            open_us: the sum of their open times, in microseconds
            is_sized: whether the sizes of the files are known, and below the limit of the log's counter
            size_bytes: size of the file; null if it is not read from a request, or not known
            is_staging_bypassed: whether staging was bypassed when the files were opened, or their class
                of service is tape-only; null on a forgotten day of which a bypass covers a part

        In SQL:

            SELECT interface, sum(request_count) AS request_count, sum(request_count) FILTER (WHERE open_from_s >= 8) AS slow_count
            FROM mart.selected_opens(archive => 'sdsc', since => now() - INTERVAL '1 month', direction => 'get')
            GROUP BY interface
            ORDER BY interface
        """

    def selected_operations(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
    ) -> pl.DataFrame:
        """One row per file that was positioned to, read or written in a mount.

        The files that functions of drives count, and when each was read or written in a drive. They
        belong to the mounts of mart.selected_mounts, with the same arguments. Files of one mount whose
        times overlap are transferring one after the other, so a drive never transfers twice at a time.
        A file that was wholly before or after the range is left out.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)

        Columns:
            operation_id: the file's operation, as in mart.tape_operations
            mount_id: its mount, as in mart.mounts
            archive: name of the archive
            timezone: the archive's time zone, in which its days are counted
            drive: the physical drive
            task: stage (from tape to disk) or migration (from disk to tape)
            size_bytes: bytes of the file, null if the log does not say
            is_failed: whether reading or writing failed
            is_timed: whether it is known in this mount when the tape was positioned to the file and
                when it was read or written; logs that have no positioning for writing (CTA's) leave
                written files untimed
            is_saving: whether the lazy wait saved a mount - the file was requested after the files
                before it had ended and before the dismount was requested; false if its request is not
                known
            transferring_from: when reading or writing began; if the file is untimed, as
                transferring_until
            transferring_until: when it ended; if the file is untimed, the time of the two that is
                known, within the mount
            range_from: when the first local day of the range begins (null without since)
            range_until: when the last local day of the range ends (null without until)

        In SQL:

            SELECT archive, drive, task, count(*) AS file_count, count(*) FILTER (WHERE is_saving) AS saved_count
            FROM mart.selected_operations(since => now() - INTERVAL '1 day')
            GROUP BY archive, drive, task
            ORDER BY archive, drive, task
        """

    def selected_rates(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per cell: a month or day of a source, interface, direction and class of service, or one
        transfer that is read. Several rows may have the same month, interface and direction, so they
        are to be added up.

        The rates that the arguments select, as few rows as possible: the rows of mart.rate_months for
        the months that are wholly in the range, and those of mart.day_cells for other days. A range
        means whole days of the archive's own clock: all those that it touches. For one client there are
        only days (mart.client_day_cells). If asked to be exact, or for one client of an archive that
        counts no single clients (mart.archives), each transfer is a row of its own: this reads the
        transfers, which takes longer, and finds none on days whose detail the archive has forgotten.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: read the transfers, so that rates are known exactly

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            rated_count: as in mart.rate_months
            rated_size_bytes: as in mart.rate_months
            rated_duration_us: as in mart.rate_months
            rate_bins: as in mart.rate_months
            rate_counts: as in mart.rate_months
            rate_bytes_per_s: the rate itself, if a row is one transfer; otherwise null
            starts_on: local date of the first day of the month, in the archive's own zone, also for a
                day of it
            first_on: local date of the first day that the row counts
            last_on: local date of the last such day

        In SQL:

            SELECT starts_on, sum(rated_count) AS rated_count
            FROM mart.selected_rates(archive => 'llnl', direction => 'get')
            GROUP BY starts_on
            ORDER BY starts_on
        """

    def selected_request_days(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per cell: a row of mart.request_cells or mart.client_request_cells, or one request that
        is read. Several rows may have the same interface and direction, so they are to be added up.

        The rows of mart.request_cells that the arguments select: whole years where the range has them,
        then months, and days at its ends. A range means whole days of the archive's own clock: all
        those that it touches. For one client, these are its own cells (mart.client_request_cells), if
        the archive counts single clients. Otherwise, or if asked to be exact, each request is a cell of
        its own: this reads the requests, which takes longer, and finds none on days whose detail the
        archive has forgotten. Functions of mart that count requests by day read this one, so they all
        select the same requests.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: read the requests, so that sizes and times are known exactly

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's own zone (IANA name), whose days are counted
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service of the requests (mart.requests); null where no log has
                one
            request_count: as in mart.request_cells
            below_clock_count: as in mart.request_cells
            negative_count: as in mart.request_cells
            size_bins: as in mart.request_cells
            size_counts: as in mart.request_cells
            duration_bins: as in mart.request_cells
            duration_counts: as in mart.request_cells
            wait_bins: as in mart.request_cells
            wait_counts: as in mart.request_cells
            size_bytes: bytes of the request's file where a row is one request, otherwise null
            duration_s: seconds of the request's transfer where a row is one request, otherwise null
            waited_s: waited_s of mart.requests where a row is one request, otherwise null
            first_on: local date of the first day with such requests
            last_on: local date of the last such day

        In SQL:

            SELECT interface, sum(request_count) AS request_count, min(first_on) AS first_on
            FROM mart.selected_request_days(archive => 'llnl', since => now() - INTERVAL '1 month', direction => 'get')
            GROUP BY interface
            ORDER BY interface
        """

    def selected_requests(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per request that the arguments select, with the columns of mart.requests.

        The rows of mart.requests that the arguments select. Functions of mart that take these arguments
        read requests through this function, so that they select the same rows. Months outside the range
        are not read.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of logs that counts the request
            transfer_id: the transfer, as in mart.transfers; null where none is known
            twin_transfer_id: the line of another, uncounted log that reports the same transfer
            open_id: the open, as in mart.opens; null where the log has no line for it
            stage_id: the stage that the request started or joined, as in mart.stages; null where there
                is none
            job_id: the job, as in mart.unitree_jobs; null where there is none
            start_id: the line that records the request for the transfer; null where there is none
            reported_by: the lines that report the request - job, start, open, stage, transfer, twin
                (the same transfer in another log)
            missing: the lines that the log should have but lacks (start, stage, transfer); null if none
                is missing or if this is unknown. If the transfer is missing, the request is unfinished
                or the line is lost
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get, null if the log does not say
            user_id: number of the user in the warehouse, null if the logs do not say
            client: name of the client machine as the log gives it, null if the logs do not say
            class_of_service: class of service, null if the logs do not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name; derived with a secret of this warehouse
            capability_key: 64-bit key of UniTree's name of the file, as in mart.tape_operations; null
                if the log does not say
            persona: UniTree's number of the job; it is reused, sometimes within a day
            size_bytes: bytes moved
            duration_s: seconds the transfer took, as logged
            open_s: seconds it took to open the file (with staging on, this includes mount, seek and
                staging), null if not logged
            stage_s: seconds taken by the stage that the request started, as logged
            waited_s: seconds from the request until the transfer started: queue, mount, seek and stage
                together; null if either time is not known, or if is_wait_negative
            clock_step_s: 1 if one of the two times of the wait has no fraction of a second and so comes
                from a clock of whole seconds, else 0; the exact length of a wait shorter than this step
                is unknown
            is_failed: whether the transfer failed; null where the logs do not say
            is_size_saturated: whether the size is at the limit of the log's counter (2^31 - 1), so that
                the file may be larger
            is_of_parts: whether its log reports reads and writes within files, as in mart.transfers
            is_time_ambiguous: whether one of its lines has a local time that occurs twice (or never)
                because of daylight saving; if so, its times and the waits calculated from them may be
                an hour off
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_wait_below_clock: whether the wait is shorter than clock_step_s; if so, waited_s is an
                estimate between 0 and that step, and a quantile in this range is shown as "< 1 s"
            is_wait_negative: whether, according to its times, the transfer started clock_step_s or more
                before it was requested; if so, two clocks disagree, and waited_s is null
            is_staging_bypassed: whether staging was bypassed at the time, or the class of service is
                tape-only, as recorded with `tapewise config-changes`; if so, open times and missing
                stages are no evidence
            is_cached: whether a get found its file on disk (a hit) and not on tape (joined a stage, or
                a miss); null for puts, and where this is unknown
            cache_evidence: the evidence for is_cached - stage (it started or joined one, so it was not
                on disk), log (a line says whether it was), no stage (its log records stages and has
                none for it), open time (below 8 s is disk); null where there is none
            is_joined: whether a get waited for a stage that another request had started; null for puts
                and where this is unknown, as in all logs so far. Such a get of a measured archive then
                counts as a miss, or as a hit where cache_evidence is 'no stage'
            is_warm_up: whether the request was made in a simulated archive before its run became
                steady, or at any time if it never did; figures on how the archive served its users
                leave such requests out
            submitted_at: when the request was made; null if not known
            opened_at: when the open completed; null if not known
            staged_at: when the file was on disk; null where it was not staged
            started_at: when the transfer began; null if not known
            ended_at: when the transfer ended; for a job or an open without a transfer, when the job or
                the open ended

        In SQL:

            SELECT ended_at, user_id, size_bytes, duration_s
            FROM mart.selected_requests(archive => 'llnl', since => now() - INTERVAL '1 day', direction => 'get')
            ORDER BY size_bytes DESC
            LIMIT 10
        """

    def selected_sizes(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per cell: a row of mart.size_cells, or one transfer with a client or if exact. Several
        rows may have the same interface and direction, so they are to be added up.

        The rows of mart.size_cells that the arguments select: whole years where the range has them,
        then months, and days at its ends. A range means whole days of the archive's own clock: all
        those that it touches. With a client, the rows are its own (mart.client_size_cells), if the
        archive counts single clients. Otherwise, or if asked to be exact, each transfer is a cell of
        its own: this reads the transfers, which takes longer, and finds none on days whose detail the
        archive has forgotten.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: read the transfers, so that durations are known exactly

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            size_bins: as in mart.size_cells
            size_bytes: as in mart.size_cells
            shortest_s: as in mart.size_cells
            time_size_bins: as in mart.size_cells
            time_bins: as in mart.size_cells
            time_counts: as in mart.size_cells
            duration_s: seconds of the transfer with a client or if exact, otherwise null
            first_on: local date of the first day with such transfers
            last_on: local date of the last such day

        In SQL:

            SELECT direction, sum(array_length(time_bins, 1)) AS bin_count, min(first_on) AS first_on
            FROM mart.selected_sizes(archive => 'llnl', since => now() - INTERVAL '1 year')
            GROUP BY direction
            ORDER BY direction
        """

    def selected_spans(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> pl.DataFrame:
        """One row per archive and span (day, month, year); none if the range is empty.

        Which cells to read for a range, from a rollup that has cells of days, months and years
        (mart.user_cells, mart.open_cells). Of each span, those are read that begin from since_at to
        until_at, apart from those that begin from longer_since_at to longer_until_at, which are part of
        a longer span that is read. A range means whole days of an archive's own clock: all those that
        it touches.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)

        Columns:
            archive: name of the archive
            span: day, month or year
            since_at: local time from which the cells to read begin
            until_at: local time before which they begin
            longer_since_at: local time from which cells are part of a longer span; null for years
            longer_until_at: local time before which they are part of a longer span; null for years

        In SQL:

            SELECT archive, span, since_at, until_at
            FROM mart.selected_spans(since => '1998-02-15 UTC', until => '1998-04-01 UTC')
            ORDER BY archive, since_at
        """

    def selected_stages(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per cell (a row of mart.stage_cells, or with a client, one stage), so they are to be
        added up.

        The rows of mart.stage_cells that the arguments select: whole years where the range has them,
        then months, and days at its ends. A range means whole days of the archive's own clock: all
        those that it touches. With a client, the stages of its requests in mart.requests are returned
        instead, each as a cell of its own, because a log of stages does not name clients: this takes
        longer, finds none on days whose detail the archive has forgotten, and leaves out stages that
        belong to no request.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = get; puts have no stages)
            client: only stages of requests of this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported the stages
            interface: the program that staged the files (unitree, dcache, ...)
            class_of_service: class of service, null if the log does not say
            untimed_count: as in mart.stage_cells
            untimed_failed_count: as in mart.stage_cells
            time_bins: as in mart.stage_cells
            stage_counts: as in mart.stage_cells
            failed_counts: as in mart.stage_cells
            is_failure_logged: whether the log reports failed stages; if not, it is unknown how many
                failed

        In SQL:

            SELECT cells.interface, sum(bins.stage_count) AS stage_count
            FROM mart.selected_stages(archive => 'llnl', since => now() - INTERVAL '1 year') AS cells
            CROSS JOIN unnest(cells.stage_counts) AS bins (stage_count)
            GROUP BY cells.interface
            ORDER BY cells.interface
        """

    def selected_transfers(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per transfer that the arguments select, with the columns of mart.transfers.

        The rows of mart.transfers that the arguments select. Functions of mart that take these
        arguments read transfers through this function, so that they select the same rows. Months
        outside the range are not read.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            transfer_id: number of the row in the warehouse, for `tapewise explain row`; changes when
                the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported the transfer
            interface: the program that moved the file (ftp, nft, hsi, ...)
            direction: put (client to archive) or get (archive to client)
            operation: the operation as the log names it
            user_id: number of the user in the warehouse, null if the log does not say
            client: name of the client machine as the log gives it, null if the log does not say
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name; derived with a secret of this warehouse
            persona: UniTree's number of the job that moved the file, null if the log has none
            server: the archive's machine that moved the file, or its pseudonym; null if the log does
                not say
            status_code: the log's own code for how the transfer ended, null if it has none
            status_text: the log's own words for how the transfer ended (error codes), null if it has
                none, or if they may name a file
            size_bytes: bytes moved
            duration_s: seconds the transfer took, as logged
            open_s: seconds it took to open the file in the archive, null if the log does not say
            seek_s: seconds it took to find the place in the file, null if the log does not say
            rate_bytes_per_s: bytes per second as logged; where the log has no rate, size over duration
                (null for zero durations and saturated sizes)
            is_failed: whether the transfer failed
            is_failure_logged: whether its log, or another log alongside it, reports failures; if not,
                it is unknown which of the log's transfers failed
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_duration_coarse: whether the duration is in whole seconds, or 0.499 for less than one
            is_duration_below_clock: whether the duration is below the resolution of the source's clock
            is_size_saturated: whether the size is at the limit of the log's counter (2^31 - 1), so that
                the file may be larger
            is_rate_inconsistent: whether the logged size, duration and rate disagree
            is_of_parts: whether its log reports reads and writes within files (containers of a
                database); if so, the size is that of the part, a put does not create a file, and a get
                does not fetch a whole one
            started_at: when the transfer began; ended_at - duration_s if the log gives only the end,
                null without a duration
            ended_at: when the transfer ended

        In SQL:

            SELECT ended_at, user_id, size_bytes, duration_s
            FROM mart.selected_transfers(archive => 'llnl', since => now() - INTERVAL '1 day', direction => 'get')
            ORDER BY size_bytes DESC
            LIMIT 10
        """

    def selected_users(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per cell: a row of mart.user_cells, or with a client, the requests of an archive,
        interface and direction. Several rows may have the same interface and direction, so they are to
        be added up.

        The rows of mart.user_cells that the arguments select: whole years where the range has them,
        then months, and days at its ends. A range means whole days of the archive's own clock: all
        those that it touches. With a client, the rows are its own (mart.client_user_cells), if the
        archive counts single clients. Otherwise, the requests are counted instead: this takes longer,
        and finds none on days whose detail the archive has forgotten.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            user_ids: as in mart.user_cells
            request_counts: as in mart.user_cells
            size_bytes: as in mart.user_cells

        In SQL:

            SELECT cells.interface, count(DISTINCT users.user_id) AS user_count
            FROM mart.selected_users(archive => 'llnl', since => now() - INTERVAL '1 year') AS cells
            CROSS JOIN unnest(cells.user_ids) AS users (user_id)
            GROUP BY cells.interface
            ORDER BY cells.interface
        """

    def session_figures(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        pause_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive and interface on which there were sessions.

        How many transfers, bytes and seconds the sessions of mart.user_sessions had. A session that the
        range cuts off counts as far as it lies in the range.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both, which share a session); with one, transfers in the other
                direction count as pauses
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all); transfers of other classes are
                pauses
            pause_s: seconds without a transfer after which the next one begins a new session (null =
                900)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, pftp, nft, hsi, ...)
            session_count: sessions; all other figures are theirs
            user_count: users who had sessions
            transfer_count: transfers in the sessions, failed ones included
            two_way_count: sessions with puts and gets
            one_transfer_count: sessions of one transfer
            mean_transfer_count: mean number of transfers
            p50_transfer_count: transfers that 50 % of the sessions do not exceed
            p95_transfer_count: transfers that 95 % of the sessions do not exceed
            max_transfer_count: transfers of the session that had most
            p50_duration_s: seconds that 50 % of the sessions do not exceed
            p95_duration_s: seconds that 95 % of the sessions do not exceed
            max_duration_s: seconds of the longest session
            paused_ratio: share of all their seconds in which no transfer of the session was under way;
                null if none took any time
            p50_bytes: bytes that 50 % of the sessions with known sizes do not exceed; null if no size
                is known
            p95_bytes: bytes that 95 % of the sessions with known sizes do not exceed; null if no size
                is known

        In SQL:

            SELECT interface, session_count, p50_transfer_count, p95_duration_s, paused_ratio
            FROM mart.session_figures(since => now() - INTERVAL '1 month')
            ORDER BY interface
        """

    def share_counts(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        shared_by: str | None = None,
        period: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and user, client, class of service or network with requests that moved a
        file and did not fail.

        How many requests and bytes each user, client, class of service or network has, which
        mart.shares ranks. Users are counted from cells (mart.user_cells), also on days whose detail the
        archive has forgotten (`tapewise forget`). Clients, classes of service and networks are counted
        from the requests: this takes longer, and finds none on such days.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first); not used with a
                period
            until: only local days that begin before this time (null = to the last); with a period, as
                in mart.share_ranges
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            shared_by: user, client, class_of_service or network; anything else returns no rows
            period: day, week, month or year, as in mart.share_ranges (null = the range from since
                until)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            holder: number of the user in the warehouse, or name of the client, class of service or
                network
            request_count: requests that moved a file and did not fail
            size_bytes: bytes moved by these requests, counting only known sizes
            range_s: seconds of the days, as in mart.share_ranges
            starts_on: first local date that is counted
            ends_on: last local date that is counted

        In SQL:

            SELECT holder AS client, request_count, size_bytes
            FROM mart.share_counts(archive => 'llnl', shared_by => 'client', period => 'month')
            ORDER BY size_bytes DESC
        """

    def share_ranges(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        period: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive; none if the log has no such days, or the range is empty.

        The days that mart.shares counts, by each archive's own clock: those that a range touches, or
        those of the last day, week, month or year that is over. Days before the first transfer in the
        log and after the last one are left out, since nothing is known about them.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first); not used with a
                period
            until: only local days that begin before this time (null = to the last); with a period, the
                time by which it must be over (null = the beginning of the log's last day, which may not
                be over)
            period: day, week (from Monday), month or year: the last one that is over; null = the range
                from since until. Anything else returns no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            range_s: seconds of the days; a day has 23 or 25 hours where clocks change
            since_at: when the first day begins
            until_at: a time just after the beginning of the last day; functions that select whole days
                by since_at and until_at select these days
            starts_on: first local date
            ends_on: last local date

        In SQL:

            SELECT archive, starts_on, ends_on, range_s / 3600 AS hours
            FROM mart.share_ranges(period => 'month')
            ORDER BY archive
        """

    def shares(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        shared_by: str | None = None,
        ranked_by: str | None = None,
        period: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and user, client, class of service or network with requests.

        Which users, clients, classes of service or networks have the most requests or bytes, over all
        interfaces, in a range or in the last day, week, month or year that is over. With holder_ratio,
        the running ratios are the points of the Lorenz curve, from the largest share. Only requests
        that moved a file and did not fail are counted, and what has no known user, client, class of
        service or network is in no row and in no ratio. Users are counted from cells, also on days
        whose detail the archive has forgotten (`tapewise forget`); all others are not, which takes
        longer. Shares of each interface and direction are in mart.user_shares.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first); not used with a
                period
            until: only local days that begin before this time (null = to the last); with a period, the
                time by which it must be over (null = the beginning of the log's last day, which may not
                be over)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            shared_by: user, client, class_of_service or network; anything else returns no rows
            ranked_by: requests or bytes; anything else returns no rows
            period: day, week (from Monday), month or year: the last one that is over by the archive's
                own clock; null = the range from since until. Anything else returns no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            holder: number of the user in the warehouse (user_id), or name of the client, class of
                service or network
            holder_rank: 1 for the holder of the most requests or bytes (ranked_by); where these are
                equal, the one with more of the other is first
            holder_count: how many holders the archive has in the range
            request_count: requests that moved a file and did not fail
            size_bytes: bytes moved by these requests, counting only known sizes
            requests_per_hour: request_count divided by the hours from starts_on to ends_on
            mean_rate_bytes_per_s: size_bytes divided by range_s
            holder_ratio: share of the holders that are ranked here or above
            request_ratio: the holder's share of the requests of all holders
            size_ratio: the holder's share of the bytes of all holders, null where there are none
            running_request_ratio: share of the requests that come from this holder and all holders
                ranked above
            running_size_ratio: share of the bytes that come from this holder and all holders ranked
                above, null where there are none
            gini: Gini coefficient of what is ranked, the same in all rows of an archive: 0 if all
                holders have equally much, near 1 if one of many has nearly all; null if there are no
                bytes
            range_s: seconds from starts_on to ends_on; a day has 23 or 25 hours where clocks change
            starts_on: first local date that is counted; never before the first transfer in the log
            ends_on: last local date that is counted; never after the last transfer in the log

        In SQL:

            SELECT holder AS user_id, request_count, size_bytes, running_size_ratio, starts_on, ends_on
            FROM mart.shares(archive => 'llnl', ranked_by => 'bytes', period => 'month')
            WHERE holder_rank <= 10
            ORDER BY holder_rank
        """

    def simulation_runs(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        demand: Values = None,
        demand_name: Values = None,
        demand_archive: Values = None,
        demand_kind: Values = None,
        options: Values = None,
        machine_title: Values = None,
        machine: Values = None,
        seed: Values = None,
        program_version: Values = None,
        job_count: Values = None,
        unfinished_count: Values = None,
        totals: Values = None,
        is_circular: Values = None,
        began_at: Values = None,
        steady_at: Values = None,
        ended_at: Values = None,
        simulated_at: Values = None,
    ) -> pl.DataFrame:
        """One row per simulated archive.

        The runs of `tapewise simulate run`: the machine, the demand, and the results. The requests of a
        run are stored as an archive of the same name, and appear in the same views as those of any
        other archive.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the simulated archive
            kind: kind of archive; simulated
            timezone: the archive's time zone, which is that of the archive that its requests come from
            demand: where the requests came from - archive (an archive's requests), model (a workload
                model) or file (a trace)
            demand_name: name of that archive, workload model or file
            demand_archive: the archive that the requests, or the model of them, come from, even if
                through other simulations; null if not known
            demand_kind: kind of that archive (measured, synthetic, simulated); null if not known
            options: the command's other options
            machine_title: title of the machine
            machine: the whole description of the machine, as JSON
            seed: seed of the random numbers; the same demand, machine, options and seed give the same
                archive
            program_version: version of Tapewise that ran it
            job_count: requests that were submitted
            unfinished_count: requests that never ended; always 0, because a run in which requests wait
                for something that can never happen is refused (earlier versions kept the other requests
                of such a run)
            totals: totals of the run, warm-up included (stages, stores, purges, bytes over each network
                way and chain), as JSON; displaced_count is how many files should have been on disk at
                the start but found no space, and displaced_staged_count is how many stages were the
                first of such a file; where the machine's cartridges have an identity, tapes has mounts,
                dismounts, the seconds of all drives by step, and the mean waits of recalls
            is_circular: whether the requests come from a synthetic archive; if so, comparing the two
                says nothing about any real archive
            began_at: when the simulated time begins
            steady_at: the time from which the machine's state is like that of a machine in regular use;
                null if it never is
            ended_at: when the last request ended, in simulated time
            simulated_at: when the run was made

        In SQL:

            SELECT archive, demand, demand_name, machine_title, job_count, steady_at
            FROM mart.simulation_runs
            ORDER BY simulated_at DESC
        """

    def simulation_samples(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        quantity: Values = None,
        value: Values = None,
        sampled_at: Values = None,
    ) -> pl.DataFrame:
        """One row per simulated archive, quantity and sample.

        The state of a simulated machine at points in time, by default ten minutes apart. Counts and
        fill ratios apply to the moment of the sample, so the largest of them can be far below the real
        peak. Means, peaks and utilisations are those of the time since the previous sample, so the
        first sample has none. A state that lasts no time is in no peak.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the simulated archive
            kind: kind of archive; simulated
            quantity: what the value is, with its unit in the name - disk_used_bytes, disk_fill_ratio,
                busy_ports_count, busy_drives_count, transfers_count and stagings_count (under way),
                user_waits_count and the like (requests that wait, by cause),
                network_in_utilisation_ratio and the like (by network way and chain);
                disk_used_mean_bytes, disk_used_peak_bytes, busy_drives_mean_count,
                busy_drives_peak_count and the like for each count, and for robots
            value: the value, in the unit given by the quantity's name
            sampled_at: the point in simulated time

        In SQL:

            SELECT sampled_at, value AS disk_fill_ratio
            FROM mart.simulation_samples
            WHERE archive = 'rebuilt' AND quantity = 'disk_fill_ratio'
            ORDER BY sampled_at
        """

    def size_bin(
        self,
        *,
        size_bytes: int,
    ) -> pl.DataFrame:
        """The number of the bin (1 to 58); null for null.

        The bin of a size in the histograms of mart.size_cells. The bins have edges at 1, 2 and 5 in
        each decade, and bin 1 is for empty files. Loads compute the same.

        Args:
            size_bytes: the size

        In SQL:

            SELECT mart.size_bin(size_bytes) AS size_bin, count(*) AS transfer_count
            FROM mart.selected_transfers(archive => 'llnl', since => now() - INTERVAL '1 day')
            GROUP BY size_bin
            ORDER BY size_bin
        """

    def size_bin_edge(
        self,
        *,
        bin: int,
    ) -> pl.DataFrame:
        """The smallest size in the bin, in bytes; null for null.

        The lower edge of a bin of mart.size_bin. It is the upper edge of the bin before. (numeric,
        because the upper edge of the last bin is more than a bigint can be.)

        Args:
            bin: the number of the bin

        In SQL:

            SELECT mart.size_bin_edge(mart.size_bin(1234)) AS at_least_bytes
        """

    def size_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        span: Values = None,
        size_bins: Values = None,
        size_bytes: Values = None,
        shortest_s: Values = None,
        time_size_bins: Values = None,
        time_bins: Values = None,
        time_counts: Values = None,
        duration_s: Values = None,
        starts_on: Values = None,
        first_on: Values = None,
        last_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, span and local day, month
        or year with such transfers.

        The rollup of durations by size, which mart.size_times reads in place of the transfers: for each
        local day, month and year. Months and years are the sums of their days, so add up rows of one
        span only; mart.selected_sizes chooses the fewest for a range. The transfers are those to which
        the lower envelope is fitted (mart.envelope_transfers). Days whose detail the archive has
        forgotten (`tapewise forget`) are covered, except those forgotten before the warehouse had this
        rollup.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service as in the log; null where the log has none
            span: day, month or year
            size_bins: bins of the sizes of the transfers (mart.size_bin), ascending
            size_bytes: for each of the size_bins, the bytes of its transfers
            shortest_s: for each of the size_bins, the seconds of the shortest transfer
            time_size_bins: a histogram of sizes and durations has pairs of bins: first those with
                several transfers, then those with one, each ascending; for each pair, the bin of the
                size (mart.size_bin)
            time_bins: for each pair, the bin of the duration (mart.histogram_bin); mart.histogram_value
                is within 1/128 of each duration in its bin
            time_counts: for each pair, how many transfers are in it
            duration_s: always null here; the duration itself in mart.selected_sizes, where a row is one
                transfer
            starts_on: local date of the day, or of the first day of the month or year, in the archive's
                own zone
            first_on: local date of the first day with such transfers
            last_on: local date of the last such day

        In SQL:

            SELECT starts_on, interface, direction, time_size_bins, time_bins, time_counts
            FROM mart.size_cells
            WHERE archive = 'llnl' AND span = 'month'
            ORDER BY starts_on, interface, direction
        """

    def size_class(
        self,
        *,
        size_bytes: int,
    ) -> pl.DataFrame:
        """Small (below 2 MB), medium (from 2 to below 200 MB), large (from 200 MB to 1 GB, both included)
        or huge (above 1 GB); null for null.

        The size class of a file, one of the four that SDSC used. 1 MB is 10^6 bytes. Loads compute the
        same for mart.hit_cells.

        Args:
            size_bytes: the size

        In SQL:

            SELECT mart.size_class(size_bytes) AS size_class, count(*) AS transfer_count
            FROM mart.selected_transfers(archive => 'llnl', since => now() - INTERVAL '1 day')
            GROUP BY size_class
            ORDER BY transfer_count
        """

    def size_times(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        is_exact: bool | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and bin of size with such transfers.

        How long files of a given size take to move, next to the lower envelope. The bins of size have
        edges at 1, 2 and 5 in each decade, and one bin is for empty files; a bin without transfers has
        no row. The transfers are those that the lower envelope is fitted to. Failed transfers,
        saturated or unknown sizes, unknown durations and transfers that the filter of the envelope
        leaves out are in no bin. A range means whole local days, except for the line. Percentiles are
        read from histograms, and differ from the exact ones, which is_exact gives, by at most 1/128
        (0.8 %). Days whose detail the archive has forgotten (`tapewise forget`) are covered, except for
        the line, for one client of an archive that counts no single clients (mart.archives) or exact
        percentiles, and except days that were forgotten before the warehouse had mart.size_cells.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            is_exact: exact percentiles, from the transfers themselves, which takes longer

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            size_from_bytes: lower edge of the bin, inclusive (0, 1, 2, 5, 10, ...)
            size_to_bytes: upper edge of the bin, exclusive
            transfer_count: transfers in the bin
            mean_size_bytes: mean of their sizes
            min_duration_s: duration of the shortest transfer in seconds
            p10_duration_s: seconds below which a tenth of them lie
            p50_duration_s: median of their durations in seconds
            p90_duration_s: seconds below which nine tenths of them lie
            envelope_s: seconds that a file of mean_size_bytes takes according to the line of
                mart.lower_envelopes for the same arguments; null where there is no line
            first_on: local date of the first day, within the range, with such transfers of any size
            last_on: local date of the last such day

        In SQL:

            SELECT direction, size_from_bytes, size_to_bytes, transfer_count, p50_duration_s, envelope_s
            FROM mart.size_times(
                archive => 'llnl',
                since => '1998-04-02 America/Los_Angeles',
                until => '1998-04-10 America/Los_Angeles'
            )
            ORDER BY direction, size_from_bytes
        """

    def small_file_tax(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
        native_rate_bytes_per_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive, type of cartridge, task and bin of sizes (decades); mounts without files
        have a row without task and size.

        What small files cost in seconds of drives. A mount occupies its drive longer than its bytes
        take at the native rate of the drive; the difference is the tax (robot, loading, positioning,
        stopping, lazy wait, dismount). A file is charged with the seconds during which it was read or
        written. The seconds of the mount in which no file was are shared evenly by its files. So the
        rows add up to the seconds of all mounts that began in the range. A mount is counted whole.
        Without dismounts in the logs the seconds of a mount are unknown, and there are no rows.

        Args:
            archive: only this archive (null = all)
            since: only mounts that began in local days that end after this time (null = from the first)
            until: only mounts that began in local days that begin before this time (null = to the last)
            interface: only mounts by this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)
            native_rate_bytes_per_s: the rate of the drive while it streams, from its data sheet or the
                machine file (null = not known, and so is the tax); give it for one type of cartridge at
                a time

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            tape_type: type of the cartridges, null if the log does not say
            task: stage (from tape to disk) or migration (from disk to tape); null for mounts without
                files
            size_from_bytes: smallest size in the bin, 0 or a power of ten; null where the log has no
                size
            size_to_bytes: size at which the next bin begins; null where the log has no size
            file_count: files that the tape was positioned to, read or written during these mounts,
                failed ones included
            untimed_count: how many of the files have all their seconds in shared_s, because the log
                does not say when the tape was positioned or when they ended
            size_bytes: bytes of the files that did not fail; null where there are none
            occupied_s: seconds of drives that the files took (transferring_s + shared_s)
            transferring_s: seconds of these during which a file was read or written
            shared_s: the files' shares of the seconds in which no file of their mounts was read or
                written
            native_s: size_bytes over native_rate_bytes_per_s, null without a rate above 0
            tax_s: occupied_s - native_s, null without a rate above 0; below 0 means that the given rate
                is lower than that of the drive
            tax_ratio: tax_s over occupied_s; null without a rate above 0, or where no time is known

        In SQL:

            SELECT size_from_bytes, file_count, occupied_s / file_count AS seconds_per_file, tax_s / 3600 AS tax_h, tax_ratio
            FROM mart.small_file_tax(archive => 'dkrz', tape_type => '9840', native_rate_bytes_per_s => 10e6)
            WHERE task = 'stage'
            ORDER BY size_from_bytes
        """

    def snapshots(
        self,
        *,
        snapshot_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        interface: Values = None,
        item_kind: Values = None,
        state: Values = None,
        task: Values = None,
        vsn: Values = None,
        tape_type: Values = None,
        drive: Values = None,
        location: Values = None,
        class_of_service: Values = None,
        user_id: Values = None,
        file_key: Values = None,
        is_full: Values = None,
        is_up: Values = None,
        file_count: Values = None,
        size_bytes: Values = None,
        capacity_bytes: Values = None,
        is_time_ambiguous: Values = None,
        since_at: Values = None,
        listed_at: Values = None,
    ) -> pl.DataFrame:
        """One row per item of a listing.

        What listings of a catalogue report: which cartridges, drives, queues, files and accounts there
        were at a time, and how full or busy they were. No log of transactions contains this. The
        listings come from counted sources. Each listing is kept, so choose one by listed_at, or compare
        several. Filter on listed_at, so that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            snapshot_id: number of the row in the warehouse, for `tapewise explain row`; changes when
                the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of listings that reported it
            interface: the program whose catalogue was listed (cta, ...)
            item_kind: what the item is (volume, drive, queue, file or account)
            state: its state, as the listing names it; null if it has none
            task: what a queue waits for or a drive does (stage or migration), null if neither or not
                known
            vsn: the cartridge (its volume serial number), also the one in a drive; null if there is
                none
            tape_type: type of the cartridge, null if the listing does not say
            drive: the drive, null if there is none
            location: the library, as the listing names it; null if it does not say
            class_of_service: class of service (CTA's tape pool), null if the listing does not say
            user_id: number of the user who owns it, null if the listing does not say
            file_key: 64-bit key of the file's path in the archive, null if it is no file
            is_full: whether a cartridge takes no more files, null if the listing does not say
            is_up: whether a drive is in use or could be, null if the listing does not say
            file_count: files on the cartridge, in the queue or of the account; null if the listing does
                not say
            size_bytes: bytes of these files, or of the file; null if the listing does not say
            capacity_bytes: bytes that the cartridge can hold, null if the listing does not say
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            since_at: since when it is as listed (when a file was last used, when a drive changed its
                state, when the oldest file of a queue was queued), null if the listing does not say
            listed_at: when the listing was made

        In SQL:

            SELECT class_of_service, count(*) AS volume_count, count(*) FILTER (WHERE file_count = 0) AS blank_count,
                sum(size_bytes)::float8 / sum(capacity_bytes) AS fill
            FROM mart.snapshots
            WHERE item_kind = 'volume' AND listed_at = (SELECT max(listed_at) FROM mart.snapshots WHERE item_kind = 'volume')
            GROUP BY class_of_service
            ORDER BY class_of_service
        """

    def source_events(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        source: Values = None,
        fact_table: Values = None,
        interface: Values = None,
        direction: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        is_counted: Values = None,
        is_time_of_day_unknown: Values = None,
        event_at: Values = None,
    ) -> pl.DataFrame:
        """One row per line that was stored as a row of any fact table.

        The time of each line of each source, whatever the line reports. Uncounted sources are included,
        so one movement may have two rows. This view counts lines, whereas mart.transfers counts
        movements.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone (IANA name)
            source: the stream of logs that the line belongs to
            fact_table: the fact table in which it is stored (transfers, opens, namespace_events,
                unitree_jobs, stages, transfer_starts, tape_events, migrations, srb_sessions,
                mount_summaries, snapshots, stage_events or cache_reads)
            interface: the program that wrote it (ftp, nft, hsi, ...)
            direction: put or get, null if the line is about neither
            client: name of the client machine, null if the log does not say
            class_of_service: class of service, null if the log does not say
            is_counted: false if another source of the archive reports the same transfers and is the one
                counted
            is_time_of_day_unknown: whether the time of day is unknown, in which case event_at is noon
                by the source's clock
            event_at: when the event happened; for a transfer or job, when it ended

        In SQL:

            SELECT archive, source, fact_table, count(*) AS line_count
            FROM mart.source_events
            WHERE event_at >= '1998-04-02 America/Los_Angeles' AND event_at < '1998-04-03 America/Los_Angeles'
            GROUP BY archive, source, fact_table
            ORDER BY archive, source, fact_table
        """

    def source_hours(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        source: str | None = None,
    ) -> pl.DataFrame:
        """One row per source and hour (in the archive's local time) that has a line, and one per source
        and day that has lines whose time of day is unknown.

        The hours for which each source has lines. If an hour has no row, the warehouse has no line for
        it: the archive was idle or down, or its log is missing. Uncounted sources are included.

        Args:
            archive: only this archive (null = all)
            since: only events at or after this time (null = from the first)
            until: only events before this time (null = to the last)
            interface: only lines of this interface (null = all)
            direction: only lines of this direction, put or get (null = all lines, including those that
                have no direction)
            client: only lines of this client machine (null = all)
            class_of_service: only lines of this class of service (null = all)
            source: only this source (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: name of the source
            line_count: lines that were stored as rows
            hour_at: when the hour begins; null for lines whose time of day is unknown
            hour_local: hour_at in the archive's local time
            starts_on: local day of the lines

        In SQL:

            SELECT archive, source, hour_local, line_count
            FROM mart.source_hours(archive => 'llnl', since => now() - INTERVAL '7 days')
            ORDER BY archive, source, hour_at
        """

    def source_states(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        archive_timezone: Values = None,
        source: Values = None,
        format: Values = None,
        timezone: Values = None,
        file_count: Values = None,
        line_count: Values = None,
        loaded_count: Values = None,
        held_count: Values = None,
        ignored_count: Values = None,
        rejected_count: Values = None,
        rejected_ratio: Values = None,
        is_counted: Values = None,
        first_event_at: Values = None,
        last_event_at: Values = None,
        first_read_at: Values = None,
        last_read_at: Values = None,
    ) -> pl.DataFrame:
        """One row per source of an archive.

        How far each stream of logs was read, and what became of its lines. A line that appears in two
        files (a log and its rotated copy) is counted in both, once as loaded and once as held.
        Uncounted sources are included, and so are sources whose files could not be read yet.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            archive_timezone: the archive's time zone (IANA name)
            source: name of the source
            format: format of its logs
            timezone: zone of the times in its logs (IANA name)
            file_count: log files that were read
            line_count: lines of these files, that is, loaded_count + held_count + ignored_count +
                rejected_count
            loaded_count: lines that were stored as rows
            held_count: lines that were already in the warehouse
            ignored_count: lines skipped deliberately (mart.ignored_lines gives the reasons)
            rejected_count: lines that could not be parsed into a record (mart.rejected_reasons gives
                the reasons)
            rejected_ratio: rejected_count over line_count (0 to 1), null if no line was read
            is_counted: false if another source of the archive reports the same transfers and is the one
                counted
            first_event_at: earliest event in its files, null if there is none
            last_event_at: latest event in its files, null if there is none
            first_read_at: when the first of its files was first read
            last_read_at: when one of its files was last read, or found unchanged

        In SQL:

            SELECT archive, source, file_count, line_count, rejected_ratio, last_event_at, now() - last_event_at AS lag
            FROM mart.source_states
            WHERE kind = 'measured'
            ORDER BY last_event_at
        """

    def srb_sessions(
        self,
        *,
        srb_session_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        open_type: Values = None,
        storage_type: Values = None,
        use: Values = None,
        user_id: Values = None,
        client: Values = None,
        file_key: Values = None,
        read_count: Values = None,
        read_bytes: Values = None,
        write_count: Values = None,
        written_bytes: Values = None,
        seek_count: Values = None,
        bytes_per_read: Values = None,
        bytes_per_write: Values = None,
        open_s: Values = None,
        session_s: Values = None,
        is_failed: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        opened_at: Values = None,
        closed_at: Values = None,
    ) -> pl.DataFrame:
        """One row per session, in which a file was opened and later closed.

        Sessions in which a file was open through the Storage Resource Broker, from counted sources.
        During a session, a program reads, writes and seeks as it likes, and does other work. The length
        of a session is therefore not the time of a transfer, and bytes divided by it are not a rate.
        Sessions are not included in mart.transfers or in the archive's traffic. Filter on closed_at, so
        that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            srb_session_id: number of the row in the warehouse, for `tapewise explain row`; changes when
                the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported it
            interface: srb
            open_type: open, or create for a file that did not exist before
            storage_type: where the file is stored (HPSS, ...), null if the log does not say
            use: how the file was used, judging by its calls - reads, writes, reads and writes, or
                nothing; null if the log has no counts
            user_id: number of the user in the warehouse, null if the log does not say
            client: name of the client machine as the log gives it, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name
            read_count: number of read calls
            read_bytes: bytes read
            write_count: number of write calls
            written_bytes: bytes written
            seek_count: seeks
            bytes_per_read: read_bytes over read_count; null without reads
            bytes_per_write: written_bytes over write_count; null without writes
            open_s: seconds it took to open the file (with staging on, this includes mount, seek and
                staging), null if not logged
            session_s: seconds that the file was open, whatever happened in that time
            is_failed: whether the session failed; always null, because the log does not say
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            opened_at: when the file was opened, that is, closed_at - session_s
            closed_at: when the file was closed

        In SQL:

            SELECT archive, use, count(*) AS session_count, sum(read_bytes) AS read_bytes, sum(written_bytes) AS written_bytes,
              avg(seek_count) AS mean_seek_count, percentile_cont(0.5) WITHIN GROUP (ORDER BY open_s) AS median_open_s
            FROM mart.srb_sessions
            WHERE storage_type = 'HPSS' AND closed_at >= now() - INTERVAL '1 month'
            GROUP BY archive, use
            ORDER BY archive, use
        """

    def stage_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        class_of_service: Values = None,
        span: Values = None,
        untimed_count: Values = None,
        untimed_failed_count: Values = None,
        time_bins: Values = None,
        stage_counts: Values = None,
        failed_counts: Values = None,
        is_failure_logged: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, class of service, span and local day, month or year with
        stages.

        The rollup of stages by how long they took, which mart.stage_times reads in place of the stages:
        for each local day, month and year. Months and years are the sums of their days, so add up rows
        of one span only; mart.selected_stages chooses the fewest for a range. The stages are those of
        mart.stages. Days whose detail the archive has forgotten (`tapewise forget`) are covered, except
        those forgotten before the warehouse had this rollup.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported the stages
            interface: the program that staged the files (unitree, dcache, ...)
            class_of_service: class of service, null if the log does not say
            span: day, month or year
            untimed_count: stages that succeeded and whose duration the log does not say; they are in no
                bin
            untimed_failed_count: failed stages whose duration the log does not say; they are in no bin
            time_bins: the bins of duration with stages (mart.time_bin), ascending
            stage_counts: for each of the time_bins, how many stages succeeded
            failed_counts: for each of the time_bins, how many stages failed
            is_failure_logged: whether the log reports failed stages; if not, it is unknown how many
                failed
            starts_on: local date of the day, or of the first day of the month or year, in the archive's
                own zone

        In SQL:

            SELECT cells.starts_on, sum(bins.stage_count) AS stage_count
            FROM mart.stage_cells AS cells
            CROSS JOIN unnest(cells.time_bins, cells.stage_counts) AS bins (time_bin, stage_count)
            WHERE cells.archive = 'llnl' AND cells.span = 'day' AND mart.time_bin_edge(bins.time_bin) >= 60
            GROUP BY cells.starts_on
            ORDER BY cells.starts_on
        """

    def stage_starts(
        self,
        *,
        stage_start_id: Values = None,
        stage_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        user_id: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        vsn: Values = None,
        drive: Values = None,
        copy_number: Values = None,
        outcome: Values = None,
        size_bytes: Values = None,
        elapsed_s: Values = None,
        is_time_ambiguous: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
        last_event_at: Values = None,
    ) -> pl.DataFrame:
        """One row per stage that began.

        Stages that began, as reported by logs that have a line for the start, each with how it ended.
        The sources are those of mart.stages, which has the ends and takes their durations from here. A
        start whose end was not logged within a day, before another start of the same copy, is
        unfinished: the stage is still under way, or its line is lost. Filter on last_event_at, so that
        months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            stage_start_id: number of the event, a row of core.stage_events, for `tapewise explain row`;
                changes when the source is re-read
            stage_id: the stage with which it ended, as in mart.stages; null if it was cancelled or is
                unfinished
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported it
            interface: the program that staged the file (samqfs, ...)
            user_id: number of the user in the warehouse, null if the log does not say
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, null if the log does not say
            vsn: the cartridge from which the file is read (its volume serial number), null if the log
                does not say
            drive: the drive, null if the log does not say
            copy_number: which of the file's copies on tape it is, null if the log does not say
            outcome: staged, failed, cancelled or unfinished
            size_bytes: bytes to stage, null if the log does not say
            elapsed_s: seconds from started_at to ended_at; null while it is unfinished
            is_time_ambiguous: whether one of its events has a local time that occurs twice (or never)
                because of daylight saving
            started_at: when the stage began
            ended_at: when the stage ended or was cancelled; null while it is unfinished
            last_event_at: when its last event happened, which is its start while it is unfinished

        In SQL:

            SELECT archive, outcome, count(*) AS stage_count, percentile_cont(0.5) WITHIN GROUP (ORDER BY elapsed_s) AS median_s
            FROM mart.stage_starts
            WHERE last_event_at >= now() - INTERVAL '1 month'
            GROUP BY archive, outcome
            ORDER BY archive, outcome
        """

    def stage_time_laws(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and interface for which a law was found.

        The law of stage times that a machine file wants (two_exponentials under tapes.load), fitted to
        the stages of the range. A share of the stages is short: the shortest time and an exponential,
        which is redrawn if it reaches the break (truncated). The others take the break and another
        exponential. The break is the time of greatest likelihood among those that occurred; each part
        has a twentieth of the stages at least. The times are those of mart.stage_times, in steps of 0.5
        s (0.05 s below 10 s), so whole seconds are exact. The misfit is the greatest difference between
        the law and the data (Kolmogorov and Smirnov's distance). With fewer than some hundreds of
        stages, or a misfit of more than a few hundredths, do not trust the law. If the times of a log
        include the queue for a drive, so does the law. An archive whose stages have no two such parts
        has no row.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = get; puts have no stages)
            client: only stages of requests of this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that staged the files (unitree, ...)
            stage_count: stages that succeeded and whose duration is known
            short_count: how many of them were shorter than the break
            short_ratio: short_count over stage_count (0 to 1), as in a machine file
            short_s: the shortest time, as in a machine file
            short_mean_s: mean of the first exponential before truncation, as in a machine file; more
                than the mean of short times above the shortest
            long_s: the break, as in a machine file
            long_mean_s: mean of the second exponential, as in a machine file
            misfit_ratio: greatest difference between the shares of stages up to a time by the law and
                in the data (0 to 1)
            misfit_at_s: the time at which it is

        In SQL:

            SELECT short_ratio, short_s, short_mean_s, long_s, long_mean_s, misfit_ratio
            FROM mart.stage_time_laws(archive => 'llnl', since => now() - INTERVAL '1 year')
        """

    def stage_times(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface and bin of duration, from the first bin that has stages (failed
        ones included) to the last.

        How long it took to bring files from tape to disk (access and copying), on a logarithmic axis.
        The stages are those of mart.stages; stages without a logged duration are in no bin. All stages
        belong to gets, so direction put returns no rows. Without a client, they are counted from cells
        of days, months and years (mart.stage_cells). A log of stages does not name clients. If a client
        is given, only the stages of its requests in mart.requests count, and stages that belong to no
        request are left out. A range means whole days of the archive's own clock: all those that it
        touches.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = get; puts have no stages)
            client: only stages of requests of this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that staged the files (unitree, ...)
            stage_from_s: lower edge of the bin (inclusive) - 1, 1.5, 2, 3, 5 and 7 times each power of
                ten, from 1 s; 0 for shorter times
            stage_to_s: upper edge of the bin (exclusive); null for the last bin (from 7e8 s)
            stage_count: stages that succeeded
            failed_count: stages that failed after a time in this bin; they are not in stage_count; null
                if a log of the interface does not report failed stages
            running_ratio: stage_count of this bin and all shorter ones over the sum of all bins of the
                archive and interface (0 to 1); null where all failed

        In SQL:

            SELECT archive, interface, stage_from_s, stage_to_s, stage_count, failed_count, running_ratio
            FROM mart.stage_times(since => now() - INTERVAL '1 month')
            ORDER BY archive, interface, stage_from_s
        """

    def stages(
        self,
        *,
        stage_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        operation: Values = None,
        user_id: Values = None,
        persona: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        vsn: Values = None,
        drive: Values = None,
        copy_number: Values = None,
        status_code: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        queue_s: Values = None,
        is_failed: Values = None,
        is_failure_logged: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        is_duration_coarse: Values = None,
        is_duration_below_clock: Values = None,
        started_at: Values = None,
        staged_at: Values = None,
    ) -> pl.DataFrame:
        """One row per file brought from tape to disk.

        Files brought from tape to disk so that they could be read, as reported by logs. They come from
        counted sources, and also from an uncounted source if no counted source of the archive has the
        same format, because the counted source then reports the same transfers but not the stages.
        Filter on staged_at, so that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            stage_id: number of the row in the warehouse, for `tapewise explain row`; changes when the
                source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported it
            interface: the program that staged the file (unitree, dcache, ...)
            operation: the operation as the log names it
            user_id: number of the user in the warehouse, null if the log does not say
            persona: UniTree's number of the job for which the file was staged, null if the log has none
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, null if the log does not say
            vsn: the cartridge from which the file was read (its volume serial number), null if the log
                does not say
            drive: the drive, null if the log does not say
            copy_number: which of the file's copies on tape it is, null if the log does not say
            status_code: the log's own code for the outcome, null if it has none
            size_bytes: bytes staged, null if the log does not say
            duration_s: seconds it took to stage the file (tape access and copying to disk), null if the
                log does not say
            queue_s: seconds that the file waited in the queue beforehand, null if the log does not say
            is_failed: whether the stage failed
            is_failure_logged: whether the log reports failed stages; if not, it is unknown which of its
                stages failed
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_duration_coarse: whether the duration is in whole seconds, or 0.499 for less than one
            is_duration_below_clock: whether the duration is below the resolution of the source's clock
            started_at: when staging began, as in mart.stage_starts if the log has a line for that;
                staged_at - duration_s if it gives only the end and a duration; null otherwise
            staged_at: when the file was on disk

        In SQL:

            SELECT archive, count(*) AS stage_count, percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_s) AS median_s
            FROM mart.stages
            WHERE NOT is_failed AND staged_at >= now() - INTERVAL '1 month'
            GROUP BY archive
            ORDER BY archive
        """

    def student_t_quantile(
        self,
        *,
        probability: float,
        degrees_of_freedom: float,
    ) -> pl.DataFrame:
        """The value below which t lies with this probability (one-sided); infinite for probability 0 or 1.

        The number of standard errors to either side in a confidence interval: a 95 % interval is the
        estimate plus or minus student_t_quantile(0.975, ...) standard errors. The relative error is at
        most 1e-10.

        Args:
            probability: probability of a smaller t (0 to 1, else null)
            degrees_of_freedom: points minus fitted coefficients, 0.1 to 1e10, not necessarily an
                integer (else null)

        In SQL:

            SELECT mart.student_t_quantile(0.975, 164) AS t
        """

    def student_t_tail(
        self,
        *,
        t: float,
        degrees_of_freedom: float,
    ) -> pl.DataFrame:
        """The probability that t is further from zero, on both sides together (0 to 1).

        The two-sided p-value that a regression table prints: the probability that chance alone gives a
        t this far from zero, on either side. The one-sided p-value is half of it. The relative error is
        at most 1e-10. A result below the smallest representable number is 0.

        Args:
            t: an estimate over its standard error; the sign does not matter
            degrees_of_freedom: points minus fitted coefficients, 0.1 to 1e10, not necessarily an
                integer (else null)

        In SQL:

            SELECT mart.student_t_tail(12.83727, 164) AS p
        """

    def study_fields(
        self,
        *,
        study: Values = None,
        option: Values = None,
        field: Values = None,
        value: Values = None,
        value_number: Values = None,
        is_changed: Values = None,
    ) -> pl.DataFrame:
        """One row per study, option and field that any option of the study changes.

        The fields that a study varies, for each of its options, including the machine as in the file.
        Join it with `mart.study_results` to show results by a field.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            study: name of the study
            option: as in `mart.study_results`
            field: path of the field in the machine file
            value: its value on this option's machine, as text; null if the machine file does not set it
            value_number: the same as a number, in the unit of the field's name; null for text
            is_changed: whether this option names the field; otherwise the value is that of the file

        In SQL:

            SELECT fields.value_number AS drives, results.seed, results.lost_hours
            FROM mart.study_results AS results
            INNER JOIN mart.study_fields AS fields USING (study, option)
            WHERE fields.field = 'tapes.drives.0.count'
            ORDER BY drives, results.seed
        """

    def study_pools(
        self,
        *,
        study: Values = None,
        option: Values = None,
        seed: Values = None,
        pool: Values = None,
        capacity_bytes: Values = None,
        get_count: Values = None,
        miss_count: Values = None,
        hit_ratio: Values = None,
        purged_bytes: Values = None,
    ) -> pl.DataFrame:
        """One row per study, option, seed and pool of the disk.

        What happened in each pool of the disk in the runs of a study whose machine has `[disk.pools]`.
        Join it with `mart.study_fields` to show it by the size of a pool, or with `mart.study_results`
        for what is not by pool.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            study: name of the study
            option: as in `mart.study_results`
            seed: as in `mart.study_results`
            pool: name of the pool
            capacity_bytes: size of the pool on this option's machine
            get_count: gets of files of the pool
            miss_count: of these, gets that started a stage
            hit_ratio: gets that neither started nor joined a stage, as a share of get_count; null
                without gets
            purged_bytes: bytes of the files that purges removed from the pool

        In SQL:

            SELECT pools.pool, fields.value_number AS small_bytes, avg(pools.hit_ratio) AS hit_ratio
            FROM mart.study_pools AS pools
            INNER JOIN mart.study_fields AS fields USING (study, option)
            WHERE fields.field = 'disk.pools.small.capacity_bytes'
            GROUP BY pools.pool, small_bytes
            ORDER BY pools.pool, small_bytes
        """

    def study_results(
        self,
        *,
        study: Values = None,
        option: Values = None,
        is_as_in_file: Values = None,
        changed: Values = None,
        seed: Values = None,
        demand: Values = None,
        demand_name: Values = None,
        archive: Values = None,
        kind: Values = None,
        is_made_up: Values = None,
        options: Values = None,
        machine_title: Values = None,
        machine: Values = None,
        program_version: Values = None,
        lost_hours: Values = None,
        lost_user_hours: Values = None,
        lost_limit_hours: Values = None,
        lost_failed_hours: Values = None,
        lost_port_hours: Values = None,
        lost_file_hours: Values = None,
        lost_drive_hours: Values = None,
        lost_space_hours: Values = None,
        lost_contention_hours: Values = None,
        put_wait_p50_s: Values = None,
        put_wait_p95_s: Values = None,
        put_wait_p99_s: Values = None,
        get_wait_p50_s: Values = None,
        get_wait_p95_s: Values = None,
        get_wait_p99_s: Values = None,
        hit_ratio: Values = None,
        miss_count: Values = None,
        mount_count: Values = None,
        drive_hours: Values = None,
        drive_utilisation_ratio: Values = None,
        robot_utilisation_ratio: Values = None,
        port_utilisation_ratio: Values = None,
        disk_utilisation_ratio: Values = None,
        disk_peak_bytes: Values = None,
        drive_queue_peak_count: Values = None,
        filling_miss_count: Values = None,
        filling_s: Values = None,
        cost_per_year: Values = None,
        currency: Values = None,
        is_warm: Values = None,
        created_at: Values = None,
        ran_at: Values = None,
    ) -> pl.DataFrame:
        """One row per study, option and seed.

        The runs of `tapewise simulate study`, which tries options of a machine with several seeds. With
        one seed, all options of a study served the same requests with the same random draws, so compare
        them seed by seed. With 20 seeds, the 6th smallest and the 6th greatest difference enclose the
        median difference in at least 95.8 % of studies, whatever its law; with 6 seeds, the smallest
        and the greatest do in 96.8 %; with fewer, no two do in 95 %.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            study: name of the study
            option: what was changed in the machine file, as typed; `as in the file` if nothing was
            is_as_in_file: whether nothing was changed
            changed: the changed fields with the machine's values, as JSON; `mart.study_fields` has a
                row for each
            seed: seed of the random numbers, and of the requests if they come from a workload model
            demand: where the requests came from - archive (an archive's requests), model (a workload
                model) or file (a trace)
            demand_name: name of that archive, workload model or file
            archive: the archive that the requests, or the model of them, come from; null if not known
            kind: kind of that archive (measured, synthetic, simulated); null if not known
            is_made_up: whether the requests are made up, so that the results say nothing about a real
                archive; null if not known
            options: the command's other options
            machine_title: title of the machine as in the file
            machine: the machine as in the file, as JSON
            program_version: version of Tapewise that ran it
            lost_hours: hours that all requests together lost to waits and contention
            lost_user_hours: of these, waits for the user's limit
            lost_limit_hours: of these, waits for the limit of an account, a client or a class of
                service; null in runs before there were such limits
            lost_failed_hours: of these, tries of transfers that failed, and the time until they were
                repeated; null in runs before these were simulated
            lost_port_hours: of these, waits for a port
            lost_file_hours: of these, waits for another request that writes or stages the file
            lost_drive_hours: of these, waits for a drive
            lost_space_hours: of these, waits for room on disk
            lost_contention_hours: of these, because requests shared network and chains
            put_wait_p50_s: median wait of a put, by all causes, with loading
            put_wait_p95_s: 95th percentile of these
            put_wait_p99_s: 99th percentile of these
            get_wait_p50_s: median wait of a get, by all causes, with loading
            get_wait_p95_s: 95th percentile of these
            get_wait_p99_s: 99th percentile of these
            hit_ratio: gets that found their file on disk, as a share of all gets; a get that joined a
                stage is no hit
            miss_count: gets that started a stage
            mount_count: mounts of cartridges; null where cartridges have no identity
            drive_hours: hours in which drives held a cartridge or fetched one; null where cartridges
                have no identity
            drive_utilisation_ratio: share of the drives that was busy, on average over the time in
                which requests came
            robot_utilisation_ratio: the same of robots
            port_utilisation_ratio: the same of ports
            disk_utilisation_ratio: how full the disk was, on average over that time
            disk_peak_bytes: most bytes on disk at a time
            drive_queue_peak_count: most requests that waited for a drive at a time
            filling_miss_count: how many more gets would have missed if this disk had replaced a smaller
                measured one when the log began; null for other disks and all seeds but the first
            filling_s: seconds from the first request until nine tenths of these had come; null where
                these are
            cost_per_year: what the machine costs in a year, by the prices of its file, in `currency`;
                null without prices
            currency: the currency of the machine file's prices
            is_warm: whether the disk was in normal use from the beginning; otherwise the figures
                include the time before
            created_at: when the study was first started
            ran_at: when the run ended

        In SQL:

            SELECT option, count(*) AS seeds,
                percentile_cont(0.5) WITHIN GROUP (ORDER BY lost_hours) AS lost_hours
            FROM mart.study_results
            WHERE study = 'hpss on LLNL UniTree 1998'
            GROUP BY option ORDER BY lost_hours
        """

    def successor_figures(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        together_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive with gets of known users and files.

        How often the file that a user gets next could be predicted from pairs of files
        (mart.get_successions), learnt from all users. Prefetching by pairs can win no more than
        known_ratio, and less where the file is on disk anyway (mart.cache_hits).

        Args:
            archive: only this archive (null = all)
            since: only gets that ended at or after this time (null = from the first)
            until: only gets that ended before this time (null = to the last)
            interface: only gets by this interface (null = all); other gets are not seen, so they are
                not between two of these
            direction: get (null = get); put returns no rows
            client: only gets by this client machine (null = all); others are not seen
            class_of_service: only gets of this class of service (null = all); others are not seen
            together_s: seconds from the end of a get to the beginning of the user's next one, up to
                which the next one follows it (null = 60, the pause that ends a burst in
                mart.burst_requests)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            get_count: gets of a known user and file that did not fail, in the range; all ratios are
                shares of these
            file_count: files that they read
            repeat_count: gets that the same user's next get repeats, of the same file within together_s
            followed_count: gets that another file's get by the same user followed
            pair_count: different pairs of a file and one that followed it
            known_count: how often a file followed that had followed the same file before: what
                prefetching all that ever followed would foresee, the most that can be learnt from
                earlier gets
            last_successor_count: how often the file followed that had followed the same file the last
                time: what prefetching one file a get would foresee (the last-successor model)
            most_frequent_count: how often the file followed that followed the same file most often in
                the whole range: one file a get, with knowledge of the whole range, in which a pair that
                occurred only once counts, too
            followed_ratio: share of the gets that another file's get followed
            known_ratio: share of the gets whose successor had followed the same file before
            last_successor_ratio: share of the gets whose successor the last-successor model foresees
            most_frequent_ratio: share of the gets whose successor is the most frequent one of the whole
                range

        In SQL:

            SELECT archive, get_count, followed_ratio, known_ratio, last_successor_ratio
            FROM mart.successor_figures(since => now() - INTERVAL '1 month')
            ORDER BY archive
        """

    def tape_attempts(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        retry_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per tape operation.

        The rows of mart.tape_operations that the arguments select, with the retries of those that
        failed. Tape servers name no user, so a retry is the next operation of the same task on the same
        file (capability, copy and fragment) for the same requester. Unlike in mart.retries, a retry
        counts whatever its interface or class of service.

        Args:
            archive: only this archive (null = all)
            since: only operations whose last event is from this time or later (null = from the first)
            until: only operations whose last event is from before this time; retries may be later (null
                = to the last)
            interface: only this interface (null = all)
            direction: get: only stages; put: only migrations (null = both)
            client: accepted for uniformity; tape servers do not name the client machine, so there are
                no rows with one
            class_of_service: only this class of service (null = all)
            retry_s: a retry must end within this many seconds of the end of the failed operation (null
                = 86400; infinity or NaN = no limit)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            operation_id: the operation, as in mart.tape_operations
            interface: the program that served the tapes (unitree, cta, ...)
            direction: get for a stage, put for a migration
            requester: client, or the repacker
            class_of_service: class of service, null if the logs do not say
            vsn: the cartridge (its volume serial number), null where it is not known
            drive: the drive, null where it is not known
            size_bytes: bytes of the file or fragment, null if the logs do not say
            is_failed: whether the operation failed; null while it is unfinished, and if the logs do not
                say
            is_retried: whether a failed operation had a retry; null for others, and if no retry was
                seen but the logs end sooner than retry_s after it
            is_made_good: whether a retry succeeded; null like is_retried
            retried_at: when the last event of the first retry happened; null if no retry is known
            made_good_at: when the last event of the first retry that succeeded happened; null if none
                is known
            ended_at: when the last event of the operation happened

        In SQL:

            SELECT vsn, count(*) AS failed_count, count(*) FILTER (WHERE is_made_good) AS made_good_count
            FROM mart.tape_attempts(since => now() - INTERVAL '1 month')
            WHERE is_failed
            GROUP BY vsn
            ORDER BY failed_count DESC, vsn
        """

    def tape_coverage(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        has_dismounts: Values = None,
        has_files: Values = None,
        has_mount_times: Values = None,
        has_transfer_times: Values = None,
        has_lazy_waits: Values = None,
        has_dismount_times: Values = None,
        has_requests: Values = None,
        has_failures: Values = None,
        first_event_at: Values = None,
        last_event_at: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, also without any tape events.

        What the logs of tapes report in each archive, and from when to when. It shows whether a figure
        of tapes is 0 or unknown. Only counted sources are considered, and only detail that the archive
        has not forgotten.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            has_dismounts: whether a dismount is known
            has_files: whether an event of a file (positioned or transferred) is known; a library's log
                has none
            has_mount_times: whether it is known when a tape was positioned to the first file of a mount
            has_transfer_times: whether it is known of a file when the tape was positioned and when it
                was read or written
            has_lazy_waits: whether it is known of a mount when its last file ended and when its
                dismount was requested
            has_dismount_times: whether it is known of a mount when its dismount was requested and when
                it ended
            has_requests: whether it is known when a file was requested
            has_failures: whether a log says if files failed; a log that names successes only counts if
                it marks them as such
            first_event_at: when the first mount or tape operation began, null if there is none
            last_event_at: when the last event of a mount or tape operation happened, null if there is
                none

        In SQL:

            SELECT archive, first_event_at, last_event_at, has_dismounts, has_transfer_times
            FROM mart.tape_coverage
            WHERE last_event_at IS NOT NULL
            ORDER BY archive
        """

    def tape_operations(
        self,
        *,
        operation_id: Values = None,
        mount_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        timezone: Values = None,
        interface: Values = None,
        task: Values = None,
        requester: Values = None,
        capability_key: Values = None,
        class_of_service: Values = None,
        location: Values = None,
        copy_number: Values = None,
        fragment_number: Values = None,
        vsn: Values = None,
        tape_type: Values = None,
        drive: Values = None,
        block_offset: Values = None,
        is_unfinished: Values = None,
        missing: Values = None,
        size_bytes: Values = None,
        queue_s: Values = None,
        mount_s: Values = None,
        waited_s: Values = None,
        transfer_s: Values = None,
        is_failed: Values = None,
        is_time_ambiguous: Values = None,
        received_at: Values = None,
        mount_requested_at: Values = None,
        positioned_at: Values = None,
        transferred_at: Values = None,
        first_event_at: Values = None,
        last_event_at: Values = None,
    ) -> pl.DataFrame:
        """One row per file (capability, copy, fragment) staged from a cartridge or migrated to one, or
        requested to be.

        Files read from cartridges and written to them, derived from the tape events of counted sources.
        If the cartridge was in a drive already, an operation has no request to mount. Unfinished
        operations are included, with the steps that are known. Filter on last_event_at, so that months
        outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            operation_id: number of its first event, a row of core.tape_events, for `tapewise explain
                row`; changes when the source is re-read
            mount_id: the mount that the operation belongs to, as in mart.mounts; null where none is
                known
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            interface: the program that served the tapes (unitree, ...)
            task: stage (from tape to disk) or migration (from disk to tape)
            requester: client, or the repacker, which moves the remaining files off old cartridges
            capability_key: 64-bit key of UniTree's name of the file, as in mart.requests
            class_of_service: class of service (UniTree's family), null if the log does not say
            location: where the cartridge is kept, as the log names it
            copy_number: which copy of the file; null if the log does not say
            fragment_number: which fragment of the file, null if it is whole
            vsn: the cartridge (its volume serial number), null where it is not known yet
            tape_type: type of the cartridge, null if the log does not say
            drive: the physical unit, null where it never reached one
            block_offset: block of the tape at which the file begins, null if the log does not say
            is_unfinished: whether the log has no event for the end of the operation (yet)
            missing: the steps for which the logs have no event (received, positioned, transferred),
                null where none is missing; a mount is requested only if the cartridge is in no drive
            size_bytes: bytes of the file or fragment, null if the log does not say
            queue_s: seconds from received to the request to mount; null if there was no such request,
                or if either time is not known
            mount_s: seconds from the request to mount until the tape was positioned; null under the
                same conditions as queue_s
            waited_s: seconds from received until the tape was positioned - queue, mount and position;
                null if either time is not known
            transfer_s: seconds from positioned to transferred, null if either time is not known
            is_failed: whether the operation failed; null while it is unfinished, and if the log does
                not say
            is_time_ambiguous: whether one of its events has a local time that occurs twice (or never)
                because of daylight saving
            received_at: when the operation was requested
            mount_requested_at: when the mount was requested, null where the cartridge was in a drive
                already
            positioned_at: when the tape was positioned to the block of the file
            transferred_at: when the file was read or written
            first_event_at: when its first event happened
            last_event_at: when its last event happened

        In SQL:

            SELECT requester, task, tape_type, count(*) AS operation_count, sum(size_bytes) / sum(transfer_s) AS bytes_per_s
            FROM mart.tape_operations
            WHERE NOT is_unfinished AND last_event_at >= now() - INTERVAL '1 month'
            GROUP BY requester, task, tape_type
            ORDER BY requester, task, tape_type
        """

    def tape_puts(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        required_copy_count: int | None = None,
    ) -> pl.DataFrame:
        """One row per put that did not fail.

        Files that were put, and when they were on tape. It has the puts of archives whose logs report
        writing to tape. A file is found on tape by its capability or, without one, by its path; if a
        source names none of its files as the logs of tape do, all its puts are unknown. A put is on
        tape when its last required copy is. All puts of the archive are read, whatever the range.

        Args:
            archive: only this archive (null = all)
            since: only files put at or after this time (null = from the first)
            until: only files put before this time (null = to the last); what happened to them later is
                known
            interface: only this interface (null = all)
            direction: accepted for uniformity; null and put are equivalent, and get returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            required_copy_count: how many copies on tape a file needs, where no log says so

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            source: the stream of logs that reported the put
            transfer_id: the put, as in mart.requests
            interface: the program that moved the file
            user_id: number of the user, null if the log does not say
            client: name of the client machine, null if the log does not say
            class_of_service: class of service, null if the log does not say
            state: on tape; waiting (not on tape when the logs of tape end); deleted or overwritten, if
                this happened before it was on tape; or unknown, if it was put before the logs of tape
                begin, if the put does not name its file, or if no file of its source is found on tape
            size_bytes: bytes put, null if the log does not say, or if the size is saturated
            required_count: how many copies on tape the file needs
            to_tape_s: seconds from the end of the put until the last required copy was on tape; null
                unless it is
            watched_s: seconds from the end of the put until the file was on tape or had ended, or until
                the logs of tape end; null if the state is unknown
            put_at: when the put ended
            copies_at: when each copy was on tape, ascending; empty if none is
            on_tape_at: when the last required copy was on tape, null if it is not
            ended_at: when the file was deleted or overwritten, null if it was not or if the logs do not
                say
            tape_log_begins_at: when the first write to tape of the archive ended
            tape_log_ends_at: when the last one ended

        In SQL:

            SELECT archive, state, count(*) AS put_count, sum(size_bytes) AS size_bytes
            FROM mart.tape_puts(since => now() - INTERVAL '1 month')
            GROUP BY archive, state
            ORDER BY archive, state
        """

    def tape_rates(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        location: str | None = None,
        tape_type: str | None = None,
        drive: str | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per archive and group in which files were read or written; the groups are those asked
        for.

        How fast single files were read from tape or written to it: quantiles and mean of their rates,
        and bytes over seconds. The seconds of a file are those from positioned to transferred, without
        the mount and the positioning (mart.drive_usage has the whole time of drives). Two files of a
        mount whose times overlap both count in full. The mean is that of the rates, so that each file
        has the same weight. Failed operations and empty files are left out. Each answer is computed
        from the operations of the range.

        Args:
            archive: only this archive (null = all)
            since: only files that were read or written at or after this time (null = from the first)
            until: only files that were read or written before this time (null = to the last)
            interface: only operations of this program (null = all)
            location: only cartridges that are kept here (null = everywhere)
            tape_type: only cartridges of this type (null = all)
            drive: only this drive (null = all)
            grouped_by: any of tape_type, task, drive, requester, class_of_service, size (decades) and
                month or day (if both are given, day); default tape_type and task, because each
                technology has its own rate. With anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            tape_type: type of the cartridges; null if the log does not say, and unless grouped by it
            task: stage (from tape to disk) or migration (from disk to tape); null unless grouped by it
            drive: the physical drive; null if the log does not say, and unless grouped by it
            requester: for whom the file was read or written (client or repacker); null if the log does
                not say, and unless grouped by it
            class_of_service: class of service; null if the log does not say, and unless grouped by it
            size_from_bytes: smallest size in the bin, a power of ten; null unless grouped by size
            size_to_bytes: size at which the next bin begins; null unless grouped by size
            file_count: files whose rate is known; all other figures are theirs
            unrated_count: files whose rate is not known - without a time when the tape was positioned,
                with no time between the two, or with less than 10 s between two stamps of whole seconds
            size_bytes: bytes of the files; null if no rate is known
            transfer_s: seconds of the files, from positioned to transferred, added up; null if no rate
                is known
            rate_bytes_per_s: size_bytes over transfer_s, so that large files weigh more; null if no
                rate is known
            min_rate_bytes_per_s: smallest rate; null if no rate is known
            p10_rate_bytes_per_s: rate that 10 % of the files do not exceed; null if no rate is known
            p50_rate_bytes_per_s: rate that 50 % of the files do not exceed; null if no rate is known
            p90_rate_bytes_per_s: rate that 90 % of the files do not exceed; null if no rate is known
            max_rate_bytes_per_s: greatest rate; null if no rate is known
            mean_rate_bytes_per_s: mean of the rates; null if no rate is known
            starts_on: local date of the day, or of the first day of the month; null unless grouped by
                one of them

        In SQL:

            SELECT tape_type, task, size_from_bytes, file_count, rate_bytes_per_s / 1e6 AS mb_per_s
            FROM mart.tape_rates(since => now() - INTERVAL '1 year', grouped_by => '{tape_type,task,size}')
            ORDER BY tape_type, task, size_from_bytes
        """

    def tape_recalls(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per request for a file on tape, or further attempt to read it, that a tape server
        reports.

        Files that clients read from tape, as tape servers report it. They come from
        mart.tape_operations. If a file was asked for again before it was read, each request is a row,
        and all of them have the same recall. If reading failed or was broken off and the tape server
        tried again without another request, this is the same recall, too, and each attempt is a row.
        Reads for the repacker are no recalls, and reads that only verify a file are ignored when their
        log is loaded. Requests and attempts more than a day apart are not combined.

        Args:
            archive: only this archive (null = all)
            since: only recalls whose last line is from this time or later (null = from the first)
            until: only recalls whose last line is from before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; only gets are recalls, so null and get are equivalent,
                and put returns no rows
            client: tape servers do not know the client, so there are no rows if one is given
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which its days are counted
            operation_id: the operation, as in mart.tape_operations
            mount_id: the operation's mount, as in mart.mounts; null where none is known
            interface: the program that served the tapes (unitree, cta, ...)
            class_of_service: class of service, null if the log does not say
            vsn: the cartridge (its volume serial number), null where it is not known
            tape_type: type of the cartridge, null if the log does not say
            size_bytes: bytes of the file or fragment, null if the log does not say
            queue_s: seconds from the recall's first request until a mount was requested, for the recall
                itself or, after that request, for its cartridge; null if either time is not known, and
                if the cartridge was mounted already
            mount_s: seconds from the request to mount until the tape was positioned to the file
                (mount_s of mart.mounts); null for all files of a mount but the first, and if either
                time is not known
            position_s: seconds of these from when the cartridge was in the drive; null under the same
                conditions
            transfer_s: seconds from positioned to transferred, null if either time is not known
            is_last: whether it is the last operation of its recall, which read the file if any did.
                Filter on it to count each recall once
            is_failed: whether the recall failed, which is whether its last attempt did; null while it
                is unfinished, and if the log does not say
            asked_at: when the first request of the recall was received; null if not known
            received_at: when this request was received; null if not known
            readable_at: when the file had been read from tape; null if the recall failed or is
                unfinished. (CTA reports it when the file is in the server's memory, a moment before it
                is on disk)
            ended_at: when the last event of the recall happened

        In SQL:

            SELECT archive, tape_type, count(*) AS recall_count, avg(queue_s) AS mean_queue_s, avg(mount_s) AS mean_mount_s
            FROM mart.tape_recalls(since => now() - INTERVAL '1 month')
            WHERE is_last AND NOT is_failed
            GROUP BY archive, tape_type
            ORDER BY archive, tape_type
        """

    def tape_writes(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per file or fragment and attempt to write one of its copies to tape.

        Writing of files to tape for clients, from mart.tape_operations and mart.migrations. A line that
        is in both (CTA's) is one write. What the repacker writes is left out. Attempts that failed and
        writes that are unfinished are included, without on_tape_at.

        Args:
            archive: only this archive (null = all)
            since: only writes that ended at or after this time (null = from the first)
            until: only writes that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: accepted for uniformity; files that are put get written to tape, so null and put
                are equivalent, and get returns no rows
            client: logs of writing to tape do not know the client, so there are no rows if one is given
            class_of_service: only this class of service (null = all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that wrote the file (cta, dcache, unitree, ...)
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the name by which this log knows the file - its path, or its number
                or capability (capability_key of mart.requests); null if the log does not say
            copy_number: which copy of the file, null if the log does not say
            fragment_number: which fragment of the file, null if it is whole
            vsn: the cartridge (its volume serial number), null if the log does not say
            size_bytes: bytes of the file or fragment, null if the log does not say
            written_at: when the write ended; for an unfinished one, when its last event happened
            on_tape_at: when the file was on tape; null if the write failed or is unfinished. CTA's log
                says only when a file was in the drive's buffer, so this is when its cartridge was to be
                unloaded, by which time the buffer is flushed; null if the log does not say when that
                was

        In SQL:

            SELECT archive, copy_number, count(*) AS write_count, sum(size_bytes) AS size_bytes
            FROM mart.tape_writes(since => now() - INTERVAL '1 month')
            WHERE on_tape_at IS NOT NULL
            GROUP BY archive, copy_number
            ORDER BY archive, copy_number
        """

    def time_bin(
        self,
        *,
        time_s: float,
    ) -> pl.DataFrame:
        """The number of the bin (0 to 2,000,000,180); null for null.

        The bin of a time in the rollups of times. Bins are 50 ms wide below 10 s, and 0.5 s from there
        on, so 1, 1.5, 2, 3, 5 and 7 times each power of ten from 1 s begin a bin. Negative times are in
        the first bin, and all from 10^9 s on in the last. Loads compute the same for mart.stage_cells.

        Args:
            time_s: the time, in seconds

        In SQL:

            SELECT mart.time_bin(duration_s) AS time_bin, count(*) AS stage_count
            FROM mart.stages
            WHERE staged_at >= now() - INTERVAL '1 day'
            GROUP BY time_bin
            ORDER BY time_bin
        """

    def time_bin_edge(
        self,
        *,
        bin: int,
    ) -> pl.DataFrame:
        """The shortest time in the bin, in seconds; null for null.

        The lower edge of a bin of mart.time_bin. It is the upper edge of the bin before.

        Args:
            bin: the number of the bin

        In SQL:

            SELECT mart.time_bin_edge(mart.time_bin(12.34)) AS at_least_s
        """

    def time_to_tape(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        required_copy_count: int | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per archive and group in which there were puts; the groups are those asked for.

        How long it takes until files that were put are on tape: quantiles, with their intervals and
        with those that still wait. The puts are those of mart.tape_puts. Each is in exactly one of
        on_tape_count, waiting_count, ended_count and unknown_count. The quantiles are those of puts
        that are on tape or waiting, where one that waits counts as longer than all others. The
        estimated quantiles also use how long each of them has waited so far, and count files that were
        deleted before they were on tape.

        Args:
            archive: only this archive (null = all)
            since: only files put at or after this time (null = from the first)
            until: only files put before this time (null = to the last); what happened to them later is
                known
            interface: only this interface (null = all)
            direction: accepted for uniformity; null and put are equivalent, and get returns no rows
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            required_copy_count: how many copies on tape a file needs, where no log says so
            grouped_by: any of class_of_service, interface, and month or day (if both are given, day);
                default none, which is one row per archive. With anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the file; null unless grouped by it
            class_of_service: class of service; null if the logs do not say, and unless grouped by it
            put_count: all puts
            on_tape_count: puts whose last required copy is on tape
            waiting_count: puts that are not on tape when the logs of tape end
            ended_count: puts that were deleted or overwritten before they were on tape
            unknown_count: puts before the logs of tape begin, and those whose files cannot be found on
                tape
            p50_s: seconds within which 50 % of the puts that are on tape or waiting were on tape; null
                if the quantile is among those that wait
            p50_low_s: lower end of its 95 % interval by the exact order-statistic (binomial) method,
                which treats puts as independent; null if there are too few puts
            p50_high_s: upper end of this interval; null if there are too few puts, or if it is among
                those that wait
            p95_s: as p50_s, of 95 %
            p95_low_s: as p50_low_s, for p95_s
            p95_high_s: as p50_high_s, for p95_s
            p99_s: as p50_s, of 99 %
            p99_low_s: as p50_low_s, for p99_s
            p99_high_s: as p50_high_s, for p99_s
            estimated_p50_s: estimated seconds within which 50 % of the puts whose state is known are on
                tape (mart.incidences); null if more than half are never on tape, because they are
                deleted before, or if the logs are too short to say
            estimated_p95_s: as estimated_p50_s, of 95 %
            estimated_p99_s: as estimated_p50_s, of 99 %
            starts_on: local date on which the month or day of the puts begins, in the archive's time
                zone; null unless grouped by one of them

        In SQL:

            SELECT archive, class_of_service, put_count, waiting_count, p50_s, p95_s, p95_low_s, p95_high_s, estimated_p95_s
            FROM mart.time_to_tape(since => now() - INTERVAL '1 month', grouped_by => '{class_of_service}')
            ORDER BY archive, class_of_service
        """

    def trace_requests(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        failed: str | None = None,
        retry_s: float | None = None,
        files: str | None = None,
        zero_sizes: str | None = None,
        largest_bytes: int | None = None,
        unknown_origins: str | None = None,
    ) -> pl.DataFrame:
        """One row per request, in the trace or left out.

        An archive's requests as a trace for the simulator, following the scenario rules of LLNL's
        model. Requests that are left out of the trace are included here, with the reason. Files are
        identified by numbers. Which requests are for the same file is inferred from sizes (or keys),
        and is no more certain than the logs allow.

        Args:
            archive: only this archive (null = all, each with a trace of its own)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both); without puts, every file that is not from tape is on
                disk at the start
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            failed: which failed transfers are in the trace - retried (those that a later transfer made
                good), all, none; null = retried
            retry_s: a retry must end within this many seconds of the end of the failed transfer; null =
                86400. A retry is the next successful transfer of the same job, or the next one in the
                same direction by the same user (by the same persona, if the user is not known) with the
                same file_key or, if the failed one has none, with the same size
            files: what identifies two requests as being for the same file - size, or key (file_key and
                size; size alone for requests without a key). By key, only a file's first request
                determines where it was before the trace; what its later gets find follows from the
                requests before them, and from the simulated machine. null = size
            zero_sizes: requests of 0 bytes are changed to 1 byte (one), stay (keep) or are left out
                (drop); null = one
            largest_bytes: requests of more bytes than this, which the machine cannot handle, are left
                out (null = none)
            unknown_origins: where the file of a get is assumed to be, if neither its logs nor (with
                files => 'key') an earlier request for the same file says - disk, tape, or the get is
                left out (drop); null = disk

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            place: number of the request in the archive's trace, from 1, in the order of submission;
                null if left out
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get; null for an open without a transfer, if its log does not say
            user_id: number of the user in the warehouse, null if the logs do not say
            user_number: user_id or, where it is not known, a negative number unique to the request;
                null if the request is left out
            file_number: the place of the first request of the file in the trace; null if left out
            origin: where the file comes from - put (by this request), tape, disk (it was there when the
                trace began), trace (an earlier request of the trace put it or, with files => 'key', got
                it); null if left out
            size_bytes: bytes moved; 1 where 0 was changed to 1
            transfer_id: the transfer, as in mart.transfers; null where none is known
            duration_s: seconds the transfer took, as logged
            is_failed: whether the transfer failed; null where the logs do not say
            is_cached: whether a get found its file on disk, as in mart.requests; null for puts, and
                where this is unknown
            is_origin_assumed: whether neither the logs of a get nor (with files => 'key') an earlier
                request for the same file says where the file was, so that unknown_origins or a size
                decided; null if left out
            is_file_known: whether a key says which file it is for (only with files => 'key'); null if
                left out
            left_out: why it is not in the trace - no transfer (a job or an open alone), part of a file,
                failed, unknown size, saturated size, zero size, too large, unknown time, unknown origin
                (the first that applies); null for requests in the trace
            submitted_at: when it was requested; where that is not known, when the transfer began; null
                if neither is known
            ended_at: when the transfer ended

        In SQL:

            SELECT submitted_at, direction, user_number, file_number, size_bytes, origin
            FROM mart.trace_requests(archive => 'example')
            WHERE left_out IS NULL
            ORDER BY place
        """

    def transfer_classes(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        model: str | None = None,
    ) -> pl.DataFrame:
        """One row per workload model and transfer.

        The class of each transfer in a workload model, for transfers of any archive: the class with the
        nearest centre, where a decade of size counts as much as a decade of time.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            model: only this workload model (null = all)

        Columns:
            model: name of the model
            archive: name of the archive that the transfer belongs to, which need not be the model's
            kind: kind of that archive (measured, synthetic, simulated)
            transfer_id: the transfer, as in mart.transfers
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get
            class_number: number of the class, as in mart.workload_classes; null if the transfer is in
                none
            class_name: description of the class in words
            set_apart: why it is in no class - as in mart.workload_requests, or no classes (the model
                has none for this interface and direction); null if it is in one
            size_bytes: bytes moved
            time_s: seconds, by the model's measure
            ended_at: when the transfer ended

        In SQL:

            SELECT class_name, count(*) AS transfer_count, sum(size_bytes) AS size_bytes
            FROM mart.transfer_classes(model => 'spring', since => now() - INTERVAL '1 month')
            GROUP BY class_name
        """

    def transfer_names(
        self,
        *,
        transfer_id: Values = None,
        archive_path: Values = None,
        client_path: Values = None,
        account: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per transfer of mart.transfers.

        The names of the files that were transferred; only for people who may see names.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            transfer_id: number of the transfer, as in mart.transfers
            archive_path: path of the file in the archive, null if the log does not say
            client_path: path of the file on the client, null if the log does not say
            account: account that was charged, null if the log does not say
            ended_at: when the transfer ended, as in mart.transfers; filter on it, otherwise every month
                is read

        In SQL:

            SELECT transfer_names.archive_path, transfers.size_bytes
            FROM mart.transfers
            INNER JOIN mart.transfer_names
                ON transfers.transfer_id = transfer_names.transfer_id AND transfers.ended_at = transfer_names.ended_at
            WHERE transfers.ended_at >= now() - INTERVAL '1 day' AND transfer_names.ended_at >= now() - INTERVAL '1 day'
            ORDER BY transfers.size_bytes DESC
            LIMIT 10
        """

    def transfer_neighbours(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        size_from_bytes: int | None = None,
        size_to_bytes: int | None = None,
        others_interface: str | None = None,
        limit_count: int | None = None,
    ) -> pl.DataFrame:
        """One row per transfer that took a known time.

        What else was under way during each transfer: how many others, when it began and on average, and
        what they moved. Others are all transfers of the archive, whatever their direction, client or
        class of service, and whether they failed or not. A transfer that ended when this one began, or
        began when it ended, is no neighbour. Transfers that took no time, or whose start is unknown,
        have no row and are no neighbours. The function lists single transfers, so it is not meant for
        all time (mart.concurrency and mart.load_over_time are): all transfers of the range have to be
        sorted, and a day of 165,000 transfers takes about 5 s of CPU time.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            size_from_bytes: only transfers of this size or more (null = all)
            size_to_bytes: only transfers below this size (null = all)
            others_interface: only transfers of this interface are neighbours (null = all)
            limit_count: the number of ports, for at_limit_s (null = not asked for)

        Columns:
            transfer_id: number of the row in mart.transfers
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the file (ftp, nft, hsi, ...)
            direction: put or get
            client: name of the client machine as the log gives it, null if the log does not say
            size_bytes: bytes moved, null if the log gives no size
            duration_s: seconds the transfer took, as logged
            rate_bytes_per_s: bytes per second, as in mart.transfers
            others_count: other transfers that were under way at any time during it
            others_at_start: other transfers that were under way when it began; those that began at the
                same time count
            mean_others: mean number of other transfers under way during it
            others_bytes: bytes that the others moved during it, each transfer's bytes spread evenly
                over its time; unknown sizes count as 0
            at_limit_s: seconds of it in which at least limit_count transfers were under way, itself
                included; null without limit_count
            is_failed: whether the transfer failed
            is_wait_included: whether its duration holds the wait for a port (mart.holds_port_wait)
            started_at: when the transfer began
            ended_at: when the transfer ended

        In SQL:

            SELECT ended_at, size_bytes, duration_s, others_count, mean_others, at_limit_s
            FROM mart.transfer_neighbours(
                archive => 'llnl', since => now() - INTERVAL '1 week', interface => 'nft',
                size_from_bytes => 580000000, size_to_bytes => 620000000, limit_count => 13
            )
            ORDER BY ended_at
        """

    def transfer_networks(
        self,
        *,
        transfer_id: Values = None,
        start_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        network: Values = None,
        began_at: Values = None,
    ) -> pl.DataFrame:
        """One row per transfer whose start names a network.

        Over which network a transfer went, as the line of its start says. Filter on began_at, so that
        months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            transfer_id: the transfer, as in mart.transfers
            start_id: its start, as in mart.requests
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            network: the log's own name of the network, or its pseudonym
            began_at: when the transfer was asked for

        In SQL:

            SELECT archive, network, count(*) AS transfer_count
            FROM mart.transfer_networks
            WHERE began_at >= now() - INTERVAL '1 month'
            GROUP BY archive, network
            ORDER BY archive, network
        """

    def transfer_rates(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        grouped_by: Sequence[str] | None = None,
        over_bytes: int | None = None,
    ) -> pl.DataFrame:
        """One row per archive and group in which there were transfers; the groups are those asked for.

        How fast single transfers were: smallest, greatest and mean rate, quantiles, and the fastest
        transfer, compared with the theoretical rate of the same sizes. The rate of a transfer is that
        of mart.transfers. The mean is that of the rates, so that each transfer has the same weight
        (mart.monthly_rates has bytes over seconds). The theoretical rate of a size is size / (latency +
        size / rate), with the latency and rate that mart.lower_envelopes finds for the same transfers,
        interface and direction. Failed transfers and empty files are left out. Each answer is computed
        from the transfers of the range.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            grouped_by: any of interface, direction, client, class_of_service, network, size (decades)
                and month or day (if both are given, day); default interface and direction, because each
                has its own machine and network. With anything else, there are no rows
            over_bytes: only transfers of more bytes than this (null = of all that are not empty; -1 =
                of all)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...); null unless grouped by it
            direction: put or get; null unless grouped by it
            client: name of the client machine; null if the log does not say, and unless grouped by it
            class_of_service: class of service; null if the log does not say, and unless grouped by it
            network: the network that the start of the transfer names (mart.transfer_networks); null if
                no log says, and unless grouped by it
            size_from_bytes: smallest size in the bin, a power of ten; null unless grouped by size
            size_to_bytes: size at which the next bin begins; null unless grouped by size
            transfer_count: transfers whose rate is known; all other figures are theirs
            unrated_count: transfers whose rate is not known - without a duration or with one of zero,
                with a saturated size, or of less than 10 s by a coarse clock (whole seconds, or 0.499)
            size_bytes: bytes of the transfers; null if no rate is known
            unrated_bytes: bytes of the transfers in unrated_count, where a saturated size counts as the
                log has it
            min_rate_bytes_per_s: smallest rate; null if no rate is known
            p10_rate_bytes_per_s: rate that 10 % of the transfers do not exceed; null if no rate is
                known
            p50_rate_bytes_per_s: rate that 50 % of the transfers do not exceed; null if no rate is
                known
            p90_rate_bytes_per_s: rate that 90 % of the transfers do not exceed; null if no rate is
                known
            max_rate_bytes_per_s: rate of the fastest transfer; null if no rate is known
            mean_rate_bytes_per_s: mean of the rates; null if no rate is known
            fastest_transfer_id: the fastest transfer, as in mart.transfers; the earliest one of equally
                fast ones
            fastest_size_bytes: its bytes; null if no rate is known
            envelope_count: transfers for which a theoretical rate is known, too
            mean_envelope_bytes_per_s: mean of the theoretical rates; null where no line was fitted, as
                with few transfers, or with more than 300,000 that were not prepared
                (mart.envelope_choices)
            envelope_ratio: mean of rate over theoretical rate; null like mean_envelope_bytes_per_s. A
                single transfer may be faster than the line
            starts_on: local date of the day, or of the first day of the month; null unless grouped by
                one of them
            fastest_at: when the fastest transfer ended; null if no rate is known

        In SQL:

            SELECT starts_on, direction, transfer_count, min_rate_bytes_per_s, max_rate_bytes_per_s, mean_rate_bytes_per_s
            FROM mart.transfer_rates(
                archive => 'sdsc', client => 't90.sdsc.edu', grouped_by => '{month,direction}', over_bytes => 199000000
            )
            ORDER BY starts_on, direction
        """

    def transfer_sizes(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        bins_per_decade: int | None = None,
        grouped_by: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """One row per archive, bin that has transfers and, if asked for, interface and direction.

        How many transfers, and how many bytes, there were by size, in bins of decades, with cumulative
        shares. All transfers that did not fail and have a size count, those of unknown duration and by
        coarse clocks too (mart.size_times leaves these out). Numbers and bytes are exact. If the
        rollups of sizes (mart.size_cells, mart.day_cells) have all transfers of the range, they come
        from there (is_from_cells). Where detail was forgotten before the warehouse counted all sizes,
        the transfers are read, which takes longer, and finds none on these days (unbinned_count). A
        range means whole days of the archive's own clock: all those that it touches.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            bins_per_decade: 1 (bins begin at powers of ten) or 3 (at 1, 2 and 5 times a power of ten).
                With any other number, there are no rows
            grouped_by: any of interface and direction; default none, which is one row per archive and
                bin. With anything else, there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, ...); null unless grouped by it
            direction: put or get; null unless grouped by it
            size_from_bytes: lower edge of the bin (inclusive); 0 for empty files, which have a bin of
                their own
            size_to_bytes: upper edge of the bin (exclusive)
            transfer_count: transfers in the bin
            saturated_count: how many of them have a size at the limit of the log's counter (2^31 - 1),
                so that the file may be larger
            size_bytes: bytes of the transfers in the bin
            count_ratio: transfer_count over the transfers of all bins of the row's archive and group (0
                to 1)
            running_count_ratio: the same for this bin and all smaller ones
            bytes_ratio: size_bytes over the bytes of all bins (0 to 1); null where all files are empty
            running_bytes_ratio: the same for this bin and all smaller ones
            unbinned_count: transfers of the row's archive and group that did not fail but are in no
                bin, because their size is unknown or their detail is forgotten; the same in all bins
            is_from_cells: whether the numbers come from the rollups and not from the transfers

        In SQL:

            SELECT size_from_bytes, transfer_count, running_count_ratio, size_bytes, running_bytes_ratio
            FROM mart.transfer_sizes(archive => 'llnl', since => now() - INTERVAL '1 year', grouped_by => '{direction}')
            WHERE direction = 'get'
            ORDER BY size_from_bytes
        """

    def transfers(
        self,
        *,
        transfer_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        operation: Values = None,
        user_id: Values = None,
        client: Values = None,
        class_of_service: Values = None,
        file_key: Values = None,
        persona: Values = None,
        server: Values = None,
        status_code: Values = None,
        status_text: Values = None,
        size_bytes: Values = None,
        duration_s: Values = None,
        open_s: Values = None,
        seek_s: Values = None,
        rate_bytes_per_s: Values = None,
        is_failed: Values = None,
        is_failure_logged: Values = None,
        is_time_ambiguous: Values = None,
        is_time_of_day_unknown: Values = None,
        is_duration_coarse: Values = None,
        is_duration_below_clock: Values = None,
        is_size_saturated: Values = None,
        is_rate_inconsistent: Values = None,
        is_of_parts: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per transfer of a file between a client and the archive, successful or not.

        The transfers of counted sources, including failed ones. If a counted log does not report
        failures, the failed transfers of an uncounted source are included too (STAT alongside NFT).
        Filter on ended_at, so that months outside the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            transfer_id: number of the row in the warehouse, for `tapewise explain row`; changes when
                the source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported the transfer
            interface: the program that moved the file (ftp, nft, hsi, ...)
            direction: put (client to archive) or get (archive to client)
            operation: the operation as the log names it
            user_id: number of the user in the warehouse, null if the log does not say
            client: name of the client machine as the log gives it, null if the log does not say
            class_of_service: class of service, null if the log does not say
            file_key: 64-bit key of the file's path in the archive, which identifies the file without
                revealing its name; derived with a secret of this warehouse
            persona: UniTree's number of the job that moved the file, null if the log has none
            server: the archive's machine that moved the file, or its pseudonym; null if the log does
                not say
            status_code: the log's own code for how the transfer ended, null if it has none
            status_text: the log's own words for how the transfer ended (error codes), null if it has
                none, or if they may name a file
            size_bytes: bytes moved
            duration_s: seconds the transfer took, as logged
            open_s: seconds it took to open the file in the archive, null if the log does not say
            seek_s: seconds it took to find the place in the file, null if the log does not say
            rate_bytes_per_s: bytes per second as logged; where the log has no rate, size over duration
                (null for zero durations and saturated sizes)
            is_failed: whether the transfer failed
            is_failure_logged: whether its log, or another log alongside it, reports failures; if not,
                it is unknown which of the log's transfers failed
            is_time_ambiguous: whether its local time occurs twice (or never) because of daylight saving
            is_time_of_day_unknown: whether the time of day is unknown, in which case the time given
                here is noon by the source's clock
            is_duration_coarse: whether the duration is in whole seconds, or 0.499 for less than one
            is_duration_below_clock: whether the duration is below the resolution of the source's clock
            is_size_saturated: whether the size is at the limit of the log's counter (2^31 - 1), so that
                the file may be larger
            is_rate_inconsistent: whether the logged size, duration and rate disagree
            is_of_parts: whether its log reports reads and writes within files (containers of a
                database); if so, the size is that of the part, a put does not create a file, and a get
                does not fetch a whole one
            started_at: when the transfer began; ended_at - duration_s if the log gives only the end,
                null without a duration
            ended_at: when the transfer ended

        In SQL:

            SELECT archive, direction, count(*) AS transfer_count, sum(size_bytes) AS size_bytes
            FROM mart.transfers
            WHERE NOT is_failed AND ended_at >= now() - INTERVAL '1 month'
            GROUP BY archive, direction
            ORDER BY archive, direction
        """

    def transfers_under_way(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
    ) -> pl.DataFrame:
        """One row per transfer that ended at or after `since`, and began (or, if no start is known, ended)
        before `until`.

        The transfers that were under way in a range of time, from start to end as logged. A transfer
        that began before `until` is found however late it ended. Failed transfers are included, because
        they took time and a port, but they count as having moved nothing. Transfers whose time of day
        is unknown are left out. Functions of mart that count transfers under way read them here. A
        range that ends long ago also looks for transfers that ended later, in the index of all later
        months.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that began before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)

        Columns:
            transfer_id: number of the row in mart.transfers
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the file (ftp, nft, hsi, ...)
            direction: put or get
            client: name of the client machine as the log gives it, null if the log does not say
            moved_bytes: bytes moved; 0 if the transfer failed, null if the log gives no size
            rate_bytes_per_s: moved_bytes over the seconds from start to end; null if these are 0 or
                unknown
            is_moved_known: whether moved_bytes is known, and not only that it is at least so much
            started_at: when the transfer began, null if the log does not say
            ended_at: when the transfer ended

        In SQL:

            SELECT interface, direction, client, started_at, ended_at, moved_bytes
            FROM mart.transfers_under_way(
                archive => 'llnl',
                since => '1998-05-01 12:00 America/Los_Angeles',
                until => '1998-05-01 12:01 America/Los_Angeles'
            )
            ORDER BY started_at
        """

    def truncated_mean(
        self,
        *,
        mean_ratio: float,
    ) -> pl.DataFrame:
        """Mean of the whole distribution over the length; null from 0.499 on, because the values are then
        as good as evenly distributed and the mean cannot be found.

        The mean of an exponential distribution, given the mean of those of its values that are below a
        length. Both are in units of this length. This is the estimate of greatest likelihood for a
        truncated exponential.

        Args:
            mean_ratio: mean of the values below the length, over the length

        In SQL:

            SELECT 60 * mart.truncated_mean(17.0 / 60) AS mean_s
        """

    def unitree_job_names(
        self,
        *,
        job_id: Values = None,
        description: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per job of mart.unitree_jobs.

        The requests behind UniTree's jobs, with the names of files; only for people who may see names.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            job_id: number of the job, as in mart.unitree_jobs
            description: what was requested, and how it ended, as logged
            ended_at: when the job ended, as in mart.unitree_jobs; filter on it, otherwise every month
                is read

        In SQL:

            SELECT unitree_job_names.description, unitree_jobs.duration_s
            FROM mart.unitree_jobs
            INNER JOIN mart.unitree_job_names
                ON unitree_jobs.job_id = unitree_job_names.job_id AND unitree_jobs.ended_at = unitree_job_names.ended_at
            WHERE unitree_jobs.ended_at >= now() - INTERVAL '1 day' AND unitree_job_names.ended_at >= now() - INTERVAL '1 day'
            ORDER BY unitree_jobs.duration_s DESC NULLS LAST
            LIMIT 10
        """

    def unitree_jobs(
        self,
        *,
        job_id: Values = None,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        operation: Values = None,
        user_id: Values = None,
        persona: Values = None,
        session_number: Values = None,
        job_number: Values = None,
        duration_s: Values = None,
        is_start_after_end: Values = None,
        is_time_ambiguous: Values = None,
        started_at: Values = None,
        ended_at: Values = None,
    ) -> pl.DataFrame:
        """One row per job submitted to the archive.

        The jobs of UniTree's COND log, from counted sources. The COND log does not report whether a job
        failed or how many bytes it moved; the STAT log does. Filter on ended_at, so that months outside
        the range are not read.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            job_id: number of the row in the warehouse, for `tapewise explain row`; changes when the
                source is re-read
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the stream of logs that reported the job
            interface: unitree
            direction: put or get where that is the operation, else null
            operation: first word of the request (put, get, ...), or other where that is not a plain
                word
            user_id: number of the user in the warehouse
            persona: UniTree's number of the job, which also appears in the job's lines in the STAT log;
                it may be reused within a day
            session_number: number of the session, from 0
            job_number: number of the job within its session
            duration_s: seconds from start to end, null if is_start_after_end
            is_start_after_end: whether the logged start is after the logged end, because it was logged
                wrongly or the job ran past midnight
            is_time_ambiguous: whether its start or end is a local time that occurs twice because of
                daylight saving
            started_at: when the job started, on the day of its log file; later than ended_at if
                is_start_after_end
            ended_at: when the job ended, on the day of its log file

        In SQL:

            SELECT archive, operation, count(*) AS job_count, avg(duration_s) AS mean_duration_s
            FROM mart.unitree_jobs
            WHERE ended_at >= now() - INTERVAL '1 month'
            GROUP BY archive, operation
            ORDER BY archive, job_count DESC
        """

    def user_bursts(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        idle_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per burst.

        Batches of requests of one user, as divided by mart.burst_requests. The function lists single
        bursts, so it is not meant for all time (mart.user_shares and mart.week_profiles count them):
        all requests of the range have to be sorted, and a day of 165,000 transfers takes 1 s of CPU
        time, a week of 1.2 million 7 s, and eight weeks of 9.3 million 56 s.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            idle_s: idle seconds after which a user's next request begins a new burst (null = 60)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, unitree, ...)
            direction: put or get
            user_id: number of the user in the warehouse
            burst_number: number of the burst among those of the user on this interface and in this
                direction
            request_count: requests of the burst
            size_bytes: bytes moved by these requests, counting only known sizes
            started_at: when the first of them was requested
            ended_at: when the last of them ended

        In SQL:

            SELECT interface, direction, count(*) AS burst_count, max(request_count) AS largest
            FROM mart.user_bursts(since => now() - INTERVAL '1 month')
            GROUP BY interface, direction
        """

    def user_cells(
        self,
        *,
        archive: Values = None,
        kind: Values = None,
        source: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_of_service: Values = None,
        span: Values = None,
        user_ids: Values = None,
        request_counts: Values = None,
        size_bytes: Values = None,
        starts_on: Values = None,
    ) -> pl.DataFrame:
        """One row per archive, source, interface, direction, class of service, span and local day, month
        or year with such requests.

        The rollup of requests by user, which mart.user_shares reads in place of the requests: for each
        local day, month and year. Months and years are the sums of their days, so add up rows of one
        span only; mart.selected_users chooses the fewest for a range. Only requests of known users that
        moved a file and did not fail are counted; in a simulated archive, also those made before its
        run was steady. Days whose detail the archive has forgotten (`tapewise forget`) are covered,
        except those forgotten before the warehouse had this rollup. Then a user's number may be left
        without a name, and a user who comes back gets another number.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            source: the source whose log reports the transfers
            interface: the program that moved the files (ftp, nft, hsi, ...)
            direction: put or get
            class_of_service: class of service of the requests (mart.requests); null where no log has
                one
            span: day, month or year
            user_ids: numbers of the users in the warehouse: first those with several requests, then
                those with one, each ascending
            request_counts: for each of the user_ids, how many requests the user made
            size_bytes: for each of the user_ids, the bytes moved by these requests, counting only known
                sizes
            starts_on: local date of the day, or of the first day of the month or year, in the archive's
                own zone

        In SQL:

            SELECT starts_on, interface, direction, sum(cardinality(user_ids)) AS user_count
            FROM mart.user_cells
            WHERE archive = 'llnl' AND span = 'month' AND class_of_service IS NULL
            GROUP BY starts_on, interface, direction
            ORDER BY starts_on, interface, direction
        """

    def user_names(
        self,
        *,
        archive: Values = None,
        user_id: Values = None,
        user_name: Values = None,
    ) -> pl.DataFrame:
        """One row per user of an archive.

        The names of the users; only for people who may see names.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            archive: name of the archive
            user_id: number of the user in the warehouse, as in mart.transfers
            user_name: name or number of the user as the logs give it

        In SQL:

            SELECT user_names.user_name, count(*) AS transfer_count
            FROM mart.transfers
            INNER JOIN mart.user_names ON transfers.user_id = user_names.user_id
            WHERE transfers.ended_at >= now() - INTERVAL '1 month'
            GROUP BY user_names.user_name
            ORDER BY transfer_count DESC, user_names.user_name
            LIMIT 10
        """

    def user_sessions(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        pause_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per session.

        Sessions of users as far as transfers show them: the transfers of one user from one client over
        one interface, without a pause of more than pause_s. No log of FTP records when a session began
        or ended, so the lists of directories before the first transfer, and the time after the last,
        are not known. Failed transfers belong to their session. Transfers without a user or a time of
        day are in none. The function lists single sessions, so it is not meant for all time
        (mart.session_figures is): all transfers of the range have to be sorted, and a day of 165,000
        transfers takes 0.6 s of CPU time, a week of 1.2 million 5 s, and eight weeks of 9.3 million 35
        s.

        Args:
            archive: only this archive (null = all)
            since: only transfers that ended at or after this time (null = from the first)
            until: only transfers that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both, which share a session); with one, transfers in the other
                direction count as pauses
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all); transfers of other classes are
                pauses
            pause_s: seconds without a transfer after which the next one begins a new session (null =
                900, after which WU-FTPD ends a silent session by default)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, pftp, nft, hsi, ...)
            client: name of the client machine; null if the log does not say, so that sessions from two
                machines may be one here
            user_id: number of the user in the warehouse
            session_number: number of the session among those of the user on this interface and from
                this client
            transfer_count: transfers of the session, failed ones included
            put_count: puts among them
            get_count: gets among them
            failed_count: failed transfers among them; null if no log reports failures
            put_bytes: bytes of the puts, counting only known sizes; null if none is known
            get_bytes: bytes of the gets, counting only known sizes; null if none is known
            started_at: when the first of them began, or ended if its start is not known
            ended_at: when the last of them to end ended
            duration_s: seconds from started_at to ended_at
            paused_s: seconds of duration_s in which no transfer of the session was under way

        In SQL:

            SELECT started_at, user_id, client, put_count, get_count, duration_s, paused_s
            FROM mart.user_sessions(since => now() - INTERVAL '1 month', interface => 'ftp')
            ORDER BY transfer_count DESC
            LIMIT 10
        """

    def user_shares(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        idle_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and user.

        How requests are concentrated on a few users, beginning with the user who made the most. A range
        means whole days of the archive's own clock: all those that it touches. Only burst_count is of
        the range itself, because bursts are found in the requests; a query that does not ask for it is
        hundreds of times faster. Requests on days whose detail the archive has forgotten (`tapewise
        forget`) are counted, except for one client of an archive that counts no single clients
        (mart.archives), and except on days that were forgotten before the warehouse had
        mart.user_cells. Forgotten requests are in no burst.

        Args:
            archive: only this archive (null = all)
            since: only local days that end after this time (null = from the first)
            until: only local days that begin before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            idle_s: idle seconds after which a user's next request begins a new burst (null = 60)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, unitree, ...)
            direction: put or get
            user_id: number of the user in the warehouse, whose name may have been forgotten
            user_rank: 1 for the user with the most requests; among users with equally many, the one
                with the most bytes is first
            burst_count: bursts of the user, as in mart.user_bursts, in the requests that ended from
                since until just before until, not in whole days; null if no such request of the user is
                stored
            request_count: requests of the user
            size_bytes: bytes moved by these requests, counting only known sizes
            request_ratio: the user's share of the requests of all known users
            running_ratio: share of the requests that come from this user and all users ranked above
            size_ratio: the user's share of the bytes of all known users, null where there are none

        In SQL:

            SELECT interface, direction, min(user_rank) AS users_with_half_of_the_requests
            FROM mart.user_shares(since => now() - INTERVAL '1 month')
            WHERE running_ratio >= 0.5
            GROUP BY interface, direction
        """

    def week_profiles(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        idle_s: float | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and hour of the week.

        How many bursts of requests begin, and how many requests are made, in each of the 168 hours of
        the week, in the archive's local time. Hours without requests have no row.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            idle_s: idle seconds after which a user's next request begins a new burst (null = 60)

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            timezone: the archive's time zone, in which hours are counted
            interface: the program that moved the files (ftp, nft, hsi, unitree, ...)
            direction: put or get
            hour_of_week: 0 is Monday from 00:00 to 01:00, 167 Sunday from 23:00 to 24:00
            burst_count: bursts that began in this hour, as in mart.user_bursts
            request_count: requests of known users made in this hour
            size_bytes: bytes moved by these requests, counting only known sizes

        In SQL:

            SELECT hour_of_week / 24 AS weekday, sum(burst_count) AS burst_count
            FROM mart.week_profiles(since => now() - INTERVAL '1 month')
            GROUP BY weekday
        """

    def working_sets(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        period: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive and period in which files were put or got.

        The working set: how many different files, and how many bytes of them, are put or got in each
        hour, day, week or month. A cache that holds as many bytes as are used in a day can keep what is
        used in that day. A file is a name; renames are not followed.

        Args:
            archive: only this archive (null = all)
            since: only uses at or after this time (null = from the first)
            until: only uses before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            period: hour, day, week (from Monday) or month, by the archive's clock; with anything else,
                there are no rows

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            use_count: puts and gets that did not fail, and name their file
            file_count: how many different files they concern
            size_bytes: bytes of these files; for each, the most that was moved in the period, counting
                only known sizes
            unknown_size_count: files whose size is unknown
            starts_at: when the period begins

        In SQL:

            SELECT archive, avg(file_count) AS mean_file_count, max(size_bytes) AS largest_bytes
            FROM mart.working_sets(since => now() - INTERVAL '1 month', period => 'day')
            GROUP BY archive
            ORDER BY archive
        """

    def workload_cells(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        measure: str | None = None,
    ) -> pl.DataFrame:
        """One row per archive, interface, direction and cell, or reason why requests are in no cell.

        The data that the workload classes are fitted to. The requests are binned on a fine grid of size
        and time, with 8 buckets per octave (each 9 % wide), and each cell is represented by the mean of
        its requests. Requests that are in no class are counted by reason.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            measure: which time is paired with the size - service (that of the transfer, as logged) or
                open (from the request for the file until it was open); null = service

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, unitree, ...)
            direction: put or get
            size_bucket: eighths of an octave above 1 byte; null for requests in no class
            time_bucket: eighths of an octave above 1 s; null for requests in no class
            set_apart: why these requests are in no class, as in mart.workload_requests; null for a cell
            request_count: number of requests
            size_bytes: bytes moved by them, null where no size is known
            cached_count: gets that found their file on disk
            uncached_count: gets whose file had to come from tape; for the remaining gets this is not
                known
            size_log10: mean decimal logarithm of their sizes in bytes
            time_log10: mean decimal logarithm of their times in seconds
            first_ended_at: when the first of them ended
            last_ended_at: when the last of them ended

        In SQL:

            SELECT interface, direction, size_bucket / 8 AS size_octave, sum(request_count) AS request_count
            FROM mart.workload_cells(since => now() - INTERVAL '1 month')
            GROUP BY interface, direction, size_octave
        """

    def workload_classes(
        self,
        *,
        model: Values = None,
        archive: Values = None,
        kind: Values = None,
        interface: Values = None,
        direction: Values = None,
        class_number: Values = None,
        class_name: Values = None,
        request_count: Values = None,
        size_bytes: Values = None,
        request_ratio: Values = None,
        size_ratio: Values = None,
        centroid_size_bytes: Values = None,
        centroid_time_s: Values = None,
        size_log10: Values = None,
        time_log10: Values = None,
        cached_ratio: Values = None,
        size_quantiles_bytes: Values = None,
        time_quantiles_s: Values = None,
    ) -> pl.DataFrame:
        """One row per workload model, interface, direction and class.

        The classes that the requests of an archive were sorted into, with the number of requests and
        bytes in them at that time.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            model: name of the model
            archive: name of the archive that it was fitted to
            kind: kind of that archive (measured, synthetic, simulated)
            interface: the program that moved the files (ftp, nft, hsi, unitree, ...)
            direction: put or get
            class_number: number of the class, from 1, ordered by the size and then the time of its
                centre
            class_name: description of the class in words
            request_count: requests of the class
            size_bytes: bytes moved by them
            request_ratio: share of the requests in all classes of the model
            size_ratio: share of the bytes in all classes of the model
            centroid_size_bytes: size at the class's centre, the geometric mean of its requests
            centroid_time_s: time at the class's centre, the geometric mean of its requests
            size_log10: decimal logarithm of centroid_size_bytes
            time_log10: decimal logarithm of centroid_time_s
            cached_ratio: share of its gets that found their file on disk, among those for which this is
                known; null if it is known for none
            size_quantiles_bytes: sizes below which 1, 5, 10, 25, 50, 75, 90, 95 and 99 % of its
                requests lie, to within 9 %
            time_quantiles_s: times below which 1, 5, 10, 25, 50, 75, 90, 95 and 99 % of its requests
                lie, to within 9 %

        In SQL:

            SELECT interface, class_name, request_count, request_ratio, size_ratio
            FROM mart.workload_classes
            WHERE model = 'spring'
            ORDER BY request_ratio DESC
        """

    def workload_models(
        self,
        *,
        model: Values = None,
        archive: Values = None,
        kind: Values = None,
        measure: Values = None,
        criterion: Values = None,
        idle_s: Values = None,
        seed: Values = None,
        since: Values = None,
        until: Values = None,
        first_ended_at: Values = None,
        last_ended_at: Values = None,
        fitted_at: Values = None,
    ) -> pl.DataFrame:
        """One row per workload model.

        The models made by `tapewise workload fit`. Their classes are in mart.workload_classes.

        Each column is also an argument: a value, or a list of values, that rows must have there.

        Columns:
            model: name of the model
            archive: name of the archive that it was fitted to
            kind: kind of that archive (measured, synthetic, simulated)
            measure: the time that is paired with the size - service (that of the transfer) or open
            criterion: the criterion that chose the number of classes, if the number was not given
            idle_s: idle seconds after which a user's next request began a new burst
            seed: seed of the random numbers of the fit
            since: only requests that ended at or after this time were used; null if from the first
            until: only requests that ended before this time were used; null if to the last
            first_ended_at: when the first request that was used ended
            last_ended_at: when the last request that was used ended
            fitted_at: when the model was made

        In SQL:

            SELECT model, archive, measure, fitted_at
            FROM mart.workload_models
            ORDER BY model
        """

    def workload_requests(
        self,
        *,
        archive: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        interface: str | None = None,
        direction: str | None = None,
        client: str | None = None,
        class_of_service: str | None = None,
        measure: str | None = None,
    ) -> pl.DataFrame:
        """One row per request that moved a file, or tried to.

        The requests from which workload classes and bursts are computed, with their size and time in
        decades, and when they were made. A request that failed, or has no size or no time, is kept with
        the reason why it is in no class.

        Args:
            archive: only this archive (null = all)
            since: only requests that ended at or after this time (null = from the first)
            until: only requests that ended before this time (null = to the last)
            interface: only this interface (null = all)
            direction: put or get (null = both)
            client: only this client machine (null = all)
            class_of_service: only this class of service (null = all)
            measure: which time is paired with the size - service (that of the transfer, as logged) or
                open (from the request for the file until it was open); null = service

        Columns:
            archive: name of the archive
            kind: kind of archive (measured, synthetic, simulated)
            transfer_id: the transfer, as in mart.transfers
            interface: the program that moved the file (ftp, nft, hsi, unitree, ...)
            direction: put or get
            user_id: number of the user in the warehouse, null if the logs do not say
            size_bytes: bytes moved
            time_s: seconds, by the measure given as an argument
            size_log10: decimal logarithm of size_bytes, null where that is not positive
            time_log10: decimal logarithm of time_s, null where that is not positive
            is_cached: whether a get found its file on disk, as in mart.requests
            set_apart: why it is in no class - failed, unknown size, saturated size, zero size, unknown
                time, zero time (the first that applies); null for requests in a class
            is_time_of_day_unknown: whether the time of day is unknown, in which case the times given
                here are noon by the source's clock
            asked_at: when it was requested; where that is not known, when the transfer began or,
                failing that, ended
            ended_at: when the transfer ended

        In SQL:

            SELECT interface, direction, set_apart, count(*) AS request_count
            FROM mart.workload_requests(since => now() - INTERVAL '1 month')
            GROUP BY interface, direction, set_apart
        """
