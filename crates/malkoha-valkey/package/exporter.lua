-- For redis_exporter, which knows no modules but its own: --script exporter.lua makes of each number
-- in the module's section of INFO a redis_script_values{key="malkoha_..."}. grafana.json shows them.
local numbers = {}
for name, number in string.gmatch(redis.call('INFO', 'malkoha_filters'), '(malkoha_[%w_]+):(%d+)') do
    table.insert(numbers, name)
    table.insert(numbers, number)
end
return numbers
