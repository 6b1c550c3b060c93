#!/usr/bin/env bash
# Two replicas behind HAProxy (docs/haproxy.cfg), one of them killed under load: only streams that it had begun may break off; all
# other requests are answered, by the other one if need be.
# Usage: replicas.sh LIMPID MODEL. It takes haproxy and curl, and the ports 8080 to 8082.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
limpid=$1 model=$2
PATH=$PATH:/usr/sbin
work=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
"$limpid" serve "$model" --port 8081 --quiet 2>"$work/one" & pids+=($!)
"$limpid" serve "$model" --port 8082 --quiet 2>"$work/two" & pids+=($!)
haproxy -f "$root/docs/haproxy.cfg" >"$work/haproxy" 2>&1 & pids+=($!)
for ((i = 0; i < 300; ++i)); do curl -sf -o /dev/null http://127.0.0.1:8080/health && break; sleep 0.1; done
# Every other client streams.
client() {
  local stream=false
  (($1 % 2)) && stream=true
  for ((request = 0; request < 100; ++request)); do
    code=$(curl -sN -o "$work/body$1" -m 60 -w '%{http_code}' http://127.0.0.1:8080/v1/completions \
      -d "{\"prompt\": \"Anna\", \"max_tokens\": 200, \"temperature\": 1, \"ignore_eos\": true, \"stream\": $stream}")
    ended=$?
    [[ $stream == true ]] && ! grep -q '^data: \[DONE\]' "$work/body$1" && ended=1
    if ((ended == 0)); then echo "$code"; elif [[ $stream == true ]]; then echo "$code, a stream cut"; else echo "$code, cut"; fi
  done >"$work/client$1"
}
clients=()
for ((i = 0; i < 8; ++i)); do client "$i" & clients+=($!); done
until (($(cat "$work"/client* | wc -l) >= 100)); do sleep 0.02; done
running=$(curl -s http://127.0.0.1:8081/metrics | sed -n 's/^limpid_requests_running //p')
before=$(cat "$work"/client* | wc -l)
kill -9 "${pids[0]}"
wait "${clients[@]}"
cat "$work"/client* | sort | uniq -c
failed=$(cat "$work"/client* | grep -vc '^200$')
cut=$(cat "$work"/client* | grep -c '^200, a stream cut$')
flying=$((running - 1)) # without the question itself
echo "killed after $before of 800 requests, with $flying on it; $failed failed, $cut of them streams that had begun"
((flying >= 1 && failed == cut && cut <= 4 && before < 800))
