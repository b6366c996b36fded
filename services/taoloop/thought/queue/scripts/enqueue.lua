-- Puts a job in the queue once, however often it is asked for.
-- KEYS[1] jobs (stream); KEYS[2] the job's note (hash: front that waits, entry); KEYS[3] the job's reply
-- ARGV[1] the waiting front; ARGV[2] most jobs; ARGV[3] how long the note lives, in milliseconds; ARGV[4…] fields of the entry
-- Returns {'reply', bytes}, {'queued'} or {'full', jobs}.
local reply = redis.call('GET', KEYS[3])
if reply then
  return { 'reply', reply }
end
local known = redis.call('HGET', KEYS[2], 'entry')
if known and #redis.call('XRANGE', KEYS[1], known, known) == 1 then
  -- Asked again, perhaps by another front that took the run over: the reply is for it from now on.
  redis.call('HSET', KEYS[2], 'front', ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
  return { 'queued' }
end
-- Answered entries are deleted, so the length is what waits plus what is leased.
local length = redis.call('XLEN', KEYS[1])
if length >= tonumber(ARGV[2]) then
  return { 'full', tostring(length) }
end
local entry = redis.call('XADD', KEYS[1], '*', unpack(ARGV, 4))
redis.call('HSET', KEYS[2], 'front', ARGV[1], 'entry', entry)
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return { 'queued' }
