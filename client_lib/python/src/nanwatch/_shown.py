"""How what holds a run is shown, to a person who types its name."""

from __future__ import annotations

import html

from nanwatch._first_line import link
from nanwatch._run import Run


class Shown:
    """Of class C with the run job-7: "<C of run 'job-7',
    http://127.0.0.1:9765/?run=job-7>", in a notebook with a link."""

    __slots__ = ()

    def __repr__(self) -> str:
        run: Run | None = getattr(self, "run", None)  # while it is made, none
        place = "no run yet" if run is None else f"run {run._where()}"
        return f"<{type(self).__module__}.{type(self).__qualname__} of {place}>"

    def _repr_html_(self) -> str:
        run: Run | None = getattr(self, "run", None)
        url = "" if run is None else run.url
        text = html.escape(repr(self))
        return text.replace(html.escape(url), link(url)) if url else text
