"""Labelling configs: names out of XML that others wrote, and refusals in a sentence."""

import pytest

from askwhen.errors import InputError
from askwhen.service.use_cases.answer_kinds import NUMBER, SEVERAL, SINGLE
from askwhen.service.use_cases.label_studio import label_config
from tests.service.bridges.studio import CONFIG


def view(inside):
    return f'<View><Text name="t" value="$text"/>{inside}</View>'


def choices(given="", *names):
    return f'<Choices name="c" toName="t" {given}>{"".join(names or ONE)}</Choices>'


ONE = ('<Choice value="a"/>', '<Choice value="b" alias="B"/>')


def test_names_come_from_the_config():
    assert label_config.read(CONFIG) == ("kind", "text", "text", SINGLE, ("ham", "spam"))
    nested = (
        '<View><Header value="Which?"/><View style="x"><Image name="t" value="$url"/></View>' + choices() + "</View>"
    )
    assert label_config.read(nested) == ("c", "t", "url", SINGLE, ("a", "B"))
    with_notes = view(choices('choice="single-radio"') + '<TextArea name="n" toName="t"/>')
    assert label_config.read(with_notes).choices == ("a", "B")
    several = label_config.read(view(choices('choice="multiple"')))
    assert (several.answer, several.choices) == (SEVERAL, ("a", "B"))
    number = label_config.read(view('<Number name="n" toName="t" min="0"/><TextArea name="m" toName="t"/>'))
    assert number == ("n", "t", "text", NUMBER, ())


@pytest.mark.parametrize(
    ("config", "said"),
    {
        "rating": (view('<Rating name="r" toName="t"/>'), "no Rating, which askwhen does not predict"),
        "labels too": (view(choices() + '<Labels name="l" toName="t"><Label value="x"/></Labels>'), "no Labels"),
        "nothing": ("<View/>", "exactly one Choices or Number with a toName, got 0"),
        "two": (
            view(choices() + choices().replace('"c"', '"d"')),
            "exactly one Choices or Number with a toName, got 2",
        ),
        "of another kind": (view(choices('choice="ranked"')), 'Choices with choice="single" or choice="multiple"'),
        "both": (
            view(choices() + '<Number name="n" toName="t"/>'),
            "exactly one Choices or Number with a toName, got 2",
        ),
        "of regions": (view(choices('perRegion="true"')), "Choices of the whole task"),
        "of nothing": ('<View><Text name="u" value="$text"/>' + choices() + "</View>", "the name that toName says"),
        "of two": (view(choices().replace('"t"', '"t,u"', 1)), "the name that toName says"),
        "a template": (view(choices()).replace("$text", "hello"), r'value="\$field" in the tag t'),
        "one choice": (view(choices("", ONE[0])), "at least two different choices"),
        "the same": (view(choices("", ONE[0], ONE[0])), "at least two different choices"),
        "a tree": (view(choices("", '<Choice value="a"><Choice value="b"/></Choice>')), "not nested"),
        "no xml": ("hello", "well-formed XML"),
        "unclosed": ("<View>", "well-formed XML"),
        "empty": ("", "well-formed XML"),
        "huge": ("<View>" + " " * (1 << 20) + "</View>", "at most 1,048,576 characters"),
        "deep": ("<a>" * 100 + "</a>" * 100, "nested at most 64 deep"),
        "wide": ("<View>" + "<a/>" * 6_000 + "</View>", "at most 5,000 tags"),
        "half a surrogate": ("<View>\ud800", "well-formed XML"),
    }.values(),
)
def test_what_cannot_be_predicted_is_refused_in_a_sentence(config, said):
    with pytest.raises(InputError, match=said):
        label_config.read(config)


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(12)
)


@pytest.mark.parametrize(
    "config",
    [
        LAUGHS + "]><View>&m;</View>",
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><View>&a;</View>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd"><View/>',
        '<!DOCTYPE x [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]><View/>',
        "<!DOCTYPE x><View/>",
    ],
)
def test_entities_are_neither_expanded_nor_fetched(config):
    with pytest.raises(InputError, match="no document type and no entities"):
        label_config.read(config)
