#!/usr/bin/env python3
"""Asks a node of failaware through its unix socket, with Python's standard library only.

    failaware_client.py [SOCKET] [--events N] [--since ID]

It prints the leader and the clock, and then the node's events. When the stream of events
is cut off, it continues after the last event that it has seen.
"""

import argparse
import http.client
import json
import socket
import sys
import time


class Node(http.client.HTTPConnection):
    """A connection to a node at a unix socket."""

    def __init__(self, path):
        super().__init__("node", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect(self.path)
        except OSError as e:
            self.close()
            raise OSError(e.errno, e.strerror, self.path) from None  # which socket it is

    def get(self, path):
        """Returns the answer to a request; a refusal is a RuntimeError."""
        self.request("GET", path)
        answer = self.getresponse()
        body = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(body["error"])
        return body


def events(path, since=None):
    """Yields the events of a node for ever. since is the id of the last one seen."""
    while True:
        try:
            node = Node(path)
            node.request("GET", "/v1/events", headers={"Last-Event-ID": since} if since else {})
            answer = node.getresponse()
            if answer.status != 200:
                raise RuntimeError(json.loads(answer.read())["error"])
            # Where to continue if the stream ends before its first event.
            since = since or answer.getheader("Failaware-Last")
            for line in answer:
                if line.startswith(b"data: "):
                    event = json.loads(line[len(b"data: ") :])
                    since = event["id"]
                    yield event
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(1)  # the node is away; the stream continues where it ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("socket", nargs="?", default="/run/failaware/failaware.sock")
    parser.add_argument("--events", type=int, default=0, help="end after so many events (default never)")
    parser.add_argument("--since", help="begin after the event of this id; 0 is the oldest one")
    args = parser.parse_args()

    node = Node(args.socket)
    leader = node.get("/v1/leader")
    if leader["up_to_date"]:
        # An upper bound: the node may step down earlier. Ask again rather than keep the answer.
        print(f"node {leader['leader']} leads: up to date for at most {leader['at_most_ns'] / 1e6:.1f} ms", flush=True)
    else:
        print("no leader is known", flush=True)
    clock = node.get("/v1/clock")
    if clock["deviation_ns"] is not None:
        print(f"group time {clock['time']} ± {clock['deviation_ns'] / 1e3:.0f} µs", flush=True)

    for count, event in enumerate(events(args.socket, args.since), 1):
        print(event["text"], flush=True)
        if count == args.events:
            return


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, RuntimeError, http.client.HTTPException) as e:
        sys.exit(f"failaware_client: {e}")
