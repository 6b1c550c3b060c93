#!/usr/bin/env bash
# limpid get against a server on this machine: downloads, resumes, verifies, refuses, and says what to do without a network.
# Usage: get_test.sh SOURCE_FOLDER BUILD_FOLDER
command -v python3 >/dev/null || { echo 'left out: the server of this test needs python3'; exit 77; }
source "$1/tests/script.sh"
server=
leave() { [[ -z $server ]] || kill "$server"; }

mkdir -p site/words
seq 1 200000 >site/words/numbers.txt
printf 'hello\n' >site/words/small.txt
row() { printf 'words\t%s\t%s\t%s\thttp://127.0.0.1:1/nowhere/%s\n' "$1" "$(stat -c %s "site/words/$1")" "$(sha256sum <"site/words/$1" | cut -c1-64)" "$1"; }
{ row numbers.txt; row small.txt; } >manifest.tsv
# A server that resumes (Range), logs what it was asked for, and can break off after some bytes.
cat >server.py <<'END'
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = "site" + self.path
        if not os.path.isfile(path):
            return self.send_error(404)
        data = open(path, "rb").read()
        begin = 0
        asked = self.headers.get("Range")
        if asked and not os.path.exists("no-ranges"):
            begin = int(asked.split("=")[1].split("-")[0])
        with open("requests", "a") as log:
            log.write(f"{self.path} {begin}\n")
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        most = 300000 if os.path.exists("break-off") else len(data)
        try:
            self.wfile.write(data[begin:begin + most])
        except ConnectionError:
            pass  # the client has seen enough
    def log_message(self, *arguments):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open("port.part", "w").write(str(server.server_port))
os.rename("port.part", "port")
server.serve_forever()
END
python3 server.py &
server=$!
for _ in $(seq 100); do [[ -f port ]] && break; sleep 0.1; done
mirror=http://127.0.0.1:$(<port)
export LIMPID_DATA=$work/store
get() { "$limpid" get --manifest manifest.tsv "$@" >out 2>err </dev/null; }

get words --mirror "$mirror" || wrong "downloading: $(cat err)"
cmp -s store/words/numbers.txt site/words/numbers.txt || wrong 'other bytes'
[[ -z $(find store -name '*.part') ]] || wrong 'something was left behind'
rm -f requests
LIMPID_MIRROR=$mirror get words || wrong "again: $(cat err)"
[[ ! -s requests ]] || wrong 'what is there was downloaded again'
grep -q 'was here already' out || wrong 'it does not say that all is there'

# Broken off, it resumes from where it was.
rm -rf store && touch break-off
get words --mirror "$mirror" && wrong 'half a file was taken for a whole one'
[[ -s store/words/numbers.txt.part && ! -e store/words/numbers.txt ]] || wrong 'what had come was not kept aside'
rm -f break-off requests
get words --mirror "$mirror" || wrong "resuming: $(cat err)"
grep -Eq '^/words/numbers.txt [1-9]' requests || wrong "it did not resume: $(cat requests)"
cmp -s store/words/numbers.txt site/words/numbers.txt || wrong 'resumed to other bytes'
# The same with a server that cannot resume.
rm -rf store && touch break-off && get words --mirror "$mirror"
rm -f break-off && touch no-ranges
get words --mirror "$mirror" || wrong "a server without ranges: $(cat err)"
cmp -s store/words/numbers.txt site/words/numbers.txt || wrong 'other bytes without ranges'
rm -f no-ranges

# Other bytes are refused, and nothing of them stays.
rm -rf store && sed -i '1s/^1$/2/' site/words/numbers.txt
get words --mirror "$mirror" && wrong 'other bytes were accepted'
grep -q 'SHA-256' err || wrong "other bytes: $(cat err)"
[[ -z $(find store -name 'numbers*') ]] || wrong 'other bytes were kept'
get words --mirror "$mirror/nowhere" && wrong 'an address that is not there'
grep -q '404' err || wrong "not found: $(cat err)"

# Without a network it names the files and where to put them.
get words && wrong 'nothing listens there'
grep -q 'put them into .*store/words' err && grep -q 'nowhere/small.txt' err || wrong "offline: $(cat err)"
get wrods && wrong 'a name that is not there'
grep -q 'did you mean words' err || wrong "unknown name: $(cat err)"
"$limpid" get >out 2>err || wrong "the list: $(cat err)"
grep -q shakespeare out || wrong "the list: $(cat out)"
"$limpid" get --json | grep '^{"name": "shakespeare", .*}$' >/dev/null || wrong "the list as JSON: $("$limpid" get --json)"

all_as_expected
