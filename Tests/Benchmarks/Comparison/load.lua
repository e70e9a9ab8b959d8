-- What wrk has measured, as one line of JSON. With an argument, the requests go to that many endpoints in turn:
-- /e/0/1, /e/1/1 and so on.
function init(arguments)
  local count = tonumber(arguments[1])
  if not count then return end
  local requests, index = {}, 0
  for number = 1, count do requests[number] = wrk.format("GET", "/e/" .. number - 1 .. "/1") end
  request = function()
    index = index % count + 1
    return requests[index]
  end
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\nSUMMARY {"requests":%d,"seconds":%.6f,"refused":%d,"broken":%d,"p50_us":%.0f,"p99_us":%.0f,"max_us":%.0f}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
