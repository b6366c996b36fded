-- Appends one event to a run.
-- KEYS[1] the run's stream; KEYS[2] the run's head (hash: sequence, epoch)
-- ARGV[1] sequence; ARGV[2] host epoch; ARGV[3] event; ARGV[4] retention in milliseconds
-- Returns 'written', 'repeated' (the same event stood there), 'conflict' (another one does, or a gap) or 'stale' (a newer host owns the run).
local sequence, epoch = tonumber(ARGV[1]), tonumber(ARGV[2])
local head = redis.call('HMGET', KEYS[2], 'sequence', 'epoch')
local last, owner = tonumber(head[1] or '0'), tonumber(head[2] or '0')
if sequence <= last then
  local entry = redis.call('XRANGE', KEYS[1], ARGV[1] .. '-0', ARGV[1] .. '-0')[1]
  if entry and entry[2][2] == ARGV[3] then
    return 'repeated'
  end
  return 'conflict'
end
if epoch < owner then
  return 'stale'
end
if sequence ~= last + 1 then
  return 'conflict'
end
redis.call('XADD', KEYS[1], ARGV[1] .. '-0', 'event', ARGV[3])
redis.call('HSET', KEYS[2], 'sequence', ARGV[1], 'epoch', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 'written'
