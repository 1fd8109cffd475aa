/**
 * The compare-and-swap, as Redis runs it: in one step that nothing else interrupts.
 *
 * `KEYS[1]` the account's key; `ARGV[1]` the expected version, `ARGV[2]` the write id as it is in the header, `ARGV[3]`
 * the new value, `ARGV[4]` the id of the write that is expected to stand there, empty for any. Answers 1 where it wrote, 0 for a
 * conflict, and the current value to a repeat of the newest write. A value without our header is left alone, except by who
 * names its hash: that one has read it, and found it to be damaged.
 *
 * SET takes away a time to live that somebody may have put on the key. The hint goes to a channel of the key's name; who
 * may not publish still may write.
 */
export const swapScript = `
local current = redis.call('GET', KEYS[1])
local version, id = '0', ''
if current then
  version, id = string.match(current, '^owner%-sso/1 (%d+) ([^\\n]*)\\n')
  if not version then
    version, id = '0', '"' .. redis.sha1hex(current) .. '"'
    if id ~= ARGV[4] then return redis.error_reply('NOTOURS') end
  end
end
if id == ARGV[2] then return current end
if version ~= ARGV[1] or ARGV[4] ~= '' and id ~= ARGV[4] then return 0 end
redis.call('SET', KEYS[1], ARGV[3])
redis.pcall('PUBLISH', KEYS[1], 'changed')
return 1
` as const
