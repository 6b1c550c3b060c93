#!/usr/bin/env bash
# limpid serve as a stranger meets it: the commands of docs/serving.md as printed, OpenAI's own client, HAProxy, SIGTERM.
# Usage: serve_test.sh SOURCE_FOLDER BUILD_FOLDER
source "$1/tests/script.sh"
pids=()
leave() { for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done; }
mkdir repository
cp -r "$1/recipes" "$1/docs" repository
ln -s "$limpid" repository/limpid
cd repository || exit 1

# start LOG ARGUMENTS…: a server on a free port; sets `address` and `pid`.
start() {
  local log=$1
  shift
  ./limpid serve "$@" >"$log.out" 2>"$log" &
  pid=$!
  pids+=("$pid")
  for ((i = 0; i < 600; ++i)); do
    address=$(sed -n 's/^limpid serve: \(http:.*\)$/\1/p' "$log" 2>/dev/null)
    [[ $address ]] && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  fail "no server: $(cat "$log")"
}

# ---- the document: its server runs on a free port, which its commands are told
mapfile -t commands < <(sed -n '/^```sh$/,/^```$/p' docs/serving.md | grep -v '^```')
((${#commands[@]} >= 10)) || wrong "only ${#commands[@]} commands in docs/serving.md"
address=
for command in "${commands[@]}"; do
  case $command in
    './limpid serve'*)
      [[ $address ]] && continue # the replicas, below
      start first models/facts --port 0
      server=$pid
      ;;
    haproxy*) ;; # below, with the replicas
    curl*)
      answer=$(bash -c "${command//http:\/\/127.0.0.1:8080/$address}") || wrong "$command"
      [[ $answer == *'"object"'* ]] || wrong "$command: $answer"
      ;;
    *) bash -c "$command" >out 2>&1 || wrong "$command: $(tail -3 out)" ;;
  esac
done
# block LANGUAGE [DOCUMENT]: its program in that language, for the server that runs here.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "docs/${2:-serving.md}" | grep -v '^```' | sed "s|http://127.0.0.1:8080|$address|"; }
if command -v python3 >/dev/null; then
  block python >client.py
  python3 client.py >out 2>&1 || wrong "the Python client: $(cat out)"
  [[ $(wc -w <out) -ge 1 ]] || wrong "the Python client read nothing"
fi
reads_tensors() {
  "$@" >out 2>&1 || wrong "$*: $(cat out)"
  grep -q 'pattern .*first row sums to 1' out && grep -q '^limpid look .*capture' out || wrong "$*: $(cat out)"
}
block python inspection-api.md >reader.py
block js inspection-api.md >reader.mjs
if command -v python3 >/dev/null; then reads_tensors python3 reader.py; fi
if command -v node >/dev/null; then reads_tensors node reader.mjs; fi

# ---- the commands that views name give the same numbers: of a language model and of a translator, likeliest and drawn
./limpid data copy --out copy --count 200 >out 2>&1 || wrong "copy: $(tail -3 out)"
./limpid train copy --out models/copier data.folder=copy model.d_model=16 stop.steps=20 >out 2>&1 || wrong "copier: $(tail -3 out)"
of_document=$address
start writers models/facts models/copier --port 0 --quiet
for request in '"model": "facts", "text": "Anna Bauer lives in"' '"model": "copier", "text": "a b c"'; do
  for drawn in '"temperature": 0' '"temperature": 1, "top_k": 5, "seed": 7'; do
    curl -s "$address/inspect/generate" -d "{$request, $drawn, \"max_tokens\": 7}" >view
    command=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p' view)
    if [[ $request == *facts* ]]; then # the tokens: a text that goes on begins with a space
      expected=$(sed -n 's/.*"ids":\[\([0-9,]*\)\],"text".*/\1/p' view)
      got=$(bash -c "./$command" 2>err | grep -o '"id":[0-9]*' | cut -d: -f2 | paste -sd,)
    else
      expected=$(sed -n 's/.*"text":\("[^"]*"\),"ended".*/\1/p' view)
      got=$(bash -c "${command/| limpid/| .\/limpid}" 2>err | sed -n 's/.*"translations":\[{"text":\("[^"]*"\).*/\1/p')
    fi
    [[ $expected && $got == "$expected" ]] || wrong "$command: $got instead of $expected: $(cat err)"
  done
done
kill -TERM "$pid"
start narrow models/facts --memory 0.0001 --port 0 --quiet
code=$(curl -s -o out -w '%{http_code}' "$address/v1/completions" -d '{"prompt": "Anna"}')
[[ $code == 400 ]] && grep -q 'bytes of memory' out || wrong "more than the memory allowed: $code $(cat out)"
kill -TERM "$pid"

