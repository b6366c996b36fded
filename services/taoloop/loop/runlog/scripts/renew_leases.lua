-- Renews leases, or lets them lapse now.
-- KEYS[1] leases (sorted by when they lapse, in milliseconds); KEYS[2] who holds them (hash)
-- ARGV[1] the host; ARGV[2] how long the leases last from now on, in milliseconds, 0 for no longer; ARGV[3…] the runs
-- Returns those that the host does not hold.
local lost = {}
local time = redis.call('TIME')
local lapses = 0
if ARGV[2] ~= '0' then
  lapses = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])
end
for index = 3, #ARGV do
  if redis.call('HGET', KEYS[2], ARGV[index]) == ARGV[1] then
    redis.call('ZADD', KEYS[1], lapses, ARGV[index])
  else
    lost[#lost + 1] = ARGV[index]
  end
end
return lost
