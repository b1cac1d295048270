// Checks files of Prometheus rules as `promtool check rules` does, with Prometheus' own library: promtool itself takes
// minutes to build.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	failed := false
	expressions := parser.NewParser(parser.Options{})
	for _, path := range os.Args[1:] {
		_, faults := rulefmt.ParseFile(path, false, model.UTF8Validation, expressions, slog.Default())
		for _, fault := range faults {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, fault)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}