# ---- a run serves itself while it goes on
./limpid train facts --out models/watched --watch --port 0 stop.steps=1000000 >watched.log 2>&1 &
run=$!
pids+=("$run")
for ((i = 0; i < 600; ++i)); do
  address=$(sed -n 's|^Watch the run at \(http:[^/]*//[^/]*\)/.*|\1|p' watched.log)
  [[ $address ]] && curl -s "$address/runs" | grep -q '"step":' && break
  sleep 0.1
done
curl -s "$address/runs" | grep -q '"id":"watched","state":"running"' || wrong "GET /runs: $(curl -s "$address/runs")"
curl -sN "$address/runs/watched/events" >events &
listener=$!
for ((i = 0; i < 100; ++i)); do grep -q '^event: step' events && break; sleep 0.1; done
grep -q '^event: step' events || wrong "no events of the run: $(cat events)"
kill -TERM "$run"
wait "$run"
wait "$listener" || wrong "the stream of events was cut: exit code $? of curl"
address=$of_document

# ---- OpenAI's client, on the model of the document and on the same with a chat template
cp -r models/facts models/talker
printf '%s' '{% for message in messages %}{{ message.content }} {% endfor %}' >models/talker/chat_template.jinja
npm_folder=$2/tests-server
if ! command -v npm >/dev/null; then
  echo 'left out, no npm: OpenAI'\''s client (install npm and node 18 or newer)'
elif ! { mkdir -p "$npm_folder" && cp "$source_folder"/tests/server/package*.json "$npm_folder" && cd "$npm_folder" &&
  { [[ -d node_modules/openai ]] || npm ci --no-audit --no-fund >npm.log 2>&1; } && cd - >/dev/null; }; then
  cd "$work/repository" || exit 1
  echo 'left out, npm cannot fetch it: OpenAI'\''s client'
else
  cp "$source_folder"/tests/server/openai.mjs "$npm_folder"
  of_document=$address
  start second models/facts models/talker --port 0
  node "$npm_folder/openai.mjs" "$address" facts talker facts >out 2>&1 || wrong "OpenAI's client: $(cat out)"
  kill -TERM "$pid"
  wait "$pid" || wrong "exit code $? of the second server: $(cat second)"
  address=$of_document
  block js >"$npm_folder/document.mjs"
  node "$npm_folder/document.mjs" >out 2>&1 || wrong "the JavaScript client: $(cat out)"
fi

# ---- replicas: the document's configuration, on free ports
if PATH=$PATH:/usr/sbin command -v haproxy >/dev/null; then
  of_document=$address ports=()
  for replica in one two; do
    start "$replica" models/facts --port 0 --quiet
    ports+=("${address##*:}")
  done
  front=$((20000 + $$ % 10000))
  sed "s/:8080/:$front/; s/:8081/:${ports[0]}/; s/:8082/:${ports[1]}/" docs/haproxy.cfg >haproxy.cfg
  PATH=$PATH:/usr/sbin haproxy -f haproxy.cfg >haproxy.log 2>&1 &
  pids+=($!)
  printf '{"prompt": "Anna", "max_tokens": 4, "user": "%040000d"}' 0 >large
  through() { curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$front/v1/completions" -d @large; }
  for ((i = 0; i < 100; ++i)); do [[ $(through) == 200 ]] && break; sleep 0.1; done
  [[ $(through) == 200 ]] || wrong "HAProxy does not reach the replicas: $(tail -3 haproxy.log)"
  kill -STOP "$pid" # so that it has requests that it has not begun to answer
  clients=()
  for ((i = 0; i < 4; ++i)); do through >"answer$i" & clients+=($!); done
  sleep 0.3
  [[ $(cat answer?) == 200200200200 ]] && wrong 'no request went to the replica that stands still'
  kill -9 "$pid"
  wait "${clients[@]}"
  [[ $(cat answer?) == 200200200200 ]] || wrong "answers beside the end of a replica: $(cat answer?)"
  for ((i = 0; i < 4; ++i)); do [[ $(through) == 200 ]] || wrong 'HAProxy does not go on with one replica'; done
  address=$of_document
else
  echo 'left out, no haproxy: the replicas (install haproxy)'
fi

# ---- it ends in order
kill -TERM "$server"
wait "$server" || wrong "exit code $? after SIGTERM: $(cat first)"
grep -q '"path":"/v1/completions","status":200' first.out || wrong "no access log: $(head -3 first.out)"
grep -q 'Bauer' first.out && wrong 'the access log holds text of prompts'

# ---- and refuses what cannot be meant
./limpid serve nothing --port 0 >out 2>&1 && wrong 'a model that is not there was served'
grep -q 'there is no "nothing"' out || wrong "message: $(cat out)"
./limpid serve models/facts --host 0.0.0.0 --port 0 >out 2>&1 && wrong 'others can reach it without a key'
grep -q -- '--api-key' out || wrong "message: $(cat out)"
all_as_expected
