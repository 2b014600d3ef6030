"""The hunt for a pair of neighbouring inputs on which a mechanism breaks its claim."""

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from dpassay.arguments import UsageError, require_flag, shown
from dpassay.claims import Claim
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import AnyNeighbours, EncodedNeighbours, NeighbourRelation
from dpassay.properties.drawing.call_guard import CALL_TIMEOUT
from dpassay.properties.drawing.decoding import decoding_sampler
from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.drawing.opened import OpenedTarget, open_target
from dpassay.properties.drawing.sessions import in_sessions, require_session
from dpassay.properties.drawing.target import describe_target, full_name
from dpassay.properties.drawing.target_process import IMPORT_TIMEOUT, WorkersLostError, ask, processor_seconds
from dpassay.properties.drawing.workers import jobs_of
from dpassay.properties.hunting.black_box import Progress, sample_pairs
from dpassay.properties.hunting.confirming import Exactly
from dpassay.properties.hunting.decision import TRACE_SECONDS, Decision
from dpassay.properties.hunting.float64 import sampled_float64, with_certified_float64
from dpassay.properties.hunting.formatting import relation_words
from dpassay.properties.hunting.idle import notes_on_calls
from dpassay.properties.hunting.many_at_once import asked_for_many
from dpassay.properties.hunting.result import BUDGET_SECONDS, HuntResult, refuted_claims
from dpassay.properties.hunting.task import (
    Task,
    claim_of,
    neighbours_of,
    read_claim,
    read_neighbours,
    read_policy,
    require_calls,
    require_level,
    require_seconds,
    require_seed,
)
from dpassay.properties.hunting.verdicts import Float64Policy, HuntVerdict, Questions
from dpassay.properties.hunting.witness import shrunk, with_inputs
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs, further_pairs
from dpassay.properties.notions.base import bounds_of, composed_claim
from dpassay.properties.notions.bounds import Bound
from dpassay.properties.outcomes.calls import Sampler
from dpassay.properties.outcomes.resolution import ROUNDING_SHOWS, step_of_pair
from dpassay.spec.verdict import Evidence, Scope

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from dpassay.properties.hunting.white_box import WhiteBoxResult

__all__ = ["Investigation", "hunt", "investigate"]


