-- Puts a job in the queue once, however often it is asked for.
-- KEYS[1] jobs of its priority (stream); KEYS[2] jobs of the other priority (stream)
-- KEYS[3] the job's note (string: front that waits, entry, stream, and `gone` when nobody waits any more); KEYS[4] the job's reply; KEYS[5] what the tenant has in the queue (sorted set)
-- ARGV[1] the waiting front; ARGV[2] most jobs; ARGV[3] most jobs of this priority; ARGV[4] most jobs of the tenant
-- ARGV[5] how long the job is waited for, ARGV[6] how long the note outlives that, in milliseconds
-- ARGV[7] until when it is waited for, in milliseconds of this server's clock; ARGV[8…] fields of the entry, left out to ask only
-- Returns {'reply', bytes}, {'missing'}, {'late' | 'queued', seconds, microseconds} with the server's time, or {'full' | 'priority_full' | 'tenant_full', jobs}.
local function is_there(stream, entry)
  return #redis.call('XRANGE', stream, entry, entry) == 1
end
local known = redis.call('MGET', KEYS[4], KEYS[3])
if known[1] then
  return { 'reply', known[1] }
end
local life = tonumber(ARGV[5])
-- The server's clock is the only one that entries are judged by.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local expires = tonumber(ARGV[7])
if known[2] then
  local entry, stream = string.match(known[2], '^%S* (%S+) (%S+)')
  if entry and is_there(stream, entry) then
    -- Asked again, perhaps by another front that took the run over: the reply is for it from now on.
    redis.call('SET', KEYS[3], ARGV[1] .. ' ' .. entry .. ' ' .. stream, 'PX', life + tonumber(ARGV[6]))
    return { 'queued', time[1], time[2] }
  end
end
if #ARGV == 7 then
  return { 'missing' }
end
if expires <= now then
  -- The request lay on its way, or the server stood still, until nobody waited any more.
  return { 'late', time[1], time[2] }
end
-- Answered entries are deleted, so the length is what waits (the group's lag) plus what is leased (pending).
local own = redis.call('XLEN', KEYS[1])
local all = own + redis.call('XLEN', KEYS[2])
if all >= tonumber(ARGV[2]) then
  return { 'full', tostring(all) }
end
if own >= tonumber(ARGV[3]) then
  return { 'priority_full', tostring(own) }
end
-- Where one tenant may fill the queue, nobody's jobs are counted.
local most = tonumber(ARGV[4])
local is_counted = most < tonumber(ARGV[2])
local held = is_counted and redis.call('ZCARD', KEYS[5]) or 0
while is_counted and held >= most do
  -- Entries that were lost with their stream are the oldest; nobody else takes them from the tenant's account.
  local oldest = redis.call('ZRANGE', KEYS[5], 0, 0)[1]
  local entry, stream = string.match(oldest, '^(%S+) (.*)$')
  if entry and is_there(stream, entry) then
    return { 'tenant_full', tostring(held) }
  end
  redis.call('ZREM', KEYS[5], oldest)
  held = held - 1
end
local entry = redis.call('XADD', KEYS[1], '*', 'expires_ms', string.format('%.0f', expires), unpack(ARGV, 8))
redis.call('SET', KEYS[3], ARGV[1] .. ' ' .. entry .. ' ' .. KEYS[1], 'PX', life + tonumber(ARGV[6]))
if is_counted then
  redis.call('ZADD', KEYS[5], now, entry .. ' ' .. KEYS[1])
end
return { 'queued', time[1], time[2] }
