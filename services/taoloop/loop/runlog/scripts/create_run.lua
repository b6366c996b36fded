-- Enters a run under the caller's request id, and lets go of runs of the tenant that are past their retention.
-- KEYS[1] the request (hash: run_id, digest); KEYS[2] where the run stands (text: last sequence number, then the rest)
-- KEYS[3] the tenant's runs (sorted by time of creation); KEYS[4] the same, sorted by when they are forgotten
-- KEYS[5…] the tenant's runs of each outcome (sorted by time of creation)
-- ARGV[1] run id; ARGV[2] digest of the task; ARGV[3] time of creation in milliseconds; ARGV[4] milliseconds that it is kept
-- ARGV[5] where it stands
-- Returns the id of the run that stands for the request, or 'reused' when another task does.
local known = redis.call('HMGET', KEYS[1], 'run_id', 'digest')
if known[1] then
  return known[2] == ARGV[2] and known[1] or 'reused'
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'run_id', ARGV[1], 'digest', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], '0 ' .. ARGV[5], 'PX', ARGV[4])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[4], now + tonumber(ARGV[4]), ARGV[1])
-- Each new run makes room for itself, so that the lists stay as long as the retention makes them.
local forgotten = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now, 'LIMIT', 0, 16)
if #forgotten > 0 then
  for index = 3, #KEYS do
    redis.call('ZREM', KEYS[index], unpack(forgotten))
  end
end
for index = 3, #KEYS do
  if redis.call('PTTL', KEYS[index]) < tonumber(ARGV[4]) then
    redis.call('PEXPIRE', KEYS[index], ARGV[4])
  end
end
return ARGV[1]
