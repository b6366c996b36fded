-- Gives a host the lease of a run, whoever held it before.
-- KEYS[1] leases (sorted by when they lapse, in milliseconds); KEYS[2] who holds them (hash)
-- ARGV[1] the run; ARGV[2] the host; ARGV[3] how long the lease lasts, in milliseconds
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3]), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 'held'
