-- Ends a lease: stores the job's reply, deletes the entry and tells the front that waits, in one step.
-- KEYS[1] jobs (stream); KEYS[2] the job's note; KEYS[3] the job's reply; KEYS[4] what the tenant has in the queue
-- ARGV[1] group; ARGV[2] entry id; ARGV[3] consumer; ARGV[4] job id; ARGV[5] reply, empty when nobody waits for one
-- ARGV[6] how long the reply lives, in milliseconds; ARGV[7] prefix of the fronts' streams; ARGV[8] most replies of a front
-- Returns 'stored', 'known' (another reply was the first) or 'lost' (the lease is another worker's: nothing was changed).
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1)
local owner = not pending.err and pending[1] and pending[1][2]
if owner and owner ~= ARGV[3] then
  return 'lost'
end
-- A write that needs no memory comes first: where `maxmemory` is reached, a script that has written may go on writing,
-- and this one frees more than it takes.
redis.call('ZREM', KEYS[4], ARGV[2] .. ' ' .. KEYS[1])
local is_first = false
if ARGV[5] ~= '' then
  is_first = redis.call('SET', KEYS[3], ARGV[5], 'PX', ARGV[6], 'NX')
end
redis.pcall('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
if ARGV[5] == '' then
  return 'stored'
end
local note = redis.call('GETDEL', KEYS[2])
if note then
  local front, entry, stream = string.match(note, '^(%S*) (%S+) (%S+)')
  if entry and entry ~= ARGV[2] then
    -- The job was asked for again after its entry was lost; this reply answers that entry too.
    redis.call('XDEL', stream, entry)
    redis.call('ZREM', KEYS[4], entry .. ' ' .. stream)
  end
  if front and front ~= '' then
    -- The front's stream shares this slot: the prefix carries the same hash tag.
    local replies = ARGV[7] .. front
    local reply = is_first and ARGV[5] or redis.call('GET', KEYS[3])
    redis.call('XADD', replies, 'MAXLEN', '~', ARGV[8], '*', 'job', ARGV[4], 'reply', reply)
    if redis.call('PTTL', replies) < ARGV[6] / 2 then
      redis.call('PEXPIRE', replies, ARGV[6])
    end
  end
end
return is_first and 'stored' or 'known'
