-- Takes token-seconds out of a tenant's bucket, once however often it is asked.
-- KEYS[1] the bucket (hash: level, at); KEYS[2] the reservation
-- ARGV[1] token-seconds that the bucket gains in a second; ARGV[2] how much it holds; ARGV[3] what is wanted, at most that
-- ARGV[4] how long an unsettled reservation is known, in milliseconds
-- Returns {'held'} or {'spent', seconds to wait}.
if redis.call('EXISTS', KEYS[2]) == 1 then
  return { 'held' }
end
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local rate, size, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'level', 'at')
local level, at = tonumber(bucket[1] or size), tonumber(bucket[2] or now)
-- A clock that was set back fills nothing, and takes nothing.
level = math.min(size, level + math.max(0, now - at) * rate)
local is_held = level >= wanted
if is_held then
  redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
  level = level - wanted
end
redis.call('HSET', KEYS[1], 'level', tostring(level), 'at', string.format('%.6f', now))
-- From its deepest debt a bucket is full again after two sizes: one that is left alone for so long need not be kept.
redis.call('PEXPIRE', KEYS[1], math.ceil(2000 * size / rate) + 1000)
if is_held then
  return { 'held' }
end
return { 'spent', tostring((wanted - level) / rate) }
