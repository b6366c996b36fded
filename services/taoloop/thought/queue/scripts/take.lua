-- Hands out waiting jobs: so many of the background for certain, then interactive ones, then background ones again.
-- KEYS[1] interactive jobs (stream); KEYS[2] background jobs (stream)
-- ARGV[1] group; ARGV[2] consumer; ARGV[3] most entries; ARGV[4] how many of them are the background's share
-- Returns {seconds, microseconds, interactive entries, background entries, error}: the server's time, and {id, {name, value, …}} of each.
-- An error (a group that is lost) is told beside what was handed out before it, which would else be leased to nobody.
local failed = ''
local function read(key, count)
  if count <= 0 then
    return {}
  end
  local reply = redis.pcall('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', count, 'STREAMS', key, '>')
  if reply and reply.err then
    failed = reply.err
    return {}
  end
  return reply and reply[1][2] or {}
end
local count = tonumber(ARGV[3])
local background = read(KEYS[2], math.min(count, tonumber(ARGV[4])))
local interactive = read(KEYS[1], count - #background)
for _, entry in ipairs(read(KEYS[2], count - #background - #interactive)) do
  background[#background + 1] = entry
end
local time = redis.call('TIME')
return { time[1], time[2], interactive, background, failed }
