// Package fence keeps a store from obeying leaders of the past, over crashes of
// the store too: an [edict.Verifier] in a file.
//
// An edict is on the disk before it is obeyed. The other order would not do: a
// store that obeyed, and crashed before it had noted the edict, would afterwards
// obey an older one. A store that noted an edict and crashed before it obeyed gets
// the edict again from its sender, and the fence lets it pass as repeated.
//
// Every new edict rewrites the whole file and waits for the disk, so a fence is
// for hundreds of names rather than for hundreds of thousands; a store with more
// has several fences. A store that has transactions of its own does better to keep
// the latest edict of a name in the same transaction as the data, and to ask
// [edict.Relate].
package fence
