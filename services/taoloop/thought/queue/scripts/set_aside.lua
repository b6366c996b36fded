-- Moves an entry to the dead letters, ends its lease and tells the front that waits, in one step.
-- KEYS[1] jobs (stream); KEYS[2] dead letters (stream); KEYS[3] the job's note; KEYS[4] the job's reply
-- ARGV[1] group; ARGV[2] entry id; ARGV[3] cause; ARGV[4] deliveries; ARGV[5] most dead letters
-- ARGV[6] job id, empty when the entry could not be read; ARGV[7] reply; ARGV[8] how long it lives, in milliseconds; ARGV[9] prefix of the fronts' streams
-- Returns 1 when the entry was moved, 0 when it was gone.
local entry = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])[1]
if entry then
  local fields = entry[2]
  for _, extra in ipairs({ 'cause', ARGV[3], 'deliveries', ARGV[4], 'entry', ARGV[2] }) do
    fields[#fields + 1] = extra
  end
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*', unpack(fields))
end
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
if ARGV[6] ~= '' then
  redis.call('SET', KEYS[4], ARGV[7], 'PX', ARGV[8], 'NX')
  local front = redis.call('HGET', KEYS[3], 'front')
  redis.call('DEL', KEYS[3])
  if front then
    local stream = ARGV[9] .. front
    redis.call('XADD', stream, 'MAXLEN', '~', 10000, '*', 'job', ARGV[6], 'reply', redis.call('GET', KEYS[4]))
    redis.call('PEXPIRE', stream, ARGV[8])
  end
end
return entry and 1 or 0
