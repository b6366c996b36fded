-- Moves an entry to the dead letters, ends its lease and tells the front that waits, in one step.
-- KEYS[1] jobs (stream); KEYS[2] dead letters (stream); KEYS[3] the job's note; KEYS[4] the job's reply; KEYS[5] what the tenant has in the queue
-- ARGV[1] group; ARGV[2] entry id; ARGV[3] consumer; ARGV[4] cause; ARGV[5] deliveries; ARGV[6] most dead letters; ARGV[7] longest value that is kept, in bytes
-- ARGV[8] job id, empty when the entry could not be read; ARGV[9] reply; ARGV[10] how long it lives, in milliseconds; ARGV[11] prefix of the fronts' streams; ARGV[12] most replies of a front
-- Returns 1 when the entry was moved, 0 when it was gone or another worker's.
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1)
local owner = not pending.err and pending[1] and pending[1][2]
if owner and owner ~= ARGV[3] then
  return 0
end
-- A write that needs no memory comes first: a script that has written may go on where `maxmemory` is reached.
redis.call('ZREM', KEYS[5], ARGV[2] .. ' ' .. KEYS[1])
local entry = redis.call('XRANGE', KEYS[1], ARGV[2], ARGV[2])[1]
if entry then
  local letter = { 'cause', ARGV[4], 'deliveries', ARGV[5], 'entry', ARGV[2], 'stream', KEYS[1] }
  for index = 1, #entry[2], 2 do
    local name, value = entry[2][index], entry[2][index + 1]
    -- An entry of ours has nine fields; what somebody else put there may have thousands.
    if index < 64 and #name + #value <= tonumber(ARGV[7]) then
      letter[#letter + 1] = name
      letter[#letter + 1] = value
    elseif index < 128 then
      letter[#letter + 1] = 'left_out'
      letter[#letter + 1] = string.sub(name, 1, 64) .. ' ' .. #value
    end
  end
  redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[6], '*', unpack(letter))
end
redis.pcall('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.call('XDEL', KEYS[1], ARGV[2])
if ARGV[8] ~= '' then
  redis.call('SET', KEYS[4], ARGV[9], 'PX', ARGV[10], 'NX')
  local front = string.match(redis.call('GET', KEYS[3]) or '', '^(%S+) ')
  redis.call('DEL', KEYS[3])
  if front then
    local stream = ARGV[11] .. front
    redis.call('XADD', stream, 'MAXLEN', '~', ARGV[12], '*', 'job', ARGV[8], 'reply', redis.call('GET', KEYS[4]))
    redis.call('PEXPIRE', stream, ARGV[10])
  end
end
return entry and 1 or 0
