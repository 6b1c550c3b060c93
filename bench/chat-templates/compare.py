#!/usr/bin/env python3
"""Limpid's chat templates beside Jinja itself, with the settings of Hugging Face's library.

    bench/chat-templates/compare.py LIMPID FOLDER...

FOLDERs hold tokenizer_config.json (and tokenizer.json), as the npm packages of bench/tokenizers do under models/.
Needs python3-jinja2. Prints one line per template and conversation.
"""
import json
import subprocess
import sys
from datetime import datetime

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

TOOL = {"type": "function", "function": {"name": "weather", "description": "Weather of a <place>.", "parameters": {
    "type": "object", "properties": {"place": {"type": "string", "description": "Where"}}, "required": ["place"]}}}
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": " What is 2 + 2?\n"}
ANSWER = {"role": "assistant", "content": "Four."}
CASES = [
    ("one question", [USER], {}),
    ("system", [SYSTEM, USER], {}),
    ("turns", [SYSTEM, USER, ANSWER, {"role": "user", "content": "한국어로 \"말해\" 주세요 🙂"}], {}),
    ("no prompt", [USER, ANSWER], {"add_generation_prompt": False}),
    ("tools", [USER], {"tools": [TOOL]}),
    ("call", [USER, {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": "weather", "arguments": {"place": "Seoul"}}}]},
        {"role": "tool", "name": "weather", "content": "sunny"}], {"tools": [TOOL]}),
    ("no thinking", [USER], {"enable_thinking": False}),
    ("parts", [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], {}),
    ("wrong order", [ANSWER, USER, USER], {}),
]


def environment():
    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def raise_exception(message):
        raise ValueError(message)

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return made


def special_tokens(config):
    keys = ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token")
    found = {}
    for key in keys:
        value = config.get(key)
        value = value.get("content") if isinstance(value, dict) else value
        if value:
            found[key] = value
    return found


def main():
    limpid, folders = sys.argv[1], sys.argv[2:]
    wrong = 0
    for folder in folders:
        config = json.load(open(folder + "/tokenizer_config.json"))
        template = config.get("chat_template")
        if isinstance(template, list):
            template = next((one["template"] for one in template if one["name"] == "default"), None)
        if not template:
            print(folder, "has no chat template")
            continue
        compiled = environment().from_string(template)
        for name, messages, options in CASES:
            arguments = {"messages": messages, "tools": None, "documents": None, "add_generation_prompt": True,
                         **special_tokens(config), **options}
            try:
                theirs = compiled.render(**arguments)
            except Exception as error:  # what the template refuses
                theirs = None
                reason = str(error)
            request = json.dumps({"messages": messages, **options})
            run = subprocess.run([limpid, "tokenize", folder, "--chat"], input=request, capture_output=True, text=True)
            ours = run.stdout if run.returncode == 0 else None
            same = (ours is None and theirs is None) or (ours is not None and theirs is not None and ours == theirs + "\n")
            wrong += not same
            print(folder.split("/")[-2], name, "equal" if same else "DIFFERENT")
            if not same:
                print("  theirs:", repr(theirs) if theirs is not None else reason)
                print("  ours:  ", repr(ours) if ours is not None else run.stderr.strip())
    sys.exit(1 if wrong else 0)


main()
