"""Laws for accountants, calibrators and converters: nothing is drawn, and every finding can be asked again.

A number is unsound when it lies on the wrong side of a certified truth by more than a relative 2^-50 and the error
that the library documents. All other laws look at answers alone: their range, how they move, what is refused.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from dpassay.claims import SamplerLostError, UsageError
from dpassay.impl.libraries.remote import RefusedError, RemoteAnswer, RemoteCase
from dpassay.properties.assay.finding import Finding, FindingKind, Law, Settings
from dpassay.properties.assay.questions import QUESTIONS, Argument, Question, points_of
from dpassay.properties.assay.truths import Truth, truth_of

__all__ = ["ACCOUNTANT_LAWS"]

ALLOWANCE = 2.0**-50
"""The relative error that a float64 number may have because it is one."""

EXACT_ALLOWANCE = 2.0**-30
"""The relative error of a number of which the library says that it is the truth up to rounding."""

MONOTONE_ALLOWANCE = 2.0**-20
"""A smaller relative step in the wrong direction is put down to rounding."""

_MOST_LOSSES = 2


# --- asking -------------------------------------------------------------------------------------------------


@dataclass
class _Inquiry:
    """Asks a library, keeps count, and ends when time, patience or the calls are spent."""

    case: RemoteAnswer
    settings: Settings
    refusals: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    calls: int = 0
    _start: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """Whether no more may be asked."""
        late = time.monotonic() - self._start > self.settings.seconds
        return late or self.calls >= self.settings.calls or len(self.losses) >= _MOST_LOSSES

    def ask(self, arguments: dict[str, Any]) -> float | None:
        """Return the answer, None if there was none."""
        self.calls += 1
        try:
            return self.case.compute(**arguments)
        except RefusedError as error:
            self.refusals.append(f"{_words(arguments)}: {error}")
        except SamplerLostError as error:
            self.losses.append(f"{_words(arguments)}: {error}")
        return None

    def summary(self, answered: int) -> str:
        """Tell how many were answered."""
        words = f"{answered} points"
        words += f", {len(self.refusals)} refused" if self.refusals else ""
        return words + (f", {len(self.losses)} without an answer in time" if self.losses else "")

    def nothing_found(self, answered: int, detail: str = "") -> Finding:
        """Return the finding where no answer was wrong: undecided if there was none at all, or one was lost."""
        words = self.summary(answered) + (f"; {detail}" if detail else "")
        if answered == 0:
            first = (self.losses + self.refusals + ["nothing to ask inside the documented domain"])[0]
            return Finding("undecided", f"no answer: {first}", calls=self.calls)
        if self.losses:
            return Finding("undecided", f"{words}: {self.losses[0]}", calls=self.calls, scope="points")
        return Finding("ok", words, evidence="enclosed", scope="points", calls=self.calls)


def _words(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _question_of(case: RemoteCase) -> Question | None:
    return QUESTIONS.get(case.question) if isinstance(case, RemoteAnswer) else None


def _require(case: RemoteCase) -> tuple[RemoteAnswer, Question]:
    question = _question_of(case)
    assert isinstance(case, RemoteAnswer)
    assert question is not None
    return case, question


def _domain(case: RemoteAnswer) -> dict[str, tuple[float, float]]:
    return {name: (float(low), float(high)) for name, (low, high) in case.description["domain"].items()}


def _errors(case: RemoteAnswer) -> tuple[float, float]:
    return float(case.description["relative_error"]), float(case.description["absolute_error"])


def _looseness(case: RemoteAnswer) -> float:
    return float(case.description["looseness"])


def _is_answer(case: RemoteCase) -> str | None:
    if not isinstance(case, RemoteAnswer):
        return "not an accountant, calibrator or converter"
    return None if case.question in QUESTIONS else f"no truth is known for the question {case.question!r}"


def _about(
    kind: FindingKind, inquiry: _Inquiry, arguments: dict[str, Any], claimed: float, detail: str, **fields: Any
) -> Finding:
    witness = {"question": inquiry.case.question, "arguments": arguments, "answer": claimed}
    certified = fields.get("certified")
    if certified is not None:
        witness["certified"] = certified
    return Finding(
        kind,
        detail,
        claim=f"{inquiry.case.question}({_words(arguments)})",
        claimed=claimed,
        calls=inquiry.calls,
        witness=witness,
        **{"evidence": "exact", "scope": "points", **fields},
    )


# --- soundness ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Compared:
    arguments: dict[str, Any]
    claimed: float
    truth: Truth
    bound: float
    """What is certified on the side where an answer is unsound."""
    is_unsound: bool

    @property
    def tightness(self) -> float:
        """By which factor the answer is on the safe side; below 1 where it is unsound."""
        return self.claimed / self.bound if self.bound else math.inf


def _compare(case: RemoteAnswer, question: Question, arguments: dict[str, Any], claimed: float) -> _Compared | None:
    try:
        truth = truth_of(question.name, **arguments)
    except UsageError:  # beyond what can be certified in a reasonable time
        return None
    relative, absolute = _errors(case)
    claimed = max(claimed, 0.0)  # a negative epsilon may even be true; it is the affair of the law of ranges
    if question.safe == "above":
        if truth.lower is None:
            return None
        most = claimed * (1 + ALLOWANCE) * (1 + relative) + absolute
        return _Compared(arguments, claimed, truth, truth.lower, most < truth.lower)
    if truth.upper is None:
        return None
    least = claimed * (1 - ALLOWANCE) * (1 - relative) - absolute
    return _Compared(arguments, claimed, truth, truth.upper, least > truth.upper)


def _compared_points(inquiry: _Inquiry, question: Question) -> Iterator[_Compared]:
    """Yield the points that could be compared; after the planned ones, some near the tightest so far."""
    case, rng = inquiry.case, np.random.default_rng([inquiry.settings.seed, 1])
    domain, tightest = _domain(case), list[_Compared]()
    for arguments in points_of(question, domain, rng, question.points):
        if inquiry.is_over:
            return
        compared = _asked(inquiry, question, arguments)
        if compared is not None:
            tightest = sorted([*tightest, compared], key=lambda c: _safety(question, c))[:3]
            yield compared
    for _ in range(question.points // 2):
        if inquiry.is_over or not tightest:
            return
        base = tightest[int(rng.integers(len(tightest)))].arguments
        arguments = {a.name: a.nearby(base[a.name], rng) for a in question.arguments}
        if not all(low <= arguments[name] <= high for name, (low, high) in domain.items() if name in arguments):
            continue
        compared = _asked(inquiry, question, arguments)
        if compared is not None:
            tightest = sorted([*tightest, compared], key=lambda c: _safety(question, c))[:3]
            yield compared


def _safety(question: Question, compared: _Compared) -> float:
    """Return a number that is the lower the nearer an answer is to the wrong side."""
    ratio = compared.tightness
    if question.safe == "below":
        ratio = 1 / ratio if ratio > 0 else math.inf
    return ratio if ratio > 0 and not compared.is_unsound else -1.0


def _asked(inquiry: _Inquiry, question: Question, arguments: dict[str, Any]) -> _Compared | None:
    claimed = inquiry.ask(arguments)
    if claimed is None or math.isnan(claimed):
        return None  # what is no number is another law's affair
    return _compare(inquiry.case, question, arguments, claimed)


def _check_soundness(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = _require(case)
    inquiry, ratios, worst = _Inquiry(answer, settings), list[float](), None
    for compared in _compared_points(inquiry, question):
        if compared.is_unsound and (worst is None or _shortfall(compared) > _shortfall(worst)):
            worst = compared
        if compared.bound > 0 and 0 < compared.claimed < math.inf:
            ratios.append(compared.tightness)
    if worst is not None:
        side = "below" if question.safe == "above" else "above"
        detail = (
            f"{question.name}({_words(worst.arguments)}) = {worst.claimed!r}, {side} the certified {worst.bound!r}"
            f" (by a relative {_shortfall(worst):.3g})"
        )
        return _about(
            "unsound number",
            inquiry,
            worst.arguments,
            worst.claimed,
            detail,
            certified=worst.bound,
            evidence="enclosed",
        )
    tightness = f"answer/truth {min(ratios):.6g} to {max(ratios):.6g}, median {median(ratios):.6g}" if ratios else ""
    return inquiry.nothing_found(len(ratios), tightness)


def _shortfall(compared: _Compared) -> float:
    if compared.bound == 0 or math.isinf(compared.bound):
        return math.inf
    return abs(compared.claimed - compared.bound) / compared.bound


def _soundness_applies(case: RemoteCase) -> str | None:
    reason = _is_answer(case)
    if reason is not None:
        return reason
    assert isinstance(case, RemoteAnswer)
    if case.description["certainty"] == "estimate" and _errors(case) == (0.0, 0.0):
        return "the library calls its number an estimate, without a documented error"
    return None


def _check_exactness(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = _require(case)
    relative, absolute = _errors(answer)
    inquiry, known = _Inquiry(answer, settings), 0
    for compared in _compared_points(inquiry, question):
        far = compared.truth.upper if question.safe == "above" else compared.truth.lower
        if far is None:
            continue
        known += 1
        slack = (EXACT_ALLOWANCE + relative) * far + absolute
        wrong = compared.claimed > far + slack if question.safe == "above" else compared.claimed < far - slack
        if wrong:
            asked = f"{question.name}({_words(compared.arguments)})"
            detail = f"{asked} = {compared.claimed!r} is said to be exact, but {far!r} is certified"
            return _about(
                "wrong answer",
                inquiry,
                compared.arguments,
                compared.claimed,
                detail,
                certified=far,
                evidence="enclosed",
            )
    return inquiry.nothing_found(known)


def _exactness_applies(case: RemoteCase) -> str | None:
    reason = _is_answer(case)
    if reason is not None:
        return reason
    return None if case.description["claims_exact"] else "the library does not say that its number is exact"


# --- range, repetitions -------------------------------------------------------------------------------------


def _check_range(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = _require(case)
    inquiry, answered = _Inquiry(answer, settings), 0
    rng = np.random.default_rng([settings.seed, 2])
    for arguments in points_of(question, _domain(answer), rng, max(8, question.points // 2)):
        if inquiry.is_over:
            break
        claimed = inquiry.ask(arguments)
        if claimed is None:
            continue
        answered += 1
        most = 1.0 + _errors(answer)[0] + _looseness(answer) if question.probability else math.inf
        if math.isnan(claimed) or not 0 <= claimed <= most:
            accepted = "a probability" if question.probability else "a number, at least 0"
            detail = f"{question.name}({_words(arguments)}) = {claimed!r}, not {accepted}"
            return _about("wrong answer", inquiry, arguments, claimed, detail)
    return inquiry.nothing_found(answered)


def _check_zero_repetitions(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = _require(case)
    inquiry, answered = _Inquiry(answer, settings), 0
    absolute = _errors(answer)[1]
    rng = np.random.default_rng([settings.seed, 3])
    for arguments in points_of(question, _domain(answer), rng, 6):
        if inquiry.is_over:
            break
        point = {**arguments, "count": 0}
        claimed = inquiry.ask(point)
        if claimed is None:
            continue
        answered += 1
        if not claimed <= absolute:
            detail = f"{question.name}({_words(point)}) = {claimed!r}, but nothing was released"
            return _about("wrong answer", inquiry, point, claimed, detail, certified=0.0)
    if answered == 0 and inquiry.refusals:
        return Finding("ok", f"no repetitions are refused: {inquiry.refusals[0]}", calls=inquiry.calls, scope="points")
    return inquiry.nothing_found(answered)


def _zero_applies(case: RemoteCase) -> str | None:
    reason = _is_answer(case)
    if reason is not None:
        return reason
    answer, question = _require(case)
    if question.argument("count") is None:
        return "the question has no number of repetitions"
    low, _ = _domain(answer).get("count", (0.0, math.inf))
    return None if low <= 0 else "no repetitions are outside the documented domain"


# --- monotone -----------------------------------------------------------------------------------------------

_LADDERS = 2
_RUNGS = 8
_CHEAP = 24  # questions of fewer points take libraries long
_NEAR = (1, 1.001, 1.01, 1.1, 1.3, 1.6)


def _monotone_law(name: str) -> Law:
    def applies(case: RemoteCase) -> str | None:
        reason = _is_answer(case)
        if reason is not None:
            return reason
        argument = _require(case)[1].argument(name)
        if argument is None or argument.kind == "reals":
            return f"the question has no argument {name}"
        low, high = _domain(_require(case)[0]).get(name, (-math.inf, math.inf))
        if low == high:
            return f"the library's function has no argument {name}"
        return None if argument.direction else f"nothing is demanded of how the answer moves with {name}"

    def check(case: RemoteCase, settings: Settings) -> Finding:
        return _check_monotone(case, settings, name)

    return Law(f"monotone_in_{name}", f"The answer moves one way as {name} grows.", applies, check, sampled=False)


def _check_monotone(case: RemoteCase, settings: Settings, name: str) -> Finding:
    answer, question = _require(case)
    argument = question.argument(name)
    assert argument is not None
    rng = np.random.default_rng([settings.seed, 4, *name.encode()])
    inquiry, compared = _Inquiry(answer, settings), 0
    relative, absolute = _errors(answer)
    for base in points_of(question, _domain(answer), rng, _LADDERS if question.points >= _CHEAP else 1):
        before: tuple[dict[str, Any], float] | None = None
        for value in _rungs(argument, _domain(answer).get(name), rng):
            if inquiry.is_over:
                return inquiry.nothing_found(compared)
            arguments = {**base, name: value}
            claimed = inquiry.ask(arguments)
            if claimed is None or math.isnan(claimed):
                continue
            if before is not None:
                compared += 1
                first, second = (before[1], claimed) if argument.direction > 0 else (claimed, before[1])
                slack = (MONOTONE_ALLOWANCE + relative) * abs(first) + absolute + _looseness(answer)
                if second < first - slack:
                    way = "falls" if argument.direction > 0 else "grows"
                    asked = f"{question.name}({_words(before[0])})"
                    detail = f"{asked} = {before[1]!r} {way} to {claimed!r} at {name}={value!r}"
                    finding = _about("wrong answer", inquiry, arguments, claimed, detail, certified=before[1])
                    assert finding.witness is not None
                    finding.witness.update({"before": before[0], "answer before": before[1]})
                    return finding
            before = arguments, claimed
    return inquiry.nothing_found(compared)


def _rungs(argument: Argument, bounds: tuple[float, float] | None, rng: np.random.Generator) -> list[float | int]:
    """Return values in ascending order: spread over the range, the sensible corners, some close together."""
    low, high = bounds or (-math.inf, math.inf)
    spread = np.geomspace(argument.low, argument.high, _RUNGS)
    near = float(np.exp(rng.uniform(math.log(argument.low), math.log(argument.high)))) * np.array(_NEAR)
    inner = [corner for corner in argument.corners if argument.low / 100 <= corner <= 100 * argument.high]
    values = {argument.value(float(x)) for x in (*spread, *near, *inner)}
    return sorted(x for x in values if low <= x <= high and argument.least < x <= argument.most)


# --- order --------------------------------------------------------------------------------------------------

_ORDERS = 24


def _lists(question: Question) -> list[str]:
    return [argument.name for argument in question.arguments if argument.kind == "reals"]


def _order_applies(case: RemoteCase) -> str | None:
    reason = _is_answer(case)
    if reason is not None:
        return reason
    return None if _lists(_require(case)[1]) else "the question has no list of mechanisms"


def _check_order(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = _require(case)
    rng = np.random.default_rng([settings.seed, 8])
    inquiry, compared = _Inquiry(answer, settings), 0
    relative, absolute = _errors(answer)
    for arguments in points_of(question, _domain(answer), rng, _ORDERS):
        if inquiry.is_over:
            break
        names = _lists(question)
        order = rng.permutation(len(arguments[names[0]])).tolist()[::-1]
        permuted = {**arguments, **{name: [arguments[name][k] for k in order] for name in names}}
        first, second = inquiry.ask(arguments), inquiry.ask(permuted)
        if first is None or second is None or math.isnan(first) or math.isnan(second):
            continue
        compared += 1
        slack = (MONOTONE_ALLOWANCE + relative) * max(abs(first), abs(second)) + absolute
        if first != second and not abs(first - second) <= slack:
            asked = f"{question.name}({_words(arguments)})"
            detail = f"{asked} = {first!r}, but {second!r} in the order {order}"
            return _about("wrong answer", inquiry, permuted, second, detail, certified=first)
    return inquiry.nothing_found(compared)


# --- nonsense -----------------------------------------------------------------------------------------------


def _nonsense(argument: Argument) -> list[Any]:
    if argument.kind == "reals":
        return [[math.nan], [-1.0]]
    values: list[Any] = [math.nan, -1 if argument.kind == "count" else -1.0]
    if argument.kind == "count":
        values += [1.5, math.inf]
    if argument.most == 1:
        values += [1.5, math.inf]
    if argument.least == 1:
        values += [0.5]
    return values


def _check_nonsense(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = _require(case)
    inquiry, accepted, first = _Inquiry(answer, settings), list[str](), None
    domain = _domain(answer)
    for argument in question.arguments:
        low, high = domain.get(argument.name, (-math.inf, math.inf))
        if low == high:
            continue  # the library's function does not have this argument
        for value in _nonsense(argument):
            if inquiry.is_over:
                break
            arguments = _filled(question, domain, argument, value)
            claimed = inquiry.ask(arguments)
            if claimed is not None and not _promises_nothing(question, claimed):
                accepted.append(f"{argument.name}={value!r} gives {claimed!r}")
                first = first or (arguments, claimed)
    if first is not None:
        detail = f"{len(accepted)} of {inquiry.calls} nonsensical arguments accepted: {'; '.join(accepted)}"
        return _about("wrong answer", inquiry, *first, detail)
    if inquiry.losses:
        return Finding("undecided", inquiry.losses[0], calls=inquiry.calls)
    return Finding(
        "ok",
        f"{inquiry.calls} refused, or answered by what promises nothing",
        evidence="exact",
        scope="points",
        calls=inquiry.calls,
    )


def _promises_nothing(question: Question, claimed: float) -> bool:
    """Whether an answer is as good as a refusal: NaN, or one that is safe whatever the truth."""
    if question.safe == "below":
        return math.isnan(claimed) or claimed <= 0
    return math.isnan(claimed) or claimed == (1.0 if question.probability else math.inf)


def _filled(
    question: Question, domain: dict[str, tuple[float, float]], argument: Argument, value: Any
) -> dict[str, Any]:
    """Return the typical point, inside the domain, with one argument replaced; lists keep one length."""
    point = {**question.typical, argument.name: value}
    for name, (low, high) in domain.items():
        if name in point and name != argument.name and not isinstance(point[name], list):
            point[name] = type(point[name])(min(max(point[name], low), high))
    if argument.kind == "reals":
        return {name: v[: len(value)] if isinstance(v, list) else v for name, v in point.items()}
    return point


# --- the laws -----------------------------------------------------------------------------------------------

_MOVING = (
    "epsilon",
    "delta",
    "sigma",
    "scale",
    "count",
    "rate",
    "order",
    "epsilon0",
    "delta0",
    "rho",
    "renyi",
)

ACCOUNTANT_LAWS: tuple[Law, ...] = (
    Law(
        "soundness",
        "The answer never lies on the wrong side of a certified truth.",
        _soundness_applies,
        _check_soundness,
        sampled=False,
    ),
    Law(
        "exactness",
        "What is said to be exact agrees with the truth up to rounding.",
        _exactness_applies,
        _check_exactness,
        sampled=False,
    ),
    Law(
        "range",
        "epsilon, rho and noise scales are numbers of at least 0, delta is a probability.",
        _is_answer,
        _check_range,
        sampled=False,
    ),
    Law(
        "zero_repetitions",
        "What released nothing costs nothing.",
        _zero_applies,
        _check_zero_repetitions,
        sampled=False,
    ),
    *(_monotone_law(name) for name in _MOVING),
    Law(
        "order_does_not_matter",
        "A batch of mechanisms costs the same in any order.",
        _order_applies,
        _check_order,
        sampled=False,
    ),
    Law(
        "refuses_nonsensical_arguments",
        "NaN, negative numbers, probabilities above 1 and broken counts get no answer that promises anything.",
        _is_answer,
        _check_nonsense,
        sampled=False,
    ),
)
