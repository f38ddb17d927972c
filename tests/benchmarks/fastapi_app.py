"""``settle`` as others would write it: FastAPI, with pydantic models for the body; for uvicorn."""

from typing import Annotated, Any, Literal

import orjson
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from service.certificate.jws import certify
from service.fairness.deal import Beacon, DeckDeal, SeedDeal
from service.fairness.sealing import SealedDeal
from service.game.cards import parse_cards
from service.game.round import Action
from service.game.ruleset import MAX_AMOUNT
from service.game.stakes import BoxStake, Table
from service.keys import configured_keys
from service.registry import configured_rulesets
from service.rounds import RoundRequest, UnknownRuleset, settle_request, unsealed


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


Amount = Annotated[int, Field(ge=1, le=MAX_AMOUNT)]
Box = Annotated[int, Field(ge=1, le=4)]
Hex = Annotated[str, Field(pattern=r"^[0-9A-Fa-f]{64}$")]


class BeaconBody(Strict):
    source: Annotated[str, Field(min_length=1, max_length=100)]
    value: Annotated[str, Field(pattern=r"^[0-9A-Fa-f]{32,128}$")]

    def made(self) -> Beacon:
        return Beacon(self.source, self.value.lower())


class Seeds(Strict):
    client_seed: Annotated[str, Field(max_length=128)] = ""
    nonce: Annotated[int, Field(ge=0, le=2**53 - 1)] = 0
    commitment: Hex | None = None
    reveal: bool = True
    beacon: BeaconBody | None = None

    def choices(self) -> dict[str, Any]:
        return {
            "client_seed": self.client_seed,
            "nonce": self.nonce,
            "commitment": self.commitment and self.commitment.lower(),
            "reveal": self.reveal,
            "beacon": self.beacon and self.beacon.made(),
        }


class SeedBody(Seeds):
    server_seed: Hex

    def made(self) -> SeedDeal:
        return SeedDeal(bytes.fromhex(self.server_seed), **self.choices())


class SealedBody(Seeds):
    sealed_seed: Annotated[str, Field(min_length=1, max_length=1024)]

    def made(self) -> SealedDeal:
        return SealedDeal(self.sealed_seed, self.choices())


class DeckBody(Strict):
    deck: Annotated[list[str], Field(min_length=52, max_length=52)]

    def made(self) -> DeckDeal:
        return DeckDeal(parse_cards(self.deck))


class TableBody(Strict):
    min_stake: Amount | None = None
    max_stake: Amount | None = None
    max_payout: Amount | None = None

    def made(self) -> Table:
        return Table(self.min_stake, self.max_stake, self.max_payout)


class BoxBody(Strict):
    box: Box
    ante: Amount
    bonus: Annotated[int, Field(ge=0, le=MAX_AMOUNT)] = 0
    blind: bool = False
    player: Annotated[str, Field(min_length=1, max_length=64)] | None = None

    def made(self) -> BoxStake:
        return BoxStake(self.box, self.ante, self.bonus, self.blind, self.player)


class Plain(Strict):
    box: Box
    action: Literal["buy_sixth", "bet", "fold", "take_ante", "buy_game"]

    def made(self) -> Action:
        return Action(self.box, self.action)


class Exchange(Strict):
    box: Box
    action: Literal["exchange"]
    discard: Annotated[list[str], Field(min_length=1, max_length=5)]

    def made(self) -> Action:
        return Action(self.box, self.action, parse_cards(self.discard))


class Insure(Strict):
    box: Box
    action: Literal["insure"]
    amount: Amount

    def made(self) -> Action:
        return Action(self.box, self.action, amount=self.amount)


class RoundBody(Strict):
    ruleset: Annotated[str, Field(min_length=1, max_length=100)]
    deal: SeedBody | SealedBody | DeckBody
    table: TableBody = TableBody()
    boxes: Annotated[list[BoxBody], Field(min_length=1, max_length=4)]
    actions: Annotated[
        list[Annotated[Plain | Exchange | Insure, Field(discriminator="action")]], Field(max_length=100)
    ]
    context: dict[str, Any] | None = None

    def made(self) -> RoundRequest:
        return RoundRequest(
            self.ruleset,
            self.deal.made(),  # type: ignore[arg-type]  # a sealed one is opened before it is used
            tuple([box.made() for box in self.boxes]),
            tuple([action.made() for action in self.actions]),
            self.table.made(),
            self.context,
        )


app = FastAPI()
rulesets, keys = configured_rulesets(), configured_keys()


@app.post("/v1/rounds/settle")
async def settle(body: RoundBody) -> Response:
    outcome = settle_request(unsealed(body.made(), keys.sealer), rulesets)
    return Response(orjson.dumps(certify(outcome, keys.signer)), media_type="application/json")


@app.exception_handler(ValueError)
@app.exception_handler(UnknownRuleset)
async def refuse(_: Request, error: Exception) -> Response:
    return Response(orjson.dumps({"detail": str(error)}), 422)
