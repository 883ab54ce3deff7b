#!/usr/bin/env python3
"""Asks a node of failaware through its unix socket, with Python's standard library only.

    failaware_client.py [SOCKET] [--events N] [--since ID]

It prints the leader and the clock, and then the node's events. When the stream of events
is cut off, it continues after the last event that it has seen.
"""

import argparse
import http.client
import json
import os
import socket
import stat
import struct
import sys
import time


class Untrusted(RuntimeError):
    """Another user answers at a socket, and may have put it there."""


def check_peer(sock, path):
    """Refuses a socket if another user answers who is not alone with root and this one in the directory."""
    if not hasattr(socket, "SO_PEERCRED"):
        return  # Linux alone tells Python who answers
    _, user, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    trusted = {0, os.geteuid()}
    if user in trusted:
        return
    for end in (os.path.dirname(os.path.abspath(path)), os.path.dirname(os.path.realpath(path))):
        at = end
        while True:
            if not owned(os.lstat(at), trusted, user, at != end):
                raise Untrusted(f"user {user} answers at {path}, and is not to be trusted there: others control {at}")
            if at == os.path.dirname(at):
                break
            at = os.path.dirname(at)


def owned(info, trusted, user, above):
    """Whether only trusted users, and one more, may put or replace files in a directory, or replace a link."""
    if stat.S_ISLNK(info.st_mode):
        return info.st_uid in trusted
    sticky = above and info.st_mode & stat.S_ISVTX  # as /tmp: users cannot remove the files of others
    return info.st_uid in trusted | {user} and (sticky or not info.st_mode & 0o022)


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
        try:
            check_peer(self.sock, self.path)
        except BaseException:
            self.close()
            raise

    def get(self, path):
        """Returns the answer to a request; a refusal is a RuntimeError."""
        used = self.sock is not None
        try:
            return self.ask(path)
        except ConnectionError:
            if not used:
                raise
        return self.ask(path)  # the node closes a connection that is idle for a minute

    def ask(self, path):
        try:
            self.request("GET", path)
            answer = self.getresponse()
            text = answer.read()
        except BaseException:
            self.close()  # or each later request would fail, too, or get the answer to this one
            raise
        if answer.status != 200:
            raise RuntimeError(refusal(answer.status, text))
        return json.loads(text)


def refusal(status, text):
    """Returns the node's words, or the status if something between gave the answer."""
    try:
        return json.loads(text)["error"]
    except (ValueError, KeyError, TypeError):
        return f"the answer is {status}"


def events(path, since=None):
    """Yields the events of a node for ever. since is the id of the last one seen."""
    while True:
        node = Node(path)
        try:
            node.request("GET", "/v1/events", headers={"Last-Event-ID": since} if since else {})
            answer = node.getresponse()
            if answer.status == 503:
                raise http.client.HTTPException("too many streams, or the node starts or stops")
            if answer.status != 200:
                raise RuntimeError(refusal(answer.status, answer.read()))
            # Where to continue if the stream ends before its first event.
            since = since or answer.getheader("Failaware-Last")
            for line in answer:
                if line.startswith(b"data: ") and line.endswith(b"\n"):  # the last one may break off
                    event = json.loads(line[len(b"data: ") :])
                    since = event["id"]
                    yield event
        except (OSError, http.client.HTTPException):
            pass
        node.close()
        time.sleep(1)  # the node is away or busy; the stream continues where it ended


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
