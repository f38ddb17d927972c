-- Posts the bodies of a file, one a line, by turns, with the Connection header that is named, and tells what came
-- of it in a line of JSON.

local requests, last = {}, 0

function init(arguments)
  local headers = {["Content-Type"] = "application/json", ["Connection"] = arguments[2]}
  for body in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end

function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format('{"requests": %d, "microseconds": %d, "failed": %d}\n',
                         summary.requests, summary.duration, failed))
end
