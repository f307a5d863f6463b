package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/velosim/velosim/fakeplugins/wire"
)

// misbehaviour is what the process does when it is told to.
type misbehaviour struct {
	// stderr is the process's own, which go-plugin makes Velero's log of. From its handshake on, os.Stderr is another file, whose
	// text Velero does not read (go-plugin's server.go).
	stderr *os.File
}

// start starts the process as it is told, and returns if it is to go on.
func (m misbehaviour) start(s wire.Start) {
	fmt.Fprint(m.stderr, s.Stderr)
	m.logLines(s.LogLines)
	time.Sleep(s.Delay)
	if s.Panic != "" {
		panic(s.Panic)
	}
	if s.Exit != nil {
		os.Exit(*s.Exit)
	}
	if s.Strike != nil {
		m.strike(*s.Strike)
	}
	switch {
	case s.Handshake != "":
		fmt.Println(s.Handshake)
	case s.ProtocolVersion != 0:
		// Core protocol, Velero's protocol, network, address, wire protocol (go-plugin's server.go). Velero ends a process with
		// another version before it connects.
		fmt.Printf("1|%d|tcp|127.0.0.1:1|grpc\n", s.ProtocolVersion)
	case !s.NoHandshake:
		return
	}
	select {}
}

// strike does to the process what it is told.
func (m misbehaviour) strike(s wire.Strike) {
	m.logLines(s.LogLines)
	switch s.Do {
	case wire.Kill:
		send(syscall.SIGKILL)
		select {} // nothing else may happen before the signal has come
	case wire.Stop:
		// Some threads of the process may still run when the signal was sent: this one goes on when the process does.
		continued := make(chan os.Signal, 1)
		signal.Notify(continued, syscall.SIGCONT)
		send(syscall.SIGSTOP)
		<-continued
		signal.Stop(continued)
	case wire.Panic:
		go panic("the scenario has this plugin panic in a goroutine")
		select {}
	case wire.Exit:
		os.Exit(1)
	}
}

func send(s syscall.Signal) {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		panic(err)
	}
}

// logLines logs lines as the server of Velero's plugin framework does, which go-plugin makes entries of Velero's log of.
func (m misbehaviour) logLines(n int) {
	w := bufio.NewWriter(m.stderr)
	defer w.Flush() //nolint:errcheck // the process that read it has ended
	for i := range n {
		fmt.Fprintf(w, "{\"@level\":\"info\",\"@message\":\"line %d of %d from a plugin\"}\n", i+1, n)
	}
}
