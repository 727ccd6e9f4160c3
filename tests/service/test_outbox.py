"""The file in which answers wait for a service: nothing that was said to be kept is lost, whatever is killed."""

import os
import pathlib

import pytest

import askwhen as aw
from askwhen.client.outbox import Entry, Outbox

HERE = pathlib.Path()


def entry(key, **more):
    return Entry(key, "mails", 3, "answer", "spam", 0.5, "ann", 12.25, **more)


def left():
    return [path.name for path in HERE.iterdir() if path.suffix != ".device"]


def killed(box):
    """What a process leaves that is killed: its file, and no lock."""
    box._file.close()
    for file in box._holds.values():
        file.close()


def test_what_a_killed_process_left_is_taken_over_in_order_and_once():
    first = Outbox(HERE, "ann")
    for key in "abc":
        first.add(entry(key))
    first.done("b")
    first.hold("mails", 3)
    killed(first)
    second = Outbox(HERE, "ann")
    assert second.waiting == [entry("a", found=True), entry("c", found=True)]
    assert left() == [second.path.name]
    killed(second)
    third = Outbox(HERE, "ann")
    assert third.waiting == second.waiting
    for key in "ac":
        third.done(key)
    third.close()
    assert left() == []
    assert first.device == second.device == third.device


def test_a_line_that_a_crash_cut_off_is_passed_over():
    first = Outbox(HERE, "ann")
    first.add(entry("a"))
    first.add(entry("b"))
    killed(first)
    whole = first.path.read_bytes()
    for end in range(len(whole) + 1):
        first.path.write_bytes(whole[:end])
        second = Outbox(HERE, "ann")
        lines = whole[:end].count(b"\n")
        assert [each.key for each in second.waiting] == ["a", "b"][:lines]
        for each in list(second.waiting):
            second.done(each.key)
        second.close()


def test_a_process_that_lives_keeps_its_own_and_others_keep_out():
    first, second, other = Outbox(HERE, "ann"), Outbox(HERE, "ann"), Outbox(HERE, "bob")
    first.add(entry("a"))
    third = Outbox(HERE, "ann")
    assert third.waiting == other.waiting == []
    assert other.is_alone
    assert first.device == second.device != other.device
    assert not first.is_alone
    assert first.hold("mails", 3)
    assert not second.hold("mails", 3)
    assert second.hold("mails", 4)
    assert other.hold("mails", 3)
    first.let_go("mails", 3)
    assert second.hold("mails", 3)
    for box in (second, third, other):
        box.close()
    assert first.is_alone
    assert first.path.stat().st_mode & 0o077 == 0
    first.close()


def test_what_cannot_be_sent_now_stays_for_later():
    box = Outbox(HERE, "ann")
    box.add(entry("a"))
    box.add(entry("b"))
    box.set_aside("a")
    box.done("b")
    box.close()
    again = Outbox(HERE, "ann")
    assert [each.key for each in again.waiting] == ["a"]
    again.close()


def test_a_full_disk_is_told_and_takes_no_part_of_an_answer(monkeypatch):
    box = Outbox(HERE, "ann")
    box.add(entry("a"))

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(aw.InputError, match="cannot store an answer in .*: No space left on device"):
            box.add(entry("b"))
    assert [each.key for each in box.waiting] == ["a"]
    box.add(entry("c"))
    killed(box)
    again = Outbox(HERE, "ann")
    assert [each.key for each in again.waiting] == ["a", "c"]
    again.close()


def test_a_folder_that_cannot_be_is_refused():
    (HERE / "file").write_text("")
    with pytest.raises(aw.InputError, match="cannot store answers in file"):
        Outbox(HERE / "file", "ann")
