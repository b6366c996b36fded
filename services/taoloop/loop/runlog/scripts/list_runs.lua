-- Lists runs of a tenant, newest first.
-- KEYS[1] its runs, or those of one outcome (sorted by time of creation)
-- ARGV[1] most of them; ARGV[2] time of creation of the last run of the page before, '+inf' for the first page; ARGV[3] its id
-- Returns run id and time of creation of each, one after the other.
local most, page, offset = tonumber(ARGV[1]), {}, 0
repeat
  local found = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[2], '-inf', 'WITHSCORES', 'LIMIT', offset, most)
  for index = 1, #found, 2 do
    -- Runs of one millisecond are ordered by their ids, backwards as well.
    if found[index + 1] ~= ARGV[2] or found[index] < ARGV[3] then
      page[#page + 1], page[#page + 2] = found[index], found[index + 1]
    end
    if #page == most * 2 then
      break
    end
  end
  offset = offset + most
until #found == 0 or #page == most * 2
return page
