// Package fence keeps a store from obeying former leaders, even after crashes of
// the store. A [Fence] is an [edict.Verifier] in a file.
//
// The fence writes an edict to disk before the store obeys it. Otherwise a store
// that obeyed an edict and crashed before recording it could later obey an older
// one. If a store crashes between recording an edict and obeying it, the sender
// repeats the edict and the fence accepts it as repeated.
//
// Every new edict rewrites and syncs the whole file, so a fence suits hundreds of
// names, not hundreds of thousands. A store with more names can use several
// fences. A store with transactions should instead keep the latest edict of a name
// in the same transaction as the data, and call [edict.Relate].
package fence
