"""The options of ``askwhen serve``: command line, environment, file, and what is printed of them."""

import json
import os

import pytest
from click.testing import CliRunner

from askwhen.cli.main import main
from askwhen.service.process.configuration import OPTIONS, Option, masked


@pytest.fixture
def run(monkeypatch):
    for name in [name for name in os.environ if name.startswith("ASKWHEN_")]:
        monkeypatch.delenv(name)

    def run(*words, **environment):
        return CliRunner().invoke(main, ["serve", *map(str, words)], env=environment)

    return run


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "askwhen.toml"
        path.write_text(text)
        return path

    return write


def shown(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_command_line_comes_before_the_environment_before_the_file_before_the_default(run, file):
    path = file('port = 1\nhost = "a"\nrequests = 7\ntokens = true\n')
    found = shown(run("--show-config", "--json", "--config", path, "--port", 3, ASKWHEN_PORT="2", ASKWHEN_HOST="b"))
    assert found["port"] == {"value": 3, "from": "command line"}
    assert found["host"] == {"value": "b", "from": "ASKWHEN_HOST"}
    assert found["requests"] == {"value": 7.0, "from": str(path)}
    assert found["tokens"] == {"value": True, "from": str(path)}
    assert found["largest-body"] == {"value": 1 << 20, "from": "default"}
    assert shown(run("--show-config", "--json", ASKWHEN_CONFIG=str(path)))["port"]["value"] == 1


SAMPLES = {"whole": 77, "number": 7.5, "switch": True, "text": "word", "list": "10.0.0.1,10.0.0.2"}
PARTICULAR = {"root-path": "/askwhen", "user-header": "Remote-User", "groups-header": "Remote-Groups"}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_is_taken_from_the_environment_and_from_the_file(run, file, tmp_path, option):
    (tmp_path / "there").touch()
    value = PARTICULAR.get(
        option.name, {"file": str(tmp_path / "there"), "folder": str(tmp_path)}.get(option.kind) or SAMPLES[option.kind]
    )
    both = {f"tls-{each}": str(tmp_path / "there") for each in ("certificate", "key")}
    given = both if option.name in both else {option.name: value}
    environment = {f"ASKWHEN_{name.upper().replace('-', '_')}": str(each) for name, each in given.items()}
    found = shown(run("--show-config", "--json", **environment))[option.name]
    assert found["from"] == option.variable
    path = file("".join(f"{name} = {json.dumps(each)}\n" for name, each in given.items()))
    assert shown(run("--show-config", "--json", "--config", path))[option.name] == found | {"from": str(path)}
    assert found["value"] != option.default


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", "askwhen.toml: there is no option 'prot'; perhaps port is meant."),
        ("behind_proxy = true", "askwhen.toml: there is no option 'behind_proxy'; perhaps behind-proxy is meant."),
        ("port = 1.5", "askwhen.toml: port must be a whole number, got 1.5."),
        ("port = true", "askwhen.toml: port must be a whole number, got True."),
        ("port = 99999", "askwhen.toml: port: 99999 is not in the range 0<=x<=65535."),
        ('tokens = "yes"', "askwhen.toml: tokens must be true or false, got 'yes'."),
        ("port = ", "askwhen.toml is not TOML: "),
        ('tls-key = "nowhere"', "askwhen.toml: tls-key: File 'nowhere' does not exist."),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_by_its_name(run, file, text, said):
    refused = run("--show-config", "--config", file(text))
    assert (refused.exit_code, said in refused.output) == (2, True), refused.output


def test_a_variable_that_cannot_be_meant_is_refused_by_its_name(run):
    refused = run("--show-config", ASKWHEN_PORT="tcp://10.0.0.1:8300")
    assert (refused.exit_code, "ASKWHEN_PORT: port: 'tcp://" in refused.output) == (2, True)
    refused = run("--show-config", ASKWHEN_CONFIG="nowhere.toml")
    assert (refused.exit_code, "nowhere.toml: No such file" in refused.output) == (2, True)
    assert "ASKWHEN_PROT is not an option" in run("--show-config", ASKWHEN_PROT="1").output
    assert "ASKWHEN_TOKEN" not in run("--show-config", ASKWHEN_TOKEN="aw_1").output


def test_passwords_come_from_files_and_are_never_printed(run, tmp_path):
    (tmp_path / "secret").write_text("postgresql://ann:hidden@db/mails?passfile=x\n")
    for done in (
        run("--show-config", ASKWHEN_DB_FILE=str(tmp_path / "secret")),
        run("--show-config", "--json", "--db", "postgresql://ann:hidden@db/mails?password=hidden"),
    ):
        assert done.exit_code == 0, done.output
        assert "postgresql://ann:***@db/mails" in done.output
        assert "hidden" not in done.output
    assert shown(run("--show-config", "--json", ASKWHEN_DB_FILE=str(tmp_path / "secret")))["db"]["from"] == (
        "ASKWHEN_DB_FILE"
    )
    assert "cannot be read" in run("--show-config", ASKWHEN_DB_FILE="nowhere").output
    assert "both set" in run("--show-config", ASKWHEN_DB="a.db", ASKWHEN_DB_FILE=str(tmp_path / "secret")).output
    assert masked("postgresql://u:gehe/im@h/d") == "postgresql://u:***@h/d"
    assert masked("host=h password=geheim") == "host=h password=***"
    key = Option("some-key", "text", "", "A key.", secret="key")
    assert (key.shown("hidden"), key.shown("")) == ("***", "")


TRUST = 'trust = ["10.0.0.1"]\ngroups-header = "Remote-Groups"\n'


def test_what_people_may_do_is_printed_too(run, file):
    path = file(f'{TRUST}[roles.users]\nann = {{roles = ["annotator"], streams = ["mails"]}}\n')
    found = shown(run("--show-config", "--json", "--config", path))
    assert found["trust"]["value"] == ["10.0.0.1"]
    assert found["roles.users.ann"] == {"value": {"roles": ["annotator"], "streams": ["mails"]}, "from": str(path)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{TRUST}[roles.users]\nann = {{roles = ["king"]}}', "roles.users.ann: roles must be some of producer, "),
        (f"{TRUST}[roles.users]\nann = {{roles = []}}", "roles.users.ann: roles must be some of producer, "),
        (f'{TRUST}[roles.users]\nann = ["admin"]', "roles.users.ann must be a table, such as"),
        (f'{TRUST}[roles.users]\nann = {{roles = ["admin"], stream = "a"}}', "must have roles, perhaps streams, and"),
        (
            f'{TRUST}[roles.users]\nann = {{roles = ["admin"], streams = "a"}}',
            "streams must be a list of texts, got 'a'",
        ),
        (f'{TRUST}[roles.people]\nann = {{roles = ["admin"]}}', "roles has the parts roles.users and roles.groups"),
        (TRUST, "no roles are given"),
        ('[roles.users]\nann = {roles = ["admin"]}', "trust names no proxy"),
        ('trust = "10.0.0.1"\n[roles.groups]\nann = {roles = ["admin"]}', "roles.groups need groups-header"),
        ('trust = ["10.0.0.1/8"]\n[roles.users]\nann = {roles = ["admin"]}', "trust must be addresses or networks"),
        ('trust = "all"\n[roles.users]\nann = {roles = ["admin"]}', "trust must be addresses or networks"),
        (f'{TRUST}user-header = "Cookie"\n[roles.users]\nann = {{roles = ["admin"]}}', "user-header cannot be Cookie"),
        (f'{TRUST}user-header = "a b"\n[roles.users]\nann = {{roles = ["admin"]}}', "user-header must be the name of"),
        (f'{TRUST}sign-out = "javascript:1"\n[roles.users]\nann = {{roles = ["admin"]}}', "sign-out must be a path"),
        ('root-path = "askwhen"', "root-path must be a path such as /askwhen"),
        ('root-path = "/a/../b"', "root-path must be a path such as /askwhen"),
        ('root-path = "/label"', "the service has pages there"),
    ],
)
@pytest.mark.filterwarnings("ignore::litestar.exceptions.LitestarDeprecationWarning")
def test_what_cannot_be_meant_is_refused_before_anything_is_made(run, file, tmp_path, text, said):
    refused = run("--config", file(text), "--db", tmp_path / "log.db", "--quiet")
    assert refused.exit_code in (1, 2)
    assert said in refused.output
    assert not (tmp_path / "log.db").exists()


def test_what_serving_would_refuse_is_said_where_it_is_shown(run, file):
    done = run("--show-config", "--json", "--host", "0.0.0.0")
    assert shown(done)["host"]["value"] == "0.0.0.0"
    assert "Serving with these options is refused: 0.0.0.0 can be reached from other hosts" in done.stderr
    assert "refused" not in run("--show-config", "--json", "--host", "0.0.0.0", "--behind-proxy").stderr
    assert "is refused: " in run("--show-config", "--json", "--config", file('trust = ["nowhere"]')).stderr
    assert "is refused: root-path must be" in run("--show-config", "--json", "--root-path", "askwhen").stderr


def test_a_limit_that_is_no_number_is_refused(run, file):
    for refused in (
        run("--show-config", "--requests", "nan"),
        run("--show-config", "--config", file("requests = nan")),
    ):
        assert refused.exit_code == 2
        assert "nan is not a number" in refused.output
