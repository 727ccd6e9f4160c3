"""A promise of few errors on the page: the form that makes it, the sentence on top of the dashboard, the export."""

import numpy as np


def test_a_form_promises_few_errors_and_the_dashboard_and_the_export_say_what_was_delivered(visit, client):
    page = visit("root", "/new")
    page.get_by_label("Name", exact=True).fill("sure")
    page.get_by_label("Labels", exact=True).fill("ham\nspam")
    page.locator("input[name=features][value=numbers]").check()
    assert page.get_by_label("Share of errors", exact=True).is_hidden()
    page.get_by_role("radio", name="At most this share of errors").check()
    page.get_by_label("Share of errors", exact=True).fill("0.3")
    assert page.get_by_label("Share", exact=True).is_hidden()
    page.get_by_text("Times").click()
    page.get_by_label("Grace in seconds").fill("0")
    page.get_by_role("button", name="Make the stream").click()
    page.wait_for_url("**/import/sure")
    stream = client.stream("sure")
    budget = stream.facts()["settings"]["budget"]
    assert {name: each for name, each in budget.items() if each is not None} == {"errors": 0.3}
    for number, x in enumerate(np.random.default_rng(0).standard_normal((120, 2)).round(3)):
        decision = stream.ask(x.tolist(), id=f"n{number}")
        assert decision.delivered == (None if decision.query or decision.withheld else decision.prediction)
        if decision.query:
            stream.tell(decision, "spam" if x[0] > 0.0 else "ham")
    page.goto(page.url.replace("/import/", "/dashboard/"))
    says = page.locator(".sentence", has_text="delivered,").inner_text()
    assert "by people; at most " in says
    assert "% of them are wrong (95 % confidence)." in says
    rows = list(stream.export("delivered"))
    assert says.startswith(f"{len(rows)} labels delivered, {sum(row['by'] == 'people' for row in rows)} by people")
    assert all(row["label"] in ("ham", "spam") and row["id"] for row in rows)
    page.goto(page.url.replace("/dashboard/", "/change/"))
    assert page.get_by_role("radio", name="At most this share of errors").is_checked()
    assert page.get_by_role("radio", name="A share of the instances").count() == 0
    page.get_by_label("Share of errors", exact=True).fill("0.25")
    page.get_by_role("button", name="Change the settings").click()
    page.locator(".done", has_text="Changed: budget").wait_for()
    assert stream.report()["promise"]["errors"] == 0.25
