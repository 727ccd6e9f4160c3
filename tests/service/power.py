"""A disk in memory that forgets what was not synced when the power goes: a layer under SQLite, made with APSW.

A file is what was synced plus the writes since. When the power goes, of each later write all, a part, or nothing may
have reached the disk, in any order: the cruellest disk that keeps its word about sync. One that lies keeps nothing of
a sync.
"""

import random

import apsw

SECTOR = 512


class NoPowerError(Exception):
    """The power is gone; nothing is written any more."""


class File:
    def __init__(self):
        self.synced = bytearray()
        self.now = bytearray()
        self.since = []

    def write(self, data, offset):
        if len(self.now) < offset:
            self.now.extend(bytes(offset - len(self.now)))
        self.now[offset : offset + len(data)] = data
        self.since.append((offset, bytes(data)))

    def truncate(self, size):
        del self.now[size:]
        self.since.append((size, None))

    def sync(self):
        self.synced, self.since = bytearray(self.now), []

    def after_loss(self, rng):
        """What is there when the power comes back: of what was not synced, sectors here and there."""
        found = bytearray(self.synced)
        for offset, data in self.since:
            if data is None:
                if rng.random() < 0.5:
                    del found[offset:]
                continue
            for first in range(0, len(data), SECTOR):
                if rng.random() < 0.5:
                    part = data[first : first + SECTOR]
                    if len(found) < offset + first:
                        found.extend(bytes(offset + first - len(found)))
                    found[offset + first : offset + first + len(part)] = part
        return found


class Disk:
    """All files, and a count of calls that reach the disk; the power goes at call ``cut``, errors come at ``fail``."""

    def __init__(self, files=None, lies=False):
        self.files = {}
        for name, content in (files or {}).items():
            self.files[name] = File()
            self.files[name].now[:] = content
            self.files[name].sync()
        self.lies, self.calls, self.cut, self.fail = lies, 0, None, None
        self.gone = False

    def step(self):
        """Whether the call reaches the disk; the first one without power raises, later ones go nowhere."""
        if self.gone:
            return False
        if self.cut is not None and self.calls >= self.cut:
            self.gone = True
            raise NoPowerError
        self.calls += 1
        if self.calls == self.fail:
            raise apsw.IOError("an error of the disk")
        return True

    def after_loss(self, seed):
        rng = random.Random(seed)
        return {name: file.after_loss(rng) for name, file in self.files.items()}


class Layer(apsw.VFS):
    """Registered under a name of its own; ``disk`` can be exchanged."""

    def __init__(self, name):
        self.name, self.disk = name, Disk()
        super().__init__(name, base="", maxpathname=512)

    def xOpen(self, name, flags):
        path = name.filename() if isinstance(name, apsw.URIFilename) else (name or "temporary")
        if path not in self.disk.files:
            self.disk.step()
            self.disk.files[path] = File()
        return Handle(self.disk, path, flags)

    def xAccess(self, path, flags):
        return path in self.disk.files

    def xFullPathname(self, name):
        return name

    def xDelete(self, path, sync):
        if self.disk.step():
            self.disk.files.pop(path, None)

    def xSleep(self, microseconds):
        return microseconds

    def xRandomness(self, numbytes):
        return bytes(numbytes)

    def xCurrentTimeInt64(self):
        return 212_000_000_000_000

    def xGetLastError(self):
        return 0, ""


class Handle:
    def __init__(self, disk, path, flags):
        self.disk, self.file = disk, disk.files[path]

    def xRead(self, amount, offset):
        return bytes(self.file.now[offset : offset + amount])

    def xWrite(self, data, offset):
        if self.disk.step():
            self.file.write(data, offset)

    def xTruncate(self, size):
        if self.disk.step():
            self.file.truncate(size)

    def xSync(self, flags):
        if self.disk.step() and not self.disk.lies:
            self.file.sync()

    def xFileSize(self):
        return len(self.file.now)

    def xLock(self, level):
        pass

    def xUnlock(self, level):
        pass

    def xCheckReservedLock(self):
        return False

    def xFileControl(self, op, ptr):
        return False

    def xSectorSize(self):
        return SECTOR

    def xDeviceCharacteristics(self):
        return 0

    def xClose(self):
        pass
