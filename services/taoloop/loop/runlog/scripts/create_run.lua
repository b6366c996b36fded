-- Enters a run under the caller's request id.
-- KEYS[1] the request (hash: run_id, digest); KEYS[2] the tenant's runs (sorted by time of creation)
-- ARGV[1] run id; ARGV[2] digest of the task; ARGV[3] now in milliseconds; ARGV[4] retention in milliseconds
-- Returns the id of the run that stands for the request, or 'reused' when another task does.
local known = redis.call('HMGET', KEYS[1], 'run_id', 'digest')
if known[1] then
  if known[2] == ARGV[2] then
    return known[1]
  end
  return 'reused'
end
redis.call('HSET', KEYS[1], 'run_id', ARGV[1], 'digest', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', tonumber(ARGV[3]) - tonumber(ARGV[4]))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return ARGV[1]
