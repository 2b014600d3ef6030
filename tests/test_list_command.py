"""The command ``dpassay list``: items and mechanisms."""

from tests.checks.commands import Capture, run

from dpassay.spec.sources import item_table


def test_list_has_one_line_per_item(capsys: Capture) -> None:
    status, records, _ = run(capsys, "list", "--json")
    assert status == 0
    assert [(r["source"], r["name"]) for r in records] == list(item_table())
    keys = {"schema", "source", "item", "name", "kind", "covered_by", "where", "reason"}
    assert all(set(record) == keys and record["schema"] == 2 for record in records)


def test_no_item_of_the_chapter_is_uncovered_without_a_reason(capsys: Capture) -> None:
    _, records, _ = run(capsys, "list", "--source", "lebensold2024", "--json")
    uncovered = {record["name"]: record["reason"] for record in records if record["covered_by"] == "none"}
    assert set(uncovered) <= {"cross_reference_errors", "fig_lcl_online"}
    assert all(uncovered.values())
    assert all(record["where"] for record in records if record["covered_by"] != "none")


def test_mechanisms_are_listed_in_the_words_of_hunt(capsys: Capture) -> None:
    _, records, _ = run(capsys, "list", "--mechanisms", "--json")
    (noisy_max,) = (r for r in records if r["where"] == "dpassay.impl.mechanisms.noisy_max:gaussian_noisy_max")
    assert noisy_max["neighbours"] == "vector:size=5,linf=0.2,low=0.0,high=1.0"
    assert noisy_max["claims"][0].startswith("pure:0.65246539")
    assert noisy_max["exact_distribution"] is True
    broken = [r for r in records if r["broken"]]
    assert len(broken) >= 25
    assert all(r["fault"] and r["caught_by"] for r in broken)
