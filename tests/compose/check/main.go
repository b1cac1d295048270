// Reads a Compose file as `docker compose config --quiet` does, with Compose's own library: Compose itself takes
// minutes to build. The file is docker-compose.yml of the current folder, with the .env next to it.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(
		[]string{"docker-compose.yml"}, cli.WithName("tapewise"), cli.WithEnvFiles(), cli.WithDotEnv,
	)
	if err == nil {
		_, err = options.LoadProject(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