def hunt(
    target: str | ClaimedMechanism | Sampler,
    claim: Claim | str | None = None,
    neighbours: "AnyNeighbours | SearchStrategy[Any] | str | None" = None,
    *,
    budget_seconds: float = BUDGET_SECONDS,
    calls: int | None = None,
    alpha: float = 1e-6,
    seed: int = 0,
    jobs: int | None = None,
    backend: str = "loky",
    call_timeout_seconds: float = CALL_TIMEOUT,
    import_timeout_seconds: float = IMPORT_TIMEOUT,
    isolate: bool | None = None,
    progress: Progress | None = None,
    white_box: bool = True,
    float64: Float64Policy | str = Float64Policy.WARN,
    shrink: bool = True,
    trace: bool = True,
    trace_seconds: float = TRACE_SECONDS,
    session: int = 1,
) -> HuntResult:
    """Look for a violation of a privacy claim.

    Where the exact output distribution of the target is known, figures are certified. Otherwise the code of the target
    is run on symbols in place of noise, which may prove the claim for all inputs of the given length, or certify a
    violation. Otherwise it is sampled, and a betting e-process decides at level `alpha`, whatever was looked at and
    whenever it stopped.

    Parameters
    ----------
    target : str, ClaimedMechanism or callable
        ``package.module:object``, ``path/to/file.py:object``, or the object: a mechanism with claims, or a callable
        ``f(data, size, rng)`` that returns `size` independent outcomes, each with fresh noise: the level holds for
        independent outcomes. Where the outcomes of a call are seen to share noise, each is drawn by a call with
        size=1; a target that repeats the outcome of an input gets no verdict.
    claim, neighbours : optional
        Objects or their words on the command line; by default the first claim and the relation of the mechanism.
        `neighbours` may be a hypothesis strategy of pairs (left, right): the target receives what it draws.
    budget_seconds : float
        Time of the hunt from when the target is loaded. The trace takes part of it; samples have what is left, half
        of it at least, but for a sixteenth for the report; the search for a simpler pair has the rest, a quarter at
        least. Batches that were begun are ended.
    calls : int, optional
        Number of calls to spend (a hunt of some hundred or more makes at most 48 besides, to see how the target
        uses its rng). Without it a hunt that refutes the claim spends as many calls again to sharpen its
        bounds, then stops.
    alpha : float
        Probability of a false alarm, in (0, 1).
    seed : int
        At least 0. The same seed and `calls` give the same result with any number of jobs.
    jobs : int, optional
        Workers that sample, -1 for one per core; by default one here, and all that a cluster of dask or ray has.
    backend : {"loky", "threading", "dask", "ray"}
        The joblib backend. A dask client or a ray that the caller has set up is used; otherwise a local one with
        `jobs` workers runs until the end of the hunt. Functions travel with their code, a target named by its file
        by its absolute path.
    call_timeout_seconds : float
        Time that each call of the target may take, inf for no limit. Calls with a limit are made in threads of their
        own; a call that hangs ends the hunt, and what was found before is reported.
    import_timeout_seconds : float
        Time that the import of a target in a process of its own may take.
    isolate : bool, optional
        Whether a process of its own holds the target, so that one that exits, crashes or hangs does not take this
        process with it. By default one does if the target is named and is not part of dpassay, unless threads draw;
        a function is sent with its code. It takes half a second of processor time and changes no result.
    progress : callable, optional
        Called after every round.
    white_box : bool
        Whether to use the exact distribution where it is known.
    float64 : {"fail", "warn", "ignore"}
        Verdict and figures speak of the ideal mechanism, in real arithmetic. "fail" and "warn" also test what float64
        adds to it: the low-order bits of numbers, which reveal the input if noise is computed in float64 (Mironov
        2012), and inputs so large that their rounding is visible beside the noise. The result has it as `float64`.
        The callers of this function decide what follows from it. Both questions are tested on the same calls; the
        ideal one has 7/8 of the level, the other one 1/8. "ignore" asks the ideal question only, at the whole level.
    shrink : bool
        Whether to look for a simpler pair that shows a violation as well, with at most as many calls again; see
        :func:`dpassay.properties.hunting.witness.shrunk`. Verdict and bounds do not depend on it.
    trace : bool
        Whether to trace the code of the target. It is run many times; what it prints meanwhile is dropped.
    trace_seconds : float
        Time that the exact decision may take; what it cannot decide by then is sampled.
    session : int
        Calls on one input that make one outcome, at most 1000. More than one finds noise that is reused and state that
        is kept between calls: the outcomes of a session are tested against the claim composed `session` times (pure
        DP, bounded range, RDP and zCDP: the sums; approximate and probabilistic DP: the sums of epsilon and of delta;
        Gaussian DP: the root of `session` times mu). Each session begins with a copy of the target, as its attributes
        and enclosed variables are when it is given. Sessions are sampled only; `calls` counts them.

    Returns
    -------
    HuntResult
        Also after an interruption from the keyboard, a call that hangs or the loss of a worker, with what is known
        by then.

    Raises
    ------
    UsageError
        If a parameter is out of its domain, the target cannot be loaded, fails on every call or returns a wrong
        number of outcomes.
    """
    return investigate(
        target,
        claim,
        neighbours,
        budget_seconds=budget_seconds,
        calls=calls,
        alpha=alpha,
        seed=seed,
        jobs=jobs,
        backend=backend,
        call_timeout_seconds=call_timeout_seconds,
        import_timeout_seconds=import_timeout_seconds,
        isolate=isolate,
        progress=progress,
        white_box=white_box,
        float64=float64,
        shrink=shrink,
        trace=trace,
        trace_seconds=trace_seconds,
        session=session,
    ).result


@dataclass(frozen=True)
class Investigation:
    """A result with the claim and the relation that were tested, as objects.

    Parameters
    ----------
    result : HuntResult
        The result.
    claim : Claim
        What was tested: of a session, the composed claim.
    neighbours : NeighbourRelation
        The relation.
    stated : Claim
        The claim for one call.
    """

    result: HuntResult
    claim: Claim
    neighbours: AnyNeighbours
    stated: Claim


