// Package clitest tests command-line programs, within the test or as processes of
// their own.
//
// [Scripts] are text archives that begin with commands of [testscript] and end
// with the files that the commands use. A program under test is a command by
// its name, and a fresh process each time. Scripts start in an empty directory.
// These commands come on top of those of testscript:
//
//	addresses NAME...
//	    Set each variable to a loopback UDP address that is free.
//	exits CODE PROGRAM ARG...
//	    Run a program, which must end with this exit code.
//	refused [-lines=N] PROGRAM ARG...
//	    Run a program, which must refuse its command line: exit code 2, no standard
//	    output, and on standard error N lines (default 1) that say what is wrong, and
//	    perhaps one that refers to the help. Each begins with the program's name.
//	until [-code=N] [-stdout=REGEXP] [-stderr=REGEXP] PROGRAM ARG...
//	    Run a program again and again until it ends with this exit code (default 0)
//	    and its output matches.
//	start NAME [VARIABLE=VALUE...] PROGRAM ARG...
//	    Start a process with a name. Its output goes to the files NAME.out and
//	    NAME.err. It is killed when the script ends.
//	await [-count=N] FILE REGEXP
//	    Wait until a file matches, in at least N places if a count is given. If FILE
//	    is the output of a process, fail once that process has ended without a match.
//	capture VARIABLE FILE REGEXP
//	    Set a variable to what the group of the regular expression matches. FILE can
//	    be stdout or stderr of the last command.
//	signal SIGNAL NAME
//	    Send a signal, such as HUP, to a process.
//	ended [-code=N|-signal=SIGNAL] NAME [OTHER]
//	    Wait until a process ends by itself, with this exit code (default 0) or by
//	    this signal. Its output becomes that of the last command. Of two processes either
//	    may end; $ENDED is then its name, and $LASTS that of the one that lasts.
//	shutdown NAME...
//	    Ask processes to end with SIGTERM. They must end with exit code 0.
//
// A script never sleeps. It waits for what must happen, however long that takes on a
// busy machine.
//
// [testscript]: https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript
package clitest
