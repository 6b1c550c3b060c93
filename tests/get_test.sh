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
# The third lies in a packed tarball, as npm's registry has them.
mkdir -p package/in && seq 1 500 >package/in/packed.txt && tar czf site/words/packed-1.0.tgz package/in/packed.txt
member() { printf 'words\t%s\t%s\t%s\t%s/words/packed-1.0.tgz#package/in/%s\n' "$1" "$(stat -c %s "package/in/$1")" \
  "$(sha256sum <"package/in/$1" | cut -c1-64)" "$2" "$1"; }
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
        if os.path.exists("silent"):
            import time
            time.sleep(30)
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

# A file out of a tarball; nothing of the tarball stays.
(member packed.txt "$mirror") >tarball.tsv
"$limpid" get words --manifest tarball.tsv >out 2>err || wrong "a file in a tarball: $(cat err)"
cmp -s store/words/packed.txt package/in/packed.txt || wrong 'other bytes out of a tarball'
[[ -z $(find store -name '*.tgz*') ]] || wrong 'the tarball stays'
(member packed.txt "$mirror" | sed 's/in\/packed.txt$/in\/nothing.txt/') >tarball.tsv && rm store/words/packed.txt
"$limpid" get words --manifest tarball.tsv >out 2>err && wrong 'a file that the tarball lacks'
grep -q 'holds no package/in/nothing.txt' err || wrong "$(cat err)"

# Broken off, it resumes from where it was.
rm -rf store && touch break-off
get words --mirror "$mirror" && wrong 'half a file was taken for a whole one'
[[ -s store/words/numbers.txt.part && ! -e store/words/numbers.txt ]] || wrong 'what had come was not kept aside'
get || wrong "the list: $(cat err)"
grep -q 'here)' out && wrong 'half a file counts as being here'
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

get && grep -q 'here)' out || wrong 'what is here is not listed as being here'
# Ctrl-C while the server says nothing: at once, and with the shell's code.
rm -rf store && touch silent
"$limpid" get words --manifest manifest.tsv --mirror "$mirror" >out 2>err </dev/null &
waiting=$!
for _ in $(seq 100); do [[ -e store/words/numbers.txt.part ]] && break; sleep 0.1; done
sleep 0.5 && kill -TERM $waiting
begin=$SECONDS
wait $waiting
code=$?
((code == 143)) || wrong "stopped with $code: $(cat err)"
((SECONDS - begin < 10)) || wrong 'it waits for a silent server'
grep -q 'goes on' err || wrong "$(cat err)"
rm -f silent

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
