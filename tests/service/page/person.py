"""What a person does in front of the page that asks."""


def asked(page):
    """The number of the question that is shown, once one is."""
    page.wait_for_selector(".question .instance")
    return page.get_attribute(".question", "data-question")


READ = """() => {
    const instance = document.querySelector('.question .instance');
    if (!instance) return null;
    if (window.readFrom?.instance !== instance) window.readFrom = { instance, frames: 0 };
    // The page counts from the frame in which it is painted, which may be the one after this; it takes keys after
    // 100 ms, and clicks after 250, since the second half of a double click is no answer.
    if (window.readFrom.frames++ < 3) window.readFrom.at = performance.now();
    return performance.now() - window.readFrom.at > 260 ? instance.parentElement.dataset.question : null;
}"""


def read(page):
    """The question that is shown, after the time that nobody can read in."""
    return page.wait_for_function(READ, polling="raf").json_value()


def prefetched(page):
    """Wait until the next question is there too."""
    page.wait_for_selector(".question[data-ahead='1'] .instance")


def press(page, key, before=None):
    """Answer by a key, and wait for the next question, or for none; its number before."""
    before = read(page) if before is None else before
    page.keyboard.press(key)
    moved_on(page, before)
    return int(before)


def moved_on(page, before):
    """Wait until another question is shown, or none: the answer to the one before was taken."""
    page.wait_for_function(
        "before => document.querySelector('.question').dataset.question !== before"
        " || !document.querySelector('.question .instance')",
        arg=before,
    )


def all_safe(page):
    """Wait until the page says that nothing is on its way."""
    page.locator(".safety", has_text="All your answers are safe").wait_for()


def answers(stream):
    """Who said what to which question, as exports have it."""
    return [(row["question"], row["annotator"], row["answer"]) for row in stream.export() if not row["undone"]]


def card_of(page, name):
    """The card of a stream on the first page, which is searched for where there are several."""
    page.locator(".stream").first.wait_for()
    search = page.get_by_label("Find by name, label or tag")
    if search.count():
        search.fill(name)
    return page.locator(".stream", has=page.get_by_role("heading", name=name))
