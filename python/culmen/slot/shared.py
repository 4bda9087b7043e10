"""Pickles with large data, in a file that all slots of a machine map: they share its memory until they change it."""


class Shared:
    """Stands for what was pickled into a file. The file begins with the pickle. ``spans``: the places of its buffers.

    The sender keeps the file open at ``path`` as long as slots may need it.
    """

    def __init__(self, path, size, spans):
        self.size = size
        self._path = path
        self._spans = spans

    def open(self):
        """(the file, the buffers of its pickle). Changes of a buffer remain in this process."""
        file = open(self._path, "rb")  # noqa: PTH123, SIM115 - pathlib takes too long to import
        if not self._spans:
            return file, []
        import mmap

        mapped = memoryview(mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE))
        return file, [mapped[begin:end] for begin, end in self._spans]
