-- Gives leases of a worker that stops to whoever looks for lapsed ones next.
-- KEYS[1], KEYS[2], … stream of an entry, for each lease
-- ARGV[1] group; ARGV[2] consumer; ARGV[3] who holds what was handed back; ARGV[4…] id of the entry, for each lease
-- Returns how many were handed back.
local count = 0
for index = 4, #ARGV do
  local stream, entry = KEYS[index - 3], ARGV[index]
  local pending = redis.pcall('XPENDING', stream, ARGV[1], entry, entry, 1)
  if not pending.err and pending[1] and pending[1][2] == ARGV[2] then
    -- A day of idleness is more than any lease. It was no attempt that failed, so that it is not counted as one.
    local deliveries = math.max(0, pending[1][4] - 1)
    redis.call('XCLAIM', stream, ARGV[1], ARGV[3], 0, entry, 'IDLE', 86400000, 'RETRYCOUNT', deliveries, 'JUSTID')
    count = count + 1
  end
end
return count
