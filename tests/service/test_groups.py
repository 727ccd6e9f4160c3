"""Groups, teams, reserved questions and absences in a service, through its API and over a restart."""

import pytest

from askwhen.service.domain.people import People
from askwhen.service.domain.stream import MOST_FURTHER
from askwhen.service.events.kinds import GroupSet, SettingsChanged
from askwhen.service.http.role_table import is_name
from askwhen.service.use_cases import instances, questions, streams, tokens
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running

MOLES = {
    "labels": ["nevus", "melanoma", "wart"],
    "algorithm": "perceptron",
    "budget": None,
    "seed": 7,
    "specialists": {"melanoma": {"who": ["@doctors"], "after": None}},
}


class Api:
    def __init__(self, http, tokens):
        self.http, self.tokens = http, tokens

    async def __call__(self, who, method, path, body=None, status=200):
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        reply = await self.http.request(method, path, json=body, headers=headers)
        assert reply.status_code == status, reply.text
        return reply.json() if reply.content else None

    async def next(self, who):
        found = await self.http.post(
            "/v1/streams/moles/questions/next", headers={"Authorization": f"Bearer {self.tokens[who]}"}
        )
        return found.json()["question"] if found.status_code == 200 else None


async def with_tokens(coordinator, http):
    found = {}
    for name, role in (("root", "admin"), ("ann", "annotator"), ("eve", "annotator"), ("rae", "reviewer")):
        found[name], _ = await tokens.make(coordinator, name, [role], None, None)
    return Api(http, found)


def test_groups_reservations_and_absences_outlive_a_restart(tmp_path):
    async def before():
        async with running(tmp_path / "log.db") as (coordinator, http):
            api = await with_tokens(coordinator, http)
            made = {"name": "doctors", "members": ["eve"]}
            assert await api("root", "POST", "/v1/groups", made) == made
            await api("root", "POST", "/v1/streams", {"name": "moles", "settings": MOLES}, 201)
            for i in range(4):
                await api("root", "POST", "/v1/streams/moles/instances", {"x": [float(i), 1.0]})
            await api("rae", "POST", "/v1/streams/moles/questions/1/reserve", {"who": ["@doctors"], "key": "k"}, 204)
            await api("rae", "POST", "/v1/streams/moles/questions/1/reserve", {"who": ["@doctors"], "key": "k"}, 204)
            await api("rae", "POST", "/v1/streams/moles/questions/1/reserve", {"who": ["ann"], "key": "k"}, 409)
            await api("rae", "POST", "/v1/streams/moles/questions/2/reserve", {"who": ["gus"]}, 204)
            await api("root", "POST", "/v1/people/away", {"name": "gus", "until": 4e9}, 204)
            listed = await api("rae", "GET", "/v1/streams/moles/questions")
            assert {each["question"]: each.get("who", []) for each in listed if each.get("reserved")} == {
                1: ["@doctors"],
                2: ["gus"],
            }
            await api("ann", "POST", "/v1/streams/moles/questions/1/answer", {"label": "wart"}, 409)
            return api.tokens

    async def after(secrets):
        async with running(tmp_path / "log.db") as (_, http):
            api = Api(http, secrets)
            found = await api("rae", "GET", "/v1/people")
            assert found["groups"] == [{"name": "doctors", "members": ["eve"]}]
            assert found["away"] == [{"name": "gus", "until": 4e9}]
            overview = await api("rae", "GET", "/v1/streams/moles/overview")
            expected = {"count": 1, "why": [["for gus: all who may answer it are away", 1]]}
            assert overview["waiting"]["unanswerable"] == expected
            overview = await api("ann", "GET", "/v1/streams/moles/overview")
            assert overview["waiting"]["unanswerable"] == {"count": 1, "why": []}
            assert await api.next("eve") == 1
            assert [await api.next("ann"), await api.next("ann"), await api.next("ann")] == [0, 3, None]
            await api("rae", "POST", "/v1/streams/moles/questions/2/reserve", {"who": []}, 204)
            await api("root", "POST", "/v1/people/away", {"name": "gus", "until": None}, 204)
            assert await api.next("ann") == 2
            audit = await api("root", "GET", "/v1/audit?format=json")
            mine = [each for each in audit if each["event"] in ("group set", "reserved", "went away", "came back")]
            assert [(each["event"], each["by"]) for each in mine] == [
                ("group set", "root"),
                ("reserved", "rae"),
                ("reserved", "rae"),
                ("went away", "root"),
                ("reserved", "rae"),
                ("came back", "root"),
            ]
            assert mine[3]["details"] == {"name": "gus", "until": 4e9}
            assert mine[5]["details"] == {"name": "gus"}
            body = {"round": 3, "label": "wart"}  # a reviewer decides what is for others, too
            await api("rae", "POST", "/v1/streams/moles/questions/3/reserve", {"who": ["gus"]}, 204)
            await api("ann", "POST", "/v1/streams/moles/questions/3/answer", {"label": "wart"}, 409)
            await api("rae", "POST", "/v1/streams/moles/correct", body, 204)
            refused = await api("root", "DELETE", "/v1/groups/doctors", status=409)
            assert "the stream moles uses the group doctors" in refused["detail"]
            await api("root", "PATCH", "/v1/streams/moles", {"settings": {"specialists": {"melanoma": None}}})
            assert (await api("root", "DELETE", "/v1/groups/doctors", status=409))["owner"] == "group"
            await api("rae", "POST", "/v1/streams/moles/questions/1/reserve", {"who": []}, 204)
            await api("root", "DELETE", "/v1/groups/doctors", status=204)
            await api("root", "DELETE", "/v1/groups/doctors", status=404)
            assert (await api("rae", "GET", "/v1/people"))["groups"] == []

    run(after(run(before())))


