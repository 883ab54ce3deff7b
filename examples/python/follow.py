#!/usr/bin/env python3
"""Prints the leader and the view of a node, and then its events. See README.md.

    follow.py SOCKET [COUNT]

COUNT ends it after so many events. Only the standard library is needed.
"""

import http.client
import json
import socket
import sys
import time


class Node(http.client.HTTPConnection):
    """A connection to the API of a node at a unix socket."""

    def __init__(self, path):
        super().__init__("node", timeout=30)  # a stream has a comment every 15 seconds
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, what, headers={}):
        self.request("GET", what, headers=headers)
        answer = self.getresponse()
        if answer.status != 200:
            passes = answer.status == 503  # too many streams, or the node starts or stops
            problem = http.client.HTTPException if passes else RuntimeError
            raise problem(f"{what}: {answer.status} {answer.read().decode().strip()}")
        return answer


def state(path):
    while True:
        node = Node(path)
        try:
            leader = json.load(node.ask("/v1/leader"))
            view = json.load(node.ask("/v1/view"))
            break
        except http.client.HTTPException as problem:  # also an answer that is cut off
            print(f"{problem}: trying again", file=sys.stderr)
            time.sleep(1)
        finally:
            node.close()
    fresh = "up to date" if view["up_to_date"] else "NOT up to date"
    members = [m["node"] for m in view["members"]]
    return f"leader {leader['leader']}, view {members}, {fresh}"


def events(path):
    """Yields events for ever. After an interruption it goes on behind the last one."""
    last = None
    while True:
        try:
            headers = {"Last-Event-ID": last} if last else {}
            answer = Node(path).ask("/v1/events" if last else "/v1/events?since=0", headers)
            last = last or answer.headers["Failaware-Last"]
            event = {}
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    event[name] = value  # a comment has the empty name or ":"
                elif "data" in event:
                    last = event.get("id", last)
                    yield event["event"], json.loads(event["data"])
                    event = {}
        except (OSError, http.client.HTTPException) as problem:
            print(f"{problem}: trying again", file=sys.stderr)
        time.sleep(1)


def main():
    path = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else None
    try:
        print(state(path))
    except OSError as problem:
        sys.exit(f"{path}: no node answers there: {problem}")
    for kind, event in events(path):
        print(kind, event["text"], sep=": ", flush=True)
        if count is not None:
            count -= 1
            if count == 0:
                return


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main()
    except KeyboardInterrupt:
        pass
