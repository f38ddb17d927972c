import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.stream.Stream;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CertificatesApi;
import org.openapitools.client.api.HandsApi;
import org.openapitools.client.api.RoundsApi;
import org.openapitools.client.api.RulesetsApi;
import org.openapitools.client.model.*;

/**
 * Plays rounds against the service, {@code java Sample BASE_URL PLANS}, and prints as JSON what came of them.
 *
 * <p>A plan is a round before its first decision, and how to decide: the first of its {@code wishes} that is
 * legal is taken. Its {@code answers} tell a mock call by call which example to answer with; the service needs
 * no telling.
 */
public class Sample {
  private final ApiClient api = new ApiClient();
  private final ObjectMapper mapper = api.getObjectMapper();
  private final RoundsApi rounds;

  Sample(String baseUrl) {
    api.updateBaseUri(baseUrl);
    rounds = new RoundsApi(api);
  }

  public static void main(String[] arguments) throws Exception {
    Sample sample = new Sample(arguments[0]);
    List<Map<String, Object>> summaries = new ArrayList<>();
    for (JsonNode plan : sample.mapper.readTree(Path.of(arguments[1]).toFile())) {
      summaries.add(sample.play(plan));
    }
    System.out.println(new ObjectMapper().writeValueAsString(summaries));
  }

  /** One round from its deal to its verified outcome. */
  Map<String, Object> play(JsonNode plan) throws Exception {
    List<String> wishes = strings(plan.path("wishes"));
    Queue<String> answers = new ArrayDeque<>(strings(plan.path("answers")));

    Round round = new Round()
        .ruleset(plan.path("ruleset").textValue())
        .deal(deal(plan.path("deal")))
        .table(mapper.convertValue(plan.get("table"), Table.class))
        .boxes(mapper.convertValue(plan.path("boxes"), new TypeReference<List<BoxStake>>() {}))
        .context(mapper.convertValue(plan.get("context"), new TypeReference<Map<String, Object>>() {}));
    View view = rounds.stepRound(round, null, prefer(answers));
    while (view.getPhase() != View.PhaseEnum.SETTLED) {
      round.addActionsItem(decide(view, wishes));
      view = rounds.stepRound(round, null, prefer(answers));
    }

    Outcome outcome = rounds.settleRound(round, null);
    SettledBox box = outcome.getBoxes().get(0);

    CertificateClaim claim = new CertificateClaim().certificate(outcome.getCertificate());
    if (round.getDeal().getActualInstance() instanceof SeedDeal) {
      claim.serverSeed(round.getDeal().getSeedDeal().getServerSeed());
    }
    Verdict verdict = new CertificatesApi(api).verifyRound(new Claim(claim), null);
    Hand hand = new HandsApi(api)
        .evaluateHand(new HandRequest().ruleset(round.getRuleset()).cards(box.getHand()), null);
    Ruleset rules = new RulesetsApi(api).getRuleset(round.getRuleset(), null, null);

    Action first = round.getActions().get(0);
    IllegalActionProblem refusal = refused(round.actions(List.of(first, first)), prefer(answers));

    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("outcome_id", outcome.getOutcomeId());
    summary.put("actions", outcome.getActions());
    summary.put("context", outcome.getContext());
    summary.put("bets", outcome.getBoxes().stream().flatMap(one -> one.getBets().stream())
        .map(bet -> List.of(bet.getName(), bet.getNet())).toList());
    summary.put("results", outcome.getBoxes().stream().map(SettledBox::getResult).toList());
    summary.put("net", outcome.getTotals().getNet());
    summary.put("valid", verdict.getValid());
    summary.put("checks", verdict.getChecks().stream().map(Check::getName).toList());
    summary.put("hand", Stream.of(hand.getMain(), hand.getSecond(), hand.getOdds()).toList());
    summary.put("flush", rules.getBet().getOdds().getFlush().getValue());
    Map<String, Object> refused = new LinkedHashMap<>();
    refused.put("index", refusal.getIndex());
    refused.put("box", refusal.getBox());
    refused.put("legal", refusal.getLegal().stream().map(Sample::name).toList());
    summary.put("refused", refused);
    return summary;
  }

  /** The first wish that is legal. */
  static Action decide(View view, List<String> wishes) {
    Map<String, LegalAction> offers = new LinkedHashMap<>();
    view.getLegal().forEach(offer -> offers.put(name(offer), offer));
    String wish = wishes.stream().filter(offers::containsKey).findFirst().orElseThrow();
    Object offer = offers.get(wish).getActualInstance();
    if (offer instanceof LegalExchange exchange) {
      Set<String> hand = view.getBoxes().stream()
          .filter(box -> box.getBox().equals(view.getBox())).findFirst().orElseThrow().getHand();
      return new Action(new ExchangeAction()
          .box(view.getBox())
          .action(ExchangeAction.ActionEnum.EXCHANGE)
          .discard(new LinkedHashSet<>(List.copyOf(hand).subList(0, exchange.getMinCards()))));
    }
    if (offer instanceof LegalInsurance insurance) {
      return new Action(new InsureAction()
          .box(view.getBox())
          .action(InsureAction.ActionEnum.INSURE)
          .amount(insurance.getMaxAmount()));
    }
    return new Action(new PlainAction().box(view.getBox()).action(((LegalPlainAction) offer).getAction()));
  }

  /** The problem that a round with an illegal action meets. */
  IllegalActionProblem refused(Round round, Map<String, String> headers) throws Exception {
    try {
      rounds.settleRound(round, null, headers);
    } catch (ApiException refusal) {
      SettlementProblem problem = mapper.readValue(refusal.getResponseBody(), SettlementProblem.class);
      return problem.getIllegalActionProblem();
    }
    throw new AssertionError("the same decision twice was taken");
  }

  static String name(LegalAction offer) {
    if (offer.getActualInstance() instanceof LegalExchange exchange) {
      return exchange.getAction().getValue();
    }
    if (offer.getActualInstance() instanceof LegalInsurance insurance) {
      return insurance.getAction().getValue();
    }
    return offer.getLegalPlainAction().getAction().getValue();
  }

  Deal deal(JsonNode deal) throws Exception {
    if (deal.has("deck")) {
      return new Deal(mapper.treeToValue(deal, DeckDeal.class));
    }
    if (deal.has("sealed_seed")) {
      return new Deal(mapper.treeToValue(deal, SealedDeal.class));
    }
    return new Deal(mapper.treeToValue(deal, SeedDeal.class));
  }

  static Map<String, String> prefer(Queue<String> answers) {
    return answers.isEmpty() ? Map.of() : Map.of("Prefer", answers.remove());
  }

  static List<String> strings(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(text -> texts.add(text.textValue()));
    return texts;
  }
}
