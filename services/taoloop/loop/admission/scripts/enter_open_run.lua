-- Enters a request among the open runs of its tenant.
-- KEYS[1] open runs (sorted set: request, milliseconds at which the entry lapses)
-- ARGV[1] request; ARGV[2] how many there may be, 0 for no bound; ARGV[3] milliseconds until the entry lapses
-- Returns whether it is entered, whether it was not before, and how many there are.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local open = redis.call('ZCARD', KEYS[1])
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not known and ARGV[2] ~= '0' and open >= tonumber(ARGV[2]) then
  return {0, 0, open}
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {1, known and 0 or 1, known and open or open + 1}
