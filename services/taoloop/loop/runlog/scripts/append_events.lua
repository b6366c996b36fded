-- Appends events that follow each other to one run: all of them or none.
-- KEYS[1] the run's stream; KEYS[2] its position (text: sequence, epoch, writer, milliseconds); KEYS[3] contents of large events (hash)
-- ARGV[1] sequence of the first event; ARGV[2] host epoch; ARGV[3] writer; ARGV[4] the position afterwards
-- ARGV[5] milliseconds that the log is kept from now on, 0 leaves that as it is; ARGV[6] number of the events
-- ARGV[7…] name and value of each event's field; then digest and bytes of each content
-- Returns 'written', 'repeated' (the same events stand there), 'conflict' (others do, or a gap) or 'stale' (a newer host owns the run).
local first, count = tonumber(ARGV[1]), tonumber(ARGV[6])
local last, owner, writer = 0, 0, ''
local position = redis.call('GET', KEYS[2])
if position then
  local sequence, epoch, name = string.match(position, '^(%d+) (%d+) (%S+)')
  last, owner, writer = tonumber(sequence), tonumber(epoch), name
else
  -- A new run, or the position was lost; the stream itself says how far it reaches.
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  last = newest and tonumber(string.match(newest[1], '^%d+')) or 0
end
if first ~= last + 1 then
  if first <= last and writer == ARGV[3] then
    local entries = redis.call('XRANGE', KEYS[1], first .. '-0', (first + count - 1) .. '-0')
    local same = #entries == count
    for index = 1, same and count or 0 do
      local fields = entries[index][2]
      same = same and fields[1] == ARGV[index * 2 + 5] and fields[2] == ARGV[index * 2 + 6]
    end
    if same then
      return 'repeated'
    end
  end
  return tonumber(ARGV[2]) < owner and 'stale' or 'conflict'
end
if tonumber(ARGV[2]) < owner then
  return 'stale'
end
for index = 1, count do
  redis.call('XADD', KEYS[1], (last + index) .. '-0', ARGV[index * 2 + 5], ARGV[index * 2 + 6])
end
local keep = ARGV[5] ~= '0'
if keep then
  redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
else
  redis.call('SET', KEYS[2], ARGV[4], 'KEEPTTL')
end
local contents = 7 + count * 2
if #ARGV >= contents then
  for index = contents, #ARGV, 2 do
    redis.call('HSETNX', KEYS[3], ARGV[index], ARGV[index + 1])
  end
  local left = redis.call('PTTL', KEYS[1])
  if left > 0 then
    redis.call('PEXPIRE', KEYS[3], left)
  end
elseif keep and first > 1 then
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
end
return 'written'
