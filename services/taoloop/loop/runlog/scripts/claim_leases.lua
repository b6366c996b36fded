-- Gives a host leases that have lapsed, those first that lapsed first.
-- KEYS[1] leases (sorted by when they lapse, in milliseconds); KEYS[2] who holds them (hash)
-- ARGV[1] the host; ARGV[2] how long the leases last, in milliseconds; ARGV[3] most of them
-- Returns the runs.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local runs = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[3])
for _, run in ipairs(runs) do
  redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), run)
  redis.call('HSET', KEYS[2], run, ARGV[1])
end
return runs
