-- Stores a job's reply, ends its lease and tells the front that waits, in one step.
-- KEYS[1] jobs (stream); KEYS[2] the job's note; KEYS[3] the job's reply
-- ARGV[1] group; ARGV[2] entry id; ARGV[3] job id; ARGV[4] reply; ARGV[5] how long the reply lives, in milliseconds; ARGV[6] prefix of the fronts' streams
-- Returns 1 when this reply is the job's, 0 when another one was stored before.
local is_first = redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5], 'NX')
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
local front = redis.call('HGET', KEYS[2], 'front')
redis.call('DEL', KEYS[2])
if front then
  -- The front's stream shares this slot: the prefix carries the same hash tag.
  local stream = ARGV[6] .. front
  redis.call('XADD', stream, 'MAXLEN', '~', 10000, '*', 'job', ARGV[3], 'reply', redis.call('GET', KEYS[3]))
  redis.call('PEXPIRE', stream, ARGV[5])
end
return is_first and 1 or 0
