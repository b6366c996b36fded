-- Gives up the lease of a run, if the host holds it.
-- KEYS[1] leases (sorted by when they lapse, in milliseconds); KEYS[2] who holds them (hash)
-- ARGV[1] the run; ARGV[2] the host
if redis.call('HGET', KEYS[2], ARGV[1]) == ARGV[2] then
  redis.call('ZREM', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
end
return 'released'
