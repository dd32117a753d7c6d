// Calls the five operations of the specification with a Go client of openapi-generator. Prints what it read.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	api "example.org/some/client"
)

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	url, token := os.Args[1], os.Args[2]
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: url}}
	client := api.NewAPIClient(configuration)
	call := context.WithValue(context.Background(), api.ContextAccessToken, token)

	key := must(client.APIKeysAPI.GetCurrentKey(call).Execute())
	ranking := must(client.DatasetsAPI.GetRankingsDaily(call).StartDate("2025-02-08").EndDate("2025-02-09").Execute())
	text := "Hello"
	content := api.MessageContent{String: &text}
	request := api.NewMessageRequest("acme/one", []api.Message{*api.NewMessage("user", content)})
	request.SetMaxTokens(10)
	web := api.NewPluginWeb("web")
	web.SetMaxResults(3)
	request.SetPlugins([]api.Plugin{api.PluginWebAsPlugin(web)})
	preset := must(client.PresetsAPI.CreatePresetsMessages(call, "from-a-client").MessageRequest(*request).Execute())
	version := must(client.PresetsAPI.GetPresetVersion(call, "from-a-client", "1").Execute())
	models := must(client.EmbeddingsAPI.ListEmbeddingsModels(call).Execute())

	ids := []string{}
	for _, model := range models.Data {
		ids = append(ids, model.Id)
	}
	rows := ranking.RankingResponse.Data
	read := map[string]any{
		"label":   key.Data.Label,
		"rows":    len(rows),
		"last":    rows[len(rows)-1].Date,
		"preset":  preset.Data.Slug,
		"version": version.Data.Version,
		"config":  version.Data.Config,
		"models":  ids,
	}
	printed := must[[]byte](marshal(read))
	fmt.Println(string(printed))
}

func marshal(value any) ([]byte, any, error) {
	bytes, err := json.Marshal(value)
	return bytes, nil, err
}
