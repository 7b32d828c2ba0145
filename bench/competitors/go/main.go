// Decides URLs by a Go module, with one parsed object kept for each host.
//
//	competitor LIBRARY ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]
//
// LIBRARY is temoto (github.com/temoto/robotstxt) or grobotstxt (github.com/jimsmart/grobotstxt).
// The latter is a port of google/robotstxt and parses a file for each URL, since it has no
// other interface. Prints one JSON object.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jimsmart/grobotstxt"
	"github.com/temoto/robotstxt"
)

// Says whether a URL may be fetched; path is the URL from its path on, without a fragment.
type robots func(url, path string) bool

func parse(library, agent string, body []byte) robots {
	if library == "grobotstxt" {
		text := string(body)
		return func(url, _ string) bool { return grobotstxt.AgentAllowed(text, agent, url) }
	}
	data, err := robotstxt.FromBytes(body)
	if err != nil {
		return func(string, string) bool { return true } // it refuses a file with any bad line: nothing is forbidden
	}
	group := data.FindGroup(agent)
	return func(_, path string) bool { return group.Test(path) }
}

func decide(hosts map[string]robots, url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	scheme = strings.ToLower(scheme)
	if !found || (scheme != "http" && scheme != "https") {
		return "invalid"
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority := strings.ToLower(rest[:end])
	if authority == "" {
		return "invalid"
	}
	if scheme == "https" {
		authority = strings.TrimSuffix(authority, ":443")
	} else {
		authority = strings.TrimSuffix(authority, ":80")
	}
	allowed, known := hosts[authority]
	if !known {
		return "unknown"
	}
	path, _, _ := strings.Cut(rest[end:], "#")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if allowed(url, path) {
		return "allow"
	}
	return "deny"
}

func main() {
	library, directory, urls, agent := os.Args[1], os.Args[2], os.Args[3], os.Args[5]
	limit, err := strconv.Atoi(os.Args[4])
	check(err)

	start := time.Now()
	hosts := map[string]robots{}
	files, err := os.ReadDir(directory)
	check(err)
	for _, file := range files {
		body, err := os.ReadFile(filepath.Join(directory, file.Name()))
		check(err)
		hosts[file.Name()] = parse(library, agent, body)
	}
	parseSeconds := time.Since(start).Seconds()

	var verdicts *bufio.Writer
	if len(os.Args) > 6 {
		file, err := os.Create(os.Args[6])
		check(err)
		defer file.Close()
		verdicts = bufio.NewWriter(file)
		defer verdicts.Flush()
	}
	input, err := os.Open(urls)
	check(err)
	counts := map[string]int{"allow": 0, "deny": 0, "unknown": 0, "invalid": 0}
	start = time.Now()
	lines := bufio.NewScanner(bufio.NewReaderSize(input, 1<<20))
	lines.Buffer(nil, 1<<20)
	for seen := 0; seen < limit && lines.Scan(); seen++ {
		verdict := decide(hosts, lines.Text())
		counts[verdict]++
		if verdicts != nil {
			verdicts.WriteString(verdict + "\n")
		}
	}
	check(lines.Err())
	seconds := time.Since(start).Seconds()
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"seconds": seconds, "parseSeconds": parseSeconds, "counts": counts,
	}))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
