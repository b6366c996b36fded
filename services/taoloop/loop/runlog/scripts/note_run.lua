-- Enters where a run stands, unless more is known: a host that stood still for a while may be late with what it says.
-- KEYS[1] the request (hash); KEYS[2] where the run stands (text: last sequence number, then the rest)
-- KEYS[3] the tenant's runs (sorted by time of creation); KEYS[4] the same, sorted by when they are forgotten
-- KEYS[5…] the tenant's runs of each outcome (sorted by time of creation)
-- ARGV[1] run id; ARGV[2] time of creation in milliseconds; ARGV[3] milliseconds that it is kept; ARGV[4] where it stands
-- ARGV[5] number of the key of its outcome, 0 while it has none; ARGV[6] its last sequence number
-- Returns 'noted', or 'late'.
local held = redis.call('GET', KEYS[2])
if held and tonumber(string.match(held, '^%d+')) > tonumber(ARGV[6]) then
  return 'late'
end
local time = redis.call('TIME')
local created = redis.call('ZSCORE', KEYS[3], ARGV[1]) or ARGV[2]
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('SET', KEYS[2], ARGV[6] .. ' ' .. ARGV[4], 'PX', ARGV[3])
redis.call('ZADD', KEYS[3], created, ARGV[1])
redis.call('ZADD', KEYS[4], time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3]), ARGV[1])
local own = tonumber(ARGV[5])
for index = 5, #KEYS do
  if index == own then
    redis.call('ZADD', KEYS[index], created, ARGV[1])
  else
    redis.call('ZREM', KEYS[index], ARGV[1])
  end
end
for index = 3, #KEYS do
  if redis.call('PTTL', KEYS[index]) < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[index], ARGV[3])
  end
end
return 'noted'
