SELECT outage_id, archive, kind, outage_kind, note, started_at, ended_at, recorded_at
FROM mart.outages
ORDER BY archive
