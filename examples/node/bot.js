// A bot in JavaScript: it speaks the arena's protocol (arena/isolation/PROTOCOL.md) and needs nothing besides Node.
// Start with `choose`; the rest can stay as it is.
"use strict";

// Splitmix64: from the same seed the same numbers in every language. 64 bits need BigInt: numbers have 53.
class Generator {
  constructor(seed) {
    this.state = BigInt(seed);
  }

  // A whole number from 0n to 2n ** 64n - 1n.
  draw() {
    this.state = BigInt.asUintN(64, this.state + 0x9e3779b97f4a7c15n);
    let mixed = BigInt.asUintN(64, (this.state ^ (this.state >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    return mixed ^ (mixed >> 31n);
  }

  // A whole number from 0 to count - 1.
  below(count) {
    return Number(this.draw() % BigInt(count));
  }
}

let match; // all that is kept of the running match

// In `boldness` of 100 moves any legal action, all equally likely; in the others the first.
// `message` also holds the plies since the last message, the position and the clock.
function choose(message) {
  const bold = match.generator.below(100) < match.options.boldness;
  return bold ? message.legal[match.generator.below(message.legal.length)] : message.legal[0];
}

const answers = {
  hello: () => ({ type: "ready" }),
  newgame: (message) => {
    match = { generator: new Generator(message.seed), options: message.options };
    return { type: "ready" };
  },
  move: (message) => ({ type: "action", action: choose(message) }),
  quit: () => process.exit(),
};

function hear(line) {
  const message = JSON.parse(line);
  const answer = answers[message.type]?.(message);
  if (answer) process.stdout.write(JSON.stringify(answer) + "\n");
}

// Lines end at "\n" alone (the readline module would also split at U+2028), and a long one comes in pieces.
let pieces = [];
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const [end, ...others] = text.split("\n");
  pieces.push(end);
  for (const start of others) {
    hear(pieces.join(""));
    pieces = [start];
  }
});
