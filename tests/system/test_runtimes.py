"""What the list of permitted system calls was found by: runtimes at work in the sandbox, each doing what bots do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from arena import api
from tests.support.tournaments import home_of, rows

pytestmark = pytest.mark.system
PACKAGES = {"go": "golang-go", "rustc": "rustc", "musl-gcc": "musl-tools", "cc": "gcc libc6-dev", "node": "nodejs"}
GO = """
package main

import (
    "bufio"
    "encoding/json"
    "math/rand"
    "os"
    "runtime"
    "sync"
    "time"
)

type message struct {
    Type  string   `json:"type"`
    Legal []string `json:"legal"`
}

func think() {
    var group sync.WaitGroup
    for worker := 0; worker < 4; worker++ {
        group.Add(1)
        go func() {
            defer group.Done()
            kept := map[int][]byte{}
            for turn := 0; turn < 2000; turn++ {
                kept[rand.Intn(100)] = make([]byte, 4096)
            }
            time.Sleep(time.Millisecond)
        }()
    }
    group.Wait()
    runtime.GC()
    if err := os.WriteFile("/tmp/go", []byte("word"), 0o644); err != nil {
        panic(err)
    }
    if _, err := os.ReadFile("/tmp/go"); err != nil {
        panic(err)
    }
}

func main() {
    input := bufio.NewReaderSize(os.Stdin, 1<<20)
    for {
        line, err := input.ReadBytes('\\n')
        if err != nil {
            return
        }
        var heard message
        json.Unmarshal(line, &heard)
        switch heard.Type {
        case "hello", "newgame":
            os.Stdout.WriteString("{\\"type\\":\\"ready\\"}\\n")
        case "move":
            think()
            answer, _ := json.Marshal(map[string]string{"type": "action", "action": heard.Legal[0]})
            os.Stdout.Write(append(answer, '\\n'))
        case "quit":
            return
        }
    }
}
"""
RUST = r"""
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::mpsc;

fn think() {
    let (sender, receiver) = mpsc::channel();
    let workers: Vec<_> = (0..4).map(|number| {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut kept: HashMap<u64, Vec<u8>> = HashMap::new();
            for turn in 0..2000u64 { kept.insert(turn % 97, vec![number as u8; 4096]); }
            std::thread::sleep(std::time::Duration::from_millis(1));
            sender.send(kept.len()).unwrap();
        })
    }).collect();
    for worker in workers { worker.join().unwrap(); }
    assert_eq!((0..4).map(|_| receiver.recv().unwrap()).sum::<usize>(), 4 * 97);
    std::fs::write("/tmp/rust", "word").unwrap();
    assert_eq!(std::fs::read_to_string("/tmp/rust").unwrap(), "word");
    std::fs::copy("/tmp/rust", "/tmp/rust2").unwrap();
    let _ = std::fs::metadata("/tmp/rust2").unwrap();
    let _ = std::thread::available_parallelism();
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        if line.contains("\"type\":\"hello\"") || line.contains("\"type\":\"newgame\"") {
            println!("{{\"type\":\"ready\"}}");
        } else if line.contains("\"type\":\"quit\"") {
            return;
        } else if let Some(place) = line.find("\"legal\":[\"") {
            think();
            let rest = &line[place + 10..];
            println!("{{\"type\":\"action\",\"action\":\"{}\"}}", &rest[..rest.find('"').unwrap()]);
        }
        std::io::stdout().flush().unwrap();
    }
}
"""
C = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char line[1 << 20];

static void *nothing(void *given) { return given; }

static void *work(void *given) {
    for (int turn = 0; turn < 50; turn++) {  /* threads begin and end at once in several threads */
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL)) abort();
        pthread_join(thread, NULL);
        free(memset(malloc(100000), 1, 100000));
    }
    return given;
}

static void think(void) {
    pthread_t threads[4];
    for (int number = 0; number < 4; number++)
        if (pthread_create(&threads[number], NULL, work, NULL)) abort();
    for (int number = 0; number < 4; number++) pthread_join(threads[number], NULL);
    FILE *file = fopen("/tmp/c", "w");
    if (!file || fputs("word", file) < 0 || fclose(file)) abort();
    struct timespec pause = {0, 1000000}, now;
    nanosleep(&pause, NULL);
    if (clock_gettime(CLOCK_MONOTONIC, &now)) abort();
    if (sysconf(_SC_NPROCESSORS_ONLN) < 1) abort();
}

int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        char *legal = strstr(line, "\"legal\":[\"");
        if (legal) {
            think();
            legal += 10;
            printf("{\"type\":\"action\",\"action\":\"%.*s\"}\n", (int)strcspn(legal, "\""), legal);
        } else if (strstr(line, "\"type\":\"quit\"")) {
            return 0;
        } else if (strstr(line, "\"type\":\"hello\"") || strstr(line, "\"type\":\"newgame\"")) {
            puts("{\"type\":\"ready\"}");
        }
        fflush(stdout);
    }
}
"""
NODE = """
const { Worker } = require("worker_threads");
const crypto = require("crypto");
const fs = require("fs");
const work = "require('worker_threads').parentPort.postMessage([...Array(1e5).keys()].map(String).join('').length)";

function think() {
  const kept = [];
  for (let turn = 0; turn < 2000; turn++) kept.push(crypto.randomBytes(1024));
  fs.writeFileSync("/tmp/node", "word");
  fs.copyFileSync("/tmp/node", "/tmp/node2");
  if (fs.readFileSync("/tmp/node2", "utf8") !== "word") throw new Error("not the word");
  return new Promise((done, failed) => {
    const worker = new Worker(work, { eval: true });
    worker.on("message", done);
    worker.on("error", failed);
  });
}

let last = Promise.resolve();
let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  const lines = (text + piece).split("\\n");
  text = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.type === "quit") process.exit();
    if (["hello", "newgame"].includes(message.type)) process.stdout.write('{"type":"ready"}\\n');
    if (message.type === "move")
      last = last.then(think).then(() => setTimeout(() => process.stdout.write(
        JSON.stringify({ type: "action", action: message.legal[0] }) + "\\n"), 1));
  }
});
"""
PYTHON = '''
import asyncio
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy
import pandas
import scipy.linalg

from bots import Bot


@numba.njit
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


class Busy(Bot):
    """Do what a Python bot may do, then play the first legal action."""

    def choose(self, state):
        matrix = self.rng.random() * numpy.ones((300, 300))
        scipy.linalg.svdvals(matrix @ matrix)
        total(numpy.arange(1000.0))
        pandas.DataFrame({"a": [1, 2]}).groupby("a").sum()
        with ThreadPoolExecutor(4) as pool:
            assert [*pool.map(len, ["a", "bc"])] == [1, 2]
        assert asyncio.run(asyncio.to_thread(threading.active_count)) >= 1
        with tempfile.TemporaryDirectory() as folder:
            (source := tempfile.NamedTemporaryFile(dir=folder)).write(b"word")
            source.flush()
            shutil.copy2(source.name, folder + "/other")
            source.close()
        return state.legal_actions()[0]
'''
CONFIG = """
name = "small"
blocks = 1
opening = "none"
schedule = "gauntlet"
challenger = "random"
games = [{{ game = "epicycle", players = 2 }}]
limits = {{ seconds_per_move = 120, seconds_to_prepare = 240, seconds_to_start = 240 }}
bots = [{{ bot = "random" }}, {bots}]
"""


