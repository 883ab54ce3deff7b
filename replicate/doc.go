// Package replicate keeps an [Application] the same at all members of a group's
// views, over the broadcast of a node ([failaware.Config.Broadcast]).
//
//	n, err := failaware.Start(ctx, failaware.Config{ID: 1, Peers: peers, Broadcast: &failaware.BroadcastConfig{}})
//	…
//	r, err := replicate.Start(n, app, replicate.Config{})
//	…
//	a, err := r.Submit(ctx, command)             // applied here, and by every member of the view
//	fresh := r.Read(func() { … })                // some state, and whether it is up to date
//	fresh, err = r.ReadLatest(ctx, func() { … }) // all that was applied before, by a message
//	fresh, err = r.ReadLeased(ctx, func() { … }) // the same by a lease, which rests on clocks
//
//	s, err := r.OpenSession(ctx)
//	a, err = s.Submit(ctx, s.Next(), command)    // applied once, however often it is submitted
//
// Parts of a split group go on, each with its own state, and merge when they meet.
// With [failaware.BroadcastConfig.RequireQuorum] there is one line of state. A node
// that joins gets the state from the others. With [Config.Storage] the states are on
// disks, and outlive the processes. docs/internals/replication.md describes the
// protocol.
package replicate
