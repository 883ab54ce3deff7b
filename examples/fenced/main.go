// Command fenced is a key-value store over HTTP that obeys the latest leader only.
// It runs no node: each write carries an edict, and the store refuses the writes of
// earlier leaders, even after a restart.
//
//	go run ./examples/fenced -dir /tmp/store
//
// A leader creates the edict for the payload "PUT KEY\n" and the value, and writes:
//
//	curl -X PUT -H "Failaware-Edict: $EDICT" --data-binary @value http://127.0.0.1:8090/KEY
//
// The answer is 204 after the write, 409 if the edict is not later than the latest one,
// and 400 if it is invalid or belongs to another payload. Without an answer, send the
// same request again. Any program that reaches the store can forge edicts, so it listens
// on loopback.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fenced:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("dir", "", "the directory of the store")
	listen := flag.String("listen", "127.0.0.1:8090", "the address to listen at")
	flag.Parse()
	if *dir == "" {
		return errors.New("-dir is needed")
	}
	s, err := openStore(*dir)
	if err != nil {
		return err
	}
	defer s.close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := &http.Server{Handler: s, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		_ = server.Shutdown(context.Background())
	}()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "fenced: the store listens at http://%v\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-ended // the last requests have got their answers
	return nil
}
