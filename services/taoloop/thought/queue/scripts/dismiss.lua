-- Removes a consumer that holds nothing: removing one with leases would lose their entries.
-- KEYS[1] jobs (stream)
-- ARGV[1] group; ARGV[2] consumer
-- Returns 1 when it was removed.
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])
if pending.err or #pending > 0 then
  return 0
end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 1
