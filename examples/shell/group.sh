#!/bin/sh
# Three nodes, used from a shell by nothing but the command failaware: they find each other
# by one address, agree on a leader and on the time, pass messages on, and replace a leader
# that is killed while a command runs under its lead.
#
#	examples/shell/group.sh [DIRECTORY]
#
# The program must be in PATH. Everything is in DIRECTORY, or in a new temporary one, and the
# nodes end with the script.
set -eu

dir=${1:-$(mktemp -d)}
mkdir -p "$dir"
cd "$dir"
dir=$PWD # the nodes are asked from here
seed=${SEED:-127.0.0.1:7701}
pids=

# at N COMMAND... asks node N.
at() {
	n=$1
	shift
	failaware --addr "$dir/n$n.api" "$@"
}

stop() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || true
	done
	wait
}
trap stop EXIT
trap 'exit 1' INT TERM

# running ends the script if a node has ended, as where its address is taken.
running() {
	for m in 1 2 3; do
		eval "kill -0 \$pid$m" 2>/dev/null && continue
		echo "node $m has ended: $(tail -n 1 "n$m.err")" >&2
		exit 1
	done
}

# 1. All nodes have the same --join. The first one listens at that address.
for n in 1 2 3; do
	listen=127.0.0.1:0
	if [ $n = 1 ]; then listen=$seed; fi
	failaware node --id $n --name "shell-$n" --listen "$listen" --join "$seed" --broadcast \
		--api "$dir/n$n.api" >"n$n.out" 2>"n$n.err" &
	pids="$pids $!"
	eval "pid$n=$!"
done
for n in 1 2 3; do
	until at $n wait view --members 3 --timeout 2s 2>/dev/null; do running; sleep 0.1; done
done
at 1 members

# 2. A leader, and clocks that are surely within 1 ms of group time. The exit code says so.
at 1 wait leader --timeout 1m
for n in 1 2 3; do
	at $n wait synced --bound 1ms --timeout 1m
done

# 3. A message to all members, in one order everywhere. On a busy machine, node 3 may be in no
# view of node 1 for a moment, and then does not get it. So another one follows.
until at 3 deliveries --since 0 --timeout 2s 2>/dev/null | grep "hello from the shell"; do
	at 1 broadcast --wait "hello from the shell" || true
	sleep 0.1
done

# 4. Whoever leads runs a command. Its node is killed, and lock ends the command before the
# lease does: its exit code is 1. On a busy machine a lead can end before the command has
# begun, so hold asks one node after the other until it has.
hold() {
	n=0
	until [ -s lead ]; do
		n=$((n % 3 + 1))
		if at $n lock --timeout 2s -- sh -c 'echo "$FAILAWARE_LEADER" >lead; exec sleep 600'; then return 0; fi
	done
	return 1
}
rm -f lead # of an earlier run in the same directory
hold &
lock=$!
until [ -s lead ]; do sleep 0.1; done
leader=$(cat lead)
echo "node $leader leads"
eval "kill -9 \$pid$leader"
if wait $lock; then
	echo "the command was not stopped" >&2
	exit 1
fi
echo "the command ended with the lead of node $leader"

# 5. The others have another leader, and say why.
survivor=$((leader % 3 + 1))
until at $survivor wait view --members 2 --timeout 1m; do sleep 0.1; done
at $survivor wait leader --timeout 1m
at $survivor leader
at $survivor why "$leader"
at $survivor why leader
echo "done"
