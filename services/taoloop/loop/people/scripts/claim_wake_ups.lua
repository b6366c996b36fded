-- Hands out runs whose moment has come, and hides them from other hosts for a while.
-- KEYS[1] moments (sorted set: run, milliseconds); ARGV[1] how many at most; ARGV[2] milliseconds until another host gets them
-- Returns the runs, and the moment at which each comes up again.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
local again = now + ARGV[2]
for _, run in ipairs(due) do
  redis.call('ZADD', KEYS[1], again, run)
end
return {due, tostring(again)}
