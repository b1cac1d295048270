SELECT 'days' AS asked_for, side, size_bytes, block_at FROM mart.compared_requests('llnl', 'dkrz')
UNION ALL
SELECT 'days of b', side, size_bytes, block_at FROM mart.compared_requests('dkrz', 'llnl') WHERE size_bytes = 5
UNION ALL
SELECT 'half days', side, size_bytes, block_at FROM mart.compared_requests('llnl', 'dkrz', block_s => 43200)
UNION ALL
SELECT 'nothing', side, size_bytes, block_at FROM mart.compared_requests('llnl', 'dkrz', block_s => 0) WHERE size_bytes = 5
ORDER BY 1, 3
