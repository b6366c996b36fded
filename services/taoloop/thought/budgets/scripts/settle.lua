-- Puts right what was reserved for a call, once however often it is asked.
-- KEYS[1] the bucket (hash: level, at); KEYS[2] the reservation
-- ARGV[1] token-seconds that the bucket gains in a second; ARGV[2] how much it holds; ARGV[3] what the call took
-- Returns 1 when it was settled, 0 when it had been before.
local held = redis.call('GET', KEYS[2])
if not held then
  return 0
end
redis.call('DEL', KEYS[2])
local rate, size = tonumber(ARGV[1]), tonumber(ARGV[2])
local level = tonumber(redis.call('HGET', KEYS[1], 'level') or size)
-- The debt of calls that took more than was thought is at most one bucket, so that a tenant is never shut out for long.
level = math.max(-size, math.min(size, level + held - ARGV[3]))
redis.call('HSET', KEYS[1], 'level', tostring(level))
if redis.call('HEXISTS', KEYS[1], 'at') == 0 then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'at', string.format('%.6f', time[1] + time[2] / 1000000))
end
redis.call('PEXPIRE', KEYS[1], math.ceil(2000 * size / rate) + 1000)
return 1
