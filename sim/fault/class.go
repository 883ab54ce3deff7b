package fault

// Class is a class of faults. A random world has each class with probability one
// half, so that some worlds are simple enough for rare combinations of the others
// to show (swarm testing).
type Class uint8

// The classes.
const (
	ClassLoss Class = iota
	ClassLate
	ClassReorder
	ClassDuplicate
	ClassReplay
	ClassAsymmetry
	ClassClog
	ClassOneWay
	ClassFlap
	ClassSplit
	ClassCorrupt
	ClassForge
	ClassSocket
	ClassSlowProcess
	ClassStall
	ClassSuspend
	ClassCrash
	ClassCrashAll
	ClassRival
	ClassClone
	ClassResign
	ClassWander
	ClassBrokenClock
	ClassHeal
	ClassBurst        // only with a broadcast
	ClassSlowConsumer // only with a broadcast
	ClassDamage       // never in random schedules
	ClassUnlist       // never in random schedules
	ClassLose         // never in random schedules
	classEnd
)

// Classes is the number of classes.
const Classes = int(classEnd)

var classNames = [Classes]string{"loss", "late", "reordering", "duplication", "replay", "asymmetry", "clog",
	"one-way", "flapping", "split", "corruption", "forgery", "socket", "slow process", "stall", "suspend",
	"crash", "crash of all", "rival", "clone", "resign", "wander", "broken clock", "heal", "burst", "slow consumer",
	"damage", "unlisted peer", "lost packet"}

// String returns the name of the class.
func (c Class) String() string {
	if c < classEnd {
		return classNames[c]
	}
	return "unknown"
}

// Random reports whether random schedules draw faults of the class.
func (c Class) Random() bool { return c < ClassDamage && c != ClassHeal }