def investigate(
    target: str | ClaimedMechanism | Sampler,
    claim: Claim | str | None,
    neighbours: "AnyNeighbours | SearchStrategy[Any] | str | None",
    *,
    budget_seconds: float,
    calls: int | None,
    alpha: float,
    seed: int,
    jobs: int | None,
    backend: str = "loky",
    call_timeout_seconds: float,
    import_timeout_seconds: float,
    isolate: bool | None,
    progress: Progress | None = None,
    white_box: bool,
    float64: Float64Policy | str,
    shrink: bool = True,
    trace: bool = True,
    trace_seconds: float = TRACE_SECONDS,
    session: int = 1,
) -> Investigation:
    """Hunt, with the parameters of `hunt`, and return also the claim and the relation.

    Parameters
    ----------
    target, claim, neighbours
        As for `hunt`.
    budget_seconds, calls, alpha, seed, jobs, backend, call_timeout_seconds, import_timeout_seconds, isolate
        As for `hunt`.
    progress, white_box, float64, shrink, trace, trace_seconds, session
        As for `hunt`.
    """
    target = full_name(target) if isinstance(target, str) else target
    limits = _Limits(
        None if calls is None else require_calls(calls),
        require_seconds("budget_seconds", budget_seconds),
        require_seconds("call_timeout_seconds", call_timeout_seconds, or_none=True),
    )
    for name, flag in {"white_box": white_box, "shrink": shrink}.items():
        require_flag(name, flag)
    if progress is not None and not callable(progress):
        raise UsageError(f"progress must be a function or None, got {shown(progress)}")
    policy = read_policy(float64)
    tracing, length = require_seconds("trace_seconds", trace_seconds), require_session(session)
    level, checked_seed, workers = require_level("alpha", alpha), require_seed(seed), jobs_of(jobs, backend)
    given = None if claim is None else read_claim(claim), None if neighbours is None else read_neighbours(neighbours)
    with open_target(
        target,
        isolate=_in_own_process(isolate, workers, backend),
        import_timeout=require_seconds("import_timeout_seconds", import_timeout_seconds),
        call_timeout=limits.call_timeout,
    ) as opened:
        stated = claim_of(opened.declaration, given[0])
        relation = neighbours_of(opened.declaration, given[1])
        if length > 1 and isinstance(relation, EncodedNeighbours):
            raise UsageError("session must be 1 for neighbours that are not arrays of numbers")
        task = Task(
            target,
            composed_claim(stated, length),
            relation,
            level,
            checked_seed,
            limits.calls,
            limits.budget,
            trace_seconds=tracing,
            own_claim=claim is None,
            questions=Questions.IDEAL if policy is Float64Policy.IGNORE else Questions.BOTH,
            call_timeout_seconds=limits.call_timeout,
            session=length,
            stated=stated,
            float64=policy,
        )
        # exact decisions are about numbers, and about one call
        exact = None if isinstance(relation, EncodedNeighbours) or length > 1 else relation
        result = _certify(task, opened, exact) if white_box and exact is not None else None
        tracing = min(tracing, limits.budget)
        decision = _decided(task, opened, exact, tracing) if trace and result is None and exact is not None else None
        if decision is not None:
            result = _exact(task, *decision)
            if result is not None:
                pairs = adversarial_pairs(relation, seed=task.seed)
                inputs = [data for pair in pairs[:_CALLED_PAIRS] for data in pair]
                with kept_global_generators():
                    notes = ask(opened.sampler, notes_on_calls, inputs)
                result = asked_for_many(replace(result, notes=(*result.notes, *notes)), task, opened.sampler, pairs)
            if result is not None and decision[0].low_bits_open:
                result = _with_float64(result, task, opened)
        if result is None:
            traced_pairs = exact if decision is not None or not trace else None
            exactly = None if traced_pairs is None else _pairs_exactly(task, opened, traced_pairs, tracing)
            result = _sample(task, opened, exactly, jobs=workers, backend=backend, progress=progress, shrink=shrink)
            result = result if decision is None else _with_exact_figures(result, decision[0])
            result = result if decision is None else with_certified_float64(result, task, decision[0])
            if trace and exact is None:
                result = replace(result, not_traced=_ONLY_SAMPLED if length == 1 else _SESSIONS)
    return Investigation(with_inputs(result, task.neighbours), task.claim, task.neighbours, stated)


_CALLED_PAIRS = 3
"""Pairs of inputs on which a target is called that a trace decided."""


_ONLY_SAMPLED = "inputs that are not arrays of numbers, such as tables, are not traced"
_SESSIONS = "sessions of several calls are not traced"


class _Limits(NamedTuple):
    calls: int | None
    budget: float
    call_timeout: float


def _in_own_process(isolate: bool | None, jobs: int, backend: str) -> bool | None:
    """Return whether a process of its own is to hold the target: threads share one process, which is this one."""
    if backend == "threading" and jobs != 1:
        if isolate:
            raise UsageError(
                "isolate must not be True with backend 'threading', whose workers run in the current process"
            )
        return False
    return isolate


def _pairs_exactly(task: Task, opened: OpenedTarget, relation: NeighbourRelation, seconds: float) -> Exactly:
    """Return the question whether exact arithmetic refutes the claim at a pair."""
    claim = None if task.own_claim else task.claim

    def ask(pair: Pair) -> bool | None:
        return opened.refuted_exactly(claim, relation, pair, seconds)

    return ask


def _sample(
    task: Task,
    opened: OpenedTarget,
    exactly: Exactly | None,
    *,
    jobs: int,
    backend: str,
    progress: Progress | None,
    shrink: bool,
) -> HuntResult:
    pairs = adversarial_pairs(task.neighbours, seed=task.seed)
    if task.questions is Questions.IDEAL:  # pairs at which rounding shows would be drawn in vain
        pairs = [pair for pair in pairs if step_of_pair(*pair) <= ROUNDING_SHOWS] or pairs
    further = further_pairs(task.neighbours, pairs, seed=task.seed, numbers=opened.numbers_in_code())
    sampler = in_sessions(decoding_sampler(opened.sampler, task.neighbours), task.session)
    result = sample_pairs(
        task, sampler, pairs, jobs=jobs, backend=backend, progress=progress, further=further, exactly=exactly
    )
    return shrunk(result, task, sampler) if shrink else result


