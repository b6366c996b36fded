-- Sets the next moment of a claimed run, or forgets it, unless somebody set it anew since the claim.
-- KEYS[1] moments (sorted set: run, milliseconds); ARGV[1] run; ARGV[2] the moment of the claim; ARGV[3] the next one, 0 for none
local moment = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not moment or tonumber(moment) ~= tonumber(ARGV[2]) then
  return 'set anew'
end
if ARGV[3] == '0' then
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
end
return 'settled'
