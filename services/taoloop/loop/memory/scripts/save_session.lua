-- Writes a session unless a newer one than expected is there, and notes it among its user's.
-- KEYS[1] the session (hash: version, text); KEYS[2] the sessions of its user by when they are forgotten (sorted set);
-- absent for nobody's
-- ARGV[1] expected version; ARGV[2] version; ARGV[3] text; ARGV[4] life in milliseconds; ARGV[5] name of the session
-- Returns 1 when it is written, 0 when not.
local known = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
local is_repeat = known == tonumber(ARGV[2]) and redis.call('HGET', KEYS[1], 'text') == ARGV[3]
if known > tonumber(ARGV[1]) and not is_repeat then
  return 0
end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'text', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if KEYS[2] then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[5])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return 1
