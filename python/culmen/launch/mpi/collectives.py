"""The collectives of an MPI and their algorithms, as in its data file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .versions import UNSAFE

DEFAULT = "default"  # the MPI's own choice


@dataclass(frozen=True)
class Algorithm:
    """``variables``: those of MPI_T that choose it. ``function``: of the MPI's library, which runs it; may be empty.
    ``segment``: bytes of the parts that it sends a message in; 0: the whole message. ``fan``: number of ranks to which
    a rank sends; 0: the usual one."""

    name: str
    variables: dict[str, int]
    function: str = ""
    segment: int = 0
    fan: int = 0

    @property
    def base(self) -> str:
        """Its name without the fan-out and the segments."""
        return parts_of(self.name)[0]


def parts_of(name: str) -> tuple[str, int, int]:
    """Of "chain:2/8K", as ``Collectives.variants`` makes them: "chain", 2 and 8192. A part that is missing is 0."""
    rest, _, segment = name.partition("/")
    base, _, fan = rest.partition(":")
    return base, int(fan or 0), 1024 * int(segment.removesuffix("K") or 0)


@dataclass(frozen=True)
class Collectives:
    """The collectives of an MPI, and how a program's environment or a file of rules chooses their algorithms.

    - ``environment``: variables that a program needs so that it can choose
    - ``kept_by_communicator``: a communicator keeps the algorithms that were chosen when it was made
    - ``refuses``: an algorithm that cannot run is an error of the call
    - ``two_ranks_only``, ``powers_of_two_only``: names of algorithms for such numbers of ranks
    - ``prefix``: of an environment variable that sets a variable of the MPI
    - ``value_names``: names of a variable's values, in their order, if the environment takes no numbers. The variable
      that chooses an algorithm takes the algorithm's name
    - ``only_measuring``: names in ``environment`` that programs with a file of rules do not need
    - ``rules_file``: the variable that names such a file; empty: there is none, or culmen cannot write it
    - ``rules_kind``: "table" or "tree"
    - ``rules_version``: the version of the library for which such a file is right, without its last number
    - ``rules_name``: the name of such a file in culmen's folders
    - ``routes_file``, ``routes_name``: the same as ``rules_file`` and ``rules_name`` of a second file. It is needed if
      rules are for communicators on several nodes: it says for which calls the MPI asks the rules
    - ``routes_environment``: further variables that a program with such a second file needs
    - ``before``: variables of MPI_T with the priority of components that take calls on a communicator before the
      algorithms. With priority 0, they do not
    - ``fans``: usual fan-outs of algorithms, which such a file must name
    - ``fan_outs``: further fan-outs that are tried
    - ``segments``: tried sizes of the parts of messages, in KiB
    - ``further``: tables of collectives that are only measured; tuners leave them out. An empty table: there is no
      choice
    - ``nonblocking``: collectives whose algorithms are chosen at each call

    The table of a collective has these keys:

    - ``number_in``: the variable that chooses an algorithm by its place in ``algorithms``, from 1 on
    - ``default``, ``forced``: further variables, for the MPI's own choice and for algorithms
    - ``functions``: functions of the MPI's library, which run the algorithms
    - ``equal_counts_only``: algorithms that need the same count for all ranks
    - ``hangs``: algorithms that can hang
    - ``splits_counts``: algorithms that need the same datatype on all ranks
    - ``wrong``: algorithms with wrong results
    - ``wrong_in_place``: algorithms with wrong results with MPI_IN_PLACE
    - ``in_rules``: the collective's number in a file with rules, and the meaning of a size there. The meanings are
      "own" (as elsewhere in culmen), "all_ranks" (this times the number of ranks), "element" (the size of one element
      times the number of ranks) and "zero" (always 0). With "unlike", ranks may compare different sizes in one call
    - ``commutative_only``: algorithms for operators that commute
    - ``fanned``: algorithms that can have another fan-out
    - ``fan_in``: the variable with the fan-out
    - ``segmented``: algorithms that can send a message in parts
    - ``segment_in``: the variable with the size of a part in bytes
    - ``segments_need_same_types``: true if ranks with other datatypes make other parts
    - ``needs``: for algorithms, the conditions of MPICH's trees under which they are right
    - ``before_sizes``: a condition of MPICH's trees under which the sizes count
    - ``route``: the name in the second file with which the MPI asks the rules; without it, the MPI always asks them
    """

    environment: dict[str, str] = field(default_factory=dict)
    kept_by_communicator: bool = False
    refuses: bool = False
    two_ranks_only: list[str] = field(default_factory=list)
    powers_of_two_only: list[str] = field(default_factory=list)
    prefix: str = ""
    only_measuring: list[str] = field(default_factory=list)
    rules_file: str = ""
    rules_kind: str = "table"
    rules_version: str = ""
    rules_name: str = ""
    routes_file: str = ""
    routes_name: str = ""
    routes_environment: dict[str, str] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    fans: dict[str, int] = field(default_factory=dict)
    fan_outs: list[int] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    value_names: list[str] = field(default_factory=list)
    of: dict[str, dict[str, Any]] = field(default_factory=dict)  #: the table of each collective
    nonblocking: dict[str, dict[str, Any]] = field(default_factory=dict)  #: the same of MPI_Ibcast for "bcast"
    further: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def without_rules(self) -> dict[str, str]:
        """The environment of a program that reads no rules, also if a user has installed some."""
        return {self.prefix + name: "" for name in (self.rules_file, self.routes_file) if name}

    @property
    def names(self) -> list[str]:
        return list(self.of)

    @property
    def all_names(self) -> list[str]:
        """Those of nonblocking collectives, too, such as "ibcast"."""
        return [*self.of, *self._named_nonblocking]

    @property
    def _named_nonblocking(self) -> dict[str, dict[str, Any]]:
        return {f"i{name}": table for name, table in self.nonblocking.items()}

    @property
    def measurable(self) -> list[str]:
        """The names, and those of collectives without rules."""
        return [*self.of, *self.further, *self._named_nonblocking]

    def why_no_rules(self, collective: str) -> str:
        """Why a file of rules has none for a collective; empty if it can have some."""
        if "in_rules" in self.of.get(collective, {}):
            return ""
        if self.further.get(collective) == {}:
            return "this MPI has only one algorithm for it"
        if collective in self._named_nonblocking:
            return "culmen writes rules only for blocking collectives; `culmen autotune` tunes it"
        return "culmen writes no rules for it"

    def keeps(self, collective: str) -> bool:
        """Whether a communicator keeps the algorithm of this collective."""
        return self.kept_by_communicator and collective in self.of

    def _table(self, collective: str) -> dict[str, Any]:
        return next(each[collective] for each in (self.of, self.further, self._named_nonblocking) if collective in each)

    def algorithms(self, collective: str, ranks: int = 2) -> list[Algorithm]:
        """The algorithms that this number of ranks can run; the first one is DEFAULT. Algorithms that can hang are left
        out."""
        table = self._table(collective)
        if not table:
            return [Algorithm(DEFAULT, {})]
        choice, before = table["number_in"], table.get("default", {})
        functions = table.get("functions") or [""] * len(table["algorithms"])
        out = [Algorithm(DEFAULT, {**before, choice: 0})]
        for number, (name, function) in enumerate(zip(table["algorithms"], functions, strict=True), 1):
            if self._can_run(name, ranks) and name not in table.get("hangs", []):
                out.append(Algorithm(name, {**before, **table.get("forced", {}), choice: number}, function))
        return out

    def safe_algorithms(
        self, collective: str, ranks: int, same_types: bool = False, commutative: bool = False
    ) -> list[Algorithm]:
        """Those of ``algorithms`` that any program may use. ``same_types``: if all ranks give the same datatype.
        ``commutative``: if all operators commute."""
        table = self.of[collective]
        unsafe = {name for key in UNSAFE if key != "equal_counts_only" for name in table.get(key, [])}
        unsafe |= set() if same_types else {*table.get("splits_counts", [])}
        unsafe |= set() if commutative else {*table.get("commutative_only", [])}
        unsafe |= {*table.get("equal_counts_only", [])} - {*table.get("needs", {})}
        return [one for one in self.algorithms(collective, ranks) if one.name not in unsafe]

    def variants(
        self, collective: str, ranks: int, same_types: bool = False, commutative: bool = False
    ) -> list[Algorithm]:
        """Variants of ``safe_algorithms`` that have another fan-out, such as "chain:2", or send messages in parts, such
        as "pipeline/8K" and "chain:2/8K"."""
        table = self.of[collective]
        usual = self.safe_algorithms(collective, ranks, same_types, commutative)
        fanned = [self._fanned(one, fan, table) for one in usual if one.name in table.get("fanned", [])
                  for fan in self.fan_outs if fan < ranks]  # fmt: skip
        if table.get("segments_need_same_types") and not same_types:
            return fanned
        whole = [one for one in [*usual, *fanned] if one.base in table.get("segmented", [])]
        return fanned + [self._in_parts(one, size, table) for one in whole for size in self.segments]

    def _fanned(self, one: Algorithm, fan: int, table: dict[str, Any]) -> Algorithm:
        return replace(one, name=f"{one.name}:{fan}", variables={**one.variables, table["fan_in"]: fan}, fan=fan)

    def _in_parts(self, one: Algorithm, size: int, table: dict[str, Any]) -> Algorithm:
        variables = {**one.variables, table["segment_in"]: 1024 * size}
        return replace(one, name=f"{one.name}/{size}K", variables=variables, segment=1024 * size)

    def at_rest(self, collective: str, algorithm: Algorithm) -> dict[str, int]:
        """The usual values of the variables that choose an algorithm."""
        table = self._table(collective)
        own = {table["fan_in"]: self.fans[algorithm.base]} if algorithm.fan else {}
        return dict.fromkeys(algorithm.variables, 0) | own

    def _can_run(self, name: str, ranks: int) -> bool:
        if name in self.two_ranks_only:
            return ranks == 2
        return name not in self.powers_of_two_only or ranks & (ranks - 1) == 0

    def variables_for(self, collective: str, algorithm: Algorithm) -> dict[str, str]:
        """The environment in which a program uses this algorithm."""
        choice = self.of[collective]["number_in"]
        out = dict(self.environment)
        for name, value in algorithm.variables.items():
            own = "auto" if algorithm.name == DEFAULT else algorithm.name
            word = str(value) if not self.value_names else own if name == choice else self.value_names[value]
            out[self.prefix + name] = word
        return out
