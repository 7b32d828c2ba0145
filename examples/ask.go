// Asks robots-filter about one URL at a time: one line in, one line out.
//
//	go run ask.go robots.table MyBot URL...
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
)

// RobotsFilter is a running robots-filter.
type RobotsFilter struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
}

// Start opens a table for an agent.
func Start(table, agent string) (*RobotsFilter, error) {
	command := exec.Command("robots-filter", "--quiet", "--table", table, "--agent", agent)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &RobotsFilter{command, input, bufio.NewReader(output)}, command.Start()
}

// Verdict is "allow", "deny", "unknown" or "invalid".
func (r *RobotsFilter) Verdict(url string) (string, error) {
	// A newline or a tab would make two records of it, or none.
	line := strings.TrimSpace(strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(url))
	if line == "" {
		line = "-"
	}
	if _, err := io.WriteString(r.input, line+"\n"); err != nil {
		return "", err
	}
	answer, err := r.output.ReadString('\n')
	verdict, _, _ := strings.Cut(answer, "\t")
	return verdict, err
}

// Close ends robots-filter.
func (r *RobotsFilter) Close() error {
	r.input.Close()
	return r.command.Wait()
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: ask TABLE AGENT URL...")
	}
	robots, err := Start(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	for _, url := range os.Args[3:] {
		verdict, err := robots.Verdict(url)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(verdict, url)
	}
	if err := robots.Close(); err != nil {
		log.Fatal(err)
	}
}