def test_the_second_likely_label_is_stored_where_it_says_who_is_asked(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            api = await with_tokens(coordinator, http)
            await api("root", "POST", "/v1/groups", {"name": "doctors", "members": ["eve"]})
            await api("root", "POST", "/v1/streams", {"name": "moles", "settings": MOLES}, 201)
            stream, names = coordinator.streams["moles"], MOLES["labels"]
            for i in range(30):
                played = await api("root", "POST", "/v1/streams/moles/instances", {"x": [float(i % 5), 1.0, -i % 3]})
                if played["asked"]:
                    question = stream.questions.open[played["round"]]
                    assert question.second in names
                    assert question.second != question.prediction
                    is_theirs = "melanoma" in (question.prediction, question.second)
                    assert stream.questions.audience(question).who == (("@doctors",) if is_theirs else ())
                    who = "eve" if is_theirs else "ann"
                    answer = {"label": names[i % 3]}
                    await api(who, "POST", f"/v1/streams/moles/questions/{played['round']}/answer", answer)

    run(go())


def test_one_says_oneself_that_one_is_away(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            api = await with_tokens(coordinator, http)
            settings = MOLES | {"specialists": {}}
            await api("root", "POST", "/v1/streams", {"name": "moles", "settings": settings}, 201)
            await api("root", "POST", "/v1/streams/moles/instances", {"x": [1.0, 1.0]})
            await api("ann", "POST", "/v1/me/away", {"until": 4e9}, 204)
            assert (await api("ann", "GET", "/v1/me"))["away"] == 4e9
            progress = await api("ann", "GET", "/v1/streams/moles/progress?since=" + str(coordinator.clock.now()))
            assert (progress["paused"], progress["back"]) == (True, 4e9)
            assert await api.next("ann") is None
            await api("ann", "POST", "/v1/me/away", {"until": None}, 204)
            assert (await api("ann", "GET", "/v1/me"))["away"] is None
            assert await api.next("ann") == 0
            for wrong in (1.0, 1e12):
                await api("ann", "POST", "/v1/me/away", {"until": wrong}, 422)

    run(go())


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "@doctors", "members": []},
        {"name": "", "members": []},
        {"name": "night/day", "members": []},
        {"name": "..", "members": []},
        {"name": "a", "members": ["@b"]},
        {"name": "a", "members": ["ann", "ann"]},
        {"name": "a", "members": ["x" * 101]},
    ],
)
def test_wrong_groups_are_refused(tmp_path, wrong):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            assert (await http.post("/v1/groups", json=wrong)).status_code == 422
            assert coordinator.people.groups == {}

    run(go())


