-- Takes a job out of the queue for which nobody waits any more; one that is in work is marked, so that its worker stops.
-- KEYS[1] the job's note; KEYS[2] what the tenant has in the queue
-- ARGV[1] the front that waited; ARGV[2] group
-- Returns 'withdrawn', 'told' or 'kept' (it is done, or another front waits for it).
local front, entry, stream = string.match(redis.call('GET', KEYS[1]) or '', '^(%S*) (%S+) (%S+)')
if not front or front ~= ARGV[1] then
  return 'kept'
end
local pending = redis.pcall('XPENDING', stream, ARGV[2], entry, entry, 1)
if not pending.err and pending[1] then
  redis.call('SET', KEYS[1], front .. ' ' .. entry .. ' ' .. stream .. ' gone', 'KEEPTTL')
  return 'told'
end
redis.call('XDEL', stream, entry)
redis.call('ZREM', KEYS[2], entry .. ' ' .. stream)
redis.call('DEL', KEYS[1])
return 'withdrawn'
