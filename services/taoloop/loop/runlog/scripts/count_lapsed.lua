-- Counts the leases that have lapsed.
-- KEYS[1] leases (sorted by when they lapse, in milliseconds)
local time = redis.call('TIME')
return redis.call('ZCOUNT', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
