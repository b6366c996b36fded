-- Adds what one process saw to the records of its tools, once.
-- KEYS[1] number of the process's last batch; KEYS[2...] the records of each tool (hash: drift -> first:last:count)
-- ARGV[1] number of the batch; ARGV[2] how long it is remembered, in milliseconds; ARGV[3] most records of a tool;
-- ARGV[4] retention in milliseconds; then for each sighting: index of its key, drift, first and last in microseconds,
-- count
-- Returns how many new records found no room.
if tonumber(ARGV[1]) <= tonumber(redis.call('GET', KEYS[1]) or '0') then
  return 0
end
local refused = 0
for at = 5, #ARGV, 5 do
  local key, drift = KEYS[tonumber(ARGV[at])], ARGV[at + 1]
  local first, last, count = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local known = redis.call('HGET', key, drift)
  if known then
    local before, after, times = string.match(known, '^(%d+):(%d+):(%d+)$')
    if before then
      first, last, count = math.min(first, tonumber(before)), math.max(last, tonumber(after)), count + tonumber(times)
    end
  end
  if known or redis.call('HLEN', key) < tonumber(ARGV[3]) then
    redis.call('HSET', key, drift, string.format('%.0f:%.0f:%.0f', first, last, count))
    redis.call('PEXPIRE', key, ARGV[4])
  else
    refused = refused + 1
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return refused
