// The gateway in Node, as one would write it by hand: kept connections, JSON.parse of every body, JSON.stringify of
// the response. One process, one thread.
//
//   node gateway.js LISTEN_PORT HANGING_PORT BACKEND_PORT...
"use strict";
const http = require("http");

const [port, hangingPort, ...backendPorts] = process.argv.slice(2).map(Number);
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });

function call(port, path, timeout) {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: "127.0.0.1", port, path, agent, timeout }, (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("end", () => {
        try {
          resolve(JSON.parse(Buffer.concat(pieces).toString()));
        } catch (error) {
          reject(error);
        }
      });
    });
    request.on("timeout", () => request.destroy(new Error("timeout")));
    request.on("error", reject);
  });
}

function send(response, value) {
  const body = JSON.stringify(value);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

async function aggregate(response, calls) {
  const results = await Promise.allSettled(calls);
  const value = {};
  results.forEach((result, index) => {
    if (result.status === "fulfilled") value["b" + (index + 1)] = result.value;
  });
  send(response, value);
}

function relay(response, path) {
  const request = http.get({ host: "127.0.0.1", port: backendPorts[0], path, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  request.on("error", () => response.destroy());
}

const server = http.createServer((request, response) => {
  const [, kind, first, second] = request.url.split("/");
  if (kind === "calls") {
    aggregate(response, backendPorts.slice(0, Number(first)).map((port) => call(port, "/" + second)));
  } else if (kind === "one") {
    call(backendPorts[0], "/" + first).then((value) => send(response, value), () => response.destroy());
  } else if (kind === "proxy") {
    relay(response, "/" + first);
  } else if (kind === "hang") {
    const healthy = backendPorts.slice(0, 2).map((port) => call(port, "/small"));
    aggregate(response, [...healthy, call(hangingPort, "/", 200)]);
  } else {
    aggregate(response, backendPorts.slice(0, 3).map((port) => call(port, "/small")));
  }
});
server.keepAliveTimeout = 600000;
server.listen(port, "127.0.0.1", 4096);
