-- Puts a dead letter back in the queue, as a new entry that begins anew.
-- KEYS[1] dead letters (stream); KEYS[2] interactive jobs (stream); KEYS[3] background jobs (stream)
-- ARGV[1] id of the letter; ARGV[2] how long the job is worth doing, in milliseconds; ARGV[3] what the key of a note begins with; ARGV[4] what the key of a reply begins with
-- Returns 'requeued', 'missing' (no such letter) or 'incomplete' (its request was left out, or cannot be read).
local letter = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])[1]
if not letter then
  return 'missing'
end
local fields, values = {}, {}
for index = 1, #letter[2], 2 do
  values[letter[2][index]] = letter[2][index + 1]
end
if values.left_out or not (values.v and values.job and values.tenant and values.request) then
  return 'incomplete'
end
for _, name in ipairs({ 'v', 'job', 'tenant', 'request', 'traceparent', 'tracestate' }) do
  if values[name] then
    fields[#fields + 1] = name
    fields[#fields + 1] = values[name]
  end
end
local stream = values.stream == KEYS[3] and KEYS[3] or KEYS[2]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local expires = string.format('%.0f', now + tonumber(ARGV[2]))
local entry = redis.call('XADD', stream, '*', 'expires_ms', expires, unpack(fields))
redis.call('XDEL', KEYS[1], ARGV[1])
-- The caller was told that it failed; who asks again now waits for what becomes of it this time.
redis.call('DEL', ARGV[4] .. values.job)
redis.call('SET', ARGV[3] .. values.job, ' ' .. entry .. ' ' .. stream, 'PX', ARGV[2])
return 'requeued'