def works(path: Path) -> bool:
    """Whether a compiler can be called: that of rustup only with a home that has a toolchain."""
    return (
        path.is_file()
        and not subprocess.run([path, "version" if path.name == "go" else "--version"], capture_output=True).returncode
    )


def compiled(folder: Path, name: str, source: str, command: list[str]) -> str:
    """A program, compiled here and handed in without a build, as its bot's folder."""
    compilers = [Path(place, command[0]) for place in os.get_exec_path()]
    compiler = next(filter(works, compilers), None)
    if compiler is None:
        pytest.fail(f"the tests need '{command[0]}': apt-get install {PACKAGES[command[0]]}")
    place = folder / name
    place.mkdir()
    (place / source).write_text({"go": GO, "rs": RUST, "c": C}[source.rpartition(".")[2]])
    environment = {**os.environ, "CGO_ENABLED": "0", "GOCACHE": str(folder / "gocache"), "GO111MODULE": "off"}
    subprocess.run([compiler, *command[1:], "-o", "bot", source], cwd=place, check=True, env=environment)
    (place / "bot.toml").write_text(f'name = "{name}"\ncommand = ["./bot"]\nfiles = ["bot"]\n')
    return str(place)


def test_runtimes_of_many_languages_play_in_the_sandbox_and_do_not_linger(tmp_path):
    rust = ["rustc", "-C", "opt-level=1", "-C", "target-feature=+crt-static"]
    bots = [
        compiled(tmp_path, "c_glibc", "bot.c", ["cc", "-O1", "-pthread"]),
        compiled(tmp_path, "c_static", "bot.c", ["cc", "-O1", "-pthread", "-static"]),
        compiled(tmp_path, "c_musl", "bot.c", ["musl-gcc", "-O1", "-pthread", "-static"]),
        compiled(tmp_path, "go_static", "bot.go", ["go", "build"]),
        compiled(tmp_path, "rust_static", "bot.rs", rust),
    ]
    node = tmp_path / "node_busy"
    node.mkdir()
    (node / "bot.js").write_text(NODE)
    (node / "bot.toml").write_text('name = "node_busy"\ncommand = ["node", "bot.js"]\n')
    (tmp_path / "busy.py").write_text(PYTHON)
    listed = ", ".join(f'{{ bot = "{bot}", isolation = "sandbox" }}' for bot in [*bots, str(node), "busy.py:Busy"])
    config = tmp_path / "t.toml"
    config.write_text(CONFIG.format(bots=listed))
    outcome = api.run(config, home_of(config), workers=2, backend="local").outcome
    assert outcome.not_played == []
    details = rows(
        config, "SELECT spec, cause, detail FROM seats JOIN bots USING (bot) JOIN faults USING (block, lineup, seat)"
    )
    assert rows(config, "SELECT spec, cause FROM seats JOIN bots USING (bot) WHERE cause IS NOT NULL") == [], details
    assert rows(config, "SELECT count(*) FROM matches WHERE timed") == [(0,)]
