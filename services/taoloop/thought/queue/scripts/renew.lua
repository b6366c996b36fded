-- Keeps leases alive, and finds those that are to be given up.
-- KEYS[1] any stream of the queue; KEYS[2], KEYS[3], … stream of an entry, and its job's note, for each lease
-- ARGV[1] group; ARGV[2] consumer; ARGV[3…] id of the entry, for each lease
-- Returns {seconds, microseconds, state, …}: the server's time, and for each lease 'held', 'lost' (to another worker) or 'gone' (nobody waits).
local time = redis.call('TIME')
local states = { time[1], time[2] }
for index = 3, #ARGV do
  local stream, note, entry = KEYS[index * 2 - 4], KEYS[index * 2 - 3], ARGV[index]
  local pending = redis.pcall('XPENDING', stream, ARGV[1], entry, entry, 1)
  local owner = not pending.err and pending[1] and pending[1][2]
  local state = 'held'
  local waits = redis.call('GET', note)
  if owner and owner ~= ARGV[2] then
    state = 'lost'
  elseif waits and string.find(waits, ' gone$') then
    state = 'gone'
  elseif owner then
    -- JUSTID: a renewal is no delivery, and is not counted as one. An entry that was deleted is not claimed.
    if #redis.call('XCLAIM', stream, ARGV[1], ARGV[2], 0, entry, 'JUSTID') == 0 then
      state = 'gone'
    end
  elseif #redis.call('XRANGE', stream, entry, entry) == 0 then
    state = 'gone'
  end
  states[index] = state
end
return states