def test_a_group_that_does_not_exist_is_refused_wherever_it_is_named(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            made = MOLES | {"specialists": {}, "team": ["ann"]}
            patched = {"team": ["ann", "@typo"]}
            specialists = {"specialists": {"wart": {"who": ["@typo"]}}}
            url = "/v1/streams"
            for wrong in (made | patched, made | specialists):
                reply = await http.post(url, json={"name": "moles", "settings": wrong})
                assert (reply.status_code, "there is no group 'typo'" in reply.text) == (422, True)
            assert (await http.post(url, json={"name": "moles", "settings": made})).status_code == 201
            for wrong in (patched, specialists):
                reply = await http.patch(f"{url}/moles", json={"settings": wrong})
                assert (reply.status_code, "there is no group 'typo'" in reply.text) == (422, True)
            await http.post(f"{url}/moles/instances", json={"x": [1.0, 1.0]})
            reply = await http.post(f"{url}/moles/questions/0/reserve", json={"who": ["@typo"]})
            assert (reply.status_code, "there is no group 'typo'" in reply.text) == (422, True)
            stream = coordinator.streams["moles"]
            assert (stream.settings.team, stream.questions.open[0].reserved) == (["ann"], [])
            old = SettingsChanged({"team": ["@gone", "ann"]}, "root")  # by an earlier version
            with coordinator.changing(stream):
                stream.note("settings changed", old, coordinator.clock.now())
            await coordinator.committed(stream)
        async with running(tmp_path / "log.db") as (coordinator, http):
            assert coordinator.streams["moles"].settings.team == ["@gone", "ann"]
            assert (await http.patch(f"{url}/moles", json={"settings": {"grace": 5.0}})).status_code == 200

    run(go())


def test_no_person_is_called_like_a_group(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            await http.post("/v1/groups", json={"name": "doctors", "members": ["eve"]})
            await http.post("/v1/streams", json={"name": "moles", "settings": MOLES | {"team": ["@doctors"]}})
            await http.post("/v1/streams/moles/instances", json={"x": [1.0, 1.0]})
            who = {"annotator": "@doctors"}
            reply = await http.post("/v1/streams/moles/questions/next", json=who)
            assert (reply.status_code, "begin with @" in reply.text) == (422, True)
            api = await with_tokens(coordinator, http)
            for path in ("/v1/tokens", "/v1/invitations"):
                refused = await api("root", "POST", path, {"name": "@doctors", "roles": ["annotator"]}, 422)
                assert "does not begin with @" in refused["detail"]
            assert (is_name("@doctors"), is_name("doctors@example.org")) == (False, True)

    run(go())


def test_errors_name_what_is_wrong(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (_, http):
            for body in ("{a: 1}", '{"name"', '{"name": "a",}', "nope"):
                reply = await http.post("/v1/groups", content=body, headers={"Content-Type": "application/json"})
                assert (reply.status_code, "the body is not JSON: " in reply.json()["detail"]) == (400, True)
            hook = {"url": "https://example.org", "kinds": ["nope"], "template": "slack", "oldest": 3}
            reply = await http.post("/v1/webhooks", json=hook)
            assert reply.json()["detail"].startswith("kinds must be some of question.opened, ")

    run(go())


def test_a_person_of_an_earlier_version_who_is_called_like_a_group_is_not_in_it():
    people = People()
    people.apply(GroupSet("doctors", ["eve"]))
    assert [people.includes(["@doctors"], name) for name in ("eve", "@doctors")] == [True, False]
    people.apply(GroupSet("nurses", ["@doctors"]))
    assert people.names_of("@doctors") == {"@nurses"}


def test_what_waits_for_specialists_keeps_no_one_else_from_work(tmp_path):
    async def go():
        given = {"labels": ["no", "yes"], "algorithm": "perceptron", "budget": None, "grace": 0.0, "mode": "backlog"}
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "moles", settings(**given))
            for x, label in (([1.0, 0.0], "yes"), ([-1.0, 0.0], "no")):
                await instances.play(coordinator, stream, Raw(x))
                found = await questions.next_question(coordinator, stream, "eve")
                await questions.answer(coordinator, stream, found.question, "eve", label)
            changes = {"specialists": {"yes": {"who": ["eve"], "after": None}}}
            await streams.change_settings(coordinator, "moles", changes, "root")
            wanted = stream.wanted_questions(1)
            for i in range(12 * wanted):
                await instances.play(coordinator, stream, Raw([1.0 + i, 0.0]))
            await instances.play(coordinator, stream, Raw([-2.0, 0.0]))
            asks = 0
            while (found := await questions.next_question(coordinator, stream, "ann")) is None:
                asks += 1
                assert asks < 12 * wanted
            assert found.x == [-2.0, 0.0]
            assert asks <= 12 * wanted // MOST_FURTHER + 1

    run(go())