class _Times(NamedTuple):
    seconds: float
    cpu_seconds: float

    @classmethod
    def now(cls, opened: OpenedTarget) -> "_Times":
        return cls(time.perf_counter(), processor_seconds(opened.sampler))

    def since(self, began: "_Times") -> "_Times":
        return _Times(self.seconds - began.seconds, self.cpu_seconds - began.cpu_seconds)


def _certify(task: Task, opened: OpenedTarget, relation: NeighbourRelation) -> HuntResult | None:
    began = _Times.now(opened)
    found = opened.certified(None if task.own_claim else task.claim, relation, task.seed)
    if found is None:
        return None
    return _certified(task, found.verdict, found.scope, found.evidence, found, _Times.now(opened).since(began))


def _decided(task: Task, opened: OpenedTarget, relation: NeighbourRelation, seconds: float) -> tuple[Decision, _Times]:
    began = _Times.now(opened)
    claim = None if task.own_claim else task.claim
    try:
        decision = opened.traced(claim, relation, task.seed, seconds)
    except WorkersLostError as error:
        raise UsageError(f"target {describe_target(task.target)!r}: while it was traced, {error}") from error
    return decision, _Times.now(opened).since(began)


def _exact(task: Task, decision: Decision, times: _Times) -> HuntResult | None:
    """Return the result of an exact decision; None if there is none."""
    if decision.verdict is None:
        return None
    holds = decision.verdict is HuntVerdict.HOLDS
    scope, evidence = (Scope.ALL, Evidence.EXACT) if holds else (Scope.POINTS, Evidence.ENCLOSED)
    result = _certified(task, decision.verdict, scope, evidence, decision.finding, times)
    proof = None
    if holds and decision.certificate is not None:
        from dpassay.spec.leaves.certificates import sealed  # it slows the start of every hunt

        about = {"target": result.target, "claim": result.claim, "neighbours": result.neighbours}
        proof = sealed({**decision.certificate, **about})
    bounds = result.bounds or bounds_of(task.claim, {"epsilon": 0.0}, decision.epsilon_upper)
    bounds = tuple(replace(bound, upper=decision.uppers.get(bound.quantity, bound.upper)) for bound in bounds)
    result = replace(result, bounds=bounds, traced=True, notes=decision.notes, certificate=proof)
    return with_certified_float64(result, task, decision)


def _with_float64(result: HuntResult, task: Task, opened: OpenedTarget) -> HuntResult:
    """Add the verdict on the floats to an exact one on the ideal mechanism that holds, from calls of its own."""
    if result.verdict is not HuntVerdict.HOLDS or task.questions is not Questions.BOTH:
        return result
    pairs = adversarial_pairs(task.neighbours, seed=task.seed)
    return replace(result, float64=sampled_float64(task, opened.sampler, pairs))


def _certified(
    task: Task, verdict: HuntVerdict, scope: Scope, evidence: Evidence, found: "WhiteBoxResult | None", times: _Times
) -> HuntResult:  # fmt: skip
    is_violated = verdict is HuntVerdict.VIOLATED
    return HuntResult(
        target=describe_target(task.target),
        claim=str(task.claim),
        verdict=verdict,
        bounds=() if found is None else found.bounds,
        evidence=evidence,
        scope=scope,
        alpha=task.alpha,
        e_value_log10=None,
        calls=0,
        seconds=times.seconds,
        cpu_seconds=times.cpu_seconds,
        witness=found.witness if is_violated and found is not None else None,
        seed=task.seed,
        replay=task.replay_command(None),
        neighbours=relation_words(task.neighbours),
        also_refutes=refuted_claims(task.claim) if is_violated else (),
    )


def _with_exact_figures(result: HuntResult, decision: Decision) -> HuntResult:
    """Add the certified bounds of an undecided trace to a sampled result, and the reason why it decided nothing."""
    known = {} if decision.finding is None else {bound.quantity: bound.lower for bound in decision.finding.bounds}
    bounds = tuple(_sharpened(bound, known.get(bound.quantity), decision.epsilon_upper) for bound in result.bounds)
    notes = (*decision.notes, *result.notes)
    return replace(result, bounds=bounds, not_traced=decision.reason, notes=notes)


def _sharpened(bound: Bound, lower: float | None, epsilon_upper: float | None) -> Bound:
    lowest = max((value for value in (bound.lower, lower) if value is not None), default=None)
    return replace(bound, lower=lowest, upper=epsilon_upper if bound.quantity == "epsilon" else bound.upper)
