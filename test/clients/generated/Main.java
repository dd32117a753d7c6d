import com.google.gson.Gson;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.ApiKeysApi;
import org.openapitools.client.api.DatasetsApi;
import org.openapitools.client.api.EmbeddingsApi;
import org.openapitools.client.api.PresetsApi;
import org.openapitools.client.model.Message;
import org.openapitools.client.model.MessageContent;
import org.openapitools.client.model.MessageRequest;
import org.openapitools.client.model.Plugin;
import org.openapitools.client.model.PluginWeb;

/** Calls the five operations of the specification with a Java client of openapi-generator. Prints what it read. */
public class Main {
  public static void main(String[] words) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(words[0]);
    client.setBearerToken(words[1]);

    var key = new ApiKeysApi(client).getCurrentKey();
    LocalDate first = LocalDate.parse("2025-02-08"), last = LocalDate.parse("2025-02-09");
    var datasets = new DatasetsApi(client);
    var ranking = datasets.getRankingsDaily(first, last, null, null, null, null, null, null, null, null, null);
    var rows = ranking.getRankingResponse().getData();
    Message hello = new Message().role(Message.RoleEnum.USER).content(new MessageContent("Hello"));
    PluginWeb web = new PluginWeb().id(PluginWeb.IdEnum.WEB).maxResults(3);
    MessageRequest request =
        new MessageRequest().model("acme/one").maxTokens(10).messages(List.of(hello)).plugins(List.of(new Plugin(web)));
    var presets = new PresetsApi(client);
    var preset = presets.createPresetsMessages("from-a-client", request, null);
    var version = presets.getPresetVersion("from-a-client", "1");
    var models = new EmbeddingsApi(client).listEmbeddingsModels(null, null);

    Map<String, Object> read =
        Map.of(
            "label", key.getData().getLabel(),
            "rows", rows.size(),
            "last", rows.get(rows.size() - 1).getDate().toString(),
            "preset", preset.getData().getSlug(),
            "version", version.getData().getVersion(),
            "config", version.getData().getConfig(),
            "models", models.getData().stream().map(model -> model.getId()).toList());
    System.out.println(new Gson().toJson(read));
  }
}
