"""``settle`` as others would write it: Flask, and marshmallow with a schema for each object."""

from typing import Any, get_args

import orjson
from flask import Flask, Response, request
from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from service.certificate.jws import certify
from service.fairness.deal import Beacon, DeckDeal, SeedDeal
from service.fairness.sealing import SealedDeal
from service.game.cards import parse_cards
from service.game.round import Action, ActionName
from service.game.ruleset import MAX_AMOUNT
from service.game.stakes import BoxStake, Table
from service.keys import configured_keys
from service.registry import configured_rulesets
from service.rounds import RoundRequest, UnknownRuleset, settle_request, unsealed

Data = dict[str, Any]

_HEX = r"[0-9A-Fa-f]{64}\Z"


def _whole(least: int, most: int, **options: Any) -> fields.Integer:
    return fields.Integer(strict=True, validate=validate.Range(least, most), **options)


def _text(least: int, most: int, **options: Any) -> fields.String:
    return fields.String(validate=validate.Length(least, most), **options)


def _hex(**options: Any) -> fields.String:
    return fields.String(validate=validate.Regexp(_HEX), **options)


def _cards(least: int, most: int) -> fields.List[str]:
    return fields.List(fields.String(), validate=validate.Length(least, most))


class BeaconSchema(Schema):
    source = _text(1, 100, required=True)
    value = fields.String(required=True, validate=validate.Regexp(r"[0-9A-Fa-f]{32,128}\Z"))

    @post_load
    def make(self, data: Data, **_: Any) -> Beacon:
        return Beacon(data["source"], data["value"].lower())


class DealSchema(Schema):
    server_seed = _hex()
    sealed_seed = _text(1, 1024)
    deck = _cards(52, 52)
    client_seed = _text(0, 128)
    nonce = _whole(0, 2**53 - 1)
    commitment = _hex()
    reveal = fields.Boolean(truthy={True}, falsy={False})
    beacon = fields.Nested(BeaconSchema)

    @validates_schema
    def one_source(self, data: Data, **_: Any) -> None:
        sources = {"server_seed", "sealed_seed", "deck"} & data.keys()
        if len(sources) != 1 or ("deck" in data and len(data) > 1):
            raise ValidationError("a deal has one source")

    @post_load
    def make(self, data: Data, **_: Any) -> SeedDeal | SealedDeal | DeckDeal:
        if "deck" in data:
            return DeckDeal(parse_cards(data["deck"]))
        if "commitment" in data:
            data["commitment"] = data["commitment"].lower()
        if "sealed_seed" in data:
            return SealedDeal(data.pop("sealed_seed"), data)
        return SeedDeal(bytes.fromhex(data.pop("server_seed")), **data)


class TableSchema(Schema):
    min_stake = _whole(1, MAX_AMOUNT)
    max_stake = _whole(1, MAX_AMOUNT)
    max_payout = _whole(1, MAX_AMOUNT)

    @post_load
    def make(self, data: Data, **_: Any) -> Table:
        return Table(**data)


class BoxSchema(Schema):
    number = _whole(1, 4, required=True, data_key="box")
    ante = _whole(1, MAX_AMOUNT, required=True)
    bonus = _whole(0, MAX_AMOUNT)
    blind = fields.Boolean(truthy={True}, falsy={False})
    player = _text(1, 64)

    @post_load
    def make(self, data: Data, **_: Any) -> BoxStake:
        return BoxStake(**data)


class ActionSchema(Schema):
    box = _whole(1, 4, required=True)
    name = fields.String(required=True, data_key="action", validate=validate.OneOf(get_args(ActionName)))
    discard = _cards(1, 5)
    amount = _whole(1, MAX_AMOUNT)

    @validates_schema
    def details(self, data: Data, **_: Any) -> None:
        for member, name in (("discard", "exchange"), ("amount", "insure")):
            if (member in data) != (data.get("name") == name):
                raise ValidationError("belongs to another action", member)

    @post_load
    def make(self, data: Data, **_: Any) -> Action:
        if "discard" in data:
            data["discard"] = parse_cards(data["discard"])
        return Action(**data)


class RoundSchema(Schema):
    ruleset = _text(1, 100, required=True)
    deal = fields.Nested(DealSchema, required=True)
    table = fields.Nested(TableSchema)
    boxes = fields.List(fields.Nested(BoxSchema), required=True, validate=validate.Length(1, 4))
    actions = fields.List(fields.Nested(ActionSchema), required=True, validate=validate.Length(0, 100))
    context = fields.Dict()

    @post_load
    def make(self, data: Data, **_: Any) -> RoundRequest:
        return RoundRequest(**data | {name: tuple(data[name]) for name in ("boxes", "actions")})


def create_nested() -> Flask:
    """An app with ``settle`` alone."""
    app = Flask("nested")
    rulesets, keys, body = configured_rulesets(), configured_keys(), RoundSchema()

    @app.post("/v1/rounds/settle")
    def settle() -> Response:
        outcome = settle_request(unsealed(body.load(request.get_json()), keys.sealer), rulesets)
        return Response(orjson.dumps(certify(outcome, keys.signer)), content_type="application/json")

    @app.errorhandler(ValidationError)
    @app.errorhandler(ValueError)
    @app.errorhandler(UnknownRuleset)
    def refuse(error: Exception) -> tuple[dict[str, str], int]:
        return {"detail": str(error)}, 422

    return app
